"""Several rules at once as a program: slopes, curvature, bounds and balanced flows."""

import numpy as np
import pytest

from lincent.problems.joint import JointLoss, SeparateLoss, SmoothedHinge, feasible


def test_balanced_flows():
    rng = np.random.default_rng(0)
    for spread in (0.01, 1.0, 30.0):
        flow = np.exp(spread * rng.normal(size=(5, 5)))
        np.fill_diagonal(flow, 0.0)
        factor = feasible(flow)
        left = flow * factor
        assert factor.min() >= 0.0
        assert factor.max() <= 1.0
        np.testing.assert_allclose(left.sum(axis=0), left.sum(axis=1), atol=1e-9 * flow.sum())


def separate(rng, m=40):
    codes = np.arange(m) % 3
    side = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]])
    return SeparateLoss(
        codes, rng.uniform(1, 2, m), side, rng.uniform(0.5, 2, (2, 3)), SmoothedHinge(-1.0, 3.0)
    )


def native(rng, m=40):
    return JointLoss(
        np.arange(m) % 3,
        rng.uniform(1, 2, m),
        rng.uniform(0.5, 2, (3, 3)),
        SmoothedHinge(-1.0, 3.0),
    )


def test_a_block_is_a_rule_of_separate_problems_and_all_rules_of_native_ones():
    rng = np.random.default_rng(0)
    assert separate(rng).blocks == 2
    assert native(rng).blocks == 1


@pytest.mark.parametrize("make", [separate, native])
def test_slope_and_curvature_are_those_of_the_loss(make):
    rng = np.random.default_rng(1)
    program = make(rng)
    scores = 2 * rng.normal(size=(40, len(program.curvature())))
    change = rng.normal(size=scores.shape)
    at, h = program.read(scores), 1e-6
    ahead, behind = (program.read(scores + way * h * change) for way in (1, -1))
    slope = (ahead.loss.sum() - behind.loss.sum()) / (2 * h)
    assert slope == pytest.approx((at.slope * change).sum(), rel=1e-6)
    bend = (ahead.slope - behind.slope) / (2 * h)
    np.testing.assert_allclose(bend, program.hessian_product(at, change), atol=1e-6)
    # Each score by itself: what a change of that score alone does to its own slope.
    for k in range(scores.shape[1]):
        alone = np.zeros_like(scores)
        alone[:, k] = 1.0
        np.testing.assert_allclose(
            program.hessian_product(at, alone)[:, k], program.hessian_diagonal(at)[:, k]
        )


@pytest.mark.parametrize("make", [separate, native])
def test_no_point_is_below_the_bound_of_another(make):
    rng = np.random.default_rng(2)
    program = make(rng)
    X = rng.normal(size=(40, 4))
    values, bounds = [], []
    for _ in range(30):
        rules = rng.normal(size=(4, len(program.curvature())))
        at = program.read(X @ rules)
        penalty = program.ridge / 2 * (rules**2).sum(axis=0)
        values.append(at.loss.sum() + penalty.sum())
        bounds.append(program.bound(at.dual_weight, 1.0, lambda amounts: X.T @ amounts).sum())
    assert max(bounds) <= min(values)


def written_out(program, dual, scale, X):
    """(D) of the separate problems as a loop over rules and rows."""
    width, bounds = program.phi.high - program.phi.low, []
    for k in range(dual.shape[1]):
        alpha = scale * program.costs[:, k] * dual[:, k]
        side = program.sign[:, k]
        up, down = alpha[side > 0].sum(), alpha[side < 0].sum()
        held = np.array(
            [
                a * min(1.0, (down / up if s > 0 else up / down) if min(up, down) > 0 else 0.0)
                for a, s in zip(alpha, side, strict=True)
            ]
        )
        square = sum(
            a * a / (scale * c) for a, c in zip(held, program.costs[:, k], strict=True) if c > 0
        )
        image = X.T @ (side * held)
        bounds.append(program.phi.high * held.sum() - width / 2 * square - image @ image / 2)
    return bounds


@pytest.mark.parametrize("light", [-1.0, 1.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
def test_the_bound_of_separate_problems_is_the_stated_one(scale, light):
    rng = np.random.default_rng(3)
    program, X = separate(rng), rng.normal(size=(40, 4))
    dual = rng.random((40, 2))
    dual[:, 0] *= np.where(program.sign[:, 0] == light, 0.1, 1.0)
    dual[:, 1] = np.where(program.sign[:, 1] > 0, 0.0, dual[:, 1])  # one class has no dual weight
    found = program.bound(dual, scale, lambda amounts: X.T @ amounts)
    np.testing.assert_allclose(found, written_out(program, dual, scale, X), rtol=1e-12, atol=1e-15)


def test_flows_that_nearly_balance_are_nearly_kept():
    """Round a circle, where both directions of a pair have nothing in common."""
    circle = np.roll(np.eye(4), 1, axis=1)
    for excess in (0.0, 1e-6, 1e-2):
        flow = circle * (1.0 + excess * np.arange(4))
        factor = feasible(flow)
        assert factor[flow > 0].min() >= 1.0 - 4 * excess
        left = flow * factor
        np.testing.assert_allclose(left.sum(axis=0), left.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
def test_the_bound_of_native_problems_is_the_stated_one(scale):
    """Amounts at pairs, made feasible, as a loop over rows and rules."""
    rng = np.random.default_rng(5)
    program, X = native(rng), rng.normal(size=(40, 4))
    dual = rng.random((40, 3))
    alpha = scale * program.costs * dual
    flow = np.array([alpha[program.codes == k].sum(axis=0) for k in range(3)])
    alpha = alpha * feasible(flow)[program.codes]
    square, away = 0.0, np.zeros((40, 3))
    for i, y in enumerate(program.codes):
        for k in range(3):
            if k != y:
                square += alpha[i, k] ** 2 / (scale * program.costs[i, k])
                away[i, k] -= alpha[i, k]
                away[i, y] += alpha[i, k]
    image = X.T @ away
    stated = 3.0 * alpha.sum() - 4.0 / 2 * square - (image**2).sum() / 4
    found = program.bound(dual, scale, lambda amounts: X.T @ amounts)
    np.testing.assert_allclose(found, [stated], rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("make", [separate, native])
def test_curvature_is_the_largest_of_a_row_of_each_class(make):
    program = make(np.random.default_rng(6))
    inside = program.read(np.full((40, len(program.curvature())), 0.0))
    assert inside.curved.all()
    bends = program.hessian_diagonal(inside) / program.weight[:, None]
    for y in range(3):
        for row in np.flatnonzero(program.codes == y):
            np.testing.assert_allclose(bends[row], program.curvature()[:, y], rtol=1e-12)


def test_flows_of_any_size_are_balanced_alike():
    flow = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [2.0, 1.5, 0.0]])
    for size in (1e-200, 1e-9, 1.0, 1e9):
        np.testing.assert_allclose(feasible(size * flow), feasible(flow), rtol=1e-9)
    assert feasible(flow)[flow > 0].min() > 0.5
