"""Screening finds the optimum of the whole, in a handful of passes, without a copy."""

import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import LCC
from lincent.problems.centralization import certify, lcc_program
from lincent.solvers.lp import dispatch, interior_point, screening
from lincent.solvers.lp.screening import undecided
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source
from support.degenerate import program_of

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
    assert model.duality_gap_ <= TOL
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
    assert model.duality_gap_ <= TOL
    assert peak < 0.75 * (X.shape[0] * X.shape[1] * 8)


def test_sizes_of_samples_follow_the_shape():
    for n, rows in ((50, 1_500), (100, 3_000), (200, 3_000), (750, 3_000), (1_000, 4_000)):
        assert screening.per_column(30, n) == rows
        assert screening.start_size(n) == rows + 500
    for m, n in ((10_000, 7), (123_456, 20), (5_000_000, 3)):
        assert screening.sample_size(m, n) == int(2 * np.cbrt(m * m * n)) + 1


@pytest.mark.parametrize(
    ("n", "sparse", "most"),
    [(20, False, 4_000), (100, False, 9_800), (1_000, False, 12_600), (1_000, True, 85_400)],
)
def test_a_sample_pays_from_so_many_rows_on(n, sparse, most):
    assert not screening.is_applicable(most, n, sparse=sparse)
    assert screening.is_applicable(most + 1, n, sparse=sparse)


def test_undecided_rows_after_a_sample_are_those_of_sampling_error():
    program = program_from(*normal(9_000, 3))
    m, n = program.shape
    whole = program.rows.all_rows(program.costs, program.margin)
    beta = 0.1 * program.farthest_point
    missed = program.rows.dot(beta) < program.margin
    below = program.costs[missed].sum() / program.costs.sum()
    for sample in (300, 100_000):
        near = screening._seen_from(program, whole, beta, sample)
        assert near.band == max(undecided(m, n, sample, below), 91)
        np.testing.assert_array_equal(near.beta, program.feasible(beta))


