"""Objective and bound with twice the digits, in rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from lincent.programs import evaluation
from lincent.programs.centralization import certify
from lincent.programs.evaluation import LabeledRows, evaluated
from support.exact_problems import KINDS, near, problem, program_of, solved
from support.rational import ExactProgram


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_evaluation_is_exact(kind, seed, monkeypatch):
    """Both numbers of any point, optimal or not, without refined multipliers."""
    monkeypatch.setattr(evaluation, "REFINEMENTS", 0)
    X, sign, weight, margin = problem(kind, seed)
    program = program_of(X, sign, weight, margin)
    rng = np.random.default_rng(seed)
    alpha = program.costs * np.round(rng.random(len(sign)), 3)
    answer = certify(program, rng.uniform(-1, 1, X.shape[1]), alpha, float(rng.random()))
    size = abs(answer.objective) + abs(answer.dual_objective)
    data = LabeledRows(lambda part: X[part], sign, weight, X.shape)
    centers = ExactProgram.of_data(X, sign, weight, program.costs, program.margin)
    for given, exact in ((None, ExactProgram.of(program)), (data, centers)):
        found = evaluated(program, answer, given)
        assert near(found.objective, exact.primal(answer.beta), found.rounding)
        assert near(found.dual_objective, exact.dual(answer.alpha, answer.t), found.rounding)
        short = max(Fraction(program.separation) - exact.reach(answer.beta), Fraction(0))
        assert found.rounding <= 1e-14 * size + 1.1 * answer.t * float(short)


def test_refined_multipliers_prove_what_doubles_cannot(monkeypatch):
    X, sign, weight, margin = problem("plain", 3)
    program = program_of(X * 2.0**30, sign, weight, margin / 2.0**30)
    refined = solved(program)
    monkeypatch.setattr(evaluation, "REFINEMENTS", 0)
    plain = solved(program)
    assert refined.relative_gap <= 1e-9
    assert refined.gap < plain.gap / 100
    assert Fraction(refined.dual_objective) <= ExactProgram.of(program).primal(
        plain.beta
    ) + Fraction(refined.rounding)
