"""Every step is Newton's, and real splits and a thousand degenerate problems are certified.

HiGHS itself falls short on a few of the worst scales.  Its answer is then only an upper bound, and
ours may not be above it; that ours is the optimum is what the certificate proves.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from lincent.problems.centralization import Certificate
from lincent.solvers.bounds import Bounds
from lincent.solvers.lp import dispatch, highs, interior_point
from lincent.solvers.lp.interior_point import (
    FEW_COLUMNS,
    ColumnSide,
    InteriorPoint,
    RowSide,
    normal_equations,
)
from lincent.solvers.predictor_corrector import REACH, SPREAD, STEP_BACK, predictor_corrector
from lincent.solvers.solution import Controls, Solution, Status
from support.constants import set_constants
from support.degenerate import degenerate_program, program_of
from support.optimality import assert_optimal, dual_value, primal_value
from support.real import CODES, split

SPLITS = 25
DEGENERATE = 500  # the campaign of programs has others
SAME = 1e-8
LARGEST_FALLBACK_SHARE = 0.01


@dataclass(frozen=True)
class Outcome:
    """One problem solved by us and by HiGHS."""

    name: str
    solver: str
    relative_gap: float
    fault: str
    objective: float
    reference: float
    reference_certified: bool

    @property
    def excess(self) -> float:
        """How far our objective is from the reference, relative."""
        apart = (self.objective - self.reference) / max(1.0, abs(self.objective))
        return abs(apart) if self.reference_certified else max(apart, 0.0)


def outcome(name, program):
    solution = dispatch.solve(program, "auto", Controls(), np.random.default_rng(0))
    fault = ""
    try:
        assert_optimal(program, solution)
    except AssertionError as error:
        fault = str(error) or repr(error)
    reference = highs.solve(program, Controls())
    return Outcome(
        name,
        solution.solver,
        solution.relative_gap,
        fault,
        solution.certificate.objective,
        reference.certificate.objective,
        reference.relative_gap <= Controls().tol,
    )


def summary(title, outcomes):
    fallback = [o.name for o in outcomes if o.solver == highs.NAME]
    short = sum(not o.reference_certified for o in outcomes)
    return (
        f"{title}: {len(outcomes)} problems, {len(fallback)} needed HiGHS "
        f"({100 * len(fallback) / len(outcomes):.2f} %), largest relative gap "
        f"{max(o.relative_gap for o in outcomes):.1e}; HiGHS alone falls short on {short}"
    )


def check(outcomes):
    assert [o for o in outcomes if o.relative_gap > Controls().tol] == []
    assert [(o.name, o.fault) for o in outcomes if o.fault] == []
    assert [o for o in outcomes if o.excess > SAME] == []
    fallback = [o for o in outcomes if o.solver == highs.NAME]
    assert len(fallback) < LARGEST_FALLBACK_SHARE * len(outcomes)


SHAPES = [(60, 5), (12, 90), (300, 3)]  # the last is beyond no limit, the second a row side


def random_program(m, n, seed=0):
    """Classes that overlap, in a box that is not around zero."""
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(m) % 3, 1.0, -1.0)
    program = program_of(rng.normal(size=(m, n)) + 0.3 * sign[:, None], sign, rng.random(m) + 0.5)
    return replace(program, lower=program.lower - 0.5, upper=program.upper + 0.2)


@pytest.fixture(params=SHAPES, ids=str)
def program(request):
    return random_program(*request.param)


def blocks(point, stacked):
    """p, xi, beta - lo, hi - beta, q; or their multipliers."""
    m, n = point.program.shape
    return np.split(stacked, np.cumsum([m, m, n, n]))


def unmet(point):
    """The three linear conditions, as the file states them."""
    program, A = point.program, point.program.rows.dense()
    p, xi, _, _, q = blocks(point, point.P)
    alpha, _, low, high, t = blocks(point, point.Z)
    d = program.difference
    return (
        program.margin - A @ point.beta - xi + p,
        program.linear - A.T @ alpha - t * d - low + high,
        d @ point.beta - q - program.separation,
    )


def assert_centered(point):
    """All rows are on the line, P and Z positive, and each row alone is centered."""
    program = point.program
    p, xi, low, high, _ = blocks(point, point.P)
    alpha, rest, _, _, _ = blocks(point, point.Z)
    assert min(point.P.min(), point.Z.min()) > 0
    np.testing.assert_allclose(unmet(point)[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(alpha + rest, program.costs, atol=1e-12)
    np.testing.assert_allclose(p * alpha, xi * rest, atol=1e-12)
    np.testing.assert_allclose(low, point.beta - program.lower, atol=1e-12)
    np.testing.assert_allclose(high, program.upper - point.beta, atol=1e-12)
    return float(np.mean(p * alpha))


def slack_size(point):
    missed = point.program.margin - point.program.rows.dense() @ point.beta
    return interior_point.WIDTH * np.abs(missed).mean()


def test_a_start_is_centered_with_slacks_of_the_size_of_the_data(program):
    point = InteriorPoint(program)
    mu, size = assert_centered(point), slack_size(point)
    m = program.shape[0]
    np.testing.assert_allclose((point.P * point.Z)[2 * m :], mu, atol=1e-12)
    p, xi, _, _, q = blocks(point, point.P)
    usual = p > 1.01e-3 * size / 2
    np.testing.assert_allclose((p * xi)[usual], size**2 / 4, atol=1e-12)
    assert np.all(p >= 0.99e-3 * size / 2)
    assert q == pytest.approx(max(program.difference @ point.beta - program.separation, size))
    assert point.mu() == pytest.approx(np.mean(point.P * point.Z))


def test_a_start_is_the_best_of_some_points_along_the_discriminant(program):
    beta = InteriorPoint(program).beta
    A, costs = program.rows.dense(), program.costs
    ridge = np.diag(1e-2 * costs.sum() * program.rows.column_scale() ** 2)
    direction = np.linalg.solve(A.T @ (costs[:, None] * A) + ridge, program.difference)
    middle, half = (program.lower + program.upper) / 2, (program.upper - program.lower) / 2
    direction *= 0.9 / np.abs(direction / half).max()
    points = [middle + length * direction for length in 10.0 ** -np.arange(0.0, 6.5, 0.5)]
    np.testing.assert_allclose(
        beta, min(points, key=lambda b: primal_value(program, b)), rtol=1e-6, atol=1e-9
    )


def test_a_given_start_is_moved_inside_the_box_and_knows_its_multiplier(program):
    corner = program.farthest_point
    point = InteriorPoint(program, corner)
    assert_centered(point)
    middle = (program.lower + program.upper) / 2
    np.testing.assert_allclose(point.beta, middle + 0.99 * (corner - middle), atol=1e-12)
    # At a point that is held by the separation alone its multiplier is the best one.
    low = replace(program, linear=-1e4 * program.linear)
    point = InteriorPoint(low, low.feasible(np.zeros(program.shape[1])))
    combined = low.rows.tdot(point.alpha)
    assert point.t == pytest.approx(low.best_t(combined, 0.0))
    assert point.t * point.P[-1] == pytest.approx(assert_centered(point))


def test_a_start_that_absorbs_is_stationary(program):
    steep = replace(program, linear=1e5 * program.linear)
    point = InteriorPoint(steep, absorb=True)
    mu = assert_centered(point)
    np.testing.assert_allclose(unmet(point)[1], 0.0, atol=1e-9 * np.abs(steep.linear).max())
    _, _, low, high, _ = blocks(point, point.Z)
    spread = np.maximum(mu / point.P[point.low], mu / point.P[point.high])
    usual = np.minimum(low, high) > 1.01e-3 * spread
    np.testing.assert_allclose((low * high)[usual], (spread**2)[usual], rtol=1e-6, atol=1e-12)
    assert np.all(np.minimum(low, high) >= 0.99e-3 * spread)


def test_directions_solve_the_linearized_conditions(program):
    point = InteriorPoint(program)
    for _ in range(3):
        point.residuals()
        for kept, exact in zip(
            (point.r_rows, point.r_cols, point.r_apart), unmet(point), strict=True
        ):
            np.testing.assert_allclose(kept, exact, atol=1e-9)
        point._factor()
        rng = np.random.default_rng(1)
        R = point.P * point.Z * rng.uniform(-1, 1, len(point.P))
        dbeta, dP, dZ = point._direction(R)
        moved = InteriorPoint(program)
        moved.beta, moved.P, moved.Z = point.beta + dbeta, point.P + dP, point.Z + dZ
        for rest in unmet(moved):  # a full step meets them all
            np.testing.assert_allclose(rest, 0.0, atol=1e-6)
        np.testing.assert_allclose(point.Z * dP + point.P * dZ, R, atol=1e-7 * np.abs(R).max())
        np.testing.assert_allclose(dP[point.low], dbeta, atol=1e-12)
        np.testing.assert_allclose(dP[point.high], -dbeta, atol=1e-12)
        np.testing.assert_allclose(dZ[point.miss], -dZ[point.over], atol=1e-12)
        point.step()


def test_a_step_takes_out_its_share_of_what_is_unmet_and_stays_inside(program):
    point = InteriorPoint(program)
    first = point.mu()
    for _ in range(6):
        point.residuals()
        before = unmet(point)
        point.step()
        after = unmet(point)
        assert min(point.P.min(), point.Z.min()) > 0
        sizes = np.abs(before[1]).max(), abs(before[2][0])
        left = [np.abs(a).max() / s for a, s in zip(after[1:], sizes, strict=True) if s > 1e-6]
        assert all(1 - STEP_BACK - 1e-6 <= share < 1.0 for share in left)
        np.testing.assert_allclose(after[0], 0.0, atol=1e-7)
    assert point.mu() < 0.1 * first


@pytest.mark.parametrize(
    ("lengths", "taken"),
    [
        ([(1.0, 1.0), (0.95, 0.6)], (0.95, 0.6)),  # long enough: no corrector
        ([(1.0, 1.0), (0.4, 0.9), (0.41, 0.9)], (0.4, 0.9)),  # one that was not worth it
        ([(1.0, 1.0), (0.4, 0.9), (0.6, 0.8)], (0.6, 0.8)),
        ([(1.0, 1.0), (0.2, 0.3), (0.3, 0.3), (0.4, 0.3)], (0.4, 0.3)),  # never more than two
        ([(1.0, 1.0), (0.05, 0.9), (0.9, 0.8)], (0.9, 0.8)),  # tiny: centering instead
    ],
)
def test_correctors_are_solved_for_while_they_pay(lengths, taken):
    """Directions that reach the boundary after given lengths, and products that are corrected."""
    rng = np.random.default_rng(0)
    P, Z, rights = rng.uniform(0.5, 2.0, 40), rng.uniform(0.5, 2.0, 40), []

    def direction(R):
        primal, dual = lengths[len(rights)]
        rights.append(R)
        dP, dZ = rng.uniform(0, 40, (2, 40)) * (P, Z)
        dP[0], dZ[1] = -P[0] / primal, -Z[1] / dual
        return len(rights), dP, dZ

    move, primal, dual = predictor_corrector(P, Z, direction, correctors=2, long_step=0.5)
    assert len(rights) == len(lengths)
    assert move[0] == lengths.index(taken) + 1
    assert (primal, dual) == pytest.approx((STEP_BACK * taken[0], STEP_BACK * taken[1]))


def test_outlying_products_are_aimed_back():
    """Gondzio's corrector: products beyond ten times the center, or below a tenth of it."""
    rng = np.random.default_rng(2)
    P, Z = rng.uniform(0.5, 2.0, (2, 60))
    moves, rights = [], []

    def direction(R):
        way = 0.1 if not moves else 4.0  # the predictor leads straight to a small center
        dP, dZ = way * rng.uniform(-1, 1, (2, 60)) * (P, Z)
        dP[0], dZ[0] = -P[0] / 0.4, -Z[0] / 0.9
        moves.append((None, dP, dZ))
        rights.append(R)
        return moves[-1]

    predictor_corrector(P, Z, direction, correctors=1, long_step=0.9)
    _, dP, dZ = moves[0]
    ahead = ((P + 0.4 * dP) * (Z + 0.9 * dZ)).mean()
    mu = min((ahead / (P * Z).mean()) ** 3, 1.0) * (P * Z).mean()
    np.testing.assert_allclose(rights[1], mu - P * Z - dP * dZ, rtol=1e-9, atol=1e-12)
    _, dP, dZ = moves[1]
    primal, dual = (min(1.0, 1.0 / (-way / at).max()) for way, at in ((dP, P), (dZ, Z)))
    product = (P + (primal + REACH) * dP) * (Z + (dual + REACH) * dZ)
    change, small, large = rights[2] - rights[1], mu / SPREAD, mu * SPREAD
    below, above = product < small, product > large
    assert below.any()
    assert above.any()
    np.testing.assert_allclose(change[below], (small - product)[below], rtol=1e-9)
    np.testing.assert_allclose(change[~below & ~above], 0.0, atol=1e-12)
    limited = np.maximum(large - product, -large)[above]
    np.testing.assert_allclose(change[above], limited, rtol=1e-9)


