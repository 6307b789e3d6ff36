"""Effects of columns: what dealing their values anew does to the score, one column at a time."""

import numpy as np
import pytest

from lincent.app import effects


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
