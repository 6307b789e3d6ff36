"""Paths over margins: every point is the optimum of its own program, however it was reached."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lincent import LCC, lcc_path
from lincent.estimators.problem import scaled_costs
from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import dispatch, interior_point, screening, simplex
from lincent.solvers.lp import path as paths
from lincent.solvers.lp.path import SCALED, MarginPivots, StreamedPathSolver, hinge_weights
from lincent.solvers.lp.vertex import vertex_of_active_set
from lincent.solvers.solution import Controls, Status, silent
from lincent.sources.dense import DenseRows
from lincent.sources.rows import SignedRows
from support.clock import Clock
from support.degenerate import program_of
from support.labeled import noisy, separable, with_flat_column


@pytest.mark.parametrize("make", [noisy, separable])
def test_path_agrees_with_single_fits(make):
    X, y = make()
    path = lcc_path(X, y, Cs=[0.01, 2.0])
    assert path.certified[:, path.feasible].all()
    assert (~path.feasible).any()
    assert np.isnan(path.coefs[:, ~path.feasible]).all()
    for i, C in enumerate(path.Cs):
        for k, margin in enumerate(path.margins):
            if not path.feasible[k]:
                with pytest.raises(ValueError, match="largest feasible margin"):
                    LCC(C, margin).fit(X, y)
                continue
            single = LCC(C, margin).fit(X, y)
            size = max(1.0, abs(single.objective_))
            assert abs(path.objectives[i, k] - single.objective_) <= 3e-9 * size
            beta = path.coefs[i, k]
            assert np.all(np.abs(beta) <= 1 + 1e-12)


def test_path_certificate_is_true():
    """The objective is recomputed from the paper's definition."""
    X, y = noisy()
    path = lcc_path(X, y)
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * (X - (low + high) / 2)
    for k in np.flatnonzero(path.feasible):
        beta, margin = path.coefs[0, k], path.margins[k]
        slack = np.maximum(margin - signed @ beta, 0.0) - margin
        objective = (low - high) @ beta + 2.0 * slack.sum()
        assert objective == pytest.approx(path.objectives[0, k], rel=1e-12)
        assert (high - low) @ beta >= margin * (1 - 1e-9)
    assert (path.duality_gaps[0, path.feasible] >= 0).all()


def test_repeated_rows_are_one_row_of_their_costs():
    X, y = noisy()
    X, y = np.round(X[:, :3], 1), np.asarray(y)
    again = np.arange(len(X)).repeat(3)
    several, once = lcc_path(X[again], y[again]), lcc_path(X, y, sample_weight=np.full(len(X), 3.0))
    assert several.certified[:, several.feasible].all()
    np.testing.assert_allclose(several.objectives, once.objectives, rtol=1e-8)


def test_inactive_box_only_scales():
    X, y = noisy()
    path = lcc_path(X, y)
    scaled = np.flatnonzero(path.solvers[0] == "scaled")
    assert len(scaled) >= 3
    for k in scaled:  # margins are followed from the largest down
        ratio = path.margins[k] / path.margins[k + 1]
        np.testing.assert_allclose(path.coefs[0, k], ratio * path.coefs[0, k + 1], rtol=1e-12)
    assert (path.n_iters[0, scaled] == 0).all()


@pytest.mark.parametrize("make", [noisy, separable])
def test_path_is_found_near_the_last_point(make, monkeypatch):
    """Beyond the first point nothing is solved from nothing, and few steps are needed."""
    X, y = make(5000, 12)
    cold = []
    from_nothing = paths.PathSolver._from_nothing
    monkeypatch.setattr(
        paths.PathSolver,
        "_from_nothing",
        lambda self, program: cold.append(1) or from_nothing(self, program),
    )
    path = lcc_path(X, y)
    assert path.certified[:, path.feasible].all()
    assert len(cold) <= 2
    assert path.n_iters.sum() <= 8 * path.feasible.sum()
    for k in np.flatnonzero(path.feasible):
        single = LCC(margin=path.margins[k]).fit(X, y)
        assert path.objectives[0, k] == pytest.approx(single.objective_, rel=3e-9, abs=3e-9)


def test_path_order_of_margins_does_not_matter():
    X, y = noisy()
    margins = [4.0, 0.1, 1.0, 0.5]
    one, other = lcc_path(X, y, margins=margins), lcc_path(X, y, margins=sorted(margins))
    np.testing.assert_allclose(one.objectives[0][[1, 3, 2, 0]], other.objectives[0], rtol=1e-9)
    assert list(one.margins) == margins


