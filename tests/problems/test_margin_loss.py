"""Losses of the user: derivatives, conjugate, certified optimum; the example page on them."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.special import entr, expit
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from lincent.problems import MarginLoss
from lincent.problems.joint import JointLoss, SeparateLoss, SmoothedHinge
from lincent.solvers.newton.joint import Design, solve_path

EXAMPLE = Path(__file__).parents[2] / "examples" / "research" / "plot_8_extend.py"


class SquaredHinge(MarginLoss):
    max_curvature = 2.0

    def value(self, z):
        return np.maximum(1 - z, 0) ** 2

    def slope(self, z):
        return -2 * np.maximum(1 - z, 0)

    def curvature(self, z):
        return 2.0 * (z < 1)

    def conjugate(self, v):
        return v + v**2 / 4


class Logistic(MarginLoss):
    max_curvature = 0.25

    def value(self, z):
        return np.logaddexp(0, -z)

    def slope(self, z):
        return -expit(-z)

    def curvature(self, z):
        return expit(z) * expit(-z)

    def conjugate(self, v):
        return -entr(-v) - entr(1 + v)


LOSSES = [SmoothedHinge(-1.0, 3.0), SmoothedHinge(0.5, 0.75), SquaredHinge(), Logistic()]


def solved(phi, C, tol=1e-10):
    X, y = load_breast_cancer(return_X_y=True)
    X, weight = scale(X), np.ones(len(y))
    loss = SeparateLoss(y, weight, np.array([[-1.0, 1.0]]), np.ones((1, 2)), phi)
    return X, y, solve_path(Design(X, y, weight), loss, [C], tol, 100)[0]


@pytest.mark.parametrize("phi", LOSSES, ids=lambda phi: type(phi).__name__)
def test_derivatives_and_conjugate_are_those_of_the_value(phi):
    z = np.linspace(-3.03, 4.04, 57)[:, None]
    step = 1e-6
    slope = (phi.value(z + step) - phi.value(z - step)) / (2 * step)
    np.testing.assert_allclose(phi.slope(z), slope, atol=1e-8)
    curvature = (phi.slope(z + step) - phi.slope(z - step)) / (2 * step)
    np.testing.assert_allclose(phi.curvature(z), curvature, atol=1e-8)
    assert phi.curvature(z).max() <= phi.max_curvature
    # Fenchel's inequality, with equality at the slope.
    v = phi.slope(z)
    np.testing.assert_allclose(phi.conjugate(v), v * z - phi.value(z), atol=1e-12)
    assert np.all(phi.conjugate(v) >= v * z.T - phi.value(z.T) - 1e-12)
    costs = np.linspace(0.0, 2.0, 57)[:, None]
    for one, other in zip(
        phi._evaluate(z, costs), MarginLoss._evaluate(phi, z, costs), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_logistic_loss_agrees_with_logistic_regression(C):
    X, y, solution = solved(Logistic(), C)
    assert solution.relative_gap.max() <= 1e-10
    reference = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(
        X, y
    )
    np.testing.assert_allclose(solution.rules[:-1, 0], reference.coef_[0], rtol=1e-4, atol=1e-5)
    assert solution.rules[-1, 0] == pytest.approx(reference.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_squared_hinge_agrees_with_linear_svc(C):
    X, y, solution = solved(SquaredHinge(), C)
    assert solution.relative_gap.max() <= 1e-10
    # LinearSVC penalizes the intercept: by next to nothing where its feature is large.
    svc = LinearSVC(C=C, dual=False, intercept_scaling=1000.0, tol=1e-10, max_iter=100_000).fit(
        X, y
    )
    np.testing.assert_allclose(solution.rules[:-1, 0], svc.coef_[0], rtol=1e-3, atol=1e-4)
    z = (2 * y - 1) * (X @ svc.coef_[0] + svc.intercept_[0])
    objective = svc.coef_[0] @ svc.coef_[0] / 2 + C * SquaredHinge().value(z).sum()
    assert solution.bound[0] <= objective
    assert solution.objective[0] == pytest.approx(objective, rel=1e-6)


@pytest.mark.parametrize("phi", [SquaredHinge(), Logistic()], ids=lambda phi: type(phi).__name__)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_more_classes_have_a_certified_joint_problem(phi, C):
    X, y = load_iris(return_X_y=True)
    X, weight = scale(X), np.ones(len(y))
    loss = JointLoss(y, weight, np.ones((3, 3)), phi)
    solution = solve_path(Design(X, y, weight), loss, [C], 1e-9, 200)[0]
    assert solution.relative_gap.max() <= 1e-9
    assert np.mean((X @ solution.rules[:-1] + solution.rules[-1]).argmax(axis=1) == y) > 0.8


def test_the_page_on_extensions_runs(monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    shown = []
    monkeypatch.setattr(plt, "show", lambda: (shown.append(plt.get_fignums()), plt.close("all")))
    page = runpy.run_path(str(EXAMPLE))
    assert len(shown) == 2
    auto, own = page["auto"], page["own"]
    assert auto.nested_score_ > 0.9
    assert auto.duality_gap_ <= 1e-9
    assert own.keys() & {one["feature_map"] for one in auto.ensemble_}
    assert max(page["gaps"]) <= 1e-9
    assert page["difference"] < 1e-4
    # Each part takes at most 60 lines.
    parts = EXAMPLE.read_text("utf-8").split("\n# A loss\n# ----")
    lines = [[line for line in p.splitlines() if line and line[0] != "#"] for p in parts]
    assert len(parts) == 2
    assert all(len(part) <= 60 for part in lines)
