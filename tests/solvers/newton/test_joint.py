"""Several classifiers at once: optima of single problems, the joint problem, bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from lincent import RegularizedLCC
from lincent.problems.joint import JointLoss, SeparateLoss, SmoothedHinge
from lincent.solvers.newton import joint
from lincent.solvers.newton.joint import (
    FORMED,
    Design,
    active_pair_step,
    solve_nonnegative,
    solve_path,
)

RNG = np.random.default_rng(0)
SAMPLES, FEATURES = 1500, 7  # more than are taken at a time
X = RNG.normal(size=(SAMPLES, FEATURES))
CODES = (X[:, 0] + 0.5 * RNG.normal(size=SAMPLES) > 0).astype(int)


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
    return SeparateLoss(y, np.ones(m), 2 * np.eye(n) - 1, cost, SmoothedHinge(-1.0, 3.0))


def multiclass(y, margins=(-1.0, 3.0)):
    n = len(np.unique(y))
    cost = np.tile(balanced(y)[:, None] / (n - 1), (1, n))
    return JointLoss(y, np.ones(len(y)), cost, SmoothedHinge(*margins))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_two_classes_are_regularized_lcc(C):
    X, y = cancer()
    reference = RegularizedLCC(C, (0.0, 2.0)).fit(X, y)
    program = SeparateLoss(
        y, np.ones(len(y)), np.array([[-1.0, 1.0]]), balanced(y)[None], SmoothedHinge(0.0, 2.0)
    )
    found = solve_path(Design(X, y, np.ones(len(y))), program, [C], 1e-9, 100)[0]
    assert found.objective[0] == pytest.approx(reference.objective_, rel=1e-8)
    np.testing.assert_allclose(found.rules[:-1, 0], reference.coef_[0], atol=1e-5)
    assert found.relative_gap.max() <= 1e-9


@pytest.mark.parametrize("formed", [0, FORMED])
def test_all_classifiers_at_once_are_one_vs_rest(formed, monkeypatch):
    monkeypatch.setattr(joint, "FORMED", formed)  # by conjugate gradients, and by factors
    X, y = iris()
    reference = RegularizedLCC(0.3, multi_class="ovr").fit(X, y)
    found = solve_path(Design(X, y, np.ones(len(y))), one_vs_rest(X, y), [0.3], 1e-9, 100)[0]
    np.testing.assert_allclose(found.objective, reference.objective_, rtol=1e-8)
    assert found.relative_gap.max() <= 1e-9


def test_joint_problem_of_two_classes_is_regularized_lcc():
    X, y = cancer()
    reference = RegularizedLCC(0.1).fit(X, y)
    found = solve_path(Design(X, y, np.ones(len(y))), multiclass(y), [0.1], 1e-9, 100)[0]
    assert found.objective[0] == pytest.approx(reference.objective_, rel=1e-8)
    np.testing.assert_allclose(
        found.rules[:-1, 1] - found.rules[:-1, 0], reference.coef_[0], atol=1e-5
    )


def joint_objective(point, X, y, C):
    """The problem, written out sample by sample."""
    rules = point.reshape(X.shape[1] + 1, -1)
    f = X @ rules[:-1] + rules[-1]
    n = f.shape[1]
    z = f[np.arange(len(y)), y][:, None] - f
    phi = np.where(z >= 3, 0.0, np.where(z <= -1, 1.0 - z, (3 - z) ** 2 / 8))
    phi[np.arange(len(y)), y] = 0.0
    cost = balanced(y)[y] / (n - 1)
    return (rules[:-1] ** 2).sum() + C * (cost[:, None] * phi).sum()


def test_joint_optimum_is_that_of_the_stated_problem():
    X, y = iris()
    X, y = X[::3], y[::3]
    found = solve_path(Design(X, y, np.ones(len(y))), multiclass(y), [1.0], 1e-10, 200)[0]
    assert joint_objective(found.rules.ravel(), X, y, 1.0) == pytest.approx(found.objective[0])
    other = minimize(joint_objective, np.zeros(15), (X, y, 1.0), "L-BFGS-B", tol=1e-12)
    assert found.objective[0] <= other.fun + 1e-7
    assert found.bound[0] == pytest.approx(found.objective[0], rel=1e-9)


def test_the_bound_holds_at_any_point():
    X, y = iris()
    program, rng = multiclass(y), np.random.default_rng(0)
    best = solve_path(Design(X, y, np.ones(len(y))), program, [1.0], 1e-10, 200)[0].objective[0]
    design = Design(X, y, np.ones(len(y)))
    for size in (0.0, 0.1, 1.0, 10.0):
        at = program.read(design.dot(size * rng.normal(size=(5, 3))))
        bound = program.bound(at.dual_weight, 1.0, lambda amounts: design.tdot(amounts)[:-1])
        assert bound[0] <= best + 1e-9


def test_a_path_is_the_same_as_single_solves():
    X, y = iris()
    design = Design(X, y, np.ones(len(y)))
    path = solve_path(design, multiclass(y), [0.01, 1.0, 100.0], 1e-9, 200)
    for C, found in zip((0.01, 1.0, 100.0), path, strict=True):
        alone = solve_path(design, multiclass(y), [C], 1e-9, 200)[0]
        assert found.objective[0] == pytest.approx(alone.objective[0], rel=1e-8)


def test_a_small_cost_is_not_left_at_nothing_where_a_step_is_asked_for():
    """The objective is below any tolerance of one: a classifier of zeros would say nothing."""
    X, y = iris()
    for least in (0, 1):
        design = Design(X, y, np.ones(len(y)))
        path = solve_path(design, multiclass(y), [1e-6], 0.1, 9, certify=False, least_steps=least)
        assert path[0].iterations == least
        assert path[0].rules.any() == bool(least)


def test_sample_weights_are_frequencies():
    X, y = iris()
    w = np.random.default_rng(0).integers(1, 4, len(y))
    cost = np.full((3, 3), 1.0)
    weighted = solve_path(
        Design(X, y, w.astype(float)),
        JointLoss(y, w.astype(float), cost, SmoothedHinge(0.0, 2.0)),
        [0.1],
        1e-10,
        200,
    )[0]
    X2, y2 = np.repeat(X, w, axis=0), np.repeat(y, w)
    ones = np.ones(len(y2))
    repeated = solve_path(
        Design(X2, y2, ones), JointLoss(y2, ones, cost, SmoothedHinge(0.0, 2.0)), [0.1], 1e-10, 200
    )
    assert weighted.objective[0] == pytest.approx(repeated[0].objective[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_few_samples_of_many_features_at_a_large_cost(seed):
    """Few samples are active, and steps zigzag between them: C rises from a small one."""
    rng = np.random.default_rng(seed)
    X, y = np.repeat(rng.random((15, 46)), 3, axis=0), np.repeat(np.arange(15) % 3, 3)
    found = solve_path(Design(X, y, np.ones(45)), multiclass(y, (0.0, 2.0)), [1e4], 1e-9, 200)[0]
    assert found.relative_gap[0] <= 1e-9
    assert found.iterations < 200


def hessian(X, codes, curved, ridge):
    """r I + sum of d a a', written out, classifier by classifier."""
    (m, n), K = X.shape, curved.shape[1]
    H = np.zeros((K * (n + 1), K * (n + 1)))
    for k in range(K):
        H[k * (n + 1) : k * (n + 1) + n, k * (n + 1) : k * (n + 1) + n] = ridge * np.eye(n)
    for i in range(m):
        for k in range(K):
            a = np.kron(np.eye(K)[codes[i]] - np.eye(K)[k], np.append(X[i], 1.0))
            H += curved[i, k] * np.outer(a, a)
    return H