def test_path_of_sparse_rows_and_weights():
    import scipy.sparse as sp

    X, y = noisy(150, 4)
    X = np.where(np.abs(X) < 0.6, 0.0, X)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    dense = lcc_path(X, y, sample_weight=weight, margins=[0.1, 1.0])
    sparse = lcc_path(sp.csr_array(X), y, sample_weight=weight, margins=[0.1, 1.0])
    repeated = lcc_path(np.repeat(X, weight, axis=0), np.repeat(y, weight), margins=[0.1, 1.0])
    np.testing.assert_allclose(dense.objectives, sparse.objectives, rtol=1e-9)
    np.testing.assert_allclose(dense.objectives, repeated.objectives, rtol=1e-9)


def test_hard_margin_path():
    X, y = separable()
    path = lcc_path(X, y, Cs=[np.inf], margins=[0.01, 0.02])
    assert path.certified.all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"margins": []}, "margins"),
        ({"margins": [0.1, -1.0]}, "margins=.*-1.0.* is not usable"),
        ({"Cs": [0.0]}, "Cs=.*0.0.* is not usable"),
        ({"solver": "magic"}, "solver"),
    ],
)
def test_path_refuses(change, words):
    X, y = noisy(60)
    with pytest.raises(ValueError, match=words):
        lcc_path(X, y, **change)


def test_path_is_for_two_classes():
    X, y = noisy(90, classes=3)
    with pytest.raises(ValueError, match="3 classes"):
        lcc_path(X, y)


def test_wrong_shortcut_is_not_taken(monkeypatch):
    """A shortcut is believed by its certificate, never by its word."""
    X, y = noisy()
    expected = lcc_path(X, y)
    scaled = paths._scaled

    def broken(program, last, tol):
        answer = scaled(program, last, tol)
        if answer is None:
            return None
        return paths.certify(program, 0.5 * answer.beta, answer.alpha, answer.t)

    monkeypatch.setattr(paths, "_scaled", broken)
    found = lcc_path(X, y)
    assert not (found.solvers == "scaled").any()
    np.testing.assert_allclose(
        found.objectives[0, found.feasible], expected.objectives[0, expected.feasible], rtol=1e-9
    )


def test_time_limit_of_a_path_is_kept():
    X, y = noisy(3000, 20)
    with pytest.warns(ConvergenceWarning, match="points of the path are not certified"):
        path = lcc_path(X, y, time_limit=1e-9)
    assert not path.certified.all()


def test_after_the_deadline_no_other_solver_is_asked(monkeypatch):
    """A solve that time cut short is not made again by the next solver, and no point is begun."""
    X, y = noisy(6000, 5)
    clock, begun = Clock(monkeypatch), []
    screen = screening.solve

    def cut_short(program, controls, rng, start=None):
        begun.append(clock.passed)
        clock.pass_by(20.0)
        return screen(program, controls, rng, start=start)

    monkeypatch.setattr(screening, "solve", cut_short)
    monkeypatch.setattr(simplex, "is_applicable", lambda m, n: False)
    for name in ("solve", "_best_of"):
        monkeypatch.setattr(dispatch, name, lambda *_: pytest.fail("begun after the deadline"))
    with pytest.warns(ConvergenceWarning, match="3 of 3 points of the path are not certified"):
        path = lcc_path(X, y, margins=[0.01, 0.1, 0.2], time_limit=10.0)
    assert begun == [0.0]
    assert np.isnan(path.coefs[0, :2]).all()
    assert np.isfinite(path.coefs[0, 2]).all()
    assert np.isnan(path.objectives[0]).tolist() == [True, True, False]


@pytest.mark.parametrize("flat", [0.0, 1e-17, 1e-14, 1e-6, 1e-2])
def test_at_the_largest_margin_flat_columns_are_still_chosen(flat):
    """Only columns whose centers differ are at the corner, and no rounding proves otherwise."""
    X, y = with_flat_column(flat)
    low, high = X[:60].mean(axis=0), X[60:].mean(axis=0)
    largest = float(np.abs(high - low).sum())
    path = lcc_path(X, y, margins=[largest])
    assert path.certified.all()
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * (X - (low + high) / 2)
    sides = [-1.0, 1.0] if flat >= 1e-6 else np.linspace(-1, 1, 2001)
    values = [
        (low - high) @ [1.0, side] + 2.0 * np.maximum(-signed @ [1.0, side], -largest).sum()
        for side in sides
        if (high - low) @ [1.0, side] >= largest * (1 - 1e-9)
    ]
    assert path.objectives[0, 0] <= min(values) + 1e-9 * abs(min(values))


