"""The folds of a committee: the same rows answer in memory and in blocks."""

import numpy as np
import pytest

from lincent import RegularizedLCCCV
from lincent.estimators.committee_data import LinearScores, open_parts
from lincent.estimators.problem import open_training
from support.labeled import noisy

da = pytest.importorskip("dask.array")
X, Y = noisy(120, 3)
RULES = [LinearScores(None, np.arange(6.0).reshape(3, 2), np.array([0.5, -0.5]))]


def parts(rows, cv, repeats=1, y=Y):
    return open_parts(open_training(RegularizedLCCCV(), rows, y, None), cv, repeats, 0)


@pytest.mark.parametrize("cv", [None, 3, np.arange(120) % 4])
def test_blocks_are_dealt_as_memory_is(cv):
    here, there = parts(X, cv, 2), parts(da.from_array(X, chunks=(37, 3)), cv, 2)
    assert here.n_splits == there.n_splits
    for split in range(there.n_splits):
        one, other = here.held(split, RULES), there.held(split, RULES)
        order = np.argsort(other.rows)
        np.testing.assert_array_equal(np.sort(one.rows), other.rows[order])
        np.testing.assert_allclose(one.scores[np.argsort(one.rows)], other.scores[order])
        np.testing.assert_allclose(here.part(split).totals, there.part(split).totals)


def test_scores_are_those_of_the_mapped_rows():
    class Squares:
        columns = width = 3

        def __call__(self, rows):
            return rows**2

    model = LinearScores(Squares(), np.ones((3, 1)), np.array([1.0]))
    np.testing.assert_allclose(model(X)[:, 0], (X**2).sum(axis=1) + 1.0)
    assert model.width == 1


def test_a_training_part_without_a_class_is_refused():
    y = np.zeros(120, dtype=int)
    y[:5] = 1
    folds = (np.arange(120) >= 5).astype(int)
    with pytest.raises(ValueError, match="no row of class number 1"):
        parts(da.from_array(X, chunks=(40, 3)), folds, y=y).part(0)