def test_a_step_aims_at_the_center_of_its_predictor(monkeypatch):
    """Mehrotra's cube, and the second-order term taken back."""
    point = InteriorPoint(random_program(60, 5))
    point.residuals()
    asked, direction = [], point._direction
    monkeypatch.setattr(point, "_direction", lambda R: asked.append(R) or direction(R))
    product, P, Z = point.P * point.Z, point.P.copy(), point.Z.copy()
    point.step()
    np.testing.assert_allclose(asked[0], -product, atol=1e-12)
    _, dP, dZ = direction(-product)
    primal, dual = (min(1.0, 1.0 / (-way / at).max()) for way, at in ((dP, P), (dZ, Z)))
    ahead = ((P + primal * dP) * (Z + dual * dZ)).mean()
    center = min((ahead / product.mean()) ** 3, 1.0) * product.mean()
    np.testing.assert_allclose(asked[1], center - product - dP * dZ, rtol=1e-6, atol=1e-12)


def plain_steps(monkeypatch, **tuning):
    """Steps alone: no vertex is looked for."""
    tuning = {"vertex_below": 0.0, "tableau_entries": 0} | tuning
    set_constants(monkeypatch, interior_point, **tuning)


@pytest.mark.parametrize(("shape", "most"), [((60, 5), 11.5), ((12, 90), 8.75), ((400, 8), 15)])
def test_so_many_steps_close_the_gap(shape, most, monkeypatch):
    plain_steps(monkeypatch)
    steps = []
    for seed in range(4):
        program = random_program(*shape, seed)
        found = interior_point.solve(program, Controls())
        assert_optimal(program, found)
        np.testing.assert_array_equal(found.scale, program.rows.column_scale())
        steps.append(found.iterations)
    assert np.mean(steps) <= most