def visited(margin=2.0, m=200, n=4, seed=0, **changes):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    X = rng.normal(size=(m, n)) + 0.8 * sign[:, None]
    program = replace(program_of(X, sign, margin=margin), **changes)
    answer = dispatch.solve(program, "auto", Controls(), rng).certificate
    return program, paths._Visited(program, answer)


def at_margin(program, margin):
    offset = -margin * float(program.costs.sum())
    return replace(program, margin=margin, separation=margin, offset=offset)


def test_what_does_not_scale_is_what_the_sides_of_the_box_add():
    program, last = visited()
    answer = last.certificate
    rest = program.linear - program.rows.tdot(answer.alpha) - answer.t * program.difference
    sides = np.minimum(program.lower * rest, program.upper * rest).sum()
    assert sides < -0.01
    assert last.box_term == pytest.approx(sides, rel=1e-9)
    np.testing.assert_array_equal(last.projected, program.rows.dot(answer.beta))


def test_undecided_rows_are_those_that_the_margin_passes():
    program, last = visited()
    for margin in (1.9, 1.2, 3.0):
        low, high = sorted((2 * margin - 2.0, 2.0))  # as far beyond the new margin as the old one
        passed = (last.projected >= low) & (last.projected <= high)
        assert paths._undecided(at_margin(program, margin), last) == np.count_nonzero(passed)
    assert paths._undecided(program, last) == 100  # other costs: half of all


@pytest.mark.parametrize("share", [1.0, 0.5, 0.01])
def test_a_solution_scales_where_the_box_does_not_act(share):
    program, last = visited(margin=0.01)
    assert np.abs(last.certificate.beta).max() < 0.5
    other = at_margin(program, 0.01 * share)
    found = paths._scaled(other, last, 1e-9)
    np.testing.assert_allclose(found.beta, share * last.certificate.beta, atol=1e-12)
    assert found.relative_gap <= 1e-12
    assert found.objective == pytest.approx(share * last.certificate.objective, rel=1e-9)
    # Not with other costs, not out of the box, and not where the box has its part.
    assert paths._scaled(replace(other, costs=2.0 * other.costs), last, 1e-9) is None
    reach = 1.01 / np.abs(last.certificate.beta).max()
    assert paths._scaled(at_margin(program, 0.01 * reach), last, 1e-9) is None
    boxed_program, boxed_last = visited()
    assert paths._scaled(at_margin(boxed_program, 1.8), boxed_last, 1e-9) is None
    assert paths._scaled(at_margin(boxed_program, 2.0), boxed_last, 1e-9).relative_gap <= 1e-12


def test_an_expected_gap_is_certified_up_to_a_hundred_times_the_tolerance():
    program, last = visited()
    other = at_margin(program, 1.9999)
    size = max(1.0, abs(last.certificate.objective))
    expected = abs((1 - 1.9999 / 2.0) * last.box_term) / size
    assert paths._scaled(other, last, 1.1 * expected / paths.TRIED_GAP) is not None
    assert paths._scaled(other, last, 0.9 * expected / paths.TRIED_GAP) is None


@pytest.mark.parametrize("seed", range(4))
def test_the_active_set_names_the_vertex_of_a_neighbor(seed):
    program, last = visited(seed=seed)
    for change in (0.0, 1e-7):
        other = at_margin(program, 2.0 * (1 - change))
        wanted = dispatch.solve(other, "highs", Controls(), np.random.default_rng(0)).certificate
        found = vertex_of_active_set(other, program, last.certificate)
        assert found.relative_gap <= 1e-12
        np.testing.assert_allclose(found.beta, wanted.beta, atol=1e-9)
    # Costs that all double leave the vertex where it is, with multipliers twice as large.
    double = replace(
        program, costs=2 * program.costs, linear=2 * program.linear, offset=2 * program.offset
    )
    found = vertex_of_active_set(
        double, program, replace(last.certificate, t=2 * last.certificate.t)
    )
    assert found.relative_gap <= 1e-12
    np.testing.assert_allclose(found.alpha, 2 * last.certificate.alpha, atol=1e-7)