def test_active_pairs_solve_the_equations():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(25, 6)), np.arange(25) % 4
    curved = rng.random((25, 4)) * (rng.random((25, 4)) < 0.4)
    curved[np.arange(25), codes] = 0.0
    wanted = rng.normal(size=(7, 4))
    wanted[-1] -= wanted[-1].mean()  # a shift of all offsets changes nothing
    move = active_pair_step(X, codes, curved, 2.0, wanted)
    np.testing.assert_allclose(
        hessian(X, codes, curved, 2.0) @ move.T.ravel(), wanted.T.ravel(), atol=1e-9
    )


@pytest.mark.parametrize("C", [10.0, 1e4])
def test_the_optimum_is_that_of_conjugate_gradients(C, monkeypatch):
    X, y = load_iris(return_X_y=True)
    X, w = scale(X), np.ones(len(y))
    loss = JointLoss(y, w, np.full((3, 3), 1 / 300), SmoothedHinge(-1.0, 3.0))
    found = []
    for pairs in (0, 1500):
        monkeypatch.setattr(joint, "PAIRS", pairs)
        monkeypatch.setattr(joint, "_pair_work", lambda count: 0.0)
        found.append(solve_path(Design(X, y, w), loss, [C], 1e-10, 500)[0])
    assert found[1].relative_gap.max() <= 1e-10
    assert found[1].objective[0] == pytest.approx(found[0].objective[0], rel=1e-8)


def by_definition(weight, rows=X):
    whole = np.column_stack([rows, np.ones(len(rows))])
    return (whole * weight[:, None]).T @ whole


