"""Programs in few variables against HiGHS, by interior point and by exchanges."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp.few_variables import TUNING, _Iterate, _length, maximize
from lincent.solvers.lp.few_variables_vertex import Vertex
from lincent.solvers.solution import Controls
from support.few_variables import random_program, reference


@pytest.mark.parametrize("seed", range(12))
def test_the_interior_point_and_the_exchanges_find_the_optimum(seed):
    N, value, high, gain = random_program(seed)
    best = reference(N, value, high, gain)
    assert best is not None  # a program that says something
    found = maximize(N, -value, high - value, N.T @ gain, 1e-11, Controls())
    moved = value + N @ found.w
    assert gain @ (N @ found.w) == pytest.approx(best, abs=1e-7)
    assert np.all(moved >= -1e-8)
    assert np.all(moved <= high + 1e-8)
    np.testing.assert_allclose(N.T @ (gain + found.multipliers), 0.0, atol=1e-7)
    unit = float(np.abs(found.multipliers).max())
    # From a rough guess: the rows ranked by nothing but their number.
    vertex = Vertex(N, value, high, gain, np.linspace(1.0, 2.0, len(N)), unit)
    assert vertex.descend(500, Controls())
    assert vertex.refresh()
    assert gain @ (vertex.value - value) == pytest.approx(best, abs=1e-8)
    assert np.all(vertex.value >= -1e-9)
    assert np.all(vertex.value <= high + 1e-9)
    p = vertex.multipliers()
    at_high = np.isfinite(high) & (vertex.value > high / 2)
    assert np.all(np.where(at_high, -p, p) >= -1e-7 * unit)


def iterate(seed=0):
    """Some steps on the way, where nothing is met exactly."""
    N, value, high, gain = random_program(seed)
    point = _Iterate(N, -value, high - value, N.T @ gain, TUNING)
    return N, value, high, gain, point


def conditions(N, value, high, gain, point):
    """The bounds with their slacks, and the prices, as the file states them."""
    finite = np.flatnonzero(np.isfinite(high))
    low, top = point.S[: len(N)], point.S[len(N) :]
    p = point.Z[: len(N)].copy()
    p[finite] -= point.Z[len(N) :]
    v = N @ point.w
    return v + value - low, (high - value - v)[finite] - top, N.T @ (gain + p)


def test_a_start_is_inside_its_slacks():
    N, value, high, gain, point = iterate()
    width = np.where(np.isfinite(high), high, np.median(high[np.isfinite(high)]))
    slack = np.concatenate([value, (high - value)[np.isfinite(high)]])
    widths = np.concatenate([width, width[np.isfinite(high)]])
    np.testing.assert_allclose(point.S, np.maximum(slack, TUNING.start_slack * widths), atol=1e-12)
    np.testing.assert_allclose(point.Z, TUNING.start_price * np.abs(N.T @ gain).max(), atol=1e-12)


def test_a_direction_meets_the_linearized_conditions():
    N, value, high, gain, point = iterate()
    point.S *= 1.3  # so that the rows are unmet as well
    for _ in range(3):
        point.r_rows = point.spread(N @ point.w) - point.bounds - point.S
        point.r_price = -(point.q + N.T @ point.fold(point.Z))
        S, Z, w = point.S.copy(), point.Z.copy(), point.w.copy()
        assert point._advance(float(S @ Z) / len(S))
        assert min(point.S.min(), point.Z.min()) > 0
        R = S * np.random.default_rng(0).uniform(-1, 1, len(S))
        after = point.S, point.Z, point.w
        point.S, point.Z, point.w = S, Z, w
        dw, dS, dZ = point._direction(R)
        np.testing.assert_allclose(Z * dS + S * dZ, R, atol=1e-9)
        point.S, point.Z, point.w = S + dS, Z + dZ, w + dw
        for rest in conditions(N, value, high, gain, point):
            np.testing.assert_allclose(rest, 0.0, atol=1e-7)
        point.S, point.Z, point.w = after


def test_lengths_keep_the_slacks_positive():
    x, dx = np.array([1.0, 2.0, 3.0]), np.array([1.0, -4.0, -3.0])
    assert _length(x, dx) == 0.5
    assert _length(x, dx / 8) == 1.0
    assert _length(x, np.ones(3)) == 1.0


@pytest.mark.parametrize(("shape", "most"), [((40, 6), 9.7), ((120, 30), 11.4)])
def test_so_many_steps_are_enough(shape, most):
    steps = []
    for seed in range(8):
        N, value, high, gain = random_program(seed, *shape)
        if reference(N, value, high, gain) is None:
            continue
        found = maximize(N, -value, high - value, N.T @ gain, 1e-11, Controls())
        steps.append(found.steps)
        # Firmly held are those at a bound, and no others.
        moved = value + N @ found.w
        at_bound = np.minimum(moved, high - moved) < 1e-6
        assert found.held[at_bound].min() > 10 * found.held[~at_bound].max()
        assert np.count_nonzero(at_bound) == shape[1]
    assert len(steps) >= 4
    assert np.mean(steps) <= most


def test_the_clock_and_the_limit_of_steps_are_kept():
    N, value, high, gain = random_program(0)
    arguments = (N, -value, high - value, N.T @ gain)
    assert maximize(*arguments, 1e-11, Controls(deadline=0.0)).steps == 0
    assert maximize(*arguments, 1e-11, Controls(), replace(TUNING, most_steps=3)).steps == 3
    assert (
        maximize(*arguments, 1e-2, Controls()).steps < maximize(*arguments, 1e-11, Controls()).steps
    )


def test_a_program_without_upper_bounds_and_without_prices():
    rng = np.random.default_rng(3)
    N = np.linalg.qr(rng.standard_normal((20, 3)))[0]
    value = rng.random(20)
    nowhere = np.full(20, np.inf)
    found = maximize(N, -value, nowhere, np.zeros(3), 1e-9, Controls())
    assert np.all(value + N @ found.w > -1e-9)
    # Prices that only bounds from below can pay.
    q = -N.T @ rng.random(20)
    found = maximize(N, -value, nowhere, q, 1e-11, Controls())
    np.testing.assert_allclose(q + N.T @ found.multipliers, 0.0, atol=1e-7)
    assert np.all(found.multipliers >= -1e-12)


def test_without_variables_nothing_is_chosen_and_rows_can_still_join():
    """A working set of independent hinges has an empty null space."""
    rng = np.random.default_rng(0)
    N, value, high, gain = np.zeros((5, 0)), np.full(5, 0.5), np.ones(5), rng.normal(size=5)
    answer = maximize(N, -value, high - value, np.zeros(0), 1e-9, Controls())
    assert answer.steps == 0
    assert answer.w.shape == (0,)
    np.testing.assert_array_equal(answer.multipliers, np.zeros(5))
    vertex = Vertex(N, value, high, gain, answer.held, 1.0)
    assert vertex.descend(10, Controls())
    np.testing.assert_array_equal(vertex.multipliers(), np.zeros(5))
    vertex.join(rng.normal(size=(5, 1)) * 0.1, np.zeros(1), np.ones(1), np.array([3.0]))
    assert vertex.descend(10, Controls())
    assert vertex.refresh()
    assert vertex.value[-1] > 0.0
