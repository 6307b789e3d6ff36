"""Objective and bound with twice the digits, in rational arithmetic."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.problems import double_double as exact_sums
from lincent.problems import rounding as evaluation
from lincent.problems.centralization import Program, certify
from lincent.problems.double_double import Pair, pair
from lincent.problems.rounding import CertificateData, SparseCertificateData, evaluate_in_pairs
from lincent.sources.dense import DenseRows
from lincent.sources.rows import SignedRows
from lincent.sources.sparse import SparseSource
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
    data = CertificateData(lambda part: X[part], sign, weight, X.shape)
    centers = ExactProgram.of_data(X, sign, weight, program.costs, program.margin)
    stored = sp.csr_array(X)
    sparse = SparseCertificateData(stored.__getitem__, sign, weight, X.shape, stored.nnz)
    for given, exact in ((None, ExactProgram.of(program)), (data, centers), (sparse, centers)):
        found = evaluate_in_pairs(program, answer, given)
        assert near(found.objective, exact.primal(answer.beta), found.rounding)
        assert near(found.dual_objective, exact.dual(answer.alpha, answer.t), found.rounding)
        short = max(Fraction(program.separation) - exact.reach(answer.beta), Fraction(0))
        assert found.rounding <= 1e-14 * size + 1.1 * answer.t * float(short)


@pytest.mark.parametrize("seed", range(3))
def test_sparse_rows_of_a_program_are_taken_around_their_center(seed):
    """Without data: the rows are y_i (x_i - l) for the l that the program has."""
    X, sign, weight, margin = problem("plain", seed)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = program_of(X, sign, weight, margin)
    center = X.mean(axis=0)
    program = replace(dense, rows=SignedRows(SparseSource(sp.csr_array(X)), sign, center))
    rng = np.random.default_rng(seed)
    answer = certify(program, rng.uniform(-1, 1, X.shape[1]), program.costs / 3, 0.5)
    found = evaluate_in_pairs(program, answer, None)
    assert found.relative_gap == pytest.approx(answer.relative_gap, rel=1e-9)
    around = [[Fraction(x) - Fraction(c) for x, c in zip(row, center, strict=True)] for row in X]
    weights = [Fraction(b) for b in answer.beta]
    line = [
        int(y) * sum(x * b for x, b in zip(row, weights, strict=True))
        for y, row in zip(sign, around, strict=True)
    ]
    loss = sum(
        Fraction(c) * max(Fraction(program.margin) - z, Fraction(0))
        for c, z in zip(program.costs, line, strict=True)
    )
    slope = sum(Fraction(g) * b for g, b in zip(program.linear, weights, strict=True))
    assert near(found.objective, Fraction(program.offset) + slope + loss, found.rounding)


def test_sparse_rows_cost_what_they_store(monkeypatch):
    """The proof of a wide sparse fit multiplies its entries some times, not its zeros."""
    rng = np.random.default_rng(0)
    stored = sp.random_array((300, 2000), density=0.01, rng=rng, format="csr")
    sign = np.where(np.arange(300) % 2, 1.0, -1.0)
    multiplied, two_product = [], exact_sums.two_product

    def counted(a, b):
        multiplied.append(np.broadcast(a, b).size)
        return two_product(a, b)

    monkeypatch.setattr(exact_sums, "two_product", counted)
    program = program_of(stored.toarray(), sign, np.ones(300), 0.01)
    answer = certify(program, rng.uniform(-1, 1, 2000), program.costs / 2, 0.0)
    data = SparseCertificateData(stored.__getitem__, sign, np.ones(300), stored.shape, stored.nnz)
    assert evaluate_in_pairs(program, answer, data, enough=np.inf) is not None
    assert sum(multiplied) <= 10 * stored.nnz + 20 * sum(stored.shape)


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


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_the_unit_of_the_objective_changes_nothing(unit):
    """Costs and linear term times a power of two: the same point, and the same digits proved."""
    X, sign, weight, margin = problem("large", 1)  # where multipliers of active rows are corrected
    program = program_of(X * 2.0**30, sign, weight, margin / 2.0**30)
    answer = solved(program)
    other = replace(
        program,
        costs=unit * program.costs,
        linear=unit * program.linear,
        offset=unit * program.offset,
    )
    moved = replace(answer, alpha=unit * answer.alpha, t=unit * answer.t)
    one, found = evaluate_in_pairs(program, answer, None), evaluate_in_pairs(other, moved, None)
    assert found.objective == unit * one.objective
    assert found.gap == pytest.approx(unit * one.gap, rel=1e-9)


def small_program(difference):
    n = len(difference)
    rows = DenseRows(np.random.default_rng(0).standard_normal((5, n)))
    ends = np.linspace(0.5, 2.0, n)
    return Program(rows, np.ones(5), 0.3, -difference, difference, 0.4, -ends, 2 * ends)


def test_a_column_that_the_difference_does_not_see():
    program = small_program(np.array([0.7, 0.0, -0.2]))
    answer = certify(program, np.array([1.0, 0.1, -1.0]), np.full(5, 0.5), 0.1)
    found, exact = evaluate_in_pairs(program, answer, None), ExactProgram.of(program)
    assert near(found.objective, exact.primal(answer.beta), found.rounding)
    assert near(found.dual_objective, exact.dual(answer.alpha, found.t), found.rounding)


def test_all_that_is_not_known_is_in_the_rounding():
    """The errors of both numbers, and what t times a separation that is not reached may cost."""
    program, beta = small_program(np.array([0.5, 0.25])), np.array([0.25, 0.5])  # d.beta = 0.25
    answer = replace(certify(program, beta, np.zeros(5), 0.0), beta=beta)

    class Dual:
        t = pair(2.0)

        def bound(self, _):
            return Pair(np.float64(-1.0), np.float64(0.0), np.float64(5e-3))

    given = evaluation._stored_terms(program)
    objective = Pair(np.float64(1.0), np.float64(0.0), np.float64(3e-3))
    found = evaluation._certificate(program, answer, given, objective, Dual())
    known = 3e-3 + 5e-3 + 2.0 * (0.4 - 0.25)
    assert known <= found.rounding <= known + 1e-14


def test_what_is_not_known_of_r_is_taken_from_the_bound():
    program = small_program(np.array([0.5, 0.25]))
    rest = Pair(np.array([1.0, -1.0]), np.zeros(2), np.array([1e-3, 2e-3]))
    found = evaluation._Dual(rest, pair(0.0), pair(0.0)).bound(program)
    reach = 1e-3 * 1.0 + 2e-3 * 4.0  # the farther end of the box in each column
    assert reach <= found.error <= 2 * reach + 1e-14


@pytest.mark.parametrize("seed", [4, 15, 16, 18, 20, 22])  # the last four hang on the separation
def test_multipliers_near_the_optimal_ones_are_brought_to_them(seed):
    """Multipliers of active rows and t can move: the error of r is removed up to its square."""
    X, sign, weight, margin = problem("plain", seed)
    program = program_of(X, sign, weight, margin)
    answer = solved(program)
    alpha = np.asarray(answer.alpha)
    slack = np.minimum(alpha, program.costs - alpha)
    noise = np.random.default_rng(seed).uniform(-1e-4, 1e-4, len(alpha))
    moved = replace(answer, alpha=alpha + slack * noise, t=answer.t * (1 + 1e-4))
    assert certify(program, moved.beta, moved.alpha, moved.t).gap > 1e-6
    data = CertificateData(X.__getitem__, sign, weight, X.shape)
    for rows in (None, data):
        found = evaluate_in_pairs(program, moved, rows, 0.0)
        assert found.objective - found.dual_objective <= 1e-13
        assert found.t == pytest.approx(answer.t, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_add_nothing_are_not_evaluated(seed, monkeypatch):
    """Beyond the margin by more than rounding and without a multiplier: all others are."""
    rng = np.random.default_rng(seed)
    rows, alpha = rng.normal(size=(200, 3)) + 2.0, np.zeros(200)
    beta = np.array([0.5, 0.3, -0.2])
    rows[0] *= 0.1 / (rows[0] @ beta)  # on the margin
    alpha[1] = 0.5
    d = rows.mean(axis=0)
    program = Program(DenseRows(rows), np.ones(200), 0.1, -d, d, 0.1, -np.ones(3), np.ones(3))
    answer = certify(program, beta, alpha, 0.0)
    exact, evaluations = ExactProgram.of(program), []
    projected = CertificateData.projected

    def counted(data, X, v):
        evaluations.append(len(X))
        return projected(data, X, v)

    monkeypatch.setattr(CertificateData, "projected", counted)
    found = evaluate_in_pairs(program, answer, None, enough=np.inf)
    missed = np.count_nonzero(rows @ beta < 0.1)
    assert missed + 1 <= sum(evaluations) <= missed + 2
    assert abs(exact.primal(beta) - Fraction(found.objective)) <= Fraction(found.rounding)
