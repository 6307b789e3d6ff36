"""The route for small problems: certified, the optimum of HiGHS, and where it hands over."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC
from lincent.solvers.lp import highs, simplex
from lincent.solvers.solution import Controls, Status
from support.constants import set_constants
from support.degenerate import degenerate_program, program_of
from support.optimality import assert_optimal, primal_value
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


@pytest.mark.parametrize("noise", [0.0, 1.0], ids=["separable", "not"])
def test_separable_classes_in_many_columns_are_solved(noise):
    rng = np.random.default_rng(3)
    X, direction = rng.standard_normal((1500, 50)), rng.standard_normal(50)
    sign = np.where(X @ direction + noise * 7.0 * rng.standard_normal(1500) > 0, 1.0, -1.0)
    X += 0.5 * np.outer(sign, direction / 7.0)
    program = program_of(X, sign)
    assert_optimal(program, solved(program))
    near = simplex.solve(program, Controls(), solved(program).certificate.beta)
    assert_optimal(program, near)


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
    set_constants(monkeypatch, simplex, band=2, least_band=2, steps=1)
    program = program_of(*overlapping(1500, 6))
    solution = solved(program, tell=told.append)
    assert_optimal(program, solution)
    rounds = [line for line in told if line.startswith("pivots")]
    sizes = [int(line.split()[2]) for line in rounds]
    assert sizes[0] == 12
    assert sizes == sorted(set(sizes))
    assert len(sizes) > 1


def test_where_many_rows_are_on_the_wrong_side_the_point_moves_towards_the_vertex(monkeypatch):
    set_constants(monkeypatch, simplex, band=2, least_band=2, steps=1)
    move, lengths = simplex.BandPoint.move, []

    def watched(near, step, along):
        np.testing.assert_allclose(along, near.rows @ step, atol=1e-9)
        lengths.append(move(near, step, along))
        return lengths[-1]

    monkeypatch.setattr(simplex.BandPoint, "move", watched)
    program = program_of(*overlapping(1500, 6))
    assert_optimal(program, solved(program))
    assert len(lengths) > 1  # more than the one Newton step


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
    assert model.duality_gap_ <= TOL
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
        (19_999, 30, True),
        (20_000, 30, False),  # a copy of the rows would be held
        (20_000, 8, False),  # screening reads less
        (1_000_000, 2, False),
        (5_000, 100, False),  # too many columns for pivots
        (20, 10, False),  # separable: the optimum is at the box
    ],
)
def test_is_applicable(m, n, expected):
    assert simplex.is_applicable(m, n) is expected


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
    set_constants(monkeypatch, simplex, pivots=0, steps=1)
    monkeypatch.setattr(simplex, "crossover", lambda *_: None)
    X, sign = overlapping(300, 5)
    model = LCC().fit(X, sign.astype(int))
    assert model.solver_ == "interior-point"
    assert model.duality_gap_ <= TOL


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
def test_pivots_begin_at_the_vertex_where_classes_are_far_apart():
    far = program_of(*far_apart(600, 8))
    near = simplex.BandPoint(far, None)
    near.approach(Controls())
    np.testing.assert_array_equal(near.in_the_box(), far.farthest_point)
    for kind in ("overlapping", "whole numbers"):
        mixed = simplex.BandPoint(program_of(*KINDS[kind](600, 8)), None)
        mixed.approach(Controls())
        assert mixed.in_the_box() is mixed.beta


def test_so_many_steps_and_pivots(monkeypatch):
    """Over all kinds and shapes: a step more in each would be noticed here."""
    made, steps, rounds = [], [], []
    certificate = simplex.Tableau.certificate

    def counted(self, start):
        made.append(self.pivots)
        return certificate(self, start)

    monkeypatch.setattr(simplex.Tableau, "certificate", counted)
    for kind in KINDS.values():
        for shape in ((60, 3), (300, 8), (2000, 10)):
            told = []
            found = solved(program_of(*kind(*shape)), tell=told.append)
            assert found.status is Status.OPTIMAL
            assert found.relative_gap <= 1e-12
            steps.append(found.iterations)
            rounds.append(sum(line.startswith("pivots") for line in told))
    assert np.mean(steps) <= 3.7
    assert np.mean(rounds) <= 1.2
    assert np.mean(made) <= 17.0


def boxed(m=300, n=8, seed=0, kind=overlapping):
    """A box that is not around zero, and costs that differ."""
    rng = np.random.default_rng(seed)
    program = program_of(*kind(m, n), rng.random(m) + 0.5)
    return replace(program, lower=program.lower - 0.2, upper=program.upper * 0.7)


def standing(program, beta):
    near = simplex.BandPoint(program, None)
    near.stand(beta, program.margin - program.rows.dense() @ beta)
    return near


def test_sizes_are_lengths_in_units_of_the_columns(monkeypatch):
    monkeypatch.setattr(simplex, "BLOCK", 70)
    program = boxed()
    A = program.rows.dense()
    A[5] = 0.0
    near = simplex.BandPoint(program, None)
    scale = np.sqrt((A**2).mean(axis=0))
    size = np.linalg.norm(A / scale, axis=1)
    np.testing.assert_allclose(near.scale, scale, atol=1e-12)
    least = simplex.SMALL_SIZE * size.mean()
    np.testing.assert_allclose(near.per_size, 1.0 / np.maximum(size, least), atol=1e-12)
    np.testing.assert_allclose(near.curvature, 0.5 * near.per_size * program.costs, atol=1e-12)


@pytest.mark.parametrize("m", [200, 1_000])  # the second has a sample of its rows
def test_the_start_is_the_best_point_of_a_direction(m):
    program = boxed(m)
    near = simplex.BandPoint(program, None)
    step = max(1, m // (30 * 8))
    A, costs = program.rows.dense()[::step], program.costs[::step]
    gram = A.T @ (costs[:, None] * A)
    direction = np.linalg.solve(
        gram + np.diag(simplex.DIRECTION_RIDGE * gram.diagonal()), program.difference
    )
    middle = (program.lower + program.upper) / 2
    direction *= 0.9 / np.abs(direction / (program.upper - middle)).max()

    def value(beta):
        return program.linear @ beta * len(A) / m + costs @ np.maximum(program.margin - A @ beta, 0)

    points = [middle + length * direction for length in 10.0 ** -np.arange(0.0, 6.5, 0.5)]
    np.testing.assert_allclose(
        near.beta, program.feasible(min(points, key=value)), rtol=1e-8, atol=1e-12
    )
    missed = program.margin - program.rows.dense() @ near.beta
    np.testing.assert_allclose(near.missed, missed, atol=1e-12)
    np.testing.assert_array_equal(near.beyond, missed > 0)
    assert near.objective() == pytest.approx(primal_value(program, near.beta))
    np.testing.assert_array_equal(near.multipliers(), np.where(missed > 0, program.costs, 0.0))


@pytest.mark.parametrize("band", [20, 100])
def test_a_step_aims_at_the_minimum_of_the_smoothed_program(band, monkeypatch):
    """Where the box is far: the gradient and the curvature are those of the parabolas."""
    program = boxed()
    near = standing(program, program.feasible(np.full(8, 0.05)))
    asked = []
    monkeypatch.setattr(
        simplex,
        "clipped_newton_point",
        lambda program, beta, slope, hessian, moves: asked.append((hessian, slope)),
    )
    assert near._step(band) == 0.0
    A, missed = program.rows.dense(), near.missed
    distance = np.abs(missed) * near.per_size
    width = np.sort(distance)[band]
    half = width / near.per_size  # of each row's parabola
    alpha = program.costs * np.clip((missed + half) / (2 * half), 0.0, 1.0)
    inside = distance <= width
    hessian = A.T @ ((inside * program.costs / (2 * half))[:, None] * A)
    np.testing.assert_allclose(asked[0][0], width * hessian, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        asked[0][1], width * (program.linear - alpha @ A), rtol=1e-9, atol=1e-12
    )


def test_a_move_goes_to_the_best_of_some_lengths():
    program = boxed()
    beta = program.feasible(np.full(8, 0.05))
    best = highs.solve(program, Controls()).certificate.beta
    for way in (best - beta, 3.0 * (best - beta), 20.0 * (best - beta), beta - best):
        near = standing(program, beta)
        length = near.move(way, program.rows.dense() @ way)
        lengths = tuple(simplex.STEP_LENGTHS)
        values = [primal_value(program, beta + at * way) for at in lengths]
        assert length == lengths[int(np.argmin(values))]
        np.testing.assert_allclose(near.beta, beta + length * way, atol=1e-12)
        missed = program.margin - program.rows.dense() @ near.beta
        np.testing.assert_allclose(near.missed, missed, atol=1e-12)
        assert near.objective() == pytest.approx(min(values))
    assert length == 0.0


def test_stiffness_is_the_inverse_square_of_a_distance():
    program = boxed(40, 3)
    near = standing(program, np.array([0.1, 0.2, -0.3]))
    index = np.array([4, 7, 20])
    corner = program.upper.copy()
    found = near.hinge_weights(index, corner)
    reach = program.difference @ near.beta - program.separation
    sides = [corner - program.lower, np.zeros(3)]
    distance = np.concatenate([near.missed[index], *sides, [reach]])
    met = 1e-18 * np.mean(near.missed**2)
    np.testing.assert_allclose(found, 1.0 / (distance**2 + met), atol=1e-12)


def test_the_nearest_rows_are_so_many_or_all():
    program = boxed(1500, 8)
    near = standing(program, program.feasible(np.full(8, 0.05)))
    chosen = near.nearest(200)
    distance = np.abs(near.missed) * near.per_size
    assert np.count_nonzero(chosen) == 200
    assert distance[chosen].max() <= distance[~chosen].min()
    assert near.nearest(749) is not None
    assert near.nearest(750) is None
    near.pivoted_whole = 1500 * 8
    assert near.nearest(200) is None
    near.pivoted_whole -= 1
    assert near.nearest(200) is not None


def test_repetitions_are_rows_that_miss_the_same():
    program = boxed(200, 3)
    near = standing(program, program.feasible(np.full(3, 0.05)))
    assert not near.repeats()
    near.missed[:11] = 0.5
    assert not near.repeats()  # ten of two hundred repeat one: a twentieth
    near.missed[:12] = 0.5
    assert near.repeats()


def test_the_band_follows_what_the_steps_say(monkeypatch):
    """Narrower after good steps, wider after poor ones, and an end where nothing is gained."""
    program = boxed(2000, 8)

    def bands(lengths, turned=0, gain=1.0):
        near = standing(program, program.feasible(np.full(8, 0.05)))
        asked = []

        def step(band):
            asked.append(band)
            near.beyond = near.beyond.copy()
            near.beyond[:turned] ^= True
            near.gain = gain
            return lengths[min(len(asked), len(lengths)) - 1]

        monkeypatch.setattr(near, "_step", step)
        assert near.approach(Controls()) == len(asked)
        return asked

    first, least = int(simplex.FIRST_BAND * 8), int(simplex.LAST_BAND * 8)
    assert bands([1.0]) == [first, int(first * simplex.SHRINK)]  # no row turned: close
    assert bands([1.0], turned=50)[:3] == [first, 50, 50]
    assert bands([0.5], turned=50)[1] == 100
    assert bands([1.0], turned=50, gain=0.0) == [first]  # flat
    assert bands([0.05, 1.0])[:2] == [first, int(first * simplex.GROW)]
    assert len(bands([0.3], turned=9)) == min(simplex.STEPS, simplex.FEW_STEPS + 4)
    stuck = bands([0.0])
    assert stuck == sorted(stuck)
    assert max(stuck) <= 1000
    wide = bands([0.0, 1.0], turned=1)
    assert min(wide[1:]) >= int(first * simplex.GROW)  # so narrow led nowhere
    assert least < first


def test_few_steps_end_with_the_controls():
    program = boxed(2000, 8)
    near = simplex.BandPoint(program, None)
    assert near.approach(Controls(max_iter=1)) == 1
    assert near.approach(Controls(max_iter=0)) == 0
