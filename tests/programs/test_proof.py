"""What a certificate claims is true in rational arithmetic, on data of any scale and offset."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs.arrays import Certificate
from lincent.programs.centralization import Program, certify
from lincent.programs.proof import estimated_rounding, proved
from lincent.solvers.lp import dual_identification
from lincent.solvers.solution import Controls
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
        estimate = estimated_rounding(program, answer, program.rows.column_scale())
        exact = ExactProgram.of(program)
        again = certify(program, answer.beta, answer.alpha, answer.t)
        assert near(again.objective, exact.primal(again.beta), estimate)
        assert near(again.dual_objective, exact.dual(again.alpha, again.t), estimate)


def test_the_estimate_covers_what_is_evaluated_on_sparse_rows():
    for seed in range(8):
        program = wide(40, 120, seed)
        answer = dual_identification.solve(program, Controls()).certificate
        estimate = estimated_rounding(program, answer, program.rows.column_scale())
        exact = ExactProgram.of(program)
        assert near(answer.objective, exact.primal(answer.beta), estimate)
        assert near(answer.dual_objective, exact.dual(answer.alpha, answer.t), estimate)
        dense = replace(program, rows=DenseRows(program.rows.dense()))
        assert estimate < estimated_rounding(dense, answer, program.rows.column_scale())


def test_what_is_hard_or_has_no_value_is_left_as_it_is():
    program = program_of(*problem("plain", 0))
    hard = replace(program, costs=np.full(program.shape[0], np.inf))
    answer = solved(program)
    assert proved(hard, answer, 1e-9) is answer
    nothing = replace(answer, objective=np.inf)
    assert proved(program, nothing, 1e-9) is nothing


def test_numbers_beyond_the_range_of_pairs_are_estimated():
    X, sign, weight, margin = problem("plain", 1)
    program = program_of(X * 2.0**470, sign, weight, margin)
    answer = certify(program, np.full(X.shape[1], 2.0**-400), program.costs / 2, 0.0)
    found = proved(program, answer, 1e-9)
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
        found = estimated_rounding(program, replace(answer, alpha=form), scale)
        assert found == pytest.approx(16 * 2.0**-53 * expected, rel=1e-12)


class Summed:
    """Multipliers of rows that are elsewhere: their sum alone is known."""

    def __init__(self, total):
        self.total = total