def test_the_corner_of_the_largest_margin_is_proved_by_what_it_misses():
    program, _ = visited()
    largest = at_margin(program, program.largest_separation)
    answer = interior_point.only_point(largest)
    np.testing.assert_array_equal(answer.beta, program.farthest_point)
    missed = program.rows.dot(answer.beta) < largest.margin
    np.testing.assert_array_equal(answer.alpha, np.where(missed, program.costs, 0.0))
    assert answer.relative_gap <= 1e-12


def followed(program, last, solver="auto", **controls):
    """What a path_solver does with a program after another, and the names of what it asked."""
    path_solver = paths.PathSolver(solver, Controls(**controls), np.random.default_rng(0))
    path_solver._last = last
    return path_solver.solve(program), path_solver


@pytest.mark.parametrize(
    ("margin", "m", "solver"),
    [(1.9, 200, "pivots"), (1.0, 3000, "simplex"), (1.9, 8000, "simplex")],
)
def test_a_margin_is_solved_from_the_last_one(margin, m, solver):
    program, last = visited(m=m)
    found, path_solver = followed(at_margin(program, margin), last)
    assert found.solver == solver
    assert found.relative_gap <= 1e-9
    wanted = dispatch.solve(
        at_margin(program, margin), "auto", Controls(), np.random.default_rng(0)
    )
    assert found.certificate.objective == pytest.approx(wanted.certificate.objective, rel=1e-9)
    assert path_solver._last.certificate is found.certificate
    assert (path_solver._pivots._tableau is not None) == (solver == "pivots")


def test_many_columns_are_solved_by_pivots_where_the_active_set_hardly_changes(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(320, 80)), np.arange(320) % 2
    X[y == 1] += rng.normal(size=80) / 3  # separable: the box acts at every margin
    asked: list[float] = []
    solve = dispatch.solve
    monkeypatch.setattr(
        dispatch,
        "solve",
        lambda program, *more: asked.append(program.margin) or solve(program, *more),
    )
    largest = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).sum()
    path = lcc_path(X, y, margins=largest * 2.0 ** -np.arange(1, 15))
    assert path.certified.all()
    small = largest * 2.0**-9
    assert min(asked) > small
    monkeypatch.undo()
    single = LCC(margin=path.margins[-1]).fit(X, y)
    assert path.objectives[0, -1] == pytest.approx(single.objective_, rel=1e-8)


def test_a_named_solver_takes_no_other_way_and_a_rewind_goes_back_to_the_first():
    program, last = visited()
    found, path_solver = followed(at_margin(program, 1.5), last, solver="interior-point")
    assert found.solver == "interior-point"
    first = path_solver._first
    path_solver.solve(at_margin(program, 1.2))
    path_solver.rewind()
    assert path_solver._last is first
    assert path_solver._first is None


def test_rows_that_cost_nothing_are_left_out_of_a_path():
    program, _ = visited()
    costs = program.costs.copy()
    costs[::5] = 0.0
    path_solver = paths.PathSolver("auto", Controls(), np.random.default_rng(0))
    rows, vectors = path_solver.prepare(program.rows, [costs, 3 * costs])
    assert rows.shape == (160, 4)
    np.testing.assert_array_equal(vectors[1], 3 * costs[costs > 0])
    np.testing.assert_array_equal(rows.dense(), program.rows.dense()[costs > 0])


SHARES = 2.0 ** -np.arange(1, 12)