@pytest.mark.parametrize(("band", "spare", "few"), [(500, 0, 60), (0, 0, 60), (0, 99, 99)])
def test_a_guess_is_brought_closer_with_its_rows_undecided(band, spare, few, monkeypatch):
    program = program_from(*normal(2_000, 6))
    rows = program.rows.all_rows(program.costs, program.margin)
    whole = SimpleNamespace(look=rows.look, spare_rows=spare)
    asked = []

    def approach(program, whole, near, few, steps, rng, tell):
        asked.append((near.band, few, steps))
        return near, 3

    monkeypatch.setattr(screening, "approach", approach)
    ended = SimpleNamespace(run=lambda steps: steps)
    monkeypatch.setattr(screening, "Rounds", lambda *_: ended)
    monkeypatch.setattr(type(program.rows), "all_rows", lambda self, costs, margin: whole)
    guess = screening.Guess(0.5 * program.farthest_point, band)
    assert screening.solve(program, Controls(), None, guess) == 3
    assert asked == [(max(band, few // 2), few, 8)]


class Stub:
    """A sample whose optimum is given, and which records how many rows it was asked for."""

    def __init__(self, program, rows=None, repeated=False):
        self.program, self.rows, self.repeated = program, rows, repeated
        self.all_rows = SimpleNamespace(sized=lambda columns: ("sized", columns))
        self.parts = []

    def repeats(self, rng):
        return self.repeated

    def subset(self, k, rng):
        self.parts.append(k)
        self.program = SimpleNamespace(shape=(k, self.program.shape[1]), rows=None)
        return self

    def near_optimum(self, controls, rng):
        return np.full(2, 0.1), 5

    def optimum(self, controls):
        return np.full(2, 0.2), 7

    def release(self):
        pass


def drawn(monkeypatch, m, n, most=10**9, repeated=False, on_host=True, undecided=0, distinct=10):
    """How many rows the first sample has; and whether distinct rows are solved instead."""
    seen = {}

    def sample(k, rng):
        seen["k"] = k
        return (None,)

    whole = SimpleNamespace(most_sampled=most, sample=sample, on_host=on_host)
    rows = SimpleNamespace(all_rows=lambda costs, margin: whole)
    program = SimpleNamespace(
        rows=rows, costs=None, margin=None, shape=(m, n), materialize=lambda: "all rows"
    )
    merged = SimpleNamespace(
        program=SimpleNamespace(shape=(distinct, 3), materialize=lambda: "distinct rows"),
        expand=lambda found: found,
    )
    monkeypatch.setattr(screening, "Sample", lambda p, r: Stub(p, r, repeated))
    monkeypatch.setattr(screening, "merge", lambda program: merged)
    near = SimpleNamespace(band=undecided, beta="near")
    monkeypatch.setattr(screening, "_from_samples", lambda *a: (near, whole, metric, a[3]))
    metric = SimpleNamespace(scale=None, spread=None)
    exact = Solution(Status.OPTIMAL, None, 3, "other")
    known = {("all rows", "near"): exact, ("distinct rows", None): exact}
    monkeypatch.setattr(interior_point, "exact", lambda p, c, start=None: known[p, start])
    ended = SimpleNamespace(run=lambda steps: steps)
    monkeypatch.setattr(screening, "Rounds", lambda *_: ended)
    found = screening.solve(program, Controls(), np.random.default_rng(0))
    if found == replace(exact, iterations=seen["k"] + 3, solver="screening"):
        return "all rows"
    if found == replace(exact, solver="screening"):
        return "distinct"
    assert found == seen["k"]
    return found


def test_a_second_sample_is_drawn_where_it_is_larger_than_the_first_and_small(monkeypatch):
    assert drawn(monkeypatch, 8_000, 2) == 560  # the second would have 1,008 rows
    assert drawn(monkeypatch, 20_000, 2) == 1_857
    assert drawn(monkeypatch, 20_000, 2, most=1_500) == 1_500
    assert drawn(monkeypatch, 20_000, 2, most=1_120) == 560
    assert drawn(monkeypatch, 20_000, 2, most=1_121) == 1_121
    # Above a third of all rows it costs what the whole does.
    assert drawn(monkeypatch, 40_000, 200) == 3_500
    assert drawn(monkeypatch, 50_000, 200) == 15_875
    assert drawn(monkeypatch, 20_000, 2, repeated=True) == "distinct"
    assert drawn(monkeypatch, 20_000, 2, repeated=True, on_host=False) == 1_857


def test_where_most_rows_are_undecided_all_of_them_are_solved_at_once(monkeypatch):
    assert drawn(monkeypatch, 20_000, 2, undecided=10_000) == 1_857
    assert drawn(monkeypatch, 20_000, 2, undecided=10_001) == "all rows"
    assert drawn(monkeypatch, 20_000, 2, undecided=10_001, on_host=False) == 1_857


@pytest.mark.parametrize("m", [4_000, 4_001])
def test_distinct_rows_are_screened_where_they_are_many(m, monkeypatch):
    """Otherwise the interior point solves them; here the screened program is the stub again."""
    if m == 4_000:
        assert drawn(monkeypatch, 20_000, 2, repeated=True, distinct=m) == "distinct"
        return
    with pytest.raises(AttributeError, match="rows"):
        drawn(monkeypatch, 20_000, 2, repeated=True, distinct=m)


def stages(monkeypatch, second, columns, by_size=False, late=False, spare=0):
    """From which samples, to how few rows and in how many steps the whole is approached."""
    asked, drawn = [], []

    def approach(program, whole, near, few, steps, rng, tell):
        asked.append((near.sample, few, steps, float(near.beta[0])))
        return SimpleNamespace(beta=near.beta + 0.5), 1

    def seen(program, rows, beta, sample):
        return SimpleNamespace(beta=beta, sample=sample)

    whole = SimpleNamespace(spare_rows=spare, sampled_by_size=by_size)
    whole.sized = lambda columns: whole
    whole.sample = lambda k, rng: drawn.append(k) or (None,)
    monkeypatch.setattr(screening, "approach", approach)
    monkeypatch.setattr(screening, "_seen_from", seen)
    metric = SimpleNamespace(columns=columns)
    monkeypatch.setattr(screening, "metric_at", lambda rows, rng: metric)
    monkeypatch.setattr(screening, "Sample", lambda p, r: Stub(p, r))
    program = SimpleNamespace(shape=(20_000, 2))
    controls = Controls(deadline=0.0 if late else np.inf)
    first = Stub(program)
    *_, steps = screening._from_samples(program, whole, first, second, controls, None)
    assert first.parts[0] == 560
    return asked, drawn, steps


def test_the_whole_is_approached_by_way_of_a_second_sample(monkeypatch):
    # Of one sample, its optimum; of a larger one, Newton steps on it; then on the whole.
    assert stages(monkeypatch, 560, None) == ([(560, 60, 7, 0.1)], [], 6)
    two = [(560, 60, 8, 0.1), (1_800, 60, 7, 0.6)]
    assert stages(monkeypatch, 1_800, None) == (two, [], 7)
    # Where rows differ in size, the exact optimum of a sample in sizes, drawn by them if it can.
    assert stages(monkeypatch, 560, "sizes") == ([(560, 60, 7, 0.2)], [], 8)
    assert stages(monkeypatch, 560, "sizes", by_size=True)[1:] == ([560], 8)
    assert stages(monkeypatch, 560, None, spare=70)[0] == [(560, 70, 7, 0.1)]
    assert stages(monkeypatch, 560, None, late=True)[0] == [(560, 60, 0, 0.1)]


def test_thousands_of_tied_rows_are_certified_here():
    """One-hot columns whose combinations seldom repeat: most rows are active."""
    rng = np.random.default_rng(3)
    levels = rng.integers(0, 5, (20_000, 6))
    X = np.concatenate([levels[:, [k]] == np.arange(5) for k in range(6)], axis=1).astype(float)
    sign = np.where(rng.random(20_000) < 0.3 + 0.1 * levels[:, 0], 1.0, -1.0)
    found = dispatch.solve(program_of(X, sign), "auto", Controls(), np.random.default_rng(3))
    assert found.solver == screening.NAME
    assert found.certified(Controls().tol)
