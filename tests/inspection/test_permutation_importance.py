"""Permutation importance and partial dependence of columns."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from lincent.inspection import permutation_importance as importance


class Weighted:
    """A linear score."""

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
    found = importance._mean_moves(model, rows, rows @ coef, columns, np.random.default_rng(5))
    assert model.asked == 1
    again = np.random.default_rng(5)
    for move, mine in zip(found, columns, strict=True):
        mixed = rows.copy()
        mixed[:, mine] = rows[again.permutation(50)][:, mine]
        assert move == pytest.approx(np.abs((mixed - rows) @ coef).mean())


def test_many_columns_are_scored_in_batches(monkeypatch):
    monkeypatch.setattr(importance, "BATCH_ROWS", 120)
    rows = np.random.default_rng(0).normal(size=(50, 5))
    model, columns = Weighted(np.arange(5.0)), [np.arange(5) == k for k in range(5)]
    found = importance._mean_moves(
        model, rows, rows @ model.coef, columns, np.random.default_rng(5)
    )
    assert model.asked == 3  # two columns at a time
    assert found[0] == pytest.approx(0.0, abs=1e-12)
    assert min(found[1:]) > 0


class Product:
    """The product of two columns: the effect of one depends on the other."""

    classes_ = np.array(["no", "yes"])

    def decision_function(self, X):
        return X[:, 0] * X[:, 1]


def curve_of(frame):
    from lincent.tables.encoder import TableEncoder
    from lincent.tables.schema import NUMBER, Column

    pipeline = make_pipeline(TableEncoder(False), Product())
    encoded = pipeline[0].fit_transform(frame)
    [grid] = importance._grids(pipeline, frame, [Column("a", NUMBER, ("a",))])
    return importance._curve(Product(), encoded, grid, 2.0)


def test_the_band_holds_the_curves_of_most_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.linspace(-1, 1, 11), "b": np.linspace(-2, 4, 11)})
    curve = curve_of(frame)
    slopes = frame["b"] / 2
    for x, y, (low, high) in zip(curve["x"], curve["lines"]["yes"], curve["band"], strict=True):
        assert y == pytest.approx(slopes.mean() * x, abs=1e-5)
        assert [low, high] == pytest.approx(np.quantile(slopes * x, [0.1, 0.9]), abs=1e-5)
    assert "band" not in curve_of(frame.assign(b=1.0))


def test_importances_and_curves_do_not_encode_the_table_again(make_table, monkeypatch):
    from lincent.tables.encoder import TableEncoder
    from lincent.workflow import fit_table

    encoded = []
    for name in ("fit_transform", "transform"):
        method = getattr(TableEncoder, name)

        def counted(self, X, *rest, method=method):
            encoded.append(len(X))
            return method(self, X, *rest)

        monkeypatch.setattr(TableEncoder, name, counted)
    fit_table(make_table(300), "churn", method="linear")
    assert sum(rows >= 300 for rows in encoded) == 1
    assert len(encoded) == 2  # and the values of the curves


def test_the_band_of_an_additive_model_is_that_of_its_resamples(make_table):
    from lincent.workflow import fit_table

    model = fit_table(make_table(120), "churn", method="additive", params={})
    curve = next(e["curve"] for e in model.summary["importances"] if e["column"] == "age")
    assert curve["band_of"] == "resamples"
    widths = [high - low for low, high in curve["band"]]
    assert max(widths) > 0
    assert min(widths) > -1e-4


def test_the_effect_of_a_pair_has_mean_zero():
    """Whatever the intercept and the other columns add to all of its scores."""
    pandas = pytest.importorskip("pandas")
    from lincent.tables.encoder import TableEncoder
    from lincent.tables.schema import NUMBER, Column

    class Shifted(Product):
        def decision_function(self, X):
            return 7.0 + super().decision_function(X)

    frame = pandas.DataFrame({"a": np.linspace(-1, 1, 11), "b": np.linspace(-2, 4, 11)})
    pipeline = make_pipeline(TableEncoder(False), Shifted())
    encoded = pipeline[0].fit_transform(frame)
    grids = importance._grids(pipeline, frame, [Column(n, NUMBER, (n,)) for n in "ab"])
    effect = importance._pair_effect(Shifted(), encoded, *grids, 2.0)
    products = np.outer(*effect["values"]) / 2
    np.testing.assert_allclose(effect["scores"], products - products.mean(), atol=1e-4)
    assert effect["class"] == "yes"
