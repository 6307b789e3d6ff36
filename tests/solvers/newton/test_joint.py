"""Several rules at once: the optima of the single problems, certified; the native form."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from lincent import RegularizedLCC
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.design import Design
from lincent.solvers.newton.joint import FORMED, solve_path


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


def balanced(y):
    return len(y) / (len(np.unique(y)) * np.bincount(y))


def one_vs_rest(X, y):
    n, m, count = len(np.unique(y)), len(y), np.bincount(y)
    cost = np.array(
        [[m / (2 * (count[k] if j == k else m - count[k])) for j in range(n)] for k in range(n)]
    )
    return SeparateLoss(y, np.ones(m), 2 * np.eye(n) - 1, cost, -1.0, 3.0)


def native(y, margins=(-1.0, 3.0)):
    n = len(np.unique(y))
    cost = np.tile(balanced(y)[:, None] / (n - 1), (1, n))
    return JointLoss(y, np.ones(len(y)), cost, *margins)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_two_classes_are_regularized_lcc(C):
    X, y = cancer()
    reference = RegularizedLCC(C, (0.0, 2.0)).fit(X, y)
    program = SeparateLoss(y, np.ones(len(y)), np.array([[-1.0, 1.0]]), balanced(y)[None], 0.0, 2.0)
    found = solve_path(Design(X, y, np.ones(len(y))), program, [C], 1e-9, 100)[0]
    assert found.objective[0] == pytest.approx(reference.objective_, rel=1e-8)
    np.testing.assert_allclose(found.rules[:-1, 0], reference.coef_[0], atol=1e-5)
    assert found.relative_gap.max() <= 1e-9


@pytest.mark.parametrize("formed", [0, FORMED])
def test_all_rules_at_once_are_one_vs_rest(formed, monkeypatch):
    import lincent.solvers.newton.joint as room

    monkeypatch.setattr(room, "FORMED", formed)  # by conjugate gradients, and by factors
    X, y = iris()
    reference = RegularizedLCC(0.3, multi_class="ovr").fit(X, y)
    found = solve_path(Design(X, y, np.ones(len(y))), one_vs_rest(X, y), [0.3], 1e-9, 100)[0]
    np.testing.assert_allclose(found.objective, reference.objective_, rtol=1e-8)
    assert found.relative_gap.max() <= 1e-9


def test_native_form_with_two_classes_is_regularized_lcc():
    X, y = cancer()
    reference = RegularizedLCC(0.1).fit(X, y)
    found = solve_path(Design(X, y, np.ones(len(y))), native(y), [0.1], 1e-9, 100)[0]
    assert found.objective[0] == pytest.approx(reference.objective_, rel=1e-8)
    np.testing.assert_allclose(
        found.rules[:-1, 1] - found.rules[:-1, 0], reference.coef_[0], atol=1e-5
    )


def native_objective(point, X, y, C):
    """The program, written out row by row."""
    rules = point.reshape(X.shape[1] + 1, -1)
    f = X @ rules[:-1] + rules[-1]
    n = f.shape[1]
    z = f[np.arange(len(y)), y][:, None] - f
    phi = np.where(z >= 3, 0.0, np.where(z <= -1, 1.0 - z, (3 - z) ** 2 / 8))
    phi[np.arange(len(y)), y] = 0.0
    cost = balanced(y)[y] / (n - 1)
    return (rules[:-1] ** 2).sum() + C * (cost[:, None] * phi).sum()


def test_native_optimum_is_that_of_the_stated_program():
    X, y = iris()
    X, y = X[::3], y[::3]
    found = solve_path(Design(X, y, np.ones(len(y))), native(y), [1.0], 1e-10, 200)[0]
    assert native_objective(found.rules.ravel(), X, y, 1.0) == pytest.approx(found.objective[0])
    other = minimize(native_objective, np.zeros(15), (X, y, 1.0), "L-BFGS-B", tol=1e-12)
    assert found.objective[0] <= other.fun + 1e-7
    assert found.bound[0] == pytest.approx(found.objective[0], rel=1e-9)


def test_the_bound_holds_at_any_point():
    X, y = iris()
    program, rng = native(y), np.random.default_rng(0)
    best = solve_path(Design(X, y, np.ones(len(y))), program, [1.0], 1e-10, 200)[0].objective[0]
    design = Design(X, y, np.ones(len(y)))
    for size in (0.0, 0.1, 1.0, 10.0):
        at = program.read(design.dot(size * rng.normal(size=(5, 3))))
        bound = program.bound(at.dual_weight, 1.0, lambda amounts: design.tdot(amounts)[:-1])
        assert bound[0] <= best + 1e-9


def test_a_path_is_the_same_as_single_solves():
    X, y = iris()
    design = Design(X, y, np.ones(len(y)))
    path = solve_path(design, native(y), [0.01, 1.0, 100.0], 1e-9, 200)
    for C, found in zip((0.01, 1.0, 100.0), path, strict=True):
        alone = solve_path(design, native(y), [C], 1e-9, 200)[0]
        assert found.objective[0] == pytest.approx(alone.objective[0], rel=1e-8)


def test_a_small_cost_is_not_left_at_nothing_where_a_step_is_asked_for():
    """The objective is below any tolerance of one: a rule of zeros would say nothing."""
    X, y = iris()
    for least in (0, 1):
        design = Design(X, y, np.ones(len(y)))
        path = solve_path(design, native(y), [1e-6], 0.1, 9, certify=False, least_steps=least)
        assert path[0].iterations == least
        assert path[0].rules.any() == bool(least)


def test_weights_are_repetitions():
    X, y = iris()
    w = np.random.default_rng(0).integers(1, 4, len(y))
    cost = np.full((3, 3), 1.0)
    weighted = solve_path(
        Design(X, y, w.astype(float)),
        JointLoss(y, w.astype(float), cost, 0.0, 2.0),
        [0.1],
        1e-10,
        200,
    )[0]
    X2, y2 = np.repeat(X, w, axis=0), np.repeat(y, w)
    ones = np.ones(len(y2))
    repeated = solve_path(
        Design(X2, y2, ones), JointLoss(y2, ones, cost, 0.0, 2.0), [0.1], 1e-10, 200
    )
    assert weighted.objective[0] == pytest.approx(repeated[0].objective[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_few_rows_of_many_columns_at_a_large_cost(seed):
    """Few rows bend, and steps from nothing zigzag between them: the way leads over small C."""
    rng = np.random.default_rng(seed)
    X, y = np.repeat(rng.random((15, 46)), 3, axis=0), np.repeat(np.arange(15) % 3, 3)
    found = solve_path(Design(X, y, np.ones(45)), native(y, (0.0, 2.0)), [1e4], 1e-9, 200)[0]
    assert found.relative_gap[0] <= 1e-9
    assert found.iterations < 200
