"""From a point near the optimum to the vertex itself."""

from dataclasses import replace

import numpy as np

from lincent.solvers.lp import choose, vertex
from lincent.solvers.solution import Controls
from support.degenerate import program_of


def solved(seed=0, m=60, n=5):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(m) % 2, 1.0, -1.0)
    program = program_of(rng.normal(size=(m, n)) + 0.3 * sign[:, None], sign)
    return program, choose.solve(program, "highs", Controls(), rng).certificate


def active(program, answer):
    kink = np.abs(program.rows.dot(answer.beta) - program.margin) < 1e-9
    free = (answer.beta > program.lower + 1e-9) & (answer.beta < program.upper - 1e-9)
    touches = abs(program.difference @ answer.beta - program.separation) < 1e-9
    return kink, free, bool(touches)


def test_the_right_guess_gives_all_digits():
    for seed in range(5):
        program, answer = solved(seed)
        kink, free, touches = active(program, answer)
        rng = np.random.default_rng(seed)
        beta = answer.beta + 1e-4 * free * rng.normal(size=len(free))
        alpha = np.clip(answer.alpha + 1e-4 * kink * rng.normal(size=len(kink)), 0, program.costs)
        found = vertex.to_vertex(program, beta, alpha, answer.t, kink, free, touches)
        assert found.relative_gap <= 1e-12
        np.testing.assert_allclose(found.beta, answer.beta, atol=1e-9)


def test_a_wrong_guess_is_judged_by_its_gap():
    program, answer = solved()
    kink, free, touches = active(program, answer)
    wrong = np.roll(kink, 1)
    found = vertex.to_vertex(program, answer.beta, answer.alpha, answer.t, wrong, free, touches)
    assert found.relative_gap > 1e-6
    assert found.dual_objective <= answer.objective + 1e-9


def test_a_system_that_is_too_large_is_not_tried(monkeypatch):
    program, answer = solved()
    monkeypatch.setattr(vertex, "TUNING", replace(vertex.TUNING, largest_system=3))
    arguments = (program, answer.beta, answer.alpha, answer.t, *active(program, answer))
    assert vertex.to_vertex(*arguments) is None
