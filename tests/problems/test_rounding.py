"""What a certificate claims is true in rational arithmetic, on data of any scale and offset."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from lincent.problems import rounding as proof
from lincent.problems.centralization import Certificate, Program, certify
from lincent.problems.rounding import certify_with_rounding, estimate_rounding
from lincent.solvers.lp.sparse import identification
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows
from support.exact_problems import KINDS, near, problem, program_of, solved
from support.programs import wide
from support.rational import ExactProgram


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_in_rational_arithmetic(kind, seed):
    program = program_of(*problem(kind, seed))
    exact, answer = ExactProgram.of(program), solved(program)
    value = exact.primal(answer.beta)
    assert near(answer.objective, value, answer.rounding)
    # The bound is below the value of a feasible point, and not below what alpha itself proves.
    assert Fraction(answer.dual_objective) - Fraction(answer.rounding) <= value
    proven = exact.dual(answer.alpha, answer.t)
    assert value - Fraction(answer.gap) <= Fraction(answer.dual_objective) + Fraction(
        answer.rounding
    )
    if answer.relative_gap <= 1e-9:
        assert value - proven <= Fraction(1e-6) * max(1, abs(value)) or kind in ("large", "scales")


@pytest.mark.parametrize("kind", ["plain", "weights", "heavy", "repeated"])
def test_the_estimate_covers_what_is_evaluated(kind):
    for seed in range(40):
        program = program_of(*problem(kind, seed))
        answer = replace(solved(program), rounding=0.0)
        estimate = estimate_rounding(program, answer, program.rows.column_scale())
        exact = ExactProgram.of(program)
        again = certify(program, answer.beta, answer.alpha, answer.t)
        assert near(again.objective, exact.primal(again.beta), estimate)
        assert near(again.dual_objective, exact.dual(again.alpha, again.t), estimate)


def test_the_estimate_covers_what_is_evaluated_on_sparse_rows():
    for seed in range(8):
        program = wide(40, 120, seed)
        answer = identification.solve_columns(program, Controls()).certificate
        estimate = estimate_rounding(program, answer, program.rows.column_scale())
        exact = ExactProgram.of(program)
        assert near(answer.objective, exact.primal(answer.beta), estimate)
        assert near(answer.dual_objective, exact.dual(answer.alpha, answer.t), estimate)
        dense = replace(program, rows=DenseRows(program.rows.dense()))
        assert estimate < estimate_rounding(dense, answer, program.rows.column_scale())


def test_what_is_hard_or_has_no_value_is_left_as_it_is():
    program = program_of(*problem("plain", 0))
    hard = replace(program, costs=np.full(program.shape[0], np.inf))
    answer = solved(program)
    assert certify_with_rounding(hard, answer, 1e-9) is answer
    nothing = replace(answer, objective=np.inf)
    assert certify_with_rounding(program, nothing, 1e-9) is nothing


def test_numbers_beyond_the_range_of_pairs_are_estimated():
    X, sign, weight, margin = problem("plain", 1)
    program = program_of(X * 2.0**470, sign, weight, margin)
    answer = certify(program, np.full(X.shape[1], 2.0**-400), program.costs / 2, 0.0)
    found = certify_with_rounding(program, answer, 1e-9)
    assert found.objective == answer.objective
    assert found.rounding > 0


def test_the_estimate_is_the_sum_of_its_parts():
    """Each part written out for rows of one column and of several, near and far."""
    rng = np.random.default_rng(3)
    m, n = 9, 3
    program = Program(
        rows=DenseRows(rng.standard_normal((m, n))),
        costs=rng.uniform(0.5, 3.0, m),
        margin=0.3,
        linear=rng.standard_normal(n),
        difference=rng.standard_normal(n),
        separation=0.4,
        lower=-np.array([2.0, 0.5, 1.0]),
        upper=np.array([1.0, 1.5, 0.7]),
        offset=-5.0,
    )
    alpha, beta, t, scale = (
        rng.uniform(0, 0.5, m),
        rng.standard_normal(n),
        0.6,
        rng.uniform(1, 9, n),
    )
    answer = Certificate(beta, alpha, t, 11.0, 10.0)
    for form in (alpha, Summed(float(alpha.sum()))):
        near = isinstance(form, np.ndarray)
        total = alpha.sum()
        length = np.sqrt((alpha**2).sum()) if near else np.sqrt(total * program.costs.max())
        expected = program.margin * total + np.sqrt(m) * (11.0 + 5.0)
        most = np.sqrt(program.costs.sum() * program.costs.max())
        for j in range(n):
            d, g = abs(program.difference[j]), abs(program.linear[j])
            reach = max(-program.lower[j], program.upper[j])
            drift = np.sqrt(m) * (total * d / 2 if near else g + t * d)
            expected += reach * (length * np.sqrt(m) * scale[j] + drift + g + t * d)
            expected += abs(beta[j]) * (most * np.sqrt(m * n) * scale[j] + g)
            expected += (reach + abs(beta[j])) * scale[j] * (1 + t + total)
        found = estimate_rounding(program, replace(answer, alpha=form), scale)
        assert found / (16 * 2.0**-53) == pytest.approx(expected, rel=1e-12)
        # A part of the entries is stored: so much less is added up, and one sum is shared.
        part = replace(program, rows=Stored((m, n), 12))
        line = most * np.sqrt(m * n) * np.abs(beta) @ scale
        expected += (np.sqrt(12 / (m * n)) - 1) * line
        expected += program.costs.sum() * np.sqrt(n * 12 / (m * n)) * np.abs(beta) @ scale
        found = estimate_rounding(part, replace(answer, alpha=form), scale)
        assert found / (16 * 2.0**-53) == pytest.approx(expected, rel=1e-12)


def test_long_sums_are_made_of_blocks():
    """Partial sums of losses and of one row's entries grow no further than a block is long."""
    found = []
    for m, n in ((16_384, 2), (4 * 16_384, 2), (16, 16_384), (16, 4 * 16_384)):
        nothing = np.zeros(n)
        program = Program(
            rows=Stored((m, n), m * n // 4),
            costs=np.full(m, 1.0 / m),
            margin=0.0,
            linear=nothing,
            difference=nothing,
            separation=0.0,
            lower=nothing,
            upper=nothing,
        )
        values = Certificate(nothing, np.zeros(m), 0.0, 1.0, 0.0)
        far = replace(values, beta=np.full(n, 1.0 / n), objective=0.0)
        found.append(estimate_rounding(program, values, np.ones(n)))
        # Beside the shared sum of a row: the entries of columns, and the centers.
        rest = 0.5 * np.sqrt(n) + 1.0
        shared = estimate_rounding(program, far, np.ones(n)) / (16 * 2.0**-53) - rest
        assert shared == pytest.approx(0.5 * np.sqrt(min(n, 16_384)), rel=1e-9)
    assert found[0] == found[1] == pytest.approx(16 * 2.0**-53 * 128.0, rel=1e-12, abs=0.0)
    assert found[2] == found[3] == pytest.approx(16 * 2.0**-53 * 4.0, rel=1e-12, abs=0.0)


def test_a_certificate_is_evaluated_where_that_can_tell_more(monkeypatch):
    """Not where the estimate is small, the gap is real, or rows are remote or too many."""
    program = program_of(*problem("plain", 0))
    scale = program.rows.column_scale()
    answer = replace(solved(program), rounding=0.0)
    answer = replace(answer, dual_objective=answer.objective)
    estimate = estimate_rounding(program, answer, scale)
    size = max(1.0, abs(answer.objective))
    asked = []

    def evaluate_in_pairs(program, answer, data, allowed):
        asked.append(allowed)
        return None if len(asked) == 1 else replace(answer, rounding=0.125)

    monkeypatch.setattr(proof, "evaluate_in_pairs", evaluate_in_pairs)

    def rounding(tol, answer=answer, program=program):
        return certify_with_rounding(program, answer, tol, scale=scale).rounding

    tol = 1.5 * estimate / size
    near = replace(answer, dual_objective=answer.objective - 0.6 * estimate)
    assert rounding(tol, near) == estimate_rounding(program, near, scale)  # no more found out
    assert rounding(tol, near) == 0.125
    assert asked == pytest.approx([0.99 * tol * size] * 2, rel=1e-12, abs=0.0)
    assert rounding(tol) == estimate
    # A gap beyond both ``tol`` and what rounding explains is open.
    for share, evaluates in ((900, True), (1100, False)):
        wide = replace(answer, dual_objective=answer.objective - share * estimate)
        assert rounding(tol, wide) == (
            0.125 if evaluates else estimate_rounding(program, wide, scale)
        )
    wide = replace(answer, dual_objective=answer.objective - 1100 * estimate)
    assert len(asked) == 3
    far = replace(answer, alpha=Summed(float(np.sum(answer.alpha))))
    assert rounding(1e-30, far) == estimate_rounding(program, far, scale)
    most = replace(program, rows=Stored(program.shape, 100_000_001))
    assert rounding(1e-30, program=most) == estimate_rounding(most, answer, scale)
    assert len(asked) == 3
    most = replace(program, rows=Stored(program.shape, 100_000_000))
    assert rounding(1e-30, program=most) == 0.125


@dataclass(frozen=True)
class Stored:
    """Sparse rows of which so many entries are stored."""

    shape: tuple[int, int]
    entries: int
    sparse: bool = True


class Summed:
    """Of multipliers of remote rows the sum alone is known."""

    def __init__(self, total):
        self.total = total
