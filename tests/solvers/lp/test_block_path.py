"""Margins over rows in blocks: known sums instead of reads, where they prove enough."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.problems.centralization import lcc_program
from lincent.solvers.lp import dispatch
from lincent.solvers.lp.block_path import SCALED, BlockFollower
from lincent.solvers.solution import Controls, Status, silent
from lincent.sources.dask.table import open_table
from lincent.sources.evaluation import scaled_costs
from lincent.sources.rows import SignedRows
from support.labeled import noisy, with_flat_column

da = pytest.importorskip("dask.array")


def programs_of(X, y, block):
    """From a margin, as a share of the largest, to the program in blocks and the one in memory."""
    m, n = X.shape
    table = open_table(da.from_array(X, chunks=(block, n)), y, None, n, silent)
    source = table.problem(np.array([-1, 1]), np.ones(2))
    centers = source.class_means(None, None)
    middle, difference = centers.mean(axis=0), centers[1] - centers[0]
    blocks = SignedRows(source, source.sign, middle)
    largest = np.abs(difference).sum()

    def make(share):
        program = lcc_program(blocks, difference, np.ones(m), share * largest)
        program = replace(program, costs=scaled_costs(source.costs, 2.0))
        return program, program.materialize()

    return make


@pytest.fixture
def programs():
    return programs_of(*noisy(20_000), 4_000)


def follower(**how):
    return BlockFollower(how.pop("solver", "auto"), Controls(**how), np.random.default_rng(0))


def test_every_margin_has_the_optimum_of_memory(programs):
    path = follower()
    ways = []
    for share in (1.0, 0.5, 1e-3, 1e-4, 1e-5):
        program, here = programs(share)
        found = path.solve(program)
        wanted = dispatch.solve(here, "auto", Controls(), np.random.default_rng(0)).certificate
        assert found.status is Status.OPTIMAL
        assert found.certificate.objective == pytest.approx(wanted.objective, rel=1e-8)
        ways.append(found.solver)
    assert ways[0] == "vertex"
    assert ways[-1] == SCALED  # far below the box a smaller margin only scales


def test_other_costs_know_nothing(programs):
    path = follower()
    path.solve(programs(1e-3)[0])
    path.rewind()
    assert path.solve(programs(1e-4)[0]).solver != SCALED


def test_a_margin_beyond_the_largest_has_no_point(programs):
    found = follower().solve(programs(1.5)[0])
    assert found.status is Status.INFEASIBLE
    assert found.certificate.objective == np.inf


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flat", [0.0, 1e-16, 1e-14, 1e-2])
def test_a_column_that_hardly_differs_is_not_proved_by_rounding(flat, seed):
    """At the largest margin its coefficient is still to be chosen where the difference is none."""
    program, here = programs_of(*with_flat_column(flat, seed), 40)(1.0)
    found = follower().solve(program).certificate
    points = [np.array([1.0, side]) for side in np.linspace(-1, 1, 201)]
    least = min(here.primal(beta, here.rows.dot(beta)) for beta in points)
    assert found.relative_gap <= 1e-9
    assert found.objective <= least + 1e-9 * abs(least)
