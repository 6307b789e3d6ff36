"""The exchanges from vertex to vertex: rows that join, and the clock."""

import numpy as np
import pytest

from lincent.solvers.lp.few_variables_vertex import Vertex
from lincent.solvers.solution import Controls
from support.few_variables import random_program, reference


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_join_give_the_optimum_of_the_larger_program(seed):
    N, value, high, gain = random_program(seed, rows=40, k=8)
    rng = np.random.default_rng(seed)
    count = 3
    columns = 0.3 * rng.standard_normal((len(N), count))
    joined = np.block([[N, columns], [np.zeros((count, 8)), np.eye(count)]])
    at = np.array([0.0, 1.0, 0.0])
    top, more = np.ones(count), rng.standard_normal(count)
    whole = (np.concatenate(pair) for pair in ((value, at), (high, top), (gain, more)))
    all_value, all_high, all_gain = whole
    best = reference(joined, all_value, all_high, all_gain)
    vertex = Vertex(N, value, high, gain, np.ones(len(N)), 10.0)
    assert vertex.descend(500, Controls())
    vertex.join(columns, at, top, more)
    assert vertex.descend(500, Controls())
    assert all_gain @ (vertex.value - all_value) == pytest.approx(best, abs=1e-7)


def test_the_clock_ends_the_exchanges():
    N, value, high, gain = random_program(0, rows=400, k=60)
    vertex = Vertex(N, value, high, gain, np.ones(len(N)), 10.0)
    assert not vertex.descend(10_000, Controls(deadline=0.0))
    assert vertex.exchanges < 20


def test_settled_rows_are_at_their_bounds_and_the_others_follow():
    N, value, high, gain = random_program(1, rows=40, k=8)
    vertex = Vertex(N, value, high, gain, np.ones(len(N)), 10.0)
    vertex.value += 0.01 * np.random.default_rng(2).standard_normal(40)
    before = vertex.value.copy()
    vertex.settle()
    bounds = np.where(vertex.at_high[vertex.E], high[vertex.E], 0.0)
    np.testing.assert_array_equal(vertex.value[vertex.E], bounds)
    along = np.linalg.lstsq(N, vertex.value - before, rcond=None)[0]
    np.testing.assert_allclose(N @ along, vertex.value - before, atol=1e-12)
