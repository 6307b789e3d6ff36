"""From identified rows to the vertex."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

from lincent.problems.arrays import Certificate
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp import null_space
from lincent.solvers.lp.augmented_lagrangian import identify
from lincent.solvers.lp.few_variables import maximize
from lincent.solvers.lp.identification import Tuning as Choice
from lincent.solvers.lp.identification import working_start
from lincent.solvers.lp.null_space import Tuning, _Rounds, finish
from lincent.solvers.lp.working_set import RowHinges, WorkingSet
from lincent.solvers.solution import Controls, Status
from lincent.sources.sparse import CompensatedMatrix
from support.judge import assert_optimal
from support.programs import overlapping


@pytest.mark.parametrize("spare", [0.02, 0.07, 0.5])
def test_the_vertex_is_found_with_few_or_many_spare_hinges(spare):
    program = overlapping(1500, 80, 6)
    near = identify(program, Controls(), 1.3 * 80)
    assert near.best.relative_gap > 1e-6
    start = working_start(program, near, Choice(spare=spare, least_spare=2))
    found = finish(RowHinges(program), start, Controls())
    assert found.status is Status.OPTIMAL
    assert_optimal(program, found)


def test_a_point_that_is_not_near_is_given_up():
    program = overlapping(1500, 80, 7)
    near = identify(program, Controls(), 1.3 * 80)
    near.alpha = np.random.default_rng(0).permutation(near.alpha)
    near.missed = np.random.default_rng(1).permutation(near.missed)
    start = working_start(program, near)
    found = finish(RowHinges(program), start, Controls(), Tuning(rounds=3))
    assert found.certificate.relative_gap <= near.best.relative_gap


@pytest.mark.parametrize("seed", range(3))
def test_multipliers_of_a_vertex_meet_the_equation_inside_their_bounds(seed):
    """Refinement takes them off their bounds; cutting that off would cost the digits it brought."""
    program = overlapping(1500, 80, seed)
    near = identify(program, Controls(), 1.3 * 80)
    hinges, start = RowHinges(program), working_start(program, near)
    rounds = _Rounds(hinges, start, Controls(), Tuning())
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
    N = null_space._null_space(working(M), Tuning())
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

    N = null_space._null_space(Spoilt(), Tuning())
    assert len(projections) == 2
    assert np.abs(M.T @ N).max() <= 1e-11
    null_space._null_space(Spoilt(), Tuning())
    assert len(projections) == 3


@pytest.fixture(scope="module")
def near():
    program = overlapping(600, 30, 2)
    return program, identify(program, Controls(), 1.3 * 30)


def rounds_of(near, **options):
    program, named = near
    hinges, start = RowHinges(program), working_start(program, named, Choice(least_spare=8))
    return hinges, start, _Rounds(hinges, start, Controls(), Tuning(**options))


def test_a_round_is_the_optimum_of_its_working_set(near, monkeypatch):
    """The restricted dual by HiGHS; the point is on the kinks of what is between its bounds."""
    steps = []

    def counted(*given):
        found = maximize(*given)
        steps.append(found.steps)
        return found

    monkeypatch.setattr(null_space, "maximize", counted)
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
    # Beyond its kink only at zero, missed only at the top.
    off = M @ rounds.point - hinges.at[index]
    assert np.all(off[dual <= 1e-9] >= -1e-9)
    assert np.all(off[(dual > 1e-9) & ~inside] <= 1e-9)
    assert judged.dual_objective <= judged.objective
    assert rounds.steps == sum(steps) + rounds.vertex.exchanges
    rounds.vertex.exchanges = 5  # before this round, which takes none
    rounds.solve(Controls())
    assert rounds.steps == sum(steps) + rounds.vertex.exchanges - 5
    # Outside of it multipliers stay where the start had them.
    others = np.setdiff1d(np.arange(len(dual)), index)
    np.testing.assert_array_equal(rounds.dual[others], start.dual[others])


@pytest.mark.parametrize("many", [30, 2])
def test_misplaced_hinges_join_the_worst_first_and_keep_the_equation(near, many):
    hinges, _, rounds = rounds_of(near, many_joining=many)
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
    steps = rounds.steps
    rounds.join(out, Controls())
    assert (rounds.steps > steps) == (many < 9)
    M = np.hstack([hinges.columns(i[None]) if i < len(hinges.at) - 1 else
                   hinges.program.difference[:, None] for i in rounds.index]).T  # fmt: skip
    N = rounds.vertex.N
    assert N.shape == (len(rounds.index), rounds.spare + len(out))
    assert np.linalg.matrix_rank(N) == N.shape[1]
    assert np.abs(M.T @ N).max() <= 1e-8 * np.abs(M).max()
    rounds.solve(Controls())
    np.testing.assert_allclose(hinges.rest(rounds.dual), before, atol=1e-9)
    if many > 9:
        dual = rounds.vertex.value[-9:]
        np.testing.assert_array_equal(dual, rounds.dual[out])


def test_the_point_meets_its_working_set_where_columns_hardly_differ(near):
    """Refinement takes the ridge out, to the digits of least squares by an orthogonal basis."""
    hinges, start, rounds = rounds_of(near)
    M = np.vstack([hinges.columns(start.chosen[:-1]).T, hinges.program.difference])
    price = 1e-3 * np.random.default_rng(0).standard_normal(len(M))
    wanted = np.linalg.lstsq(M, hinges.at[start.chosen] + price, rcond=None)[0]
    np.testing.assert_allclose(rounds._point(price), wanted, rtol=1e-9, atol=1e-9)
    exact = rounds.base.solve
    rounds.base.solve = lambda b: 1.0001 * exact(b)  # as with a ridge
    np.testing.assert_allclose(rounds._point(price), wanted, rtol=1e-7, atol=1e-7)
    rounds.dual[rounds.index] += price
    rounds._refine()
    assert np.abs(hinges.rest(rounds.dual)).max() <= 1e-6
    rounds.refinements = 0
    loosely = rounds._point(price)
    np.testing.assert_allclose(loosely, wanted, rtol=1e-4, atol=1e-4)


def scripted(monkeypatch, *gaps, joining=0, optimal=True, more=(), lacking=False, **controls):
    """How rounds with such gaps end: the solution, and what was asked of them."""
    asked, more = [], iter(more)
    values = iter(gaps)

    class Rounds:
        steps, spare = 11, 4

        def __init__(self, hinges, start, controls, tuning):
            self.optimal = optimal

        def solve(self, controls):
            asked.append("solve")
            return answer(next(values))

        def misplaced(self):
            return np.arange(joining)

        def join(self, index, controls):
            asked.append(len(index))

        def refine_more(self):
            asked.append("refine")
            return next(more)

    monkeypatch.setattr(null_space, "_Rounds", Rounds)
    hinges = SimpleNamespace(lacking=lacking)
    start = null_space.Start(np.empty(0), np.empty(0), answer(0.5), 7)
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
    assert run(0.7, joining=9) == (stalled, 0.5, ["solve"])
    assert run(0.25, joining=3, optimal=False) == (stalled, 0.25, ["solve"])
    late = run(0.25, joining=3, deadline=0.0)
    assert late == (Status.TIME_LIMIT, 0.25, ["solve"])
    # Nothing is misplaced: digits, unless something stands outside of all hinges.
    assert run(0.25, lacking=True) == (stalled, 0.25, ["solve"])
    again = run(0.25, 0.25, more=[True, False])
    assert again == (stalled, 0.25, ["solve", "refine", "solve", "refine"])
    assert run(*[0.25] * 30, joining=1)[2].count("solve") == 25


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
    start = null_space.Start(np.empty(0), np.empty(0), answer(0.5), 7)
    found = finish(None, start, Controls())
    assert (found.status, found.certificate, found.iterations) == (Status.STALLED, start.best, 7)
