"""Products of pairs of columns: which are chosen, and what does not matter."""

import numpy as np
import pytest

from lincent.features.pairs import PairProducts
from lincent.features.transformer import EncodedSamples
from lincent.sources.hashing import row_hashes


def fitted(X, y, weight=None, **how):
    weight = np.ones(len(y)) if weight is None else weight
    return PairProducts(**how)._fit(EncodedSamples(X, y, weight, 0, row_hashes(X)))


@pytest.mark.parametrize("classes", [2, 3])
def test_columns_that_act_together_come_first(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 30))
    together = X[:, 4] * X[:, 17]
    y = np.digitize(together, np.quantile(together, np.arange(1, classes) / classes))
    pairs = fitted(X + 5.0 * (np.arange(30) == 2), y, n_pairs=3)
    assert pairs.pairs_[0].tolist() == [4, 17]
    assert pairs._transform(X).shape == (1500, 27)


def test_what_single_columns_explain_is_no_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    score = 3 * X[:, 0] + np.sin(3 * X[:, 1]) + 1.5 * np.abs(X[:, 2]) * np.sign(X[:, 3])
    y = (score + rng.normal(size=2000) > 0).astype(int)
    assert fitted(X, y, n_pairs=1).pairs_.tolist() == [[2, 3]]


def test_indicators_and_few_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 400), rng.integers(0, 4, 400), np.ones(400)])
    y = (X[:, 0] == (X[:, 1] > 1)).astype(int)
    pairs = fitted(X, y)
    assert pairs.pairs_[0].tolist() == [0, 1]
    assert len(pairs.pairs_) == 3
    assert np.isfinite(pairs._transform(X)).all()


def test_weights_are_frequencies_and_the_order_does_not_matter():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 5)), rng.integers(1, 4, 300)
    y = (X[:, 0] * X[:, 1] > X[:, 2]).astype(int)
    one = fitted(X, y, weight.astype(float))
    order = rng.permutation(np.repeat(np.arange(300), weight))
    other = fitted(X[order], y[order])
    np.testing.assert_array_equal(one.pairs_, other.pairs_)
    np.testing.assert_allclose(one._transform(X), other._transform(X), atol=1e-9)
