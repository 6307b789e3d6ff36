"""From identified rows to the vertex."""

import numpy as np
import pytest

from lincent.solvers.lp.augmented_lagrangian import identify
from lincent.solvers.lp.identification import Tuning as Choice
from lincent.solvers.lp.identification import working_start
from lincent.solvers.lp.null_space import Tuning, _Rounds, finish
from lincent.solvers.lp.working_set import RowHinges
from lincent.solvers.solution import Controls, Status
from support.judge import assert_optimal
from support.programs import overlapping


@pytest.mark.parametrize("spare", [0.02, 0.07, 0.5])
def test_the_vertex_is_found_with_few_or_many_spare_hinges(spare):
    program = overlapping(1500, 80, 6)
    near = identify(program, Controls(), 1.3 * 80)
    assert near.best.relative_gap > 1e-6
    start = working_start(program, near, Choice(spare=spare, least_spare=2))
    found = finish(RowHinges(program), start, Controls())
    assert found.status is Status.OPTIMAL
    assert_optimal(program, found)


def test_a_point_that_is_not_near_is_given_up():
    program = overlapping(1500, 80, 7)
    near = identify(program, Controls(), 1.3 * 80)
    near.alpha = np.random.default_rng(0).permutation(near.alpha)
    near.missed = np.random.default_rng(1).permutation(near.missed)
    start = working_start(program, near)
    found = finish(RowHinges(program), start, Controls(), Tuning(rounds=3))
    assert found.certificate.relative_gap <= near.best.relative_gap


@pytest.mark.parametrize("seed", range(3))
def test_multipliers_of_a_vertex_meet_the_equation_inside_their_bounds(seed):
    """Refinement takes them off their bounds; cutting that off would cost the digits it brought."""
    program = overlapping(1500, 80, seed)
    near = identify(program, Controls(), 1.3 * 80)
    hinges, start = RowHinges(program), working_start(program, near)
    rounds = _Rounds(hinges, start, Controls(), Tuning())
    rounds.solve(Controls())
    rng = np.random.default_rng(seed)
    rounds.vertex.value += 1e-6 * rng.standard_normal(len(rounds.index)) * program.costs[0]
    rounds._settle()
    held = rounds.index[rounds.vertex.E]
    top = np.where(rounds.vertex.at_high[rounds.vertex.E], hinges.top[held], 0.0)
    np.testing.assert_array_equal(rounds.dual[held], top)
    assert np.abs(hinges.rest(rounds.dual)).max() <= 1e-11 * np.abs(program.linear).max() * 1500