def test_the_vertex_saves_the_last_steps(monkeypatch):
    """Pivots from a first guess on small problems, equations on larger ones, and every digit."""
    for shape, tuning, most in (((60, 5), {}, 3), ((400, 8), {"tableau_entries": 0}, 13)):
        program = random_program(*shape)
        set_constants(monkeypatch, interior_point, **tuning)
        found = interior_point.solve(program, Controls())
        assert found.iterations <= most
        assert found.relative_gap <= 1e-13
        assert_optimal(program, found)


def test_the_guessed_vertex_is_that_of_highs(program, monkeypatch):
    plain_steps(monkeypatch)
    best = highs.solve(program, Controls()).certificate
    point, record = InteriorPoint(program), Bounds()
    for _ in range(30):
        point.residuals()
        point.offer(record)
        if record.relative_gap < 1e-9:
            break
        point.step()
    vertex = point.vertex(exact_count=False)
    assert vertex.relative_gap <= 1e-12
    np.testing.assert_allclose(vertex.beta, best.beta, atol=1e-9)
    assert vertex.t == pytest.approx(best.t, rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(vertex.alpha, best.alpha, atol=1e-7)
    assert point.vertex(exact_count=True).relative_gap <= 1e-12
    assert point._cross().relative_gap <= 1e-12


def test_the_best_sides_are_kept_and_true(program):
    point, record = InteriorPoint(program), Bounds()
    assert record.relative_gap == np.inf
    best = highs.solve(program, Controls()).certificate.objective
    primal, dual = np.inf, -np.inf
    for _ in range(8):
        point.residuals()
        point.offer(record)
        primal = min(primal, primal_value(program, program.feasible(point.beta)))
        dual = max(dual, dual_value(program, point.alpha, point.t))
        assert record.objective == pytest.approx(primal, rel=1e-12)
        assert record.bound == pytest.approx(dual, rel=1e-12)
        assert dual - 1e-9 <= best <= primal + 1e-9
        assert record.relative_gap == pytest.approx((primal - dual) / max(1.0, abs(primal)))
        assert primal_value(program, record.primal) == pytest.approx(primal)
        assert dual_value(program, *record.dual) == pytest.approx(dual)
        point.step()


@pytest.mark.parametrize(
    ("controls", "status"),
    [
        (Controls(max_iter=3), Status.ITERATION_LIMIT),
        (Controls(deadline=0.0), Status.TIME_LIMIT),
        (Controls(tol=0.0), Status.STALLED),
    ],
)
def test_an_end_before_the_optimum_is_named_and_bounded(controls, status, monkeypatch):
    plain_steps(monkeypatch, patience=3, rescue_entries=0)
    program = random_program(60, 5)
    monkeypatch.setattr(InteriorPoint, "vertex", lambda self, exact_count: None)
    found = interior_point.solve(program, controls)
    best = highs.solve(program, Controls()).certificate.objective
    assert found.status is status
    assert found.iterations == {Status.ITERATION_LIMIT: 3, Status.TIME_LIMIT: 1}.get(
        status, found.iterations
    )
    answer = found.certificate
    assert answer.dual_objective - 1e-9 <= best <= answer.objective + 1e-9
    assert answer.objective == pytest.approx(primal_value(program, answer.beta))


def test_a_stall_is_rescued_by_the_vertex_or_by_pivots(monkeypatch):
    program = random_program(60, 5)
    for without, steps in (("vertex", 4), ("_cross", 10)):
        with monkeypatch.context() as patch:
            plain_steps(patch)
            patch.setattr(InteriorPoint, without, lambda self, **_: None)
            patch.setattr(InteriorPoint, "step", failing_after(steps, InteriorPoint.step))
            found = interior_point.solve(program, Controls())
        assert found.status is Status.OPTIMAL
        assert_optimal(program, found)


def failing_after(count, step):
    """A step whose factorization fails after so many in all."""
    taken = []

    def stepping(self):
        taken.append(1)
        if len(taken) > count:
            raise ArithmeticError
        step(self)

    return stepping


def test_a_few_degenerate_programs():
    """The generator of the slow test below, so that a fault shows at once."""
    for seed in range(60):
        program = degenerate_program(seed)
        if program is not None:
            solution = dispatch.solve(
                program, "interior-point", Controls(), np.random.default_rng(0)
            )
            assert solution.solver == interior_point.NAME
            assert_optimal(program, solution)


@pytest.mark.slow
@pytest.mark.parametrize("code", CODES)
def test_real_splits(code, publish):
    outcomes = []
    for seed in range(SPLITS):
        X, y, _, _ = split(code, seed)
        sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
        outcomes.append(outcome(f"{code} {seed}", program_of(X, sign)))
    publish(summary(f"{code}, 70 % splits", outcomes))
    check(outcomes)


@pytest.mark.slow
def test_degenerate_problems(publish):
    outcomes = []
    seed = 0
    while len(outcomes) < DEGENERATE:
        program = degenerate_program(seed)
        if program is not None:
            outcomes.append(outcome(f"seed {seed}", program))
        seed += 1
    publish(summary("degenerate", outcomes))
    check(outcomes)
    # The generator must keep reaching what it is there for.
    assert sum(not o.reference_certified for o in outcomes) < 0.02 * DEGENERATE


def answer_with(gap):
    return Certificate(np.zeros(1), np.zeros(1), 0.0, 1.0, 1.0 - gap)


def corner_with_a_flat_column():
    """The largest separation leaves a corner, but for a column with equal centers."""
    program = random_program(40, 4)
    difference = program.difference.copy()
    difference[2] = 0.0
    program = replace(program, difference=difference)
    return replace(program, separation=program.largest_separation)


@pytest.mark.parametrize("entries", [(40 + 2 * 4) * 4, (40 + 2 * 4) * 4 - 1])
def test_a_corner_is_left_and_flat_columns_are_found_by_pivots(entries, monkeypatch):
    program = corner_with_a_flat_column()
    set_constants(monkeypatch, interior_point, rescue_entries=entries)
    found = interior_point.solve(program, Controls())
    best = highs.solve(program, Controls()).certificate
    assert found.iterations == 1
    corner = program.farthest_point
    kept = [0, 1, 3]
    np.testing.assert_allclose(found.certificate.beta[kept], corner[kept], atol=1e-9)
    if entries == (40 + 2 * 4) * 4:
        assert found.status is Status.OPTIMAL
        assert found.certificate.objective == pytest.approx(best.objective, rel=1e-8)
    else:
        assert found.status is Status.STALLED
        assert found.certificate.objective > best.objective + 1e-3
    # Without such a column nothing is solved.
    whole = random_program(40, 4)
    whole = replace(whole, separation=whole.largest_separation)
    monkeypatch.setattr(interior_point, "crossover", None)
    found = interior_point.solve(whole, Controls())
    assert found.status is Status.OPTIMAL
    np.testing.assert_array_equal(found.certificate.beta, whole.farthest_point)


@pytest.mark.parametrize("boxed", [False, True])
def test_a_stall_far_out_goes_on_from_there_with_a_box_that_absorbs(boxed, monkeypatch):
    program, asked, gaps = random_program(10 if boxed else 40, 5), [], iter([7.0, 0.05])

    class Point:
        beta = program.farthest_point / 2

        def __init__(self, program, start=None, *, absorb=False):
            asked.append((start, absorb))

    def drive(program, controls, point, enough=0.0, *, hurry=False):
        assert hurry == (len(asked) == 1 and not boxed)  # a second start is not waited for
        return Solution(Status.STALLED, answer_with(next(gaps)), 3, "")

    monkeypatch.setattr(interior_point, "InteriorPoint", Point)
    monkeypatch.setattr(interior_point, "_drive", drive)
    found = interior_point._solve(program, Controls(), None, enough=0.0)
    if boxed:
        assert asked == [(None, True)]
        assert (found.iterations, found.relative_gap) == (3, pytest.approx(7.0))
    else:
        assert asked == [(None, False), (Point.beta, True)]
        assert (found.iterations, found.relative_gap) == (6, pytest.approx(0.05))


@pytest.mark.parametrize(
    ("m", "start", "absorbs"), [(15, False, False), (14, False, True), (14, True, False)]
)
def test_few_samples_per_feature_have_their_optimum_at_the_box(m, start, absorbs, monkeypatch):
    program, asked = random_program(m, 5), []
    start = program.farthest_point if start else None
    monkeypatch.setattr(interior_point, "InteriorPoint", lambda *_, absorb: asked.append(absorb))
    solved = Solution(Status.OPTIMAL, answer_with(0.0), 3, "")
    monkeypatch.setattr(interior_point, "_drive", lambda *_, hurry: solved)
    assert interior_point._solve(program, Controls(), start, enough=0.05) == solved
    assert asked == [absorbs]


def test_columns_of_many_scales_do_not_hold_the_steps_up(monkeypatch):
    # Coefficients at the box, and far out: plain steps led nowhere, for 97 of them.
    X, y = load_breast_cancer(return_X_y=True)
    first, second = np.random.default_rng(0).integers(0, X.shape[1], (2, 100))
    X = np.hstack([X, X[:, first] * X[:, second]])
    monkeypatch.setattr(interior_point, "crossover", lambda *given: None)
    found = interior_point.solve(program_of(X, np.where(y, 1.0, -1.0)), Controls())
    assert found.status is Status.OPTIMAL
    assert found.iterations < 90  # 60 to 75, by the processor


def test_half_of_the_tolerance_is_left_to_the_proof(monkeypatch):
    # 1,500 x 300 of pixels ended at 0.9e-9, to which rounding added 0.5e-9.
    asked, gap = [], 0.9e-8

    def solve(program, controls, start, *, enough):
        asked.append((controls.tol, enough))
        nothing = np.zeros(1)
        return Solution(Status.STALLED, Certificate(nothing, nothing, 0.0, gap, 0.0), 1, "")

    monkeypatch.setattr(interior_point, "solve", solve)
    assert interior_point.exact(None, Controls(tol=1e-8)).status is Status.OPTIMAL
    assert asked == [(0.5e-8, 1e-8)]
    gap = 1.1e-8
    assert interior_point.exact(None, Controls(tol=1e-8)).status is Status.STALLED


class Driven:
    """A point whose gaps are told."""

    column_scale = np.ones(1)
    rough, large = None, False

    def __init__(self, gaps, vertices=(), rescued=None, started_in=0.0, fails=99):
        self.gaps, self.vertices = iter(gaps), iter(vertices)
        self.rescued, self.started_in, self.fails = rescued, started_in, fails
        self.steps = 0

    def residuals(self):
        pass

    def offer(self, bounds):
        bounds.objective, bounds.bound = 1.0, 1.0 - next(self.gaps)
        bounds.primal, bounds.dual = np.zeros(1), (np.zeros(1), 0.0)

    def finish(self, gap, tol, *, slow):
        return next(self.vertices, None)

    def step(self):
        self.steps += 1
        if self.steps >= self.fails:
            raise ArithmeticError

    def rescue(self, answer, tol, *, stalled):
        self.stalled = stalled
        return answer if self.rescued is None else self.rescued


def driven(monkeypatch, gaps, late=None, enough=0.0, hurry=False, **options):
    point = Driven(gaps, **options)

    ahead = []

    class Late(Controls):
        def out_of_time(self, more=0.0):
            ahead.append(more)
            return late is not None and len(ahead) >= late

    found = interior_point._drive(None, Late(max_iter=40), point, enough, hurry=hurry)
    return found, point, ahead


def test_a_drive_ends_with_the_gap_the_vertex_the_patience_or_the_time(monkeypatch):
    found, point, _ = driven(monkeypatch, [0.5, 0.1, 1e-12])
    assert (found.status, found.iterations, point.steps) == (Status.OPTIMAL, 2, 2)
    found, point, _ = driven(monkeypatch, [1e-12])
    assert (found.status, found.iterations, point.steps) == (Status.OPTIMAL, 1, 0)
    # A vertex counts where it reaches ``tol``.
    vertices = [None, answer_with(1e-3), answer_with(1e-13)]
    found, point, _ = driven(monkeypatch, [0.5] * 9, vertices=vertices)
    assert (found.certificate, found.iterations) == (vertices[2], 2)
    found, _, _ = driven(monkeypatch, [1e-12], vertices=[answer_with(1e-10)])
    assert found.relative_gap == pytest.approx(1e-12, rel=1e-3)
    # Fifteen steps in which the gap does not halve; each time it does the count restarts.
    found, point, _ = driven(monkeypatch, [0.5] * 99)
    assert (found.status, point.steps, point.stalled) == (Status.STALLED, 16, True)
    found, point, _ = driven(monkeypatch, [0.5] * 10 + [0.2] * 99)
    assert (found.status, found.iterations) == (Status.STALLED, 26)
    # Three where it is small enough for the caller.
    found, point, _ = driven(monkeypatch, [0.5] * 5 + [1e-5] * 99, enough=1e-5)
    assert (found.status, found.iterations) == (Status.STALLED, 8)
    # In a hurry six far out, and then nothing is rescued; as many as ever nearer by.
    found, point, _ = driven(monkeypatch, [0.5] * 99, hurry=True, rescued=answer_with(0.0))
    assert (found.status, found.iterations) == (Status.STALLED, 7)
    found, point, _ = driven(monkeypatch, [0.1] * 99, hurry=True)
    assert (found.status, found.iterations, point.stalled) == (Status.STALLED, 16, True)
    found, point, _ = driven(monkeypatch, 0.9 ** np.arange(99))
    assert (found.status, point.steps, point.stalled) == (Status.ITERATION_LIMIT, 41, False)
    assert found.iterations == 40
    found, point, ahead = driven(monkeypatch, [0.5] * 99, late=3, started_in=2.0)
    assert (found.status, found.iterations, point.stalled) == (Status.TIME_LIMIT, 2, False)
    # A step that will end half a second too late is not begun; the next one is fast.
    assert ahead[0] == pytest.approx(1.5)
    assert ahead[1] == 0.0
    found, point, _ = driven(monkeypatch, [0.5] * 99, fails=4)
    assert (found.status, found.iterations, point.stalled) == (Status.STALLED, 3, True)
    found, _, _ = driven(monkeypatch, [0.5] * 99, fails=4, rescued=answer_with(0.0))
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("less", [0, 1])
def test_small_problems_are_those_of_a_small_tableau(less, monkeypatch):
    m, n = 60, 5
    changed = {"tableau_entries": (m + 2 * n) * n - less, "small": m * n - less}
    set_constants(monkeypatch, interior_point, **changed)
    point = InteriorPoint(random_program(m, n))
    assert point.long_step == (interior_point.LONG_STEP if less else interior_point.LONG_ENOUGH)
    assert point.cross_below == (0.0 if less else pytest.approx(0.1 * point.mu()))
    set_constants(monkeypatch, interior_point, near=30.0)
    point = InteriorPoint(random_program(m, n))
    assert point.cross_below == (0.0 if less else pytest.approx(0.1**1.5 * point.mu()))
    assert point.started_in >= 0.0


@pytest.fixture
def watched(monkeypatch):
    """A point whose vertices are told, and what was asked for."""
    point, asked = InteriorPoint(random_program(60, 5)), []
    point.residuals()
    point.told = {}

    def cross():
        asked.append("cross")
        return point.told.get("cross")

    def vertex(*, exact_count):
        asked.append(exact_count)
        return point.told.get("vertex")

    monkeypatch.setattr(point, "_cross", cross)
    monkeypatch.setattr(point, "vertex", vertex)
    return point, asked


def test_vertices_are_sought_by_pivots_where_they_are_cheap(watched):
    point, asked = watched
    mu = point.mu()

    def looked(gap, tol, below, *, slow=False):
        asked.clear()
        point.cross_below = below
        point.finish(gap, tol, slow=slow)
        return asked.copy()

    assert looked(0.5, 1e-9, 1.1 * mu) == ["cross"]
    assert point.cross_below == pytest.approx(0.011 * mu)
    assert looked(1e-3, 1e-9, 0.9 * mu) == []
    assert looked(1e-3, 1e-9, 0.0) == [True]
    assert looked(1e-10, 1e-9, 0.0) == [False]
    assert looked(0.02, 1e-9, 0.0) == []
    # Where steps are slow a guess need not have as many equations as unknowns.
    assert looked(1e-3, 1e-9, 0.0, slow=True) == [False]
    assert looked(1e-3, 1e-5, 0.0, slow=True) == [True]
    # A rough answer is not worth pivots.
    assert looked(1e-3, 1e-5, 1.1 * mu) == [True]
    assert looked(1e-6, 1e-5, 1.1 * mu) == [True]


@pytest.mark.parametrize("entries", [70 * 5, 70 * 5 - 1])
def test_the_best_of_what_is_near_rescues_a_stall(watched, entries, monkeypatch):
    point, asked = watched
    set_constants(monkeypatch, interior_point, rescue_entries=entries)
    old, better, best = answer_with(0.3), answer_with(0.2), answer_with(0.1)
    crosses = entries == 70 * 5
    assert point.rescue(old, 1e-9, stalled=True) is old
    assert asked == [False, "cross"][: 1 + crosses]
    point.told = {"vertex": better}
    assert point.rescue(old, 1e-9, stalled=True) is better
    assert point.rescue(best, 1e-9, stalled=True) is best
    point.told = {"vertex": better, "cross": best}
    assert point.rescue(old, 1e-9, stalled=True) is (best if crosses else better)
    assert point.rescue(old, 1e-9, stalled=False) is better
    # A rough answer, that of a sample, is not worth pivots.
    assert point.rescue(old, 1e-5, stalled=True) is better
    point.told = {"vertex": best, "cross": better}
    assert point.rescue(old, 1e-9, stalled=True) is best


def test_pivots_begin_with_the_heaviest_hinges(program, monkeypatch):
    point, asked = InteriorPoint(program), []
    monkeypatch.setattr(interior_point, "crossover", lambda *given: asked.append(given))
    point._cross()
    (given, beta, weight, most), n = asked[0], program.shape[1]
    p, xi, low, high, q = blocks(point, point.P)
    alpha, rest, z_low, z_high, t = blocks(point, point.Z)
    wanted = [1 / (p / alpha + xi / rest), z_low / low, z_high / high, t / q]
    np.testing.assert_allclose(weight, np.concatenate(wanted), rtol=1e-12)
    assert (given, most) == (program, 5 * n + 20)
    assert beta is point.beta


@pytest.mark.parametrize("kind", ["plain", "dependent", "rounded"])
def test_pivots_in_a_null_space_end_the_steps_early(kind, monkeypatch):
    """Also where features depend on each other, and after steps in single precision."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 110))
    if kind == "dependent":
        X[:, 70:] = X[:, :40] + X[:, 30:70]
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, 1.0, -1.0)
    program = program_of(X, y)
    monkeypatch.setattr(InteriorPoint, "vertex", lambda self, exact_count: None)
    set_constants(monkeypatch, interior_point, large=400 * 110 + 1)
    plain = interior_point.solve(program, Controls())
    set_constants(monkeypatch, interior_point, large=400 * 110)
    assert InteriorPoint(program).large
    if kind != "rounded":
        monkeypatch.setattr(type(program.rows), "float32", lambda self, index: None)
    assert (InteriorPoint(program).rough is not None) == (kind == "rounded")
    found = interior_point.solve(program, Controls())
    assert found.solver == "interior-point"
    assert_optimal(program, found)
    assert found.iterations < plain.iterations
    # A rough answer is not worth pivots.
    monkeypatch.setattr(interior_point.null_space, "finish", None)
    assert interior_point.solve(program, Controls(tol=1e-4)).status is Status.OPTIMAL


def test_steps_in_single_precision_end_where_they_do_not_pay(monkeypatch):
    set_constants(monkeypatch, interior_point, large=250 * 110)
    program = random_program(250, 110)
    assert InteriorPoint(random_program(249, 110)).rough is None
    point = InteriorPoint(program)
    assert point.rough is not None
    point.residuals()
    set_constants(monkeypatch, interior_point, few_products=-9)
    point.step()
    assert point.rough is None
    steps, factors = [], []
    step = InteriorPoint.step

    def failing(self):
        """A matrix that has a factor in double precision alone."""
        steps.append(self.rough is not None)
        if self.rough is not None:
            raise ArithmeticError
        factors.append(step(self))

    monkeypatch.setattr(InteriorPoint, "step", failing)
    assert_optimal(program, interior_point.solve(program, Controls()))
    assert steps[:2] == [True, False]
    assert not any(steps[1:])


def normal_program(m, n, seed=0):
    rng = np.random.default_rng(seed)
    return program_of(rng.normal(size=(m, n)), np.where(np.arange(m) % 2, 1.0, -1.0))


@pytest.mark.parametrize("side", [ColumnSide, RowSide])
@pytest.mark.parametrize("shape", [(40, 7), (6, 30)])
def test_the_step_meets_both_equations(side, shape):
    program, rng = normal_program(*shape), np.random.default_rng(1)
    m, n = shape
    D, theta = 10.0 ** rng.uniform(-4, 4, m), 10.0 ** rng.uniform(-4, 4, n)
    D_apart, h, h_apart, b = 3.0, rng.normal(size=m), 0.7, rng.normal(size=n)
    x, v, v_apart = side(program, D, D_apart, theta).step(h, h_apart, b)
    E = np.vstack([program.rows.dense(), program.difference])
    all_v = np.append(v, v_apart)
    np.testing.assert_allclose(
        all_v / np.append(D, D_apart), np.append(h, h_apart) - E @ x, atol=1e-6
    )
    size = np.abs(E.T) @ np.abs(all_v) + np.abs(theta * x) + np.abs(b)
    assert np.all(np.abs(E.T @ all_v - theta * x + b) <= 1e-6 * size)


@pytest.mark.parametrize(
    ("m", "n", "side"),
    [(200, 20, ColumnSide), (5, FEW_COLUMNS, ColumnSide), (5, FEW_COLUMNS + 1, RowSide)],
)
def test_the_smaller_side_is_factored(m, n, side):
    program = normal_program(m, n)
    assert isinstance(normal_equations(program, np.ones(m), 1.0, np.ones(n)), side)


@pytest.mark.parametrize("size", [1.0, 3e4])
def test_pivots_in_a_null_space_do_not_depend_on_the_scale_of_features(size, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.poisson(2.0, (570, 200)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=570) > 2, 1.0, -1.0)
    found, finish = [], interior_point.null_space.finish

    def recorded(*given):
        found.append(finish(*given))
        return found[-1]

    monkeypatch.setattr(interior_point.null_space, "finish", recorded)
    interior_point.solve(program_of(size * X, y, C=0.01), Controls())
    assert [one.status for one in found] == [Status.OPTIMAL]
