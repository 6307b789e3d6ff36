"""What a certificate claims is true in rational arithmetic, on data of any scale and offset."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs.centralization import certify
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
