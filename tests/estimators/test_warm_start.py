"""``warm_start``: the last solution is a point to begin at, and nothing else."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from lincent import RegularizedLCC


def data(m=300, n=6, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(m) % classes
    return rng.normal(size=(m, n)) + np.eye(n)[y], y


SHAPES = [(300, 6), (2_000, 20), (60, 200)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("settings", [{}, {"norm": "l1", "C": 0.5}, {"fit_intercept": False}])
def test_the_same_solution_in_fewer_steps(shape, settings):
    X, y = data(*shape)
    model = RegularizedLCC(warm_start=True, **settings).fit(X, y)
    steps = []
    for factor in (1.0, 1.3, 0.8):
        C = factor * settings.get("C", 1.0)
        cold = RegularizedLCC(**settings | {"C": C}).fit(X, y)
        steps.append((model.set_params(C=C).fit(X, y).n_iter_, cold.n_iter_))
        assert model.duality_gap_ <= 1e-9
        np.testing.assert_allclose(model.objective_, cold.objective_, rtol=1e-8)
        np.testing.assert_allclose(
            model.decision_function(X), cold.decision_function(X), rtol=0, atol=2e-4
        )
    warm, cold = np.sum(steps, axis=0)
    assert warm < cold


def test_the_optimum_itself_needs_no_step():
    X, y = data()
    model = RegularizedLCC(warm_start=True).fit(X, y)
    assert model.n_iter_ > 0
    assert model.fit(X, y).n_iter_ == 0


def test_rows_are_added():
    X, y = data(1_000, 10)
    model = RegularizedLCC(warm_start=True).fit(X[:900], y[:900])
    assert model.fit(X, y).n_iter_ < RegularizedLCC().fit(X, y).n_iter_


def test_every_problem_has_its_own_point():
    X, y = data(400, classes=4)
    for strategy in ("ovo", "ovr"):
        model = RegularizedLCC(warm_start=True, multi_class=strategy).fit(X, y)
        np.testing.assert_array_equal(model.fit(X, y).n_iter_, 0)


def test_other_columns_or_classes_are_a_cold_start():
    X, y = data(400, classes=4)
    model = RegularizedLCC(warm_start=True).fit(X, y)
    for other, labels in ((X[:, :5], y), (X, y % 2), (X, np.array(list("abcd"))[y])):
        cold = clone(model).fit(other, labels)
        model.fit(other, labels)
        np.testing.assert_allclose(model._coef, cold._coef, atol=1e-4)
        np.testing.assert_array_equal(model.classes_, cold.classes_)


def test_a_point_that_misleads_is_left():
    X, y = data(200, 5)
    model = RegularizedLCC(warm_start=True).fit(X, y)
    model.coef_ = np.full((1, 5), 1e150)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert model.duality_gap_ <= 1e-9


def test_off_unless_asked_for():
    X, y = data()
    model = RegularizedLCC().fit(X, y)
    assert model.fit(X, y).n_iter_ > 0
