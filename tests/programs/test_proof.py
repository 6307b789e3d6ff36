"""What a certificate claims is true in rational arithmetic, on data of any scale and offset."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lincent.passes.dense import DenseRows
from lincent.programs import evaluation
from lincent.programs.centralization import certify, lcc_program
from lincent.programs.evaluation import LabeledRows, evaluated
from lincent.programs.proof import estimated_rounding, proved
from lincent.solvers.lp import choose
from lincent.solvers.solution import Controls
from support.rational import ExactProgram

KINDS = ("plain", "scales", "offset", "large", "weights", "heavy", "repeated", "wide")


def problem(kind, seed):
    """Rows, signs, weights and a margin."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    m, n = int(rng.integers(6, 40)), int(rng.integers(1, 6))
    if kind == "wide":
        m, n = 8, 12
    X = rng.standard_normal((m, n))
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    X += np.outer(sign, rng.standard_normal(n)) * rng.uniform(0, 1)
    weight = np.ones(m)
    if kind == "scales":
        X *= 10.0 ** rng.uniform(-5, 5, n)
    elif kind == "offset":
        X += 10.0 ** rng.uniform(2, 7, n)
    elif kind == "large":
        X *= 10.0 ** rng.uniform(3, 9)
    elif kind == "weights":
        weight = 10.0 ** rng.uniform(-3, 3, m)
    elif kind == "heavy":
        X = X**3 * np.exp(X)
    elif kind == "repeated":
        X = np.round(X)
        X[m // 2 :] = X[: m - m // 2]
        X += 0.5 * sign[:, None]
    return X, sign, weight, float(10.0 ** rng.uniform(-6, -1))


def program_of(X, sign, weight, margin):
    low, high = (np.average(X[sign == s], axis=0, weights=weight[sign == s]) for s in (-1, 1))
    rows = DenseRows((X - (low + high) / 2) * sign[:, None])
    return lcc_program(rows, high - low, 2.0 * weight, margin * np.abs(high - low).sum())


def solved(program):
    return choose.solve(program, "auto", Controls(), np.random.default_rng(0)).certificate


def near(value, exact, error):
    return abs(Fraction(float(value)) - exact) <= Fraction(float(error))


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