def weights(share, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(SAMPLES) < share, rng.random(SAMPLES), 0.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_by_changes_is_the_matrix(dtype):
    design, close = (
        Design(X.astype(dtype), CODES, np.ones(SAMPLES)),
        {np.float64: 1e-12}.get(dtype, 1e-5),
    )
    weight = weights(0.7, 1)
    for seed in range(5):
        found = design.gram_by_changes(weight.astype(dtype))
        np.testing.assert_allclose(found, by_definition(weight), rtol=close, atol=close * SAMPLES)
        some = np.random.default_rng(seed).random(SAMPLES) < 0.05
        weight = np.where(some, weights(0.5, seed + 10), weight)


def test_only_changed_samples_are_read_and_all_where_most_have_changed():
    design = Design(X, CODES, np.ones(SAMPLES))
    weight = weights(1.0, 1)
    design.gram_by_changes(weight)
    assert design.rows_read == SAMPLES
    other = weight.copy()
    other[:10], other[10:30] = 0.0, 5.0
    design.gram_by_changes(other)
    assert design.rows_read == SAMPLES + 30
    np.testing.assert_allclose(design.gram_by_changes(2 * other), by_definition(2 * other))
    assert design.rows_read == SAMPLES + 30 + np.count_nonzero(other)


def test_each_classifier_has_a_matrix_of_its_own():
    design = Design(X, CODES, np.ones(SAMPLES))
    first, second = weights(0.7, 1), weights(0.7, 2)
    design.gram_by_changes(first, 0)
    design.gram_by_changes(second, 1)
    first[:5] = 0.25
    np.testing.assert_allclose(design.gram_by_changes(first, 0), by_definition(first))
    np.testing.assert_allclose(design.gram_by_changes(second, 1), by_definition(second))


def test_scaled_samples_keep_their_matrices():
    design, factors = Design(X, CODES, np.ones(SAMPLES)), np.linspace(0.1, 3.0, FEATURES)
    weight = weights(1.0, 1)
    design.gram_by_changes(weight)
    other = design.scaled(factors)
    np.testing.assert_array_equal(other.X, X * factors)
    np.testing.assert_allclose(
        other.gram_by_changes(weight), by_definition(weight, X * factors), rtol=1e-12
    )
    assert other.rows_read == 0
    np.testing.assert_allclose(design.gram_by_changes(weight), by_definition(weight))


def test_a_path_reads_fewer_samples_than_its_steps_would():
    cost = np.array([[0.5, 0.5]]) / np.bincount(CODES)
    program = SeparateLoss(
        CODES, np.ones(SAMPLES), np.array([[-1.0, 1.0]]), cost, SmoothedHinge(-1.0, 3.0)
    )
    design = Design(X, CODES, np.ones(SAMPLES))
    found = solve_path(design, program, [0.1, 1.0, 10.0, 100.0], 1e-9, 50)
    assert max(one.relative_gap.max() for one in found) <= 1e-9
    steps = sum(one.iterations for one in found)
    assert design.rows_read < 0.7 * steps * SAMPLES


def bounded_problem(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6)) + np.outer(2 * y - 1, rng.normal(size=6))
    program = SeparateLoss(
        y, np.ones(60), np.array([[-1.0, 1.0]]), np.ones((1, 2)), SmoothedHinge(0.0, 2.0)
    )
    held = np.array([True, True, True, False, False, False])
    return Design(X, y, np.ones(60)), program, held


def bounded_objective(point, design, program, scale):
    at = program.read(design.dot(point[:, None]))
    gradient = design.tdot(scale * at.slope)[:, 0]
    gradient[:-1] += point[:-1]
    return point[:-1] @ point[:-1] / 2 + scale * at.loss[0], gradient


@pytest.mark.parametrize("scale", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_another_solver(seed, scale):
    design, program, held = bounded_problem(seed)
    found = solve_nonnegative(design, program, scale, held, 1e-10, 200)
    assert found.relative_gap[0] <= 1e-10
    assert np.all(found.rules[:-1][held] >= 0)
    bounds = [(0, None) if h else (None, None) for h in (*held, False)]
    other = minimize(
        bounded_objective,
        np.zeros(7),
        (design, program, scale),
        "L-BFGS-B",
        jac=True,
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    assert found.objective[0] == pytest.approx(other.fun, rel=1e-8)


def test_some_coefficient_is_held_at_zero_by_its_sign():
    design, program, held = bounded_problem(0)
    free = solve_nonnegative(design, program, 1.0, np.zeros(6, dtype=bool), 1e-9, 200)
    assert free.rules[:-1][held].min() < 0
    bound = solve_nonnegative(design, program, 1.0, held, 1e-9, 200)
    assert bound.rules[:-1][held].min() == 0.0
    assert bound.objective[0] > free.objective[0]


def test_steps_are_limited_and_the_gap_says_so():
    design, program, held = bounded_problem(1)
    found = solve_nonnegative(design, program, 1.0, held, 1e-12, 1)
    assert found.iterations == 1
    assert found.relative_gap[0] > 1e-12


@pytest.mark.parametrize("C", [1e2, 1e4])
def test_large_costs_take_few_steps(C):
    X, y = np.random.default_rng(0).standard_normal((100, 200)), np.arange(100) % 3
    for loss in (multiclass(y), one_vs_rest(X, y)):
        found = solve_path(Design(X, y, np.ones(100)), loss, [C], 1e-9, 100)[0]
        assert found.relative_gap.max() <= 1e-9
        assert found.iterations <= 12


def test_where_steps_zigzag_the_cost_rises_from_a_small_one():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 100))
    X[:, :5] *= 10
    y = np.argmax(X[:, :5] + 10 * rng.standard_normal((200, 5)), axis=1)
    found = solve_path(Design(X, y, np.ones(200)), multiclass(y), [1e6], 1e-9, 200)[0]
    assert found.relative_gap.max() <= 1e-9