def random_rows(seed):
    """Signed rows and the difference of the centers: separable or not, whole numbers or not."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(40, 160)), int(rng.integers(2, 20))
    X = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-1, 1, n)
    if seed % 3 == 0:
        X = np.round(2 * X)
    y = np.where(np.arange(m) % 3 == 0, 1.0, -1.0)
    X += np.outer(y, rng.normal(size=n)) * rng.choice([0.3, 3.0])
    low, high = X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)
    return DenseRows(y[:, None] * (X - (low + high) / 2)), high - low


def optimum(program):
    return dispatch.solve(program, "auto", Controls(), np.random.default_rng(0)).certificate


def at_vertex(program, beta):
    """A vertex, and the weights of the hinges there."""
    return beta, hinge_weights(program, beta, program.rows.dot(beta))


@pytest.mark.parametrize("drift", [0, 200])
@pytest.mark.parametrize("seed", range(12))
def test_every_margin_has_its_optimum(seed, drift, monkeypatch):
    """Whether the tableau is recomputed at every margin or carried along."""
    monkeypatch.setattr(paths, "REFRESH", drift)
    rows, difference = random_rows(seed)
    costs, largest = np.full(rows.shape[0], 2.0), np.abs(difference).sum()
    walk, last = MarginPivots(), None
    for share in SHARES:
        program = lcc_program(rows, difference, costs, share * largest)
        wanted = optimum(program)
        start = at_vertex(program, wanted.beta) if last is None else last
        found = walk.solve(program, *start, Controls())
        assert found is not None
        assert found.relative_gap <= 1e-9
        size = max(1.0, abs(wanted.objective))
        assert abs(found.certificate.objective - wanted.objective) <= 2e-9 * size
        last = at_vertex(program, found.certificate.beta)


def test_a_margin_that_changes_nothing_takes_no_pivot():
    rows, difference = random_rows(1)
    costs, largest = np.full(rows.shape[0], 2.0), np.abs(difference).sum()
    program = lcc_program(rows, difference, costs, 0.25 * largest)
    walk = MarginPivots()
    first = walk.solve(program, *at_vertex(program, optimum(program).beta), Controls())
    again = walk.solve(program, *at_vertex(program, first.certificate.beta), Controls())
    assert again.iterations == 0
    np.testing.assert_allclose(again.certificate.beta, first.certificate.beta, rtol=1e-12)


def test_other_costs_have_a_tableau_of_their_own():
    rows, difference = random_rows(2)
    largest = np.abs(difference).sum()
    walk = MarginPivots()
    point = None
    for cost in (2.0, 0.01):
        program = lcc_program(rows, difference, np.full(rows.shape[0], cost), 0.1 * largest)
        wanted = optimum(program)
        point = point or at_vertex(program, wanted.beta)
        found = walk.solve(program, *point, Controls()).certificate
        assert found.objective == pytest.approx(wanted.objective, rel=1e-9)


def test_large_or_sparse_programs_are_left_to_others():
    def program(m, n):
        return lcc_program(DenseRows(np.zeros((m, n))), np.ones(n), np.ones(m), 0.1)

    assert MarginPivots.is_applicable(program(100, 5), 100)  # calls dominate
    assert MarginPivots.is_applicable(program(4000, 5), 2)
    assert not MarginPivots.is_applicable(program(4000, 5), 3)  # Newton steps pass many at once
    assert MarginPivots.is_applicable(program(20, 5), 20)  # where there are rows to sum up
    assert not MarginPivots.is_affordable(program(20_000, 2))


@pytest.mark.parametrize(
    ("m", "n", "turned", "expected"),
    [
        (3000, 10, 5, True),
        (3001, 10, 5, False),  # too many entries
        (3000, 10, 6, False),  # too many rows turn
        (600, 10, 600, True),  # so small that calls dominate
        (601, 10, 601, False),
        (300, 65, 5, False),  # too many columns
        (319, 64, 319, True),  # so few rows that steps have nothing to sum up
        (320, 64, 320, False),
    ],
)
def test_pivots_are_applicable_to_small_programs(m, n, turned, expected):
    rows = DenseRows(np.ones((m, n)))
    program = lcc_program(rows, np.ones(n), np.ones(m), 0.1)
    assert MarginPivots.is_applicable(program, turned) is expected
    assert MarginPivots.is_affordable(program) is (m * n <= 30_000 and n <= 64)


def test_a_hinge_weight_is_the_inverse_square_of_a_distance():
    rows, difference = random_rows(2)
    program = lcc_program(rows, difference, np.ones(rows.shape[0]), 0.1)
    program = replace(program, upper=2.0 * program.upper, separation=0.05)
    beta = program.feasible(np.full(rows.shape[1], 0.3))
    found = at_vertex(program, beta)[1]
    missed = program.margin - rows.dense() @ beta
    reach = difference @ beta - 0.05
    distance = np.concatenate([missed, beta - program.lower, program.upper - beta, [reach]])
    met = 1e-18 * (np.mean(missed**2) + program.margin**2)
    np.testing.assert_allclose(found, 1.0 / (distance**2 + met), atol=1e-12)


def test_a_tableau_is_carried_along_and_recomputed_after_so_many_pivots(monkeypatch):
    rows, difference = random_rows(4)
    costs, largest = np.full(rows.shape[0], 2.0), np.abs(difference).sum()
    made, fresh_forms, total = [], [], 0
    real, aim = paths.Tableau, paths.Tableau.aim
    monkeypatch.setattr(paths, "Tableau", lambda *args: made.append(1) or real(*args))
    monkeypatch.setattr(
        real,
        "aim",
        lambda self, program, fresh: fresh_forms.append(fresh) or aim(self, program, fresh=fresh),
    )
    monkeypatch.setattr(paths, "REFRESH", 5)
    walk, last, due = MarginPivots(), None, []
    for share in SHARES:
        program = lcc_program(rows, difference, costs, share * largest)
        start = at_vertex(program, program.farthest_point) if last is None else last
        if last is not None:
            due.append(total > 5)
            total = 0 if total > 5 else total
        found = walk.solve(program, *start, Controls())
        total += found.iterations
        last = at_vertex(program, found.certificate.beta)
    assert len(made) == 1
    assert fresh_forms == due
    assert any(fresh_forms)
    assert not all(fresh_forms)
    # Other costs are another program, and a path that left the vertex is forgotten.
    other = lcc_program(rows, difference, 2.0 * costs, 0.1 * largest)
    walk.solve(other, *at_vertex(other, program.farthest_point), Controls())
    assert len(made) == 2
    walk.forget()
    walk.solve(other, *at_vertex(other, program.farthest_point), Controls())
    assert len(made) == 3


def test_what_is_not_certified_is_not_an_answer():
    rows, difference = random_rows(1)
    program = lcc_program(rows, difference, np.ones(rows.shape[0]), 0.1)
    walk = MarginPivots()
    start = at_vertex(program, program.farthest_point)
    assert walk.solve(program, *start, Controls(tol=-1.0)) is None
    assert walk._tableau is None


def programs_of(X, y, block):
    """From a margin, as a share of the largest, to the program in blocks and the one in memory."""
    da = pytest.importorskip("dask.array")
    from lincent.sources.dask.table import open_dask

    m, n = X.shape
    table = open_dask(da.from_array(X, chunks=(block, n)), y, None, n, silent)
    source = table.problem(np.array([-1, 1]), np.ones(2))
    centers = source.class_means(None, None)
    middle, difference = centers.mean(axis=0), centers[1] - centers[0]
    blocks = SignedRows(source, source.sign, middle)
    largest = np.abs(difference).sum()

    def make(share):
        program = lcc_program(blocks, difference, np.ones(m), share * largest)
        program = replace(program, costs=scaled_costs(source.costs, 2.0))
        return program, program.materialize()

    return make


@pytest.fixture
def programs():
    return programs_of(*noisy(20_000), 4_000)


def streamed_path(**how):
    return StreamedPathSolver(how.pop("solver", "auto"), Controls(**how), np.random.default_rng(0))


def test_every_margin_has_the_optimum_of_memory(programs):
    path = streamed_path()
    ways = []
    for share in (1.0, 0.5, 1e-3, 1e-4, 1e-5):
        program, here = programs(share)
        found = path.solve(program)
        wanted = dispatch.solve(here, "auto", Controls(), np.random.default_rng(0)).certificate
        assert found.status is Status.OPTIMAL
        assert found.certificate.objective == pytest.approx(wanted.objective, rel=1e-8)
        ways.append(found.solver)
    assert ways[0] == "vertex"
    assert ways[-1] == SCALED  # far below the box a smaller margin only scales


def test_other_costs_know_nothing(programs):
    path = streamed_path()
    path.solve(programs(1e-3)[0])
    path.rewind()
    assert path.solve(programs(1e-4)[0]).solver != SCALED


def test_a_margin_beyond_the_largest_has_no_point(programs):
    found = streamed_path().solve(programs(1.5)[0])
    assert found.status is Status.INFEASIBLE
    assert found.certificate.objective == np.inf


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flat", [0.0, 1e-16, 1e-14, 1e-2])
def test_a_column_that_hardly_differs_is_not_proved_by_rounding(flat, seed):
    """At the largest margin its coefficient is still to be chosen where the difference is none."""
    program, here = programs_of(*with_flat_column(flat, seed), 40)(1.0)
    found = streamed_path().solve(program).certificate
    points = [np.array([1.0, side]) for side in np.linspace(-1, 1, 201)]
    least = min(here.primal(beta, here.rows.dot(beta)) for beta in points)
    assert found.relative_gap <= 1e-9
    assert found.objective <= least + 1e-9 * abs(least)
