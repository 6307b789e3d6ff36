"""The objective of each baseline against an independent oracle, to 1e-6 relative."""

import warnings

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture
from sklearn.svm import LinearSVC

from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    RegularizedLDA,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
)
from support.baseline_problems import REAL, real_problem

cp = pytest.importorskip("cvxpy", reason="cvxpy, the oracle, is not installed")
RELATIVE = 1e-6


def optimum(objective, constraints=()):
    """The optimal value of a convex program, by Clarabel at tight tolerances."""
    program = cp.Problem(cp.Minimize(objective), list(constraints))
    tight = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    with warnings.catch_warnings():
        # Short of these tolerances it says so; the comparison to 1e-6 decides.
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        program.solve(solver="CLARABEL", **tight)
    assert program.status in ("optimal", "optimal_inaccurate")
    return program.value


def split(X, y):
    return X[y > 0], X[y < 0]


def augmented(X):
    return np.hstack([X, np.ones((len(X), 1))])


@pytest.mark.parametrize("shrinkage", [0.1, 0.5, 1.0])
def test_lda(problem, shrinkage):
    X, y = problem
    A, B = split(X, y)
    d = A.mean(axis=0) - B.mean(axis=0)
    rows = np.vstack([A - A.mean(axis=0), B - B.mean(axis=0)])
    S = rows.T @ rows / (len(X) - 2)
    S = (1 - shrinkage) * S + shrinkage * np.diag(np.diag(S))
    model = RegularizedLDA(shrinkage).fit(X, y)
    w = model.coef_[0]
    expected = -d @ np.linalg.solve(S, d) / 2
    assert w @ S @ w / 2 - d @ w == pytest.approx(expected, rel=RELATIVE)
    middle = (A.mean(axis=0) + B.mean(axis=0)) / 2
    assert model.intercept_[0] == pytest.approx(np.log(len(A) / len(B)) - w @ middle, rel=RELATIVE)


@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
def test_svm(problem, C):
    X, y = problem
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    expected = optimum(cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b))))
    model = LinearSVM(C).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    objective = w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w + b)).sum()
    assert objective == pytest.approx(expected, rel=RELATIVE)
    assert model.objective_ == pytest.approx(objective, rel=1e-9)
    assert -1e-12 <= model.objective_ - model.dual_objective_ <= 1e-8 * objective
    assert model.duality_gap_ <= 1e-8


@pytest.mark.parametrize("ridge", [0.05, 0.5])
def test_dls(problem, ridge):
    X, y = problem
    f = cp.Variable(X.shape[1]), cp.Variable(X.shape[1])
    t = cp.Variable(2)
    loss = 0
    for k, own in enumerate((y < 0, y > 0)):
        e = np.where(own, 1.0, -1.0)
        missed = own - cp.multiply(e, X @ f[k] + t[k])
        loss += cp.sum_squares(cp.pos(missed)) + ridge * cp.sum_squares(f[k])
    expected = optimum(loss)
    model = DiscriminativeLeastSquares(ridge).fit(X, y)
    E = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    missed = np.maximum((E + 1) / 2 - E * model.responses(X), 0)
    objective = (missed**2).sum() + ridge * (model.coef_**2).sum()
    assert objective == pytest.approx(expected, rel=RELATIVE)
    assert model.objective_ == pytest.approx(objective, rel=1e-9)


def test_dls_is_the_squared_hinge_svm(tall_problem):
    # g = 2f - 1 is the squared-hinge SVM with C = 1/(2 ridge); LIBLINEAR penalizes the intercept,
    # so it is given a huge intercept column, which costs it digits.
    X, y = tall_problem
    ridge = 0.5
    model = DiscriminativeLeastSquares(ridge).fit(X, y)
    svm = LinearSVC(
        C=1 / (2 * ridge), loss="squared_hinge", dual=False, tol=1e-10, intercept_scaling=1e4
    ).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(X), atol=1e-4)


def test_mpm(problem):
    X, y = problem
    A, B = split(X, y)
    ridge = 1e-3
    S = [np.cov(part.T, bias=True) for part in (A, B)]
    extra = ridge * (np.trace(S[0]) + np.trace(S[1])) / 2 / X.shape[1] * np.eye(X.shape[1])
    roots = [np.linalg.cholesky(s + extra).T for s in S]
    w = cp.Variable(X.shape[1])
    d = A.mean(axis=0) - B.mean(axis=0)
    expected = optimum(cp.norm(roots[0] @ w) + cp.norm(roots[1] @ w), [d @ w == 1])
    model = MinimaxProbabilityMachine(ridge).fit(X, y)
    w = model.coef_[0]
    objective = sum(np.linalg.norm(root @ w) for root in roots) / (d @ w)
    assert objective == pytest.approx(expected, rel=RELATIVE)
    assert model.kappa_ == pytest.approx(1 / expected, rel=RELATIVE)


@pytest.mark.parametrize("side", [0, 1])
def test_twin(problem, side):
    X, y = problem
    own, other = (augmented(part) for part in split(X, y)[:: 1 if side else -1])
    u = cp.Variable(X.shape[1] + 1)
    expected = optimum(
        cp.sum_squares(own @ u) / 2
        + 0.3 / 2 * cp.sum_squares(u)
        + 0.2 * cp.sum(cp.pos(1 + other @ u))
    )
    # The plane of the class on the other side gets other constants: they must not be mixed up.
    constants = {"c1": 0.2, "c2": 5.0, "c3": 0.3, "c4": 7.0}
    if not side:
        constants = {"c1": 5.0, "c2": 0.2, "c3": 7.0, "c4": 0.3}
    model = TwinSVC(**constants).fit(X, y)
    u = -np.append(model.plane_coef_[0, side], model.plane_intercept_[0, side])
    objective = (
        ((own @ u) ** 2).sum() / 2 + 0.3 / 2 * u @ u + 0.2 * np.maximum(0, 1 + other @ u).sum()
    )
    assert objective == pytest.approx(expected, rel=RELATIVE)
    assert model.objective_[side] == pytest.approx(objective, rel=1e-8)
    assert np.all(model.objective_ - model.dual_objective_ <= 1e-8 * model.objective_)
    assert model.duality_gap_ <= 1e-8


