"""Remote samples that answer in sums alone, against the solvers in memory."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lincent.estimators.tabular import Costs
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import in_place, joint, ridge
from lincent.solvers.newton.in_place import lockstep
from lincent.solvers.solution import Controls, Status
from lincent.sources.gradients import joint_sums
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source

SCALES = [1.0, 30.0, 1000.0]
TOTAL = (130.0, 90.0)


class CountedRows:
    """Signed samples that count how often all of them are read."""

    def __init__(self, rows):
        self.rows, self.shape, self.reads, self.draw = rows, rows.shape, 0, rows.draw

    def joint_sums(self, *given):
        self.reads += 1
        return self.rows.joint_sums(*given)


def programs(free=True):
    rng = np.random.default_rng(0)
    sign = np.where(np.arange(500) % 3, 1.0, -1.0)
    source = open_source(rng.normal(size=(500, 4)) + 0.4 * sign[:, None])
    middle = source.class_means(sign, np.ones(500)).mean(axis=0)
    rows = SignedRows(source, sign, middle)
    costs = np.where(sign > 0, TOTAL[1] / (sign > 0).sum(), TOTAL[0] / (sign < 0).sum())
    here = RegularizedProgram(rows, sign, costs, -1.0, 3.0, free)
    there = in_place.RemoteProgram(CountedRows(rows), costs, -1.0, 3.0, free)
    return here, there


@pytest.mark.parametrize("free", [True, False], ids=["free", "midpoint"])
@pytest.mark.parametrize("sample", [50, 500])
def test_the_path_is_that_of_samples_in_memory(free, sample, monkeypatch):
    monkeypatch.setattr(in_place, "SAMPLE_ENTRIES", 4 * sample)
    monkeypatch.setattr(in_place, "SAMPLES_PER_FEATURE", 5)
    here, there = programs(free)
    scales, rng = (0.1, 1.0, 10.0), np.random.default_rng(0)
    wanted = ridge.solve_path(here, scales, Controls(), rng)
    found = in_place.solve_path(there, scales, Controls(), rng)
    for one, other in zip(found, wanted, strict=True):
        assert one.status is Status.OPTIMAL
        assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=1e-8)
    assert there.rows.reads <= 8 * len(scales)


def test_from_its_own_solution_one_pass_certifies_it():
    _, there = programs()
    in_place.solve_path(there, (1.0,), Controls(tol=1e-6), np.random.default_rng(0))
    assert there.rows.reads == 1  # the subsample was everything


def test_it_says_how_it_ended(monkeypatch):
    monkeypatch.setattr(in_place, "SAMPLE_ENTRIES", 4)
    monkeypatch.setattr(in_place, "SAMPLES_PER_FEATURE", 5)
    _, there = programs()
    rng = np.random.default_rng(0)
    short = in_place.solve_path(there, (1.0,), Controls(max_iter=0), rng)[0]
    assert short.status is Status.ITERATION_LIMIT
    assert short.relative_gap > 1e-9
    late = Controls(deadline=time.monotonic() - 1)
    assert in_place.solve_path(there, (1.0,), late, rng)[0].status is Status.TIME_LIMIT


def test_a_sample_of_one_class_begins_at_zero():
    _, there = programs()
    draw = there.rows.draw

    def one_sided(costs, k, rng):
        rows, sign, cost = draw(costs, k, rng)
        index = np.flatnonzero(sign > 0)
        return rows.take(index), sign[index], cost[index]

    there.rows.draw = one_sided
    found = in_place.solve_path(replace(there), (1.0,), Controls(), np.random.default_rng(0))[0]
    assert found.status is Status.OPTIMAL


def test_the_subsample_of_wide_data_fits_in_memory(monkeypatch):
    assert in_place._sample_size(10**6, 400) == in_place.SAMPLES_PER_FEATURE * 400
    assert in_place._sample_size(10**6, 20) == in_place.SAMPLE_ENTRIES // 20
    monkeypatch.setattr(in_place, "sample_entries", lambda most: min(most, 800_000))
    assert in_place._sample_size(10**6, 400) == 2_000
    assert in_place._sample_size(1_000, 400) == 1_000


def problem(classes, m=1_500, n=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    noise = 2 * rng.standard_normal((m, classes))
    y = (X @ rng.standard_normal((n, classes)) + noise).argmax(axis=1)
    weight = rng.integers(1, 4, m).astype(float)
    total = np.bincount(y, weights=weight)
    return X, y, weight, Costs(total / total.sum(), (-1.0, 3.0)), total


def solved(*here, most=200, late=False):
    return in_place.solve_joint_path(*here, 1e-10, most, lambda: late)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("begin", ["zero", "sample"])
def test_the_same_optimum_and_certificate(classes, begin):
    X, y, weight, costs, total = problem(classes)
    loss = costs.loss(y, weight)
    expected = joint.solve_path(joint.Design(X, y, weight), loss, SCALES, 1e-10, 200)
    structure, reads = costs.loss_structure(total), []

    def read(points):
        reads.append(len(points))
        return [joint_sums(X, y, weight, structure, point) for point in points]

    starts = [np.zeros((X.shape[1] + 1, structure.rules))] * len(SCALES)
    if begin == "sample":
        some = slice(400)
        part = costs.loss(y[some], weight[some])
        design = joint.Design(X[some], y[some], weight[some])
        starts = [s.rules for s in joint.solve_path(design, part, SCALES, 1e-4, 50)]
    found = solved(read, structure, SCALES, starts, len(y))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.objective[0], other.objective.sum(), rtol=1e-9)
        assert one.bound[0] <= other.objective.sum() * (1 + 1e-12)
        assert one.relative_gap.max() <= 1e-10
    assert reads[0] == len(SCALES)  # one pass answers all
    assert len(reads) <= (8 if begin == "sample" else 40)


def test_time_and_steps_end_a_walk_with_a_valid_gap():
    X, y, weight, costs, total = problem(3)
    structure = costs.loss_structure(total)

    def read(points):
        return [joint_sums(X, y, weight, structure, point) for point in points]

    starts = [np.zeros((X.shape[1] + 1, 3))]
    early = in_place.solve_joint_path(
        read, structure, [30.0], starts, len(y), 1e-10, 200, lambda: True
    )[0]
    short = in_place.solve_joint_path(
        read, structure, [30.0], starts, len(y), 1e-10, 1, lambda: False
    )[0]
    best = in_place.solve_joint_path(
        read, structure, [30.0], starts, len(y), 1e-10, 200, lambda: False
    )[0]
    for one in (early, short):
        assert one.relative_gap.max() > 1e-6
        assert one.bound[0] <= best.objective[0] <= one.objective[0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("samples", [60, 1])
def test_a_share_of_the_samples_is_enough_for_steps(classes, samples, monkeypatch):
    """Where it says too little, as one sample for each feature does, more are asked."""
    X, y, weight, costs, total = problem(classes, m=6_000, n=5)
    loss, design = costs.loss(y, weight), joint.Design(X, y, weight)
    expected = joint.solve_path(design, loss, SCALES, 1e-10, 200)
    structure, shares = costs.loss_structure(total), []

    def read(points):
        shares.append(max(point.share for point in points))
        return [joint_sums(X, y, weight, structure, point) for point in points]

    monkeypatch.setattr(in_place, "SAMPLES", samples)
    monkeypatch.setattr(in_place, "WORK", 0.0)
    starts = [np.zeros((X.shape[1] + 1, structure.rules))] * len(SCALES)
    found = solved(read, structure, SCALES, starts, len(y))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.objective[0], other.objective.sum(), rtol=1e-9)
        assert one.relative_gap.max() <= 1e-10
    assert shares[0] == samples * starts[0].size / len(y)
    assert len(shares) <= 40


def counting(steps):
    """Asks so many times, and returns what it was told."""
    told = []
    for step in range(steps):
        answer = yield steps * 10 + step
        told += [answer]
    return told


def test_every_loop_gets_its_own_answers_until_it_ends():
    reads = []

    def read(points):
        reads.append(list(points))
        return [-point for point in points]

    found = lockstep([counting(1), counting(3), counting(2)], read)
    assert found == [[-10], [-30, -31, -32], [-20, -21]]
    assert reads == [[10, 30, 20], [31, 21], [32]]


def test_without_loops_nothing_is_read():
    assert lockstep([], lambda points: 1 / 0) == []
