"""Optimality conditions of each baseline, checked on the fitted numbers alone."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    RegularizedLDA,
    TwinSVC,
    WeightedTwinSVC,
)
from lincent.paper.baselines.regression import OvershotRegression, shrink


def augmented(X):
    return np.hstack([X, np.ones((len(X), 1))])


def test_svm_intercept_is_the_middle_of_its_interval():
    # One row each: no finite cost below 1/2 |w|^2 puts a support vector on the margin.
    model = LinearSVM(C=0.01).fit([[-1.0], [1.0]], [0, 1])
    assert model.intercept_[0] == pytest.approx(0, abs=1e-9)
    assert model.coef_[0, 0] == pytest.approx(0.02, rel=1e-6)
    # The two hinges are both active for b in [-0.98, 0.98] around a shifted center as well.
    assert LinearSVM(C=0.01).fit([[4.0], [6.0]], [0, 1]).decision_function([[5.0]])[0] == (
        pytest.approx(0, abs=1e-9)
    )


def test_svm_says_when_it_stops_early(tall_problem):
    with pytest.warns(ConvergenceWarning, match="duality gap is .* max_iter"):
        LinearSVM(max_iter=2).fit(*tall_problem)


def test_dls_says_when_it_stops_early(tall_problem):
    with pytest.warns(
        ConvergenceWarning, match="regressions.* duality gap is .* at most 1 iterations"
    ):
        DiscriminativeLeastSquares(0.01, max_iter=1).fit(*tall_problem)


def test_elastic_says_when_it_stops_early(tall_problem):
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        DiscriminativeElasticNet(5.0, max_iter=1).fit(*tall_problem)


def test_dls_gradient_is_zero_for_every_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), np.arange(90) % 3
    X[np.arange(90), y] += 1
    model = DiscriminativeLeastSquares(0.3).fit(X, y)
    for k in range(3):
        e = np.where(y == k, 1.0, -1.0)
        f = X @ model.coef_[k] + model.intercept_[k]
        dual = e * np.maximum((e + 1) / 2 - e * f, 0)
        np.testing.assert_allclose(X.T @ dual, 0.3 * model.coef_[k], atol=1e-9)
        assert dual.sum() == pytest.approx(0, abs=1e-9)


def test_dls_columns_mirror_each_other(problem):
    X, y = problem
    for solver in ("newton", "alternating"):
        model = DiscriminativeLeastSquares(solver=solver).fit(X, y)
        np.testing.assert_allclose(model.coef_[0], -model.coef_[1], atol=1e-9)
        np.testing.assert_allclose(model.responses(X).sum(axis=1), 1, atol=1e-9)


def test_dls_alternating_is_the_published_loop(tall_problem):
    X, y = tall_problem
    Y = np.stack([y < 0, y > 0], axis=1).astype(float)
    E, mean = 2 * Y - 1, X.mean(axis=0)
    Xc = X - mean

    def regress(R):
        W = np.linalg.solve(Xc.T @ Xc + 0.5 * np.eye(X.shape[1]), Xc.T @ R)
        return W, R.mean(axis=0) - mean @ W

    W, t = regress(Y)
    for _ in range(30):
        M = np.maximum(E * (X @ W + t - Y), 0)
        (W, t), before = regress(Y + E * M), (W, t)
        if ((W - before[0]) ** 2).sum() + ((t - before[1]) ** 2).sum() < 1e-4:
            break
    model = DiscriminativeLeastSquares(0.5, solver="alternating").fit(X, y)
    np.testing.assert_allclose(model.coef_, W.T, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, t, atol=1e-9)
    assert model.objective_ >= DiscriminativeLeastSquares(0.5).fit(X, y).objective_ - 1e-9


def test_mpm_serves_both_classes_alike(problem):
    X, y = problem
    model = MinimaxProbabilityMachine(1e-3).fit(X, y)
    w, b = model.coef_[0], -model.intercept_[0]
    S = [np.cov(X[y == s].T, bias=True) for s in (-1, 1)]
    ridge = 1e-3 * (np.trace(S[0]) + np.trace(S[1])) / 2 / X.shape[1]
    for s, covariance in zip((-1, 1), S, strict=True):
        deviation = np.sqrt(w @ covariance @ w + ridge * w @ w)
        kappa = s * (X[y == s].mean(axis=0) @ w - b) / deviation
        assert kappa == pytest.approx(model.kappa_, rel=1e-7)
    assert model.alpha_ == pytest.approx(model.kappa_**2 / (1 + model.kappa_**2))


def test_mpm_guarantee_holds_on_its_own_rows(tall_problem):
    # The training rows are one law with these moments, so the worst case covers them.
    X, y = tall_problem
    model = MinimaxProbabilityMachine(1e-10).fit(X, y)
    for s in (-1, 1):
        assert np.mean(s * model.decision_function(X[y == s]) >= 0) >= model.alpha_ - 1e-9


def test_twin_multipliers(tall_problem):
    X, y = tall_problem
    model = TwinSVC(c1=0.4, c3=0.2).fit(X, y)
    H, G = augmented(X[y > 0]), augmented(X[y < 0])
    u = np.append(model.plane_coef_[0, 1], model.plane_intercept_[0, 1])
    gradient = H.T @ (H @ u) + 0.2 * u
    margin = G @ u
    # gradient = G'a with a = c1 where the margin is missed, 0 where it is exceeded, free on it.
    on = np.abs(margin - 1) < 1e-5
    rest = gradient - 0.4 * G[margin < 1 - 1e-5].sum(axis=0)
    a, *_ = np.linalg.lstsq(G[on].T, rest, rcond=None)
    np.testing.assert_allclose(G[on].T @ a, rest, atol=1e-5 * np.abs(gradient).max())


def test_weighted_twin_gradient_is_zero(tall_problem):
    X, y = tall_problem
    model = WeightedTwinSVC(c1=0.4, c3=0.2).fit(X, y)
    H, G = augmented(X[y > 0]), augmented(X[y < 0])
    u = np.append(model.plane_coef_[0, 1], model.plane_intercept_[0, 1])
    gradient = H.T @ (H @ u) + 0.2 * u
    # The weights are 1 or 1e-5, so the gradient is zero for one of the two patterns on each row.
    first = 0.4 * np.linalg.solve(H.T @ H + 0.2 * np.eye(len(u)), G.sum(axis=0)) * len(H) / len(X)
    slack = 1 - G @ first
    weight = np.where(slack > np.abs(slack).mean(), 1e-5, 1.0)
    np.testing.assert_allclose(gradient, 0.4 * G.T @ weight, rtol=1e-8, atol=1e-10)


def test_weighted_twin_planes_do_not_depend_on_c1_while_the_weights_stay(tall_problem):
    # Distances are scale free: with c1 so large that the same samples have the small weight,
    # nothing changes.
    X, y = tall_problem
    one, two = (WeightedTwinSVC(c1=c, c2=c).fit(X, y) for c in (1e5, 1e6))
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("nuclear", [0.5, 20.0])
def test_elastic_subgradient(problem, nuclear):
    # -gradient of the smooth part lies in nuclear * (subgradient of the nuclear norm): the singular
    # values of D + that are those of D plus nuclear where D is not zero, at most
    # nuclear in the others.
    X, y = problem
    model = DiscriminativeElasticNet(nuclear, 0.5, tol=1e-11).fit(X, y)
    E = np.stack([-y, y], axis=1).astype(float)
    ridge = np.full(X.shape[1], 0.5)
    smooth = OvershotRegression(X - X.mean(axis=0), E, np.ones(len(X)), ridge, nuclear)
    D = model.coef_.T
    V = D - smooth.smooth_gradient(D)
    np.testing.assert_allclose(shrink(V, nuclear), D, atol=2e-3 * max(1e-3, np.abs(D).max()))


def test_elastic_nuclear_norm_lowers_the_rank(tall_problem):
    X, y = tall_problem
    ranks = [
        np.linalg.matrix_rank(DiscriminativeElasticNet(nuclear).fit(X, y).coef_, tol=1e-10)
        for nuclear in (0.0, 20.0, 1e6)
    ]
    assert ranks[0] == 2
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[-1] == 0


def test_lda_without_shrinkage_is_the_pseudo_inverse(problem):
    X, y = problem
    means = [X[y == s].mean(axis=0) for s in (-1, 1)]
    rows = np.vstack([X[y == s] - mean for s, mean in zip((-1, 1), means, strict=True)])
    scale = np.sqrt((rows**2).sum(axis=0) / (len(X) - 2))
    S = (rows / scale).T @ (rows / scale) / (len(X) - 2)
    d = (means[1] - means[0]) / scale
    model = RegularizedLDA(0.0).fit(X, y)
    # Both solve the normal equations as well as they can be solved.
    expected = np.linalg.pinv(S, rcond=1e-13, hermitian=True) @ d
    assert np.linalg.norm(S @ (model.coef_[0] * scale - expected)) <= 1e-6 * np.linalg.norm(d)


def test_lda_uses_a_feature_that_is_constant_in_each_class():
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    X = np.c_[rng.normal(size=40), y.astype(float), np.full(40, 3.0)]
    model = RegularizedLDA().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.coef_[0, 2] == 0.0
