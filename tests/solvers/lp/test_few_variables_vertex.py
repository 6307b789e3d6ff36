"""The exchanges from vertex to vertex: rows that join, and the clock."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.solvers.lp.few_variables_vertex import TUNING, Vertex
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


def penalized(vertex, gain, value, price):
    """The objective of which a vertex is one: what is beyond a bound costs the price."""
    beyond = np.maximum(-value, 0.0) + np.maximum(value - vertex.high, 0.0)
    return -gain @ value + price * beyond.sum()


@pytest.mark.parametrize("seed", range(4))
def test_every_exchange_descends_to_the_best_point_of_its_line(seed):
    """And the inverse stays that of the rows at their bounds, the values those of a point."""
    N, value, high, gain = random_program(seed, rows=60, k=10)
    rng = np.random.default_rng(seed)
    vertex = Vertex(N, value, high, gain, rng.random(60), 10.0)
    price = TUNING.price * 10.0
    now = penalized(vertex, gain, vertex.value, price)
    for _ in range(200):
        before, done = vertex.value.copy(), vertex.exchanges
        optimal = vertex.descend(1, Controls())
        assert vertex.exchanges - done == (0 if optimal else 1)
        np.testing.assert_allclose(vertex.inverse @ N[vertex.E], np.eye(10), atol=1e-7)
        np.testing.assert_allclose(
            vertex.value - value, N @ (N.T @ (vertex.value - value)), atol=1e-8
        )
        bounds = np.where(vertex.at_high[vertex.E], high[vertex.E], 0.0)
        np.testing.assert_allclose(vertex.value[vertex.E], bounds, atol=1e-7)
        if optimal:
            break
        last, now = now, penalized(vertex, gain, vertex.value, price)
        assert now < last + 1e-6 * abs(last)
        way = vertex.value - before
        for share in (0.97, 1.03):
            assert now <= penalized(vertex, gain, before + share * way, price) + 1e-6 * abs(now)
    assert optimal
    best = reference(N, value, high, gain)
    assert gain @ (vertex.value - value) == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(N.T @ (gain + vertex.multipliers()), 0.0, atol=1e-8)
    off = np.setdiff1d(np.arange(60), vertex.E)
    assert not vertex.multipliers()[off].any()


def test_so_many_exchanges_from_a_guess_that_knows_the_bounds():
    """The firmest rows are the first guess: from those of the optimum nothing is exchanged."""
    counts = []
    for seed in range(6):
        N, value, high, gain = random_program(seed, rows=60, k=10)
        rough = Vertex(N, value, high, gain, np.ones(60), 10.0)
        assert rough.descend(500, Controls())
        counts.append(rough.exchanges)
        held = np.ones(60)
        held[rough.E] = 1e6
        again = Vertex(N, rough.value, high, gain, held, 10.0)
        assert sorted(again.E) == sorted(rough.E)
        assert again.descend(500, Controls())
        assert again.exchanges == 0
    assert np.mean(counts) <= 23


def test_a_subgradient_is_that_of_the_penalized_objective():
    N, value, high, gain = random_program(2, rows=40, k=8)
    vertex = Vertex(N, value, high, gain, np.ones(40), 10.0)
    vertex.value = vertex.value + N @ np.random.default_rng(0).standard_normal(8)
    G, outside = vertex._subgradient(7.0, np.zeros(40))
    rest = np.ones(40)
    rest[vertex.E] = 0.0  # the rows of the vertex are not part of it
    wanted = np.where(vertex.value < 0, -1.0, np.where(vertex.value > high, 1.0, 0.0)) * rest
    np.testing.assert_array_equal(outside, wanted)
    assert {-1.0, 0.0, 1.0} == set(outside)
    np.testing.assert_allclose(G, 7.0 * (wanted @ N) - N.T @ gain, atol=1e-12)


def test_a_line_without_an_end_and_too_few_exchanges_are_told():
    rng = np.random.default_rng(1)
    N = np.linalg.qr(rng.standard_normal((12, 3)))[0]
    nowhere = np.full(12, np.inf)
    gain = np.full(12, 5.0) @ N @ N.T  # along a direction in which some rows only rise
    vertex = Vertex(N, np.ones(12), nowhere, np.abs(gain), np.ones(12), 1e-9)
    assert not vertex.descend(50, Controls())
    N, value, high, gain = random_program(0, rows=60, k=10)
    short = Vertex(N, value, high, gain, np.ones(60), 10.0)
    assert not short.descend(2, Controls())
    assert short.exchanges == 2


def test_the_inverse_is_formed_anew_after_so_many_exchanges(monkeypatch):
    N, value, high, gain = random_program(0, rows=60, k=10)
    vertex = Vertex(N, value, high, gain, np.ones(60), 10.0, replace(TUNING, refresh=4))
    formed = []
    refresh = vertex.refresh
    monkeypatch.setattr(vertex, "refresh", lambda: formed.append(vertex.exchanges) or refresh())
    assert vertex.descend(500, Controls())
    assert formed == list(range(4, vertex.exchanges + 1, 4))
    assert len(formed) > 1