def test_weighted_twin(problem):
    # The formulas as printed, by plain linear algebra, for both planes.
    X, y = problem
    H, G = (augmented(part) for part in split(X, y))
    c = {"c1": 0.2, "c2": 0.7, "c3": 0.3, "c4": 1.1}
    eye = np.eye(X.shape[1] + 1)

    def twice(own, other, loss, ridge):
        P = own.T @ own + ridge * eye
        r = np.full(len(other), len(own) / len(X))
        for _ in range(2):
            u = -loss * np.linalg.solve(P, other.T @ r)
            weights, slack = r, 1 + other @ u
            r = np.where(slack > np.abs(slack).mean(), 1e-5, 1.0)
        return u @ P @ u / 2 + loss * weights @ slack

    model = WeightedTwinSVC(**c).fit(X, y)
    expected = [twice(G, H, c["c2"], c["c4"]), twice(H, G, c["c1"], c["c3"])]
    np.testing.assert_allclose(model.objective_, expected, rtol=RELATIVE)


@pytest.mark.parametrize("nuclear", [0.0, 0.5, 20.0])
def test_elastic(problem, nuclear):
    X, y = problem
    Z = X - X.mean(axis=0)
    E = np.stack([-y, y], axis=1).astype(float)
    T = (E + 1) / 2
    D = cp.Variable((X.shape[1], 2))
    loss = cp.sum_squares(cp.pos(T - cp.multiply(E, Z @ D)))
    if nuclear:
        loss += nuclear * cp.normNuc(D)
    expected = optimum(loss + 0.5 / 2 * cp.sum_squares(D))
    model = DiscriminativeElasticNet(nuclear, 0.5).fit(X, y)
    D = model.coef_.T
    objective = (np.maximum(T - E * (Z @ D), 0) ** 2).sum() + 0.25 * (D**2).sum()
    objective += nuclear * np.linalg.svd(D, compute_uv=False).sum()
    assert objective == pytest.approx(expected, rel=RELATIVE)
    assert model.objective_ == pytest.approx(objective, rel=1e-9)
    assert model.dual_objective_ <= expected * (1 + RELATIVE)


def mixture_problem(n, seed):
    """Two clusters in each class, with a hyperplane between the classes."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=4, size=(4, n))
    centers[:, 0] = [-4, -3, 3, 5]
    X = np.vstack(
        [center + rng.normal(size=(15 * n, n)) * (1 + j) for j, center in enumerate(centers)]
    )
    return X, np.repeat([-1, -1, 1, 1], 15 * n)


def best_kappa(means, roots, sides, d):
    """The largest kappa by bisection on feasibility."""

    def feasible(kappa):
        w, b, s = cp.Variable(len(d)), cp.Variable(), cp.Variable()
        rows = [
            kappa * cp.norm(root @ w) <= side * (mean @ w - b) + s
            for mean, root, side in zip(means, roots, sides, strict=True)
        ]
        return optimum(s, [*rows, d @ w == 1]) <= 0

    low, high = 0.0, 1.0
    while feasible(high):
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if feasible(middle) else (low, middle)
    return (low + high) / 2


@pytest.fixture(params=[*range(5), *REAL], ids=str)
def structured(request):
    """X, y: five random mixtures and two real sets."""
    if isinstance(request.param, str):
        return real_problem(request.param)
    return mixture_problem(2 + request.param % 3, request.param)


def test_structural(structured):
    X, y = structured
    model = StructuralMPM(2, random_state=0).fit(X, y)
    assert model.n_components_.max() == 2
    means, roots, sides, d = components_of(model, X, y)
    expected = best_kappa(means, roots, sides, d)
    w, b = model.coef_[0], -model.intercept_[0]
    ratios = [
        side * (mean @ w - b) / np.linalg.norm(root @ w)
        for mean, root, side in zip(means, roots, sides, strict=True)
    ]
    assert min(ratios) == pytest.approx(expected, rel=RELATIVE)
    assert model.kappa_ == pytest.approx(expected, rel=RELATIVE)


def components_of(model, X, y):
    """The components as EM finds them from the same start; the difference of the class means."""
    means, roots, sides = [], [], []
    floor = model.ridge * np.mean([X[y == s].var(axis=0).mean() for s in (-1, 1)])
    for side, k in zip((-1, 1), model.n_components_[0], strict=True):
        rows = X[y == side] - X.mean(axis=0)
        # With one component EM is plain moments.
        mixture = GaussianMixture(
            k, reg_covar=floor, n_init=5, max_iter=1000, random_state=model._seed
        ).fit(rows)
        means += list(mixture.means_ + X.mean(axis=0))
        roots += [np.linalg.cholesky(S).T for S in mixture.covariances_]
        sides += [side] * k
    return means, roots, sides, X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)


def test_structural_with_one_component_is_the_minimax_machine(problem):
    X, y = problem
    model = StructuralMPM(1).fit(X, y)
    plain = MinimaxProbabilityMachine(model.ridge).fit(X, y)
    assert model.kappa_ == pytest.approx(plain.kappa_, rel=1e-9)
    np.testing.assert_allclose(
        model.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-8
    )
