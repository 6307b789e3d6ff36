"""Screening finds the optimum of the whole, in a handful of reads, without a copy."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC
from lincent.passes.signed_rows import SignedRows
from lincent.passes.source import open_source
from lincent.programs.centralization import certify, lcc_program
from lincent.solvers.lp import interior_point, screening
from lincent.solvers.solution import Controls, Status

TOL = 1e-9


class CountingSource:
    """A source that counts how often all rows are read."""

    def __init__(self, source):
        self.source = source
        self.shape, self.sparse = source.shape, source.sparse
        self.reads = 0

    def __getattr__(self, verb):
        method = getattr(self.source, verb)
        if verb in ("measure", "gather", "class_means", "gram", "outer", "column_scale", "array"):
            self.reads += 1
        return method


def labels(score, rng, noise=1.0, share=0.5):
    noisy = score + noise * score.std() * rng.standard_normal(len(score))
    return np.where(noisy > np.quantile(noisy, 1 - share), 1.0, -1.0)


def normal(m, n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    return X, labels(X @ rng.standard_normal(n), rng), np.ones(m)


def weights_over_six_orders():
    X, sign, _ = normal(12_000, 8)
    return X, sign, 10.0 ** np.random.default_rng(1).uniform(-3, 3, len(X))


def imbalanced():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20_000, 10))
    return X, labels(X @ rng.standard_normal(10), rng, share=1 / 51), np.ones(len(X))


def heavy_tails():
    rng = np.random.default_rng(3)
    X = rng.standard_t(1.5, (15_000, 8))
    return X, labels(np.tanh(X) @ rng.standard_normal(8), rng), np.ones(len(X))


def duplicated_rows():
    X, sign, weight = normal(300, 5)
    return np.tile(X, (40, 1)), np.tile(sign, 40), np.tile(weight, 40)


def whole_numbers():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 4, (12_000, 6)).astype(float)
    return X, labels(X @ rng.standard_normal(6), rng), np.ones(len(X))


def shifted_and_scaled():
    X, sign, weight = normal(12_000, 6)
    return X * 10.0 ** np.arange(-3, 3) + 50.0, sign, weight


def box_active():
    """Tiny features: the margin is far, and coefficients end at the box."""
    X, sign, weight = normal(12_000, 6)
    return X * [1e-3, 1.0, 1e-3, 1e-2, 1.0, 1e-3], sign, weight


def separable():
    X, sign, weight = normal(12_000, 6)
    return X + 3.0 * np.outer(sign, np.ones(6)), sign, weight


def sparse_rows():
    rng = np.random.default_rng(5)
    X = sp.random_array((15_000, 30), density=0.1, rng=rng, format="csr")
    return X, labels(X @ rng.standard_normal(30), rng), np.ones(X.shape[0])


CASES = {
    "20,000 x 8": lambda: normal(20_000, 8),
    "6,000 x 20": lambda: normal(6_000, 20),
    "one column": lambda: normal(10_000, 1),
    "weights over six orders": weights_over_six_orders,
    "1:50": imbalanced,
    "heavy tails": heavy_tails,
    "duplicated rows": duplicated_rows,
    "whole numbers": whole_numbers,
    "shifted and scaled": shifted_and_scaled,
    "box active": box_active,
    "separable": separable,
    "sparse": sparse_rows,
}


def program_from(X, sign, weight, margin=0.01, source=None):
    source = open_source(X) if source is None else source
    centers = source.class_means(sign, weight)
    rows = SignedRows(source, sign, centers.mean(axis=0))
    return lcc_program(rows, centers[1] - centers[0], 2.0 * weight, margin)


def screened(program, seed=0):
    return screening.solve(program, Controls(tol=TOL), np.random.default_rng(seed))


def assert_certified(program, solution):
    """Judged over all rows, by the certificate of the program and not by the solver's own."""
    answer = solution.certificate
    again = certify(program, answer.beta, answer.alpha, answer.t)
    assert solution.status is Status.OPTIMAL
    assert again.relative_gap <= 1.01 * TOL
    np.testing.assert_allclose(again.objective, answer.objective, rtol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_from_the_optimum_of_another_margin(case):
    data = CASES[case]()
    last = screened(program_from(*data, margin=0.01)).certificate.beta
    program = program_from(*data, margin=0.02)
    guess = screening.Guess(last, len(data[1]) // 4)
    near = screening.solve(program, Controls(tol=TOL), np.random.default_rng(0), start=guess)
    if near.status is Status.OPTIMAL:
        assert_certified(program, near)
    else:  # not near enough, and known to be
        assert near.relative_gap > TOL
    if case in ("20,000 x 8", "6,000 x 20", "separable", "sparse"):
        assert near.status is Status.OPTIMAL


def test_wrong_start_is_not_believed():
    program = program_from(*normal(8_000, 6), margin=0.5)
    guess = screening.Guess(np.full(6, -1.0), 0)
    found = screening.solve(program, Controls(tol=TOL), np.random.default_rng(0), start=guess)
    best = screened(program).certificate
    again = certify(program, found.certificate.beta, found.certificate.alpha, found.certificate.t)
    assert again.objective == pytest.approx(found.certificate.objective, rel=1e-10)
    assert again.dual_objective <= best.objective * (1 + 1e-12) + 1e-9


@pytest.mark.parametrize("case", CASES)
def test_optimum_of_the_whole(case):
    program = program_from(*CASES[case]())
    solution = screened(program)
    assert_certified(program, solution)
    whole = replace(program, rows=program.rows.materialize())
    reference = interior_point.solve(whole, Controls(tol=TOL)).certificate
    assert reference.relative_gap <= TOL
    size = max(1.0, abs(reference.objective))
    assert abs(solution.certificate.objective - reference.objective) <= 2 * TOL * size


@pytest.mark.parametrize("case", ["20,000 x 8", "1:50", "heavy tails", "sparse"])
def test_the_optimum_does_not_depend_on_the_sample(case):
    program = program_from(*CASES[case]())
    objectives = [screened(program, seed).certificate.objective for seed in range(4)]
    assert np.ptp(objectives) <= 2 * TOL * max(1.0, abs(objectives[0]))


@pytest.mark.parametrize("case", ["20,000 x 8", "weights over six orders", "sparse"])
def test_deterministic_for_a_seed(case):
    program = program_from(*CASES[case]())
    first, second = screened(program, 7), screened(program, 7)
    np.testing.assert_array_equal(first.certificate.beta, second.certificate.beta)
    np.testing.assert_array_equal(first.certificate.alpha, second.certificate.alpha)
    assert first.iterations == second.iterations


@pytest.mark.parametrize("shape", [(20_000, 20), (200_000, 20), (100_000, 5)])
def test_reads_do_not_grow_with_the_rows(shape):
    X, sign, weight = normal(*shape)
    source = CountingSource(open_source(X))
    program = program_from(X, sign, weight, source=source)
    solution = screened(program)
    reads = source.reads
    assert_certified(program, solution)
    assert reads <= 12


def test_estimator_reports_screening_and_its_seed_makes_it_repeatable():
    X, sign, _ = normal(20_000, 8)
    first = LCC(random_state=3).fit(X, sign)
    second = LCC(random_state=3).fit(X, sign)
    assert first.solver_ == screening.NAME
    np.testing.assert_array_equal(first.coef_, second.coef_)
    other = LCC(random_state=4).fit(X, sign)
    np.testing.assert_allclose(other.objective_, first.objective_, rtol=2e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_no_copy_of_the_data(order):
    X, sign, _ = normal(200_000, 40)
    X = np.asarray(X, order=order)
    model = LCC(random_state=0)
    tracemalloc.start()
    try:
        model.fit(X, sign)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.duality_gap_ <= TOL * max(1.0, abs(model.objective_))
    assert peak < 0.5 * X.nbytes, f"peak {peak / X.nbytes:.2f} times the size of X"


def test_no_copy_of_single_precision_data():
    X, sign, _ = normal(200_000, 40)
    X = X.astype(np.float32)
    tracemalloc.start()
    try:
        LCC(random_state=0).fit(X, sign)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.0 * X.nbytes, f"peak {peak / X.nbytes:.2f} times the size of X"


def test_sparse_rows_are_never_made_dense():
    rng = np.random.default_rng(0)
    X = sp.random_array((60_000, 60), density=0.02, rng=rng, format="csr")
    sign = labels(X @ rng.standard_normal(60), rng)
    tracemalloc.start()
    try:
        model = LCC(random_state=0, time_limit=60.0).fit(X, sign)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.duality_gap_ <= TOL * max(1.0, abs(model.objective_))
    assert peak < 0.75 * (X.shape[0] * X.shape[1] * 8)
