"""The route for little data: certified, the optimum of HiGHS, and where it hands over."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC
from lincent.solvers.lp import highs, interior_point, simplex
from lincent.solvers.solution import Controls, Status
from support.degenerate import degenerate_program, program_of
from support.judge import assert_optimal
from support.problems import PROBLEMS

TOL = 1e-9


def overlapping(m, n, seed=0, apart=0.5):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    X = rng.standard_normal((m, n)) + apart * np.outer(sign, rng.standard_normal(n))
    return X, sign


def outliers(m, n):
    X, sign = overlapping(m, n)
    X[: m // 20] *= 100.0
    return X, sign


def at_the_box(m, n):
    X, sign = overlapping(m, n)
    return X * 10.0 ** np.linspace(-3, 0, n), sign


def almost_no_difference(m, n):
    X, sign = overlapping(m, n, apart=0.0)
    X[:, 0] += 0.02 * sign
    return X, sign


def whole_numbers(m, n):
    X, sign = overlapping(m, n)
    return np.round(X), sign


def far_apart(m, n):
    return overlapping(m, n, apart=8.0)


KINDS = {
    "far apart": far_apart,
    "overlapping": overlapping,
    "outliers": outliers,
    "at the box": at_the_box,
    "separation met": almost_no_difference,
    "whole numbers": whole_numbers,
}


def solved(program, **settings):
    return simplex.solve(program, Controls(tol=TOL, **settings))


@pytest.mark.parametrize("shape", [(60, 3), (300, 8), (2000, 10), (900, 30)])
@pytest.mark.parametrize("kind", KINDS)
def test_reaches_the_optimum(kind, shape):
    program = program_of(*KINDS[kind](*shape))
    solution = solved(program)
    assert solution.status is Status.OPTIMAL
    assert solution.solver == "simplex"
    assert_optimal(program, solution)
    reference = highs.solve(program, Controls(tol=TOL)).certificate
    assert solution.certificate.objective == pytest.approx(reference.objective, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(("noise", "asked"), [(0.0, 1), (1.0, 0)], ids=["separable", "not"])
def test_separable_classes_in_many_columns_begin_with_an_interior_point(noise, asked, monkeypatch):
    rng = np.random.default_rng(3)
    X, direction = rng.standard_normal((1500, 50)), rng.standard_normal(50)
    sign = np.where(X @ direction + noise * 7.0 * rng.standard_normal(1500) > 0, 1.0, -1.0)
    X += 0.5 * np.outer(sign, direction / 7.0)
    calls, plain = [], interior_point.solve

    def counted(*given, **named):
        calls.append(named)
        return plain(*given, **named)

    monkeypatch.setattr(interior_point, "solve", counted)
    program = program_of(X, sign)
    assert_optimal(program, solved(program))
    assert calls == asked * [{"boxed": True}]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_what_it_certifies_is_the_known_optimum(problem):
    program = problem.program
    if problem.infeasible or np.isinf(program.costs).any() or (program.costs == 0).any():
        return  # other files change such a program before this one sees it
    solution = solved(program)
    if solution.status is Status.OPTIMAL:
        assert solution.certificate.objective == pytest.approx(problem.optimum, abs=1e-8)
    else:
        assert solution.relative_gap > TOL


def test_degenerate_programs_are_solved_or_handed_over():
    solved_here = tried = 0
    for seed in range(300):
        program = degenerate_program(seed)
        if program is None or program.infeasible or program.one_point:
            continue
        tried += 1
        solution = solved(program)
        if solution.status is Status.OPTIMAL:
            solved_here += 1
            assert solution.relative_gap <= TOL
    assert solved_here > 0.6 * tried


def test_rows_on_the_wrong_side_join_the_band(monkeypatch):
    told = []
    monkeypatch.setattr(simplex, "TUNING", replace(simplex.TUNING, band=2, least_band=2, steps=1))
    program = program_of(*overlapping(1500, 6))
    solution = solved(program, tell=told.append)
    assert_optimal(program, solution)
    rounds = [line for line in told if line.startswith("exchanges")]
    sizes = [int(line.split()[2]) for line in rounds]
    assert sizes[0] == 12
    assert sizes == sorted(set(sizes))
    assert len(sizes) > 1


def test_another_box_and_another_slope():
    """The program of a part: a trust region that is not around zero, rows summed into g."""
    program = program_of(*overlapping(400, 5))
    middle = solved(program).certificate.beta
    near = replace(
        program,
        lower=middle - np.array([0.01, 0.02, 0.001, 0.5, 0.01]),
        upper=middle + np.array([0.02, 0.001, 0.03, 0.5, 0.01]),
        linear=program.linear + np.array([0.0, 3.0, 0.0, -2.0, 0.0]),
        separation=0.5 * float(program.difference @ middle),
    )
    solution = solved(near)
    assert_optimal(near, solution)
    reference = highs.solve(near, Controls(tol=TOL)).certificate
    assert solution.certificate.objective == pytest.approx(reference.objective, rel=1e-8)


def test_equal_columns_share_a_coefficient_and_a_constant_one_has_none():
    X, sign = overlapping(300, 4)
    X = np.column_stack([X, X[:, 0], np.full(len(X), 2.5)])
    model = LCC().fit(X, sign.astype(int))
    assert model.duality_gap_ <= TOL * max(1.0, abs(model.objective_))
    first, *_, again, constant = model.coef_[0]
    assert first == pytest.approx(again, rel=1e-6)
    assert constant == 0.0


def test_scales_of_columns_do_not_matter_to_the_steps():
    X, sign = overlapping(1000, 8)
    unit = 2.0 ** np.arange(8)
    steps = [solved(program_of(data, sign)).iterations for data in (X, X / unit)]
    assert abs(steps[0] - steps[1]) <= 1


@pytest.mark.parametrize(
    ("m", "n", "expected"),
    [
        (200, 6, True),
        (20_000, 30, True),
        (20_000, 8, False),  # screening reads less
        (1_000_000, 2, False),
        (5_000, 100, False),  # too many columns for exchanges
        (20, 10, False),  # separable: the optimum is at the box
    ],
)
def test_worthwhile(m, n, expected):
    assert simplex.worthwhile(m, n) is expected


def test_sparse_rows_stay_sparse():
    X, sign = overlapping(300, 5)
    assert LCC().fit(sp.csr_array(X), sign.astype(int)).solver_ == "interior-point"


def test_a_deadline_that_has_passed_is_named():
    program = program_of(*overlapping(300, 5))
    solution = solved(program, deadline=0.0)
    assert solution.status is Status.TIME_LIMIT
    assert np.isfinite(solution.certificate.objective)
    best = solved(program).certificate.objective
    assert solution.certificate.dual_objective <= best <= solution.certificate.objective
    assert solution.iterations == 1


def test_what_it_cannot_finish_goes_on_to_the_interior_point(monkeypatch):
    monkeypatch.setattr(simplex, "TUNING", replace(simplex.TUNING, exchanges=0, steps=1))
    monkeypatch.setattr(simplex, "crossover", lambda *_: None)
    X, sign = overlapping(300, 5)
    model = LCC().fit(X, sign.astype(int))
    assert model.solver_ == "interior-point"
    assert model.duality_gap_ <= TOL * max(1.0, abs(model.objective_))


@pytest.mark.parametrize("seed", range(6))
def test_a_start_changes_the_way_and_not_the_optimum(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(400, 6))
    sign = np.where(X[:, 0] + rng.standard_normal(400) > 0, 1.0, -1.0)
    far, near = program_of(X, sign, margin=0.4), program_of(X, sign, margin=0.2)
    whole = simplex.solve(near, Controls())
    for start in (simplex.solve(far, Controls()).certificate.beta, rng.uniform(-1, 1, 6)):
        found = simplex.solve(near, Controls(), start)
        assert found.certified(1e-9)
        assert found.certificate.objective == pytest.approx(whole.certificate.objective, rel=1e-9)


def test_a_solve_from_a_given_point_stands_there():
    """A path goes on from its last point: rows missed there are known before the first step."""
    from lincent import LCCCV

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    y = X[:, 0] + rng.normal(size=200) > 0
    assert LCCCV().fit(X, y).best_score_ > 0.6


@np.errstate(all="ignore")  # as ``solve`` has it
def test_exchanges_begin_at_the_corner_where_classes_are_far_apart():
    far = program_of(*far_apart(600, 8))
    near = simplex.NearVertex(far, None)
    near.approach(Controls())
    np.testing.assert_array_equal(near.in_the_box(), far.farthest_point)
    for kind in ("overlapping", "whole numbers"):
        mixed = simplex.NearVertex(program_of(*KINDS[kind](600, 8)), None)
        mixed.approach(Controls())
        assert mixed.in_the_box() is mixed.beta
