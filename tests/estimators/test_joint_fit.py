"""Joint problems of all classes: costs, and certified paths over C."""

import numpy as np
import pytest

from lincent.estimators import auto_candidates
from lincent.estimators.auto_candidates import FeatureBlocks, fit_models, fit_path, path_scores
from lincent.estimators.tabular import Costs, TrainingRows, total_costs
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import Design, solve_path
from lincent.solvers.solution import Controls

RNG = np.random.default_rng(0)
CODES = np.arange(60) % 2
Z = RNG.normal(size=(60, 3)) + CODES[:, None]
COSTS = Costs(np.array([0.5, 0.5]), (0.0, 2.0))


def test_every_feature_map_and_C_has_a_certified_model():
    rows = TrainingRows(Z, np.arange(60, dtype=np.uint64), CODES, np.ones(60), None)
    blocks = FeatureBlocks(rows, seed=0)
    chosen = {"columns": [1.0, 0.01], "splines": [0.1]}
    models = fit_models(blocks, COSTS, chosen, Controls(1e-9, 100))
    assert [(model.feature_map, model.C) for model in models] == [
        ("columns", 0.01),
        ("columns", 1.0),
        ("splines", 0.1),
    ]
    for model in models:
        assert model.gap <= 1e-9
        assert len(model.rules) == blocks.features(model.feature_map, Z).shape[1] + 1


def test_wide_features_are_solved_in_the_space_of_the_samples():
    wide = RNG.normal(size=(20, 70))
    loss = COSTS.loss(CODES[:20], np.ones(20))
    (found,) = fit_path(wide, loss, [5.0], Controls(1e-10, 100))
    assert found.rules.shape == (71, 1)
    assert found.relative_gap[0] <= 1e-10
    rules, at = found.rules[:-1], loss.read(wide @ found.rules[:-1] + found.rules[-1])
    stated = (rules**2).sum() / 2 + 5.0 * at.loss[0]
    assert found.objective[0] == pytest.approx(stated)
    # What is orthogonal to the samples would only cost.
    np.testing.assert_allclose(rules, np.linalg.pinv(wide) @ (wide @ rules), atol=1e-9)


@pytest.mark.parametrize("steps", [0, 25])
def test_steps_in_single_precision_end_at_the_solution_in_double(steps, monkeypatch):
    """Where they are not enough, others follow; either way the models are certified."""
    monkeypatch.setattr(auto_candidates, "FLOAT32_STEPS", steps)
    X = RNG.normal(size=(60, 12)) * 10.0 ** np.linspace(-2, 2, 12)
    loss = COSTS.loss(CODES, np.ones(60))
    scales = [0.1, 1e3]
    found = fit_path(X, loss, scales, Controls(1e-9, 200))
    wanted = solve_path(Design(X, CODES, np.ones(60)), loss, scales, 1e-10, 200)
    for mine, other in zip(found, wanted, strict=True):
        assert mine.relative_gap[0] <= 1e-9
        np.testing.assert_allclose(mine.objective, other.objective, rtol=1e-8)


def test_two_classes_have_one_model_and_more_have_one_each():
    weight = RNG.uniform(1, 2, 60)
    two = COSTS.loss(CODES, weight)
    assert isinstance(two, SeparateLoss)
    # The costs of a class add up to its fraction, whatever its samples weigh.
    for k in (0, 1):
        assert two.costs[k == CODES].sum() == pytest.approx(0.5)
    three = Costs(np.full(3, 1 / 3), (0.0, 2.0)).loss(np.arange(60) % 3, weight)
    assert isinstance(three, JointLoss)
    assert three.costs.sum() == pytest.approx(1.0)
    assert len(total_costs(2)) != len(total_costs(3))


def test_more_features_than_samples_give_the_same_decision_values():
    wide = RNG.normal(size=(30, 50))
    loss = COSTS.loss(CODES[:30], np.ones(30))
    held_out = RNG.normal(size=(5, 50))
    padded = np.vstack([wide, np.zeros((40, 50))])  # samples without weight: solved by features
    weight = np.append(np.ones(30), np.zeros(40))
    other = COSTS.loss(np.append(CODES[:30], CODES[:40]), weight)
    np.testing.assert_allclose(
        path_scores(wide, held_out, loss, total_costs(2)[:4]),
        path_scores(padded, held_out, other, total_costs(2)[:4]),
        atol=0.02,
    )
