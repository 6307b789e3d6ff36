"""Little parts by exchanges, others and those that exchanges do not reach by steps."""

import numpy as np
import pytest

from lincent.solvers.lp import interior_point, part, simplex
from lincent.solvers.solution import Controls
from support.degenerate import program_of
from support.judge import assert_optimal


def some_program(m=300, n=4):
    rng = np.random.default_rng(m)
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    return program_of(rng.normal(size=(m, n)) + 0.3 * y[:, None], y)


@pytest.mark.parametrize("little", [True, False])
def test_a_part_is_solved_by_what_suits_its_size(little, monkeypatch):
    program = some_program()
    monkeypatch.setattr(simplex, "worthwhile", lambda m, n: little)
    found = part.solve(program, Controls())
    assert_optimal(program, found)
    assert found.solver == (simplex.NAME if little else interior_point.NAME)


def test_steps_go_on_where_exchanges_end(monkeypatch):
    program = some_program()
    monkeypatch.setattr(simplex, "_exchanged", lambda *_: None)
    steps = simplex.solve(program, Controls()).iterations
    found, alone = part.solve(program, Controls()), interior_point.solve(program, Controls())
    assert_optimal(program, found)
    assert found.solver == interior_point.NAME
    assert found.iterations == steps + alone.iterations
