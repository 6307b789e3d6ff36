"""Members are certified rules, by columns or by combinations of the rows."""

import numpy as np
import pytest

from lincent.estimators import auto_members
from lincent.estimators.auto_members import fit_members, fit_path
from lincent.estimators.auto_search import Costs
from lincent.estimators.portfolio import Blocks
from lincent.solvers.newton.joint import Design, solve_path

RNG = np.random.default_rng(0)
CODES = np.arange(60) % 2
Z = RNG.normal(size=(60, 3)) + CODES[:, None]
COSTS = Costs(np.array([0.5, 0.5]), (0.0, 2.0))


def test_every_map_and_cost_has_a_certified_member():
    blocks = Blocks(Z, CODES, np.ones(60), seed=0)
    chosen = {"columns": [1.0, 0.01], "splines": [0.1]}
    members = fit_members(blocks, COSTS, chosen, 1e-9, 100, lambda: False)
    assert [(m.map, m.C) for m in members] == [
        ("columns", 0.01),
        ("columns", 1.0),
        ("splines", 0.1),
    ]
    for member in members:
        assert member.gap <= 1e-9
        assert len(member.rules) == blocks.features(member.map, Z).shape[1] + 1


def test_wide_features_are_solved_in_the_space_of_the_rows():
    wide = RNG.normal(size=(20, 70))
    coupling = COSTS.coupling(CODES[:20], np.ones(20))
    (found,) = fit_path(wide, coupling, [5.0], 1e-10, 100, lambda: False)
    assert found.rules.shape == (71, 1)
    assert found.relative_gap[0] <= 1e-10
    rules, at = found.rules[:-1], coupling.read(wide @ found.rules[:-1] + found.rules[-1])
    stated = (rules**2).sum() / 2 + 5.0 * at.loss[0]
    assert found.objective[0] == pytest.approx(stated)
    # What is at right angles to the rows would only cost.
    np.testing.assert_allclose(rules, np.linalg.pinv(wide) @ (wide @ rules), atol=1e-9)


@pytest.mark.parametrize("steps", [0, 25])
def test_steps_in_single_precision_end_at_the_solution_in_double(steps, monkeypatch):
    """Where they are not enough, others follow; either way the rules are certified."""
    monkeypatch.setattr(auto_members, "LIGHT_STEPS", steps)
    X = RNG.normal(size=(60, 12)) * 10.0 ** np.linspace(-2, 2, 12)
    coupling = COSTS.coupling(CODES, np.ones(60))
    scales = [0.1, 1e3]
    found = fit_path(X, coupling, scales, 1e-9, 200, lambda: False, light=True)
    wanted = solve_path(Design(X, CODES, np.ones(60)), coupling, scales, 1e-10, 200)
    for mine, other in zip(found, wanted, strict=True):
        assert mine.relative_gap[0] <= 1e-9
        np.testing.assert_allclose(mine.objective, other.objective, rtol=1e-8)
