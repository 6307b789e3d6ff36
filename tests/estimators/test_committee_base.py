"""What the cross-validated estimators share."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lincent import RegularizedLCC, RegularizedLCCCV
from lincent.estimators.committee_base import check_costs
from support.labeled import noisy
from support.samples import three_classes


def test_costs_are_positive_and_rising():
    assert check_costs(None) is None
    np.testing.assert_array_equal(check_costs([3, 1, 2]), [1.0, 2.0, 3.0])
    for wrong in ([], [0.0], [-1.0], [[1.0]]):
        with pytest.raises(ValueError, match="Cs"):
            check_costs(wrong)


def test_attributes_have_a_place_for_every_problem():
    X, y = noisy(150, 3, classes=3)
    model = RegularizedLCCCV([0.1, 1.0], n_repeats=1).fit(X, y)
    assert model.scores_.shape == model.weights_.shape == (3, 1, 2)
    np.testing.assert_allclose(model.weights_.sum(axis=(1, 2)), 1.0)
    np.testing.assert_array_equal(model.C_, model.Cs_[model.scores_[:, 0].argmax(axis=1)])
    two = RegularizedLCCCV([0.1, 1.0], n_repeats=1).fit(X[y < 2], y[y < 2])
    assert two.scores_.shape == (1, 2)
    assert np.ndim(two.C_) == 0


def test_repeats_are_for_few_rows():
    model = RegularizedLCCCV()
    assert model._repeats(100) == 3
    assert model._repeats(10_000) == 1
    assert RegularizedLCCCV(n_repeats=4)._repeats(10_000) == 4


def test_rules_that_fell_short_are_told():
    with pytest.warns(ConvergenceWarning, match="worst relative duality gap"):
        RegularizedLCCCV([100.0], max_iter=1, n_repeats=1).fit(*noisy(100, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RegularizedLCCCV([100.0], n_repeats=1).fit(*noisy(100, 3))


def test_one_against_the_rest_is_fitted_to_all_rows():
    """Folds choose the weights; no class misses the rows held out."""
    X, y = three_classes(spread=1.5)
    model = RegularizedLCCCV(Cs=[0.1], multi_class="ovr", cv=3).fit(X, y)
    alone = RegularizedLCC(0.1, (0.0, 2.0), multi_class="ovr").fit(X, y)
    lengths = np.linalg.norm(model.coef_, axis=1) / np.linalg.norm(alone.coef_, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-5)  # one unit for all classes
    np.testing.assert_allclose(model.coef_, lengths[0] * alone.coef_, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
