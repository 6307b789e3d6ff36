"""Several rules at once as a program: slopes, curvature, bounds and balanced flows."""

import numpy as np
import pytest

from lincent.programs.joint import Native, Separate, feasible


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
    return Separate(codes, rng.uniform(1, 2, m), side, rng.uniform(0.5, 2, (2, 3)), -1.0, 3.0)


def native(rng, m=40):
    return Native(np.arange(m) % 3, rng.uniform(1, 2, m), rng.uniform(0.5, 2, (3, 3)), -1.0, 3.0)


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
    np.testing.assert_allclose(bend, program.bend(at, change), atol=1e-6)
    # Each score by itself: what a change of that score alone does to its own slope.
    for k in range(scores.shape[1]):
        alone = np.zeros_like(scores)
        alone[:, k] = 1.0
        np.testing.assert_allclose(program.bend(at, alone)[:, k], program.bends(at)[:, k])


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
        bounds.append(program.bound(at.pull, 1.0, lambda amounts: X.T @ amounts).sum())
    assert max(bounds) <= min(values)
