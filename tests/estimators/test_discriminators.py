"""The three discriminators on the projected line, each against an independent computation."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from lincent import LCC
from lincent.estimators.threshold import fit_svm_1d
from support.samples import apart, two_classes, weights


def hinge(x, sign, costs, w, b):
    return w**2 / 2 + costs @ np.maximum(1 - sign * (w * x + b), 0)


def line(case):
    rng = np.random.default_rng(case)
    m = int(rng.integers(4, 80))
    sign = np.where(rng.random(m) < rng.choice([0.5, 0.1]), 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    x = 3 * rng.choice([0.2, 0.5, 1.0]) * rng.standard_normal(m) + sign
    if case % 3 == 0:
        x = np.round(x)  # ties
    costs = rng.exponential(size=m) if case % 2 else np.ones(m)
    return x, sign, costs


@pytest.mark.parametrize("case", range(30))
def test_svm_is_as_good_as_scikit_learn_s(case):
    x, sign, costs = line(case)
    w, b = fit_svm_1d(x, sign, costs)
    svc = SVC(kernel="linear", C=1.0, tol=1e-4).fit(x[:, None], sign, sample_weight=costs)
    theirs = hinge(x, sign, costs, svc.coef_[0, 0], svc.intercept_[0])
    ours = hinge(x, sign, costs, w, b)
    assert w >= 0
    # A direction of its own may suit the SVM better; on our line w is positive by construction.
    if svc.coef_[0, 0] > 0:
        assert ours <= theirs * (1 + 1e-9)
        assert ours == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize("case", range(100, 112))
def test_svm_is_the_optimum_of_an_independent_modeler(case):
    x, sign, costs = line(case)
    w, b = fit_svm_1d(x, sign, costs)
    v, c = cp.Variable(nonneg=True), cp.Variable()
    missed = cp.pos(1 - cp.multiply(sign, v * x + c))
    problem = cp.Problem(cp.Minimize(cp.square(v) / 2 + costs @ missed))
    problem.solve(solver=cp.CLARABEL)
    assert hinge(x, sign, costs, w, b) == pytest.approx(problem.value, rel=1e-6)


def test_svm_cut_through_the_estimator():
    """The paper's scaling: the centers are 10 apart before the SVM with lambda = 1."""
    X, y = two_classes(m=150)
    weight = weights(len(y))
    model = LCC(discriminator="svm").fit(X, y, weight)
    low, high = model.centers_ @ model.coef_[0]
    scaled = (X @ model.coef_[0] - (low + high) / 2) * 10 / (high - low)
    svc = SVC(kernel="linear", C=1.0, tol=1e-7).fit(scaled[:, None], y, sample_weight=weight)
    cut = -svc.intercept_[0] / svc.coef_[0, 0]
    assert -model.intercept_[0] == pytest.approx(
        (low + high) / 2 + cut * (high - low) / 10, rel=1e-4
    )


def test_nearest_is_one_nearest_neighbor_on_the_line():
    X, y = two_classes(m=150)
    model = LCC(discriminator="nearest").fit(X, y)
    fresh = two_classes(m=500, seed=7)[0]
    neighbor = KNeighborsClassifier(1).fit(model.transform(X), y)
    np.testing.assert_array_equal(model.predict(fresh), neighbor.predict(model.transform(fresh)))


def test_distance_is_the_nearest_center():
    X, y = two_classes(m=150)
    model = LCC().fit(X, y)
    centers = model.centers_ @ model.coef_[0]
    nearer = np.abs(model.transform(X) - centers).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), nearer)


@pytest.mark.parametrize("rule", ["nearest", "svm"])
def test_rows_of_weight_zero_do_not_cut(rule):
    X, y = apart()
    X = np.vstack([X, X[:5]])
    weight = np.append(np.ones(len(y)), np.zeros(5))
    y = np.append(y, 1 - y[:5])
    model = LCC(discriminator=rule).fit(X, y, weight)
    without = LCC(discriminator=rule).fit(X[:-5], y[:-5])
    np.testing.assert_array_equal(model.predict(X), without.predict(X))
