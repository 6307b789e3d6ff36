"""The parts of (P) and (D), each against its definition written out."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems import centralization
from lincent.problems.centralization import Program, certify, lcc_program
from lincent.sources.dense import DenseRows


def drawn(seed, m=7, n=4, offset=0.7):
    """A program whose numbers are all different from each other and from zero and one."""
    rng = np.random.default_rng(seed)
    return Program(
        rows=DenseRows(rng.standard_normal((m, n))),
        costs=rng.uniform(0.5, 3.0, m),
        margin=0.3,
        linear=rng.standard_normal(n),
        difference=rng.standard_normal(n),
        separation=0.4,
        lower=-rng.uniform(0.5, 2.0, n),
        upper=rng.uniform(0.5, 2.0, n),
        offset=offset,
    )


def bound_at(program, t, combined, total):
    """(D) as a loop over the columns."""
    value = program.offset + program.margin * total + program.separation * t
    for j in range(len(combined)):
        rest = program.linear[j] - combined[j] - t * program.difference[j]
        value += min(program.lower[j] * rest, program.upper[j] * rest)
    return value


@pytest.mark.parametrize("seed", range(20))
def test_the_best_t_is_at_a_breakpoint_or_at_zero(seed):
    program = drawn(seed)
    rng = np.random.default_rng(seed + 100)
    combined = rng.standard_normal(4) * 2
    breakpoints = (program.linear - combined) / program.difference
    best = max(bound_at(program, t, combined, 0.0) for t in [0.0, *breakpoints[breakpoints > 0]])
    for guess in (-1.0, 0.0, 0.37, 1e6):
        t = program.best_t(combined, guess)
        assert t >= 0
        assert bound_at(program, t, combined, 0.0) == pytest.approx(best, abs=1e-12)


def test_every_breakpoint_can_be_the_best():
    """Steep separations want a large t: each of the sorted breakpoints is found."""
    program = drawn(0, n=6)
    combined = program.linear - np.arange(1.0, 7.0) * program.difference
    found = set()
    for separation in np.linspace(-8.0, 8.0, 200):
        steep = replace(program, separation=separation)
        best = max(bound_at(steep, t, combined, 0.0) for t in np.arange(0.0, 7.0))
        t = steep.best_t(combined, 0.0)
        if t < 6.5 and np.isfinite(best) and not steep.infeasible:
            assert bound_at(steep, t, combined, 0.0) == pytest.approx(best, abs=1e-12)
            found.add(round(t, 9))
    assert len(found) >= 4


def test_the_bound_of_the_dual():
    program, rng = drawn(1), np.random.default_rng(1)
    alpha, t = rng.uniform(0, 1, 7), 0.9
    combined = program.rows.tdot(alpha)
    expected = bound_at(program, t, combined, alpha.sum())
    assert program.dual(alpha, t, combined) == pytest.approx(expected, rel=1e-14)


def test_the_value_from_a_known_loss():
    program = drawn(2)
    beta = program.farthest_point
    projected = program.rows.dot(beta)
    loss = sum(c * max(0.3 - p, 0.0) for c, p in zip(program.costs, projected, strict=True))
    value = 0.7 + sum(program.linear * beta) + loss
    assert loss > 0
    assert program.value(beta, loss) == pytest.approx(value, rel=1e-14)
    assert program.primal(beta, projected) == pytest.approx(value, rel=1e-14)
    assert program.value(-beta, loss) == np.inf
    assert program.primal(-beta, -projected) == np.inf


def test_hard_rows_are_met_up_to_rounding():
    program = drawn(3)
    beta = program.farthest_point
    projected = program.rows.dot(beta)
    hard = np.argmax(projected)
    costs = program.costs.copy()
    costs[hard] = np.inf
    slack = centralization.HARD_FEASIBILITY * (projected[hard] + np.abs(projected).max())
    for beyond, met in ((-0.5, True), (0.5, True), (2.0, False)):
        tight = replace(program, costs=costs, margin=projected[hard] + beyond * slack)
        assert tight.hard
        assert np.isfinite(tight.primal(beta, projected)) == met
    soft = np.delete(costs, hard) @ np.maximum(
        tight.margin - np.delete(projected, hard), 0.0
    )  # the hard row costs nothing
    exact = replace(tight, margin=projected[hard]).primal(beta, projected)
    assert exact == pytest.approx(0.7 + program.linear @ beta + soft, abs=1e-7)


def test_the_separation_is_met_up_to_a_share():
    program = drawn(4)
    beta = 0.5 * program.farthest_point
    reach = float(program.difference @ beta)
    share = centralization.SEPARATION_FEASIBILITY
    for beyond, met in ((-1.0, True), (0.5, True), (2.0, False), (1e6, False)):
        asked = replace(program, separation=reach * (1 + beyond * share))
        assert np.isfinite(asked.value(beta, 0.0)) == met


def test_rounding_of_large_terms_is_no_violation():
    program = drawn(5, n=2)
    wide = replace(
        program, difference=np.array([1e8, -1e8]), separation=1e-6,
        lower=np.zeros(2), upper=np.ones(2),
    )  # fmt: skip
    assert np.isfinite(wide.value(np.array([0.5, 0.5]), 0.0))
    assert wide.value(np.array([0.5, 0.5001]), 0.0) == np.inf


def test_one_point_is_left_at_the_largest_separation():
    program = drawn(6)
    largest = program.largest_separation
    assert largest == pytest.approx(
        sum(
            max(d * lo, d * up)
            for d, lo, up in zip(program.difference, program.lower, program.upper, strict=True)
        )
    )
    near = centralization.ONLY_POINT
    for beyond, alone in ((0.0, True), (0.5, True), (2.0, False), (1e3, False)):
        asked = replace(program, separation=largest * (1 - beyond * near))
        assert asked.one_point == alone
    assert not replace(program, separation=largest).infeasible
    assert replace(program, separation=largest * (1 + 1e-6)).infeasible


def test_points_are_moved_into_the_feasible_set():
    program = drawn(7)
    far = program.farthest_point
    stays = program.feasible(far * 0.99)
    np.testing.assert_array_equal(stays, far * 0.99)
    clipped = program.feasible(far * 5)
    np.testing.assert_array_equal(clipped, far)
    short = far * (0.1 * program.separation / program.largest_separation)
    scaled = program.feasible(short)
    assert program.difference @ scaled == pytest.approx(program.separation, rel=1e-12)
    np.testing.assert_allclose(scaled / short, scaled[0] / short[0])  # along its own direction
    towards = program.feasible(-0.3 * far)
    assert program.difference @ towards == pytest.approx(program.separation, rel=1e-12)
    share = (towards + 0.3 * far) / (1.3 * far)  # on the way to the farthest point
    np.testing.assert_allclose(share, share[0])


def test_a_certificate_looks_for_a_better_t():
    program, rng = drawn(8), np.random.default_rng(8)
    alpha = rng.uniform(0, 0.3, 7)
    combined = program.rows.tdot(alpha)
    best = program.best_t(combined, 0.0)
    for t in (-3.0, best + 2.0):
        answer = certify(program, program.farthest_point, alpha, t)
        assert answer.t == best
        assert answer.dual_objective == pytest.approx(
            bound_at(program, best, combined, alpha.sum())
        )
    over = certify(program, program.farthest_point, program.costs * 9, 0.0)
    np.testing.assert_array_equal(over.alpha, program.costs)
    under = certify(program, program.farthest_point, -program.costs, 0.0)
    np.testing.assert_array_equal(under.alpha, np.zeros(7))


def test_a_certificate_that_is_closed_keeps_its_t(monkeypatch):
    """Where objective and bound agree, no other t is tried."""
    one = Program(DenseRows(np.array([[1.0]])), np.array([2.0]), 1.0, np.array([-1.0]),
                  np.array([1.0]), 0.5, np.array([-1.0]), np.array([1.0]))  # fmt: skip
    monkeypatch.setattr(Program, "best_t", None)
    answer = certify(one, np.array([1.0]), np.array([0.0]), 0.0)
    assert (answer.objective, answer.dual_objective, answer.t) == (-1.0, -1.0, 0.0)


def test_below_zero_there_is_no_bound():
    """At t = -0.5 the formula of (D) gives -0.75, which is above the optimum -1."""
    one = Program(DenseRows(np.array([[1.0]])), np.array([2.0]), 1.0, np.array([-1.0]),
                  np.array([1.0]), 0.5, np.array([-1.0]), np.array([1.0]))  # fmt: skip
    nothing = np.array([0.0])
    assert one.dual(nothing, -0.5, nothing) == -0.75
    answer = certify(one, np.array([1.0]), nothing, -0.5)
    assert (answer.objective, answer.dual_objective, answer.t) == (-1.0, -1.0, 0.0)


def test_the_equation_of_the_paper():
    rows, d, costs = DenseRows(np.ones((3, 2))), np.array([0.5, -2.0]), np.array([1.0, 2.0, 4.0])
    program = lcc_program(rows, d, costs, 0.25)
    assert program.offset == -0.25 * 7.0
    assert program.separation == program.margin == 0.25
    np.testing.assert_array_equal(program.linear, -d)
    np.testing.assert_array_equal(program.upper, np.ones(2))
    np.testing.assert_array_equal(program.lower, -np.ones(2))
    assert lcc_program(rows, d, np.array([1.0, np.inf, 2.0]), 0.25).offset == 0.0
