"""Effects of columns: what dealing their values anew does to the score, one column at a time."""

import numpy as np
import pytest

from lincent.inspection import permutation_importance as effects


class Weighted:
    """A score that is known."""

    def __init__(self, coef):
        self.coef, self.asked = np.asarray(coef), 0

    def decision_function(self, X):
        self.asked += 1
        return X @ self.coef


@pytest.mark.parametrize("shape", [(3,), (3, 4)], ids=["two classes", "four"])
def test_moves_are_those_of_one_column_at_a_time(shape):
    rng = np.random.default_rng(0)
    rows, coef = rng.normal(size=(50, 3)), rng.normal(size=shape)
    columns = [np.arange(3) == k for k in range(3)]
    model = Weighted(coef)
    found = effects._moves(model, rows, rows @ coef, columns, np.random.default_rng(5))
    assert model.asked == 1
    again = np.random.default_rng(5)
    for move, mine in zip(found, columns, strict=True):
        mixed = rows.copy()
        mixed[:, mine] = rows[again.permutation(50)][:, mine]
        assert move == pytest.approx(np.abs((mixed - rows) @ coef).mean())


def test_many_columns_are_asked_in_parts(monkeypatch):
    monkeypatch.setattr(effects, "ASKED_ROWS", 120)
    rows = np.random.default_rng(0).normal(size=(50, 5))
    model, columns = Weighted(np.arange(5.0)), [np.arange(5) == k for k in range(5)]
    found = effects._moves(model, rows, rows @ model.coef, columns, np.random.default_rng(5))
    assert model.asked == 3  # two columns at a time
    assert found[0] == 0.0
    assert min(found[1:]) > 0


class Product(list):
    """A pipeline whose score is the product of two columns: what one adds hangs on the other."""

    def decision_function(self, frame):
        return np.asarray(frame["a"] * frame["b"])


def test_the_band_holds_the_curves_of_most_rows():
    pandas = pytest.importorskip("pandas")
    from lincent.tables.schema import NUMBER, Column

    frame = pandas.DataFrame({"a": np.linspace(-1, 1, 11), "b": np.linspace(-2, 4, 11)})
    column = Column("a", NUMBER, ("a",))
    curve = effects._curve(Product([None]), frame, frame, column, 2.0, 0)
    assert curve["band_of"] == "rows"
    slopes = frame["b"] / 2
    for (x, y), (low, high) in zip(curve["points"], curve["band"], strict=True):
        assert y == pytest.approx(slopes.mean() * x, abs=1e-5)
        assert [low, high] == pytest.approx(np.quantile(slopes * x, [0.1, 0.9]), abs=1e-5)
    alike = frame.assign(b=1.0)
    assert "band" not in effects._curve(Product([None]), alike, alike, column, 2.0, 0)


def test_the_band_of_a_sum_of_curves_is_that_of_its_resamples(make_table):
    from lincent.workflow import fit_table

    model = fit_table(make_table(120), "churn", method="additive", settings={"n_resamples": 5})
    curve = next(e["curve"] for e in model.summary["effects"] if e["column"] == "age")
    assert curve["band_of"] == "resamples"
    widths = [high - low for low, high in curve["band"]]
    assert max(widths) > 0
    assert min(widths) > -1e-4
