"""Rows that answer in sums alone, against the solver for rows in memory."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import in_place, ridge
from lincent.solvers.newton.oracle import class_means
from lincent.solvers.solution import Controls, Status
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source

TOTAL = (130.0, 90.0)


class CountedRows:
    """Signed rows that count how often all of them are read."""

    def __init__(self, rows):
        self.rows, self.shape, self.reads, self.draw = rows, rows.shape, 0, rows.draw

    def pulls(self, costs, at):
        self.reads += 1
        return self.rows.pulls(costs, at)


def programs(free=True):
    rng = np.random.default_rng(0)
    sign = np.where(np.arange(500) % 3, 1.0, -1.0)
    source = open_source(rng.normal(size=(500, 4)) + 0.4 * sign[:, None])
    middle = source.class_means(sign, np.ones(500)).mean(axis=0)
    rows = SignedRows(source, sign, middle)
    costs = np.where(sign > 0, TOTAL[1] / (sign > 0).sum(), TOTAL[0] / (sign < 0).sum())
    here = RegularizedProgram(rows, sign, costs, -1.0, 3.0, free)
    means = class_means(here, TOTAL)
    there = in_place.ProgramInPlace(CountedRows(rows), costs, TOTAL, means, -1.0, 3.0, free)
    return here, there


@pytest.mark.parametrize("free", [True, False], ids=["free", "midpoint"])
@pytest.mark.parametrize("sample", [50, 500])
def test_the_path_is_that_of_rows_in_memory(free, sample, monkeypatch):
    monkeypatch.setattr(in_place, "SAMPLE_ENTRIES", 4 * sample)
    monkeypatch.setattr(in_place, "ROWS_PER_COLUMN", 5)
    here, there = programs(free)
    scales, rng = (0.1, 1.0, 10.0), np.random.default_rng(0)
    wanted = ridge.solve_path(here, scales, Controls(), rng)
    found = in_place.solve_path(there, scales, Controls(), rng)
    for one, other in zip(found, wanted, strict=True):
        assert one.status is Status.OPTIMAL
        assert one.certificate.objective == pytest.approx(other.certificate.objective, rel=1e-8)
    assert there.rows.reads <= 8 * len(scales)


def test_from_its_own_solution_one_read_proves_it():
    _, there = programs()
    in_place.solve_path(there, (1.0,), Controls(tol=1e-6), np.random.default_rng(0))
    assert there.rows.reads == 1  # the sample was all rows


def test_it_says_how_it_ended(monkeypatch):
    monkeypatch.setattr(in_place, "SAMPLE_ENTRIES", 4)
    monkeypatch.setattr(in_place, "ROWS_PER_COLUMN", 5)
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


def test_the_sample_of_wide_rows_is_what_there_is_room_for(monkeypatch):
    assert in_place._sample_size(10**6, 400) == in_place.ROWS_PER_COLUMN * 400
    assert in_place._sample_size(10**6, 20) == in_place.SAMPLE_ENTRIES // 20
    monkeypatch.setattr(in_place, "sample_entries", lambda most: min(most, 800_000))
    assert in_place._sample_size(10**6, 400) == 2_000
    assert in_place._sample_size(1_000, 400) == 1_000
