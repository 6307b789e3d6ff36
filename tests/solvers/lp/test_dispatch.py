"""Every solver on every problem of the library."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.estimators.problem import BinaryProblem
from lincent.problems.centralization import Certificate
from lincent.solvers.lp import dispatch, highs, screening
from lincent.solvers.lp.sparse import identification
from lincent.solvers.solution import Controls, Solution, Status
from support.degenerate import degenerate_program, program_of
from support.optimality import assert_optimal
from support.problems import PROBLEMS, tiled
from support.programs import program_of_rows

FEASIBLE = [problem for problem in PROBLEMS if not problem.infeasible]
INFEASIBLE = [problem for problem in PROBLEMS if problem.infeasible]
SOFT = [problem for problem in FEASIBLE if not problem.program.hard]


def named(problem):
    return problem.name


def check(problem, solution):
    assert_optimal(problem.program, solution)
    found = solution.certificate
    np.testing.assert_allclose(found.objective, problem.optimum, rtol=1e-9, atol=1e-9)
    if problem.beta is not None:
        np.testing.assert_allclose(found.beta, problem.beta, atol=1e-7)


@pytest.mark.parametrize("solver", dispatch.SOLVERS)
@pytest.mark.parametrize("problem", FEASIBLE, ids=named)
def test_optimum(problem, solver):
    solution = dispatch.solve(problem.program, solver, Controls(), np.random.default_rng(0))
    assert solution.status is Status.OPTIMAL
    check(problem, solution)


@pytest.mark.parametrize("solver", dispatch.SOLVERS)
@pytest.mark.parametrize("problem", INFEASIBLE, ids=named)
def test_infeasible_is_never_certified(problem, solver):
    solution = dispatch.solve(problem.program, solver, Controls(), np.random.default_rng(0))
    assert solution.status is Status.INFEASIBLE
    assert solution.certificate.objective == np.inf
    assert solution.relative_gap == np.inf


@pytest.mark.parametrize("problem", SOFT, ids=named)
def test_screening_on_many_copies(problem):
    """Thousands of tied rows: the band cannot be told from the rest by distance alone."""
    many = tiled(problem, 5000 // problem.program.shape[0] + 1)
    solution = dispatch.solve(many.program, "auto", Controls(), np.random.default_rng(0))
    assert screening.is_applicable(*many.program.shape)
    check(many, solution)


# One point is left but for columns that d does not see; a vertex whose multipliers, in doubles,
# leave a gap on columns of scale 1e7; a coordinate that rounding took off the box; columns that are
# constant, or have equal class means, and of which rounding left d a digit.
SOLVED = [2515, 2956, 8950, 2728, 4249, 6356, 7015, 2833, 12927, 16170, 17633, 23868, 33383, 36874]
SOLVED += [95180, 96762]  # an optimum that is not unique beside multipliers of large rounding
SOLVED += [127130]  # dependent columns with gradients millions of times the objective
SOLVED += [284577]  # equal columns of which the last digits of a sum tell which is at the box
SOLVED += [237295, 241807]  # multipliers a few roundings from their bounds, which large columns see


@pytest.mark.parametrize("seed", SOLVED)
def test_programs_that_once_went_to_highs(seed):
    program = degenerate_program(seed)
    solution = dispatch.solve(program, "auto", Controls(), np.random.default_rng(0))
    assert solution.status is Status.OPTIMAL
    assert solution.solver != highs.NAME
    assert solution.relative_gap <= Controls().tol
    assert_optimal(program, solution)


# Costs of 3e7 and a dual weight of 1e8, or a column of scale 4e5 that depends on others: the
# rounding of beta alone is a gap.  Equal rows whose gap is small only once they are apart again.
@pytest.mark.parametrize("seed", [5_244_279, 9_195_563, 5_226_930, 5_295_006])
def test_the_status_is_optimal_exactly_where_the_certificate_is(seed):
    solution = dispatch.solve(
        degenerate_program(seed), "auto", Controls(), np.random.default_rng(0)
    )
    assert solution.relative_gap < 1e-7
    optimal = solution.status is Status.OPTIMAL
    assert optimal == solution.certified(Controls().tol)


def one_hot(rng, m, n):
    return np.eye(n)[rng.integers(0, n, m)]


DEPENDENT = {
    "rank one": lambda rng: (np.outer(rng.normal(size=150), rng.normal(size=17)) + 1e5, 1e-5, 2.0),
    "rank two": lambda rng: (
        rng.integers(-3, 4, (90, 2)) @ rng.normal(size=(2, 20)) + 1e4, 1e-3, 500.0,
    ),
    "one-hot": lambda rng: (1e5 * np.tile(one_hot(rng, 100, 14), (5, 1)), 1e-5, 2.0),
    "large and small": lambda rng: (
        rng.integers(0, 2, (150, 22)) * 10.0 ** rng.uniform(5, 13, 22), 1e-5, 2.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", DEPENDENT)
@pytest.mark.parametrize("seed", range(4))
def test_dependent_columns_are_certified_without_highs(kind, seed):
    """Rounding is all that tells such columns apart, and a small margin makes it a gap."""
    rng = np.random.default_rng(seed)
    X, share, C = DEPENDENT[kind](rng)
    sign = np.where(rng.random(len(X)) < 0.4, 1.0, -1.0)
    problem = BinaryProblem(np.asarray(X, dtype=float), sign, np.ones(len(X)), np.ones(len(X)))
    program = problem.program(problem.costs(C), share * problem.largest_margin)
    solution = dispatch.solve(program, "auto", Controls(), np.random.default_rng(0))
    assert solution.solver != highs.NAME
    assert solution.relative_gap <= Controls().tol


def ordinary(m=60, n=4, seed=0):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    return program_of(rng.normal(size=(m, n)) + 0.4 * sign[:, None], sign)


@dataclass(frozen=True)
class Shaped:
    """Rows of which only the shape is asked; at a corner all of them keep the margin, or none."""

    shape: tuple[int, int]
    sparse: bool = False
    is_remote: bool = False
    missed: bool = True

    def dot(self, beta):
        return np.full(self.shape[0], -1.0 if self.missed else 1.0)


def routes(m, n, solver="auto", **rows):
    whole = replace(
        ordinary(), rows=Shaped((m, n), **rows), costs=np.ones(m), difference=np.ones(n)
    )
    whole = replace(whole, lower=-np.ones(n), upper=np.ones(n))
    return [route.name for route in dispatch._routes(whole, solver, np.random.default_rng(0))]


@pytest.mark.parametrize(
    ("shape", "rows", "names"),
    [
        ((200, 6), {}, ["simplex", "interior-point", "highs"]),
        ((200, 6), {"sparse": True}, ["interior-point", "highs"]),
        ((200, 6), {"is_remote": True}, ["interior-point", "highs"]),
        ((300, 200), {}, ["interior-point", "highs"]),
        ((300, 200), {"missed": False}, ["row-generation", "interior-point", "highs"]),
        ((100_000, 20), {}, ["screening", "interior-point"]),
        ((1_000_001, 20), {}, ["screening"]),
        ((5_000, 500), {}, ["identification", "interior-point"]),
        ((1_999, 500), {"sparse": True}, ["interior-point", "highs"]),
        ((2_000, 500), {"sparse": True}, ["identification", "interior-point", "highs"]),
        ((9_000, 2_000), {"sparse": True}, ["identification", "row-generation", "interior-point"]),
        ((1_600, 1_700), {}, ["row-generation", "interior-point"]),
        ((20_000, 21_000), {}, ["row-generation", "interior-point"]),
        ((20_001, 21_000), {}, ["row-generation"]),
    ],
)
def test_the_shape_decides_which_solvers_are_asked_in_which_order(shape, rows, names):
    assert routes(*shape, **rows) == names


def test_a_solver_that_is_named_is_asked_first():
    assert routes(200, 6, "highs") == ["highs"]
    assert routes(10_000, 500, "highs") == ["highs"]
    assert routes(200, 6, "interior-point") == ["interior-point", "highs"]
    assert routes(100_001, 10, "interior-point") == ["interior-point"]
    assert routes(100_000, 10, "interior-point") == ["interior-point", "highs"]


@pytest.mark.parametrize("gap", [1e-3, 0.5])
@pytest.mark.parametrize("m", [1_000, 7_000])
def test_columns_are_named_first_and_on_large_data_what_they_find_decides(m, gap, monkeypatch):
    whole = replace(ordinary(), rows=Shaped((m, 2 * m), sparse=True), costs=np.ones(m))
    found = Solution(
        Status.STALLED, Certificate(np.zeros(1), np.zeros(1), 0.0, 1.0, 1.0 - gap), 1, ""
    )
    monkeypatch.setattr(identification, "solve_columns", lambda program, controls: found)
    monkeypatch.setattr(type(whole), "materialize", lambda self: self)
    names = []
    for route in dispatch._routes(whole, "auto", np.random.default_rng(0)):
        names.append(route.name)
        if route.name == "dual-identification":
            assert route.run(Controls()) is found
    if m == 1_000:
        assert names == ["dual-identification", "interior-point"]
    else:
        assert names == ["dual-identification"] + ["identification"] * (gap > 0.1)


def test_the_best_of_those_that_fall_short_is_the_answer(monkeypatch):
    whole = ordinary()
    best = dispatch.solve(whole, "highs", Controls(), np.random.default_rng(0)).certificate

    def route(name, gap, status=Status.STALLED):
        answer = replace(best, beta=0.5 * best.beta, objective=best.objective + gap)
        return dispatch.Route(name, "why", lambda controls: Solution(status, answer, 1, name))

    def asked(*some):
        names = []
        monkeypatch.setattr(dispatch, "_routes", lambda *_: iter(some))
        found = dispatch._best_of(whole, "auto", Controls(tell=names.append), None)
        return found.solver, sum(line.startswith("route") for line in names), found.message

    assert asked(route("a", 0.3), route("b", 0.1), route("c", 0.2)) == ("b", 3, "why")
    assert asked(route("a", 0.3), route("b", 0.0), route("c", 0.2)) == ("b", 2, "why")
    late = route("a", 0.3, Status.TIME_LIMIT)
    assert asked(late, route("b", 0.0))[:2] == ("a", 1)


def test_a_program_is_plain_where_nothing_needs_to_be_changed():
    whole = ordinary()
    reach = whole.largest_separation
    costs = whole.costs.copy()
    costs[3] = 0.0
    hard = np.where(np.arange(60) == 3, np.inf, whole.costs)
    others = [
        replace(whole, difference=whole.difference * 2.0**60),
        replace(whole, difference=whole.difference * 2.0**-60),
        replace(whole, separation=reach),
        replace(whole, separation=1e-12 * reach),
        replace(whole, costs=costs),
        replace(whole, costs=hard),
        replace(whole, costs=whole.costs * 1e-9, linear=whole.linear * 1e-9),
    ]
    assert dispatch._plain(whole)
    assert not any(map(dispatch._plain, others))
    # A large slope alone, or large costs alone, are an objective of ordinary size.
    assert dispatch._plain(replace(whole, costs=whole.costs * 1e-9, linear=whole.linear * 1e3))
    assert dispatch._plain(replace(whole, costs=whole.costs * 1e3, linear=whole.linear * 1e-9))
    reach = np.abs(whole.linear).sum()
    assert dispatch._unit(whole) == pytest.approx(max(whole.margin * whole.costs.sum(), reach))
    assert dispatch._unit(replace(whole, costs=hard)) == 1.0
    wide = replace(whole, lower=3.0 * whole.lower, costs=1e-9 * whole.costs)
    assert dispatch._unit(wide) == pytest.approx(3.0 * reach)


@pytest.mark.parametrize("unit", [1e-3, 1e-9])
def test_a_tiny_objective_is_solved_in_its_own_unit(unit):
    """``tol`` is a share of it there: the point is that of the ordinary program."""
    whole = replace(ordinary(), offset=0.0)
    small = replace(whole, costs=whole.costs * unit, linear=whole.linear * unit)
    wanted = dispatch.solve(whole, "auto", Controls(), np.random.default_rng(0)).certificate
    found = dispatch.solve(small, "auto", Controls(), np.random.default_rng(0)).certificate
    np.testing.assert_allclose(found.beta, wanted.beta, atol=1e-9)
    assert found.objective == pytest.approx(unit * wanted.objective, rel=1e-8)
    np.testing.assert_allclose(found.alpha, unit * wanted.alpha, atol=1e-8 * unit)
    assert found.gap <= 1e-9


def test_hard_rows_are_met_by_the_first_penalty_that_is_large_enough(monkeypatch):
    problem = next(problem for problem in PROBLEMS if problem.name == "hard margin")
    penalties, real = [], dispatch._best_of

    def watched(program, *rest):
        penalties.append(float(program.costs.max()))
        return real(program, *rest)

    monkeypatch.setattr(dispatch, "_best_of", watched)
    found = dispatch.solve(problem.program, "auto", Controls(), np.random.default_rng(0))
    check(problem, found)
    reach = problem.program.largest_separation / problem.program.margin
    assert penalties == pytest.approx([(1.0 + reach) * 100.0**k for k in range(len(penalties))])
    assert len(penalties) <= 2
    assert found.iterations >= len(penalties)


def reasons(m, n, solver="auto", **rows):
    whole = replace(
        ordinary(), rows=Shaped((m, n), **rows), costs=np.ones(m), difference=np.ones(n)
    )
    whole = replace(whole, lower=-np.ones(n), upper=np.ones(n))
    found = dispatch._routes(whole, solver, np.random.default_rng(0))
    kind = "sparse" if rows.get("sparse") else "dense"
    shape = f"{kind}, {m} rows, {n} columns"
    assert all(route.reason.startswith((shape, "asked for")) for route in found)
    found = dispatch._routes(whole, solver, np.random.default_rng(0))
    return [route.reason.removeprefix(shape) for route in found]


def test_a_route_says_why_it_is_asked():
    short, fails = "; what was tried before falls short", "; the interior point falls short"
    assert reasons(200, 6) == ["", "", fails]
    assert (
        reasons(300, 200, missed=False)[0] == "; 0 rows violated at the farthest vertex of the box"
    )
    assert reasons(100_000, 20) == ["", short]
    assert reasons(5_000, 500) == ["", ""]
    unnamed = "; the active rows were not identified"
    assert reasons(9_000, 2_000, sparse=True) == ["", unnamed, short]
    assert reasons(1_600, 1_700) == ["", short]
    assert reasons(200, 6, "highs", sparse=True) == ["asked for"]
    # Up to a million entries the reference is asked at last.
    assert routes(1_000_000, 1, "interior-point") == ["interior-point", "highs"]
    assert routes(1_000_001, 1, "interior-point") == ["interior-point"]


@pytest.mark.parametrize("m", [6_000, 6_001])
def test_wide_sparse_data_of_a_large_matrix_ends_with_what_was_named(m, monkeypatch):
    whole = replace(ordinary(), rows=Shaped((m, 2 * m), sparse=True), costs=np.ones(m))
    answer = Certificate(np.zeros(1), np.zeros(1), 0.0, 1.0, 1.0 - 1e-3)
    found = Solution(Status.STALLED, answer, 1, "")
    monkeypatch.setattr(identification, "solve_columns", lambda program, controls: found)
    monkeypatch.setattr(type(whole), "materialize", lambda self: self)
    names = []
    for route in dispatch._routes(whole, "auto", np.random.default_rng(0)):
        names.append(route.name)
        if len(names) == 1:
            route.run(Controls())
    assert names == ["dual-identification", "interior-point"][: 2 if m == 6_000 else 1]


def asked(monkeypatch, answer=None):
    """The programs, and their controls, that reach the solvers; which all give this answer."""
    seen, real = [], dispatch._best_of

    def watched(program, solver, controls, rng):
        seen.append((program, controls))
        return real(program, solver, controls, rng) if answer is None else answer

    monkeypatch.setattr(dispatch, "_best_of", watched)
    return seen


def test_hard_rows_that_no_penalty_meets_go_to_highs(monkeypatch):
    problem = next(problem for problem in PROBLEMS if problem.name == "hard margin")
    m, n = problem.program.shape
    nothing = Certificate(np.zeros(n), np.zeros(m), 0.0, 1.0, 0.0)
    seen = asked(monkeypatch, Solution(Status.STALLED, nothing, 3, "none"))
    found = dispatch.solve(problem.program, "auto", Controls(), np.random.default_rng(0))
    check(problem, found)
    assert found.solver == "highs"
    penalties = [float(program.costs.max()) for program, _ in seen]
    reach = problem.program.largest_separation / problem.program.margin
    np.testing.assert_allclose(penalties, (1.0 + reach) * 100.0 ** np.arange(4))


def test_steps_of_all_penalties_are_counted(monkeypatch):
    problem = next(problem for problem in PROBLEMS if problem.name == "hard margin")
    best = highs.solve(problem.program, Controls()).certificate
    seen = asked(monkeypatch, Solution(Status.OPTIMAL, best, 3, "some"))
    found = dispatch._hard(problem.program, "auto", Controls(watch=len), None)
    assert (found.iterations, found.solver, len(seen)) == (3, "some", 1)
    assert seen[0][1].watch is None


def test_a_hundredth_of_the_tolerance_is_left_for_rounding(monkeypatch):
    seen, proofs = asked(monkeypatch), []
    real = dispatch.certify_with_rounding
    monkeypatch.setattr(
        dispatch, "certify_with_rounding", lambda *a, **k: proofs.append(a[2]) or real(*a, **k)
    )
    whole = ordinary()
    dispatch.solve(whole, "auto", Controls(tol=1e-8), np.random.default_rng(0))
    assert seen[0][1].tol == pytest.approx(0.99e-8, rel=1e-12, abs=0.0)
    assert proofs == [seen[0][1].tol]
    dispatch.solve(whole, "auto", Controls(tol=1e-8), np.random.default_rng(0), prove=False)
    assert len(proofs) == 1


@pytest.mark.parametrize("unit", [0.5, 1.5])
def test_an_objective_below_one_reaches_the_solvers_in_its_own_unit(unit, monkeypatch):
    whole = replace(ordinary(), offset=-2.0)
    times = unit / dispatch._unit(whole)
    small = replace(whole, costs=whole.costs * times, linear=whole.linear * times)
    seen = asked(monkeypatch)
    found = dispatch._solve(small, "auto", Controls(), np.random.default_rng(0)).certificate
    given = seen[0][0]
    assert dispatch._unit(given) == pytest.approx(max(unit, 1.0))
    assert given.offset == pytest.approx(-2.0 / min(unit, 1.0))
    wanted = highs.solve(small, Controls()).certificate
    assert found.objective == pytest.approx(wanted.objective, rel=1e-9)
    assert found.t == pytest.approx(wanted.t, rel=1e-6, abs=1e-9)


def test_a_large_separation_and_columns_without_a_difference_are_plain():
    whole = ordinary()
    far = replace(whole, difference=whole.difference * 64.0)
    assert dispatch._plain(replace(far, separation=0.999 * far.largest_separation))
    assert not dispatch._plain(replace(far, separation=(1 - 1e-7) * far.largest_separation))
    flat = whole.difference.copy()
    flat[1] = 0.0
    assert dispatch._plain(replace(whole, difference=flat))


def test_what_cannot_be_met_is_told_with_its_numbers():
    whole = replace(ordinary(), difference=np.array([0.5, -1.0, 0.0, 2.0]), separation=7.5)
    found = dispatch.solve(whole, "auto", Controls(), np.random.default_rng(0))
    assert found.message == "d.beta reaches 3.5 in the box, below the separation 7.5"
    assert found.certificate.t == 0.0
    assert not found.certificate.alpha.any()


def test_sparse_rows_at_the_largest_margin_leave_one_certified_point():
    """More features than samples: an empty null space once ended such a fit in an error."""
    rng = np.random.default_rng(0)
    X = sp.random_array((600, 900), density=0.02, rng=rng, format="csr")
    sign = np.where(rng.random(600) < 0.5, 1.0, -1.0)
    program = program_of_rows(X, sign)
    largest = program.largest_separation
    offset = -largest * float(program.costs.sum())
    program = replace(program, margin=largest, separation=largest, offset=offset)
    assert program.one_point
    solution = dispatch.solve(program, "auto", Controls(), np.random.default_rng(0))
    assert solution.solver == "interior-point"
    assert solution.relative_gap <= 1e-9
    assert_optimal(program, solution)
