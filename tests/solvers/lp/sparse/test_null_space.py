"""From identified hinges to the vertex, and the small programs on the way."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

from lincent.problems.centralization import Certificate
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp.sparse import null_space
from lincent.solvers.lp.sparse.compensated import CompensatedMatrix
from lincent.solvers.lp.sparse.hinges import RowHinges, WorkingSet
from lincent.solvers.lp.sparse.identification import RowTuning, start_from_rows
from lincent.solvers.lp.sparse.lagrangian import identify_rows
from lincent.solvers.lp.sparse.null_space import PRICE, Vertex, _Rounds, finish
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows
from support.constants import set_constants
from support.few_variables import random_program, reference
from support.optimality import assert_optimal
from support.programs import overlapping


@pytest.mark.parametrize("spare", [0.02, 0.07, 0.5])
def test_the_vertex_is_found_with_few_or_many_spare_hinges(spare):
    program = overlapping(1500, 80, 6)
    near = identify_rows(program, Controls(), 1.3 * 80)
    assert near.best.relative_gap > 1e-6
    start = start_from_rows(program, near, RowTuning(spare=spare, least_spare=2))
    found = finish(RowHinges(program), start, Controls())
    assert found.status is Status.OPTIMAL
    assert_optimal(program, found)


def test_a_point_that_is_not_near_is_given_up(monkeypatch):
    program = overlapping(1500, 80, 7)
    near = identify_rows(program, Controls(), 1.3 * 80)
    near.alpha = np.random.default_rng(0).permutation(near.alpha)
    near.missed = np.random.default_rng(1).permutation(near.missed)
    start = start_from_rows(program, near)
    set_constants(monkeypatch, null_space, rounds=3)
    found = finish(RowHinges(program), start, Controls())
    assert found.certificate.relative_gap <= near.best.relative_gap


@pytest.mark.parametrize("seed", range(3))
def test_multipliers_of_a_vertex_meet_the_equation_inside_their_bounds(seed):
    """Refinement takes them off their bounds; cutting that off would cost the digits it brought."""
    program = overlapping(1500, 80, seed)
    near = identify_rows(program, Controls(), 1.3 * 80)
    hinges, start = RowHinges(program), start_from_rows(program, near)
    rounds = _Rounds(hinges, start)
    rounds.solve(Controls())
    rng = np.random.default_rng(seed)
    rounds.vertex.value += 1e-6 * rng.standard_normal(len(rounds.index)) * program.costs[0]
    rounds._settle()
    held = rounds.index[rounds.vertex.E]
    top = np.where(rounds.vertex.at_high[rounds.vertex.E], hinges.top[held], 0.0)
    np.testing.assert_array_equal(rounds.dual[held], top)
    assert np.abs(hinges.rest(rounds.dual)).max() <= 1e-11 * np.abs(program.linear).max() * 1500


def working(M):
    """A working set that is this matrix."""
    count, n = M.shape
    nothing = CompensatedMatrix(M, np.zeros(count), np.zeros(n))
    return WorkingSet(nothing, np.empty(0, dtype=np.intp), np.empty(0), np.empty((0, n)))


@pytest.mark.parametrize(
    ("count", "n", "rank", "scale"),
    [(30, 12, 12, 1.0), (12, 12, 12, 1.0), (40, 30, 6, 1.0), (10, 12, 8, 1.0), (60, 20, 20, 0.05)],
)
def test_a_null_space_is_orthonormal_and_complete(count, n, rank, scale):
    """Also where columns depend on each other, or are near to it."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((count, rank)) @ rng.standard_normal((rank, n))
    M[:, : n // 2] += (scale - 1.0) * (M[:, : n // 2] - M[:, n // 2 :][:, : n // 2])
    N = null_space._null_space(working(M))
    assert N.shape == (count, count - rank)
    if count > rank:
        np.testing.assert_allclose(N.T @ N, np.eye(count - rank), atol=1e-7)
        assert np.abs(M.T @ N).max() <= 1e-8 * np.abs(M).max()
    assert N.flags.c_contiguous


def test_a_basis_that_an_ill_conditioned_matrix_has_spoilt_is_projected_again():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((40, 10))
    projections = []

    class Spoilt:
        shape = (40, 10)

        def dot(self, V):
            return M @ V

        def tdot(self, U):
            return M.T @ U

        def solve(self, b):
            projections.append(b.shape)
            wrong = 1e-6 if len(projections) == 1 else 0.0
            return np.linalg.solve(M.T @ M, b) * (1 + wrong)

    N = null_space._null_space(Spoilt())
    assert len(projections) == 2
    assert np.abs(M.T @ N).max() <= 1e-11
    null_space._null_space(Spoilt())
    assert len(projections) == 3


@pytest.fixture(scope="module")
def near():
    program = overlapping(600, 30, 2)
    return program, identify_rows(program, Controls(), 1.3 * 30)


def rounds_of(near):
    program, named = near
    hinges, start = RowHinges(program), start_from_rows(program, named, RowTuning(least_spare=8))
    return hinges, start, _Rounds(hinges, start)


def test_a_round_is_the_optimum_of_its_working_set(near):
    """The restricted dual by HiGHS; hinges between their bounds are active."""
    hinges, start, rounds = rounds_of(near)
    judged = rounds.solve(Controls())
    assert rounds.optimal
    index = start.chosen
    M = hinges.columns(index[:-1]).T
    M = np.vstack([M, hinges.program.difference])
    wanted = hinges.rest(rounds.dual) + M.T @ rounds.dual[index]
    bounds = [(0.0, top if np.isfinite(top) else None) for top in hinges.top[index]]
    found = linprog(-hinges.at[index], A_eq=M.T, b_eq=wanted, bounds=bounds, method="highs")
    assert found.status == 0
    assert hinges.at[index] @ rounds.dual[index] == pytest.approx(-found.fun, rel=1e-7)
    dual, top = rounds.dual[index], hinges.top[index]
    inside = (dual > 1e-9) & (dual < top - 1e-9)
    np.testing.assert_allclose((M @ rounds.point)[inside], hinges.at[index][inside], atol=1e-9)
    # Beyond its breakpoint only at zero, violated only at the top.
    off = M @ rounds.point - hinges.at[index]
    assert np.all(off[dual <= 1e-9] >= -1e-9)
    assert np.all(off[(dual > 1e-9) & ~inside] <= 1e-9)
    assert judged.dual_objective <= judged.objective
    assert rounds.steps == rounds.vertex.pivots
    rounds.vertex.pivots, steps = 5, rounds.steps  # before this round, which takes none
    rounds.solve(Controls())
    assert rounds.steps == steps + rounds.vertex.pivots - 5
    # Outside of it multipliers stay where the start had them.
    others = np.setdiff1d(np.arange(len(dual)), index)
    np.testing.assert_array_equal(rounds.dual[others], start.dual[others])


def test_misplaced_hinges_join_the_worst_first_and_keep_the_equation(near):
    hinges, _, rounds = rounds_of(near)
    rounds.solve(Controls())
    point = rounds.point
    rounds.point = point + 0.3 * np.random.default_rng(0).standard_normal(30)
    beyond = hinges.beyond(rounds.point)
    at_top = rounds.dual == hinges.top
    wrong = np.where(at_top, beyond, -beyond)
    wrong[rounds.index] = 0.0
    expected = [i for i in np.argsort(-wrong, kind="stable") if wrong[i] > 0]
    np.testing.assert_array_equal(rounds.misplaced(), expected)
    assert len(expected) > 5
    rounds.point = point
    before = hinges.rest(rounds.dual)
    # All the rows that are left out with the largest distance, wrong or not.
    out = np.setdiff1d(np.arange(hinges.m), rounds.index)[:9]
    rounds.join(out)
    M = np.hstack([hinges.columns(i[None]) if i < len(hinges.at) - 1 else
                   hinges.program.difference[:, None] for i in rounds.index]).T  # fmt: skip
    N = rounds.vertex.N
    assert N.shape == (len(rounds.index), rounds.spare + len(out))
    assert np.linalg.matrix_rank(N) == N.shape[1]
    assert np.abs(M.T @ N).max() <= 1e-8 * np.abs(M).max()
    rounds.solve(Controls())
    np.testing.assert_allclose(hinges.rest(rounds.dual), before, atol=1e-9)
    np.testing.assert_array_equal(rounds.vertex.value[-9:], rounds.dual[out])


def test_a_direction_without_hinges_keeps_its_start(near):
    """Of features that depend on each other fewer hinges are taken, and the rest is at a bound."""
    program, _ = near
    A = program.rows.dense()
    thrice = replace(
        program,
        rows=DenseRows(np.hstack([A, A, A])),
        linear=np.tile(program.linear, 3),
        difference=np.tile(program.difference, 3),
        lower=np.tile(program.lower, 3),
        upper=np.tile(program.upper, 3),
    )
    named = identify_rows(thrice, Controls(), 1.3 * 90)
    start = start_from_rows(thrice, named, RowTuning(spare=0.2, least_spare=18))
    hinges, n = RowHinges(thrice), A.shape[1]
    rounds = _Rounds(hinges, start)
    assert len(rounds.index) < len(start.chosen)
    assert rounds.spare < len(start.chosen) - n - 10
    dropped = np.setdiff1d(start.chosen, rounds.index)
    assert np.all(np.isin(rounds.dual[dropped] / hinges.top[dropped], [0.0, 1.0]))
    rounds.solve(Controls())
    first, second = rounds.point[:n], rounds.point[-n:]
    np.testing.assert_allclose(
        first - second, start.best.beta[:n] - start.best.beta[-n:], atol=1e-4
    )
    assert finish(hinges, start, Controls()).status is Status.OPTIMAL


def test_the_point_meets_its_working_set_where_columns_hardly_differ(near):
    """Refinement takes the ridge out, to the digits of least squares by an orthogonal basis."""
    hinges, start, rounds = rounds_of(near)
    M = np.vstack([hinges.columns(start.chosen[:-1]).T, hinges.program.difference])
    price = 1e-3 * np.random.default_rng(0).standard_normal(len(M))
    off = np.setdiff1d(np.arange(len(M)), rounds.vertex.E)
    wanted = np.linalg.lstsq(M[off], hinges.at[start.chosen][off], rcond=None)[0]
    np.testing.assert_allclose(rounds._point(), wanted, rtol=1e-9, atol=1e-9)
    exact = rounds.base.solve
    rounds.base.solve = lambda b: 1.0001 * exact(b)  # as with a ridge
    np.testing.assert_allclose(rounds._point(), wanted, rtol=1e-7, atol=1e-7)
    rounds.dual[rounds.index] += price
    rounds._refine()
    assert np.abs(hinges.rest(rounds.dual)).max() <= 1e-6
    rounds.refinements = 0
    loosely = rounds._point()
    np.testing.assert_allclose(loosely, wanted, rtol=1e-4, atol=1e-4)


def scripted(monkeypatch, *gaps, joining=0, optimal=True, more=(), lacking=False, **controls):
    """How rounds with such gaps end: the solution, and what was asked of them."""
    asked, more = [], iter(more)
    values = iter(gaps)

    class Rounds:
        steps, spare = 11, 4

        def __init__(self, hinges, start):
            self.optimal = optimal

        def solve(self, controls):
            asked.append("solve")
            return answer(next(values))

        def misplaced(self):
            return np.arange(joining)

        def join(self, index):
            asked.append(len(index))

        def refine_more(self):
            asked.append("refine")
            return next(more)

    monkeypatch.setattr(null_space, "_Rounds", Rounds)
    hinges = SimpleNamespace(lacking=lacking)
    start = null_space.FaceStart(np.empty(0), np.empty(0), answer(0.5), 7)
    lines = []
    found = finish(hinges, start, Controls(tell=lines.append, **controls))
    assert found.iterations == 18
    for number, line in enumerate(lines):
        assert f"round {number + 1}" in line
    return found.status, found.relative_gap, asked


def answer(gap):
    return Certificate(np.zeros(1), np.zeros(1), 0.0, 1.0, 1.0 - gap)


def test_rounds_go_on_while_they_may_lead_to_the_optimum(monkeypatch):
    def run(*gaps, **options):
        return scripted(monkeypatch, *gaps, **options)

    optimal, stalled = Status.OPTIMAL, Status.STALLED
    assert run(0.0) == (optimal, 0.0, ["solve"])
    assert run(0.1, 0.0, joining=8) == (optimal, 0.0, ["solve", 8, "solve"])
    # The best of what was seen is the answer, the start among it.
    assert run(0.7, joining=13) == (stalled, 0.5, ["solve"])
    # Those of all rounds count.
    assert run(0.25, 0.25, joining=7) == (stalled, 0.25, ["solve", 7, "solve"])
    assert run(0.25, joining=3, optimal=False) == (stalled, 0.25, ["solve"])
    late = run(0.25, joining=3, deadline=0.0)
    assert late == (Status.TIME_LIMIT, 0.25, ["solve"])
    # Nothing is misplaced: digits, unless something stands outside of all hinges.
    assert run(0.25, lacking=True) == (stalled, 0.25, ["solve"])
    again = run(0.25, 0.25, more=[True, False])
    assert again == (stalled, 0.25, ["solve", "refine", "solve", "refine"])
    assert run(*[0.25] * 30, joining=1)[2].count("solve") == 13
    assert run(*[0.25] * 30, more=[True] * 30)[2].count("solve") == 25


def test_refinements_grow_up_to_the_most(near):
    _, _, rounds = rounds_of(near)
    grown = []
    while rounds.refine_more():
        grown.append(rounds.refinements)
    assert grown == [3, 5, 7]


def test_a_matrix_that_is_not_positive_is_handed_on(monkeypatch):
    def refuse(*_):
        raise NotPositiveDefiniteError

    monkeypatch.setattr(null_space, "_Rounds", refuse)
    start = null_space.FaceStart(np.empty(0), np.empty(0), answer(0.5), 7)
    found = finish(None, start, Controls())
    assert (found.status, found.certificate, found.iterations) == (Status.STALLED, start.best, 7)


@pytest.mark.parametrize("seed", range(12))
def test_pivots_find_the_optimum(seed):
    N, value, high, gain = random_program(seed)
    best = reference(N, value, high, gain)
    assert best is not None  # a program that says something
    unit = float(np.abs(gain).max())
    # From a rough guess: the rows ranked by nothing but their number.
    vertex = Vertex(N, value, high, gain, np.linspace(1.0, 2.0, len(N)), unit)
    assert vertex.descend(500, Controls())
    assert vertex.refresh()
    assert gain @ (vertex.value - value) == pytest.approx(best, abs=1e-8)
    assert np.all(vertex.value >= -1e-9)
    assert np.all(vertex.value <= high + 1e-9)
    p = vertex.multipliers()
    np.testing.assert_allclose(N.T @ (gain + p), 0.0, atol=1e-7)
    at_high = np.isfinite(high) & (vertex.value > high / 2)
    assert np.all(np.where(at_high, -p, p) >= -1e-7 * unit)


def test_without_variables_nothing_is_chosen_and_rows_can_still_join():
    """A working set of independent hinges has an empty null space."""
    rng = np.random.default_rng(0)
    N, value, high, gain = np.zeros((5, 0)), np.full(5, 0.5), np.ones(5), rng.normal(size=5)
    vertex = Vertex(N, value, high, gain, np.ones(5), 1.0)
    assert vertex.descend(10, Controls())
    np.testing.assert_array_equal(vertex.multipliers(), np.zeros(5))
    vertex.join(rng.normal(size=(5, 1)) * 0.1, np.zeros(1), np.ones(1), np.array([3.0]))
    assert vertex.descend(10, Controls())
    assert vertex.refresh()
    assert vertex.value[-1] > 0.0


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


def test_the_clock_ends_the_pivots():
    N, value, high, gain = random_program(0, rows=400, k=60)
    vertex = Vertex(N, value, high, gain, np.ones(len(N)), 10.0)
    assert not vertex.descend(10_000, Controls(deadline=0.0))
    assert vertex.pivots < 20


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
def test_every_pivot_descends_to_the_best_point_of_its_line(seed):
    """And the inverse stays that of the rows at their bounds, the values those of a point."""
    N, value, high, gain = random_program(seed, rows=60, k=10)
    rng = np.random.default_rng(seed)
    vertex = Vertex(N, value, high, gain, rng.random(60), 10.0)
    price = PRICE * 10.0
    now = penalized(vertex, gain, vertex.value, price)
    for _ in range(200):
        before, done = vertex.value.copy(), vertex.pivots
        optimal = vertex.descend(1, Controls())
        assert vertex.pivots - done == (0 if optimal else 1)
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


def test_so_many_pivots_from_a_guess_that_knows_the_bounds():
    """The firmest rows are the first guess: from those of the optimum no pivot is made."""
    counts = []
    for seed in range(6):
        N, value, high, gain = random_program(seed, rows=60, k=10)
        rough = Vertex(N, value, high, gain, np.ones(60), 10.0)
        assert rough.descend(500, Controls())
        counts.append(rough.pivots)
        held = np.ones(60)
        held[rough.E] = 1e6
        again = Vertex(N, rough.value, high, gain, held, 10.0)
        assert sorted(again.E) == sorted(rough.E)
        assert again.descend(500, Controls())
        assert again.pivots == 0
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


def test_a_line_without_an_end_and_too_few_pivots_are_reported():
    rng = np.random.default_rng(1)
    N = np.linalg.qr(rng.standard_normal((12, 3)))[0]
    nowhere = np.full(12, np.inf)
    gain = np.full(12, 5.0) @ N @ N.T  # along a direction in which some rows only rise
    vertex = Vertex(N, np.ones(12), nowhere, np.abs(gain), np.ones(12), 1e-9)
    assert not vertex.descend(50, Controls())
    N, value, high, gain = random_program(0, rows=60, k=10)
    short = Vertex(N, value, high, gain, np.ones(60), 10.0)
    assert not short.descend(2, Controls())
    assert short.pivots == 2


def test_the_inverse_is_recomputed_after_so_many_pivots(monkeypatch):
    N, value, high, gain = random_program(0, rows=60, k=10)
    monkeypatch.setattr(null_space, "REFRESH", 4)
    vertex = Vertex(N, value, high, gain, np.ones(60), 10.0)
    formed = []
    refresh = vertex.refresh
    monkeypatch.setattr(vertex, "refresh", lambda: formed.append(vertex.pivots) or refresh())
    assert vertex.descend(500, Controls())
    assert formed == list(range(4, vertex.pivots + 1, 4))
    assert len(formed) > 1
