"""``multi_class="joint"``: the stated program, its certificate, what it is for two classes."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC, RegularizedLCC
from support.samples import three_classes, two_classes, weights

NATIVE = {"multi_class": "joint"}


def phi(z):
    return np.where(z <= -1, 1 - z, np.maximum(3 - z, 0) ** 2 / 8)


def stated(model, X, y, C):
    """The objective of ``estimators.regularized``, written out."""
    scores, n = model.decision_function(X), len(model.classes_)
    balance = len(y) / (n * np.bincount(y))
    loss = sum(
        balance[own] * phi(row[own] - row[k])
        for row, own in zip(scores, y, strict=True)
        for k in range(n)
        if k != own
    )
    return np.sum(model.coef_**2) + 2 * C / n * loss


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_objective_is_the_stated_one_and_certified(C):
    X, y = three_classes(spread=1.5)
    model = RegularizedLCC(C, **NATIVE).fit(X, y)
    assert isinstance(model.objective_, float)
    assert model.objective_ == pytest.approx(stated(model, X, y, C), rel=1e-9)
    assert model.duality_gap_ <= 1e-9
    nearby = RegularizedLCC(C, **NATIVE).fit(X, y)
    nearby.coef_ = model.coef_ * 1.01
    assert stated(nearby, X, y, C) > model.objective_


def test_two_classes_are_the_same_problem():
    X, y = two_classes()
    native, pairs = RegularizedLCC(**NATIVE).fit(X, y), RegularizedLCC().fit(X, y)
    np.testing.assert_array_equal(native.coef_, pairs.coef_)


def test_weights_are_repetitions_and_shifts_change_nothing():
    X, y = three_classes()
    counts = weights(len(y)).astype(int) + 1
    weighed = RegularizedLCC(**NATIVE).fit(X, y, counts)
    repeated = RegularizedLCC(**NATIVE).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, atol=1e-6)
    moved = RegularizedLCC(**NATIVE).fit(X + 1e4, y, counts)
    np.testing.assert_allclose(
        moved.decision_function(X + 1e4), weighed.decision_function(X), atol=1e-5
    )


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 200)), np.arange(30) % 3
    model = RegularizedLCC(**NATIVE).fit(X, y)
    assert model.duality_gap_ <= 1e-9
    assert model.score(X, y) == 1.0


def test_impact_is_the_loss_of_each_row():
    X, y = three_classes(spread=2.0)
    model = RegularizedLCC(0.5, **NATIVE).fit(X, y)
    scores = model.decision_function(X)
    ahead = scores[np.arange(len(y)), y][:, None] - scores
    each = phi(ahead)
    each[np.arange(len(y)), y] = 0.0
    np.testing.assert_allclose(
        model.misclassification_impact(X, y), 0.5 * 2 / 3 * each.sum(axis=1), atol=1e-12
    )


def test_classes_in_the_middle_are_found_by_pairs_and_natively():
    """No line cuts a class in the middle off from the rest; pairs of classes are the default."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 60)
    X = rng.normal(size=(300, 2)) + np.stack([4.0 * y, 0.0 * y], axis=1)
    found = {
        kind: RegularizedLCC(multi_class=kind).fit(X, y).score(X, y)
        for kind in ("ovo", "joint", "ovr")
    }
    assert RegularizedLCC().fit(X, y).score(X, y) == found["ovo"]
    assert min(found["ovo"], found["joint"]) > 0.95 > found["ovr"]


@pytest.mark.parametrize("settings", [{"norm": "l1"}, {"fit_intercept": False}])
def test_what_it_cannot_do_is_a_sentence(settings):
    X, y = three_classes()
    with pytest.raises(ValueError, match="multi_class='joint' has an L2 term"):
        RegularizedLCC(**NATIVE, **settings).fit(X, y)


def test_sparse_rows_are_as_dense_and_what_is_too_large_is_refused():
    X, y = three_classes()
    dense, sparse = (RegularizedLCC(**NATIVE).fit(rows, y) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-9)
    with pytest.raises(ValueError, match="180 x 600000 is too large"):
        RegularizedLCC(**NATIVE).fit(sp.csr_array((180, 600_000)), y)


def test_other_classifiers_do_not_have_it():
    X, y = three_classes()
    with pytest.raises(ValueError, match="'multi_class' parameter"):
        LCC(**NATIVE).fit(X, y)
