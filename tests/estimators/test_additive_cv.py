"""AdditiveLCCCV: smoothing, C and pairs by cross-validation."""

import numpy as np
import pytest

from lincent import AdditiveLCC, AdditiveLCCCV
from lincent.estimators.additive import MOST_MEMBERS
from support.labeled import noisy


def test_the_choice_is_the_best_of_what_was_tried():
    X, y = noisy(200, 3)
    model = AdditiveLCCCV().fit(X, y)
    results, best = model.cv_results_, model.best_index_
    assert best == results["mean_test_score"].argmax()
    assert results["rank_test_score"][best] == 1
    assert model.best_score_ == results["mean_test_score"][best]
    assert model.best_params_ == results["params"][best]
    assert model.C_ == model.best_params_["C"] == results["param_C"][best]
    assert model._terms.smoothing == model.smoothing_ == results["param_smoothing"][best]
    members = results["weight"] > 0
    assert len(model._terms.pairs) == results["param_interactions"][members].max()
    # Twice as many pairs are tried as long as the score rises, up to all three.
    pairs, scores = results["param_interactions"], results["mean_test_score"]
    tried = np.unique(pairs)
    assert tried.tolist() in ([0, 1], [0, 1, 2], [0, 1, 2, 3])
    rises = np.diff([scores[pairs <= n].max() for n in tried]) > 0
    assert rises[:-1].all()
    assert tried[-1] == 3 or not rises[-1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_mean_of_the_candidates_with_weight(n_classes):
    X, y = noisy(200, 3)
    y = y if n_classes == 2 else np.digitize(X[:, 0], (-0.5, 0.5))
    model = AdditiveLCCCV(interactions=0).fit(X, y)
    weight, params = (model.cv_results_[name] for name in ("weight", "params"))
    chosen = np.flatnonzero(weight)
    assert len(chosen) > 1
    assert weight.sum() == pytest.approx(1.0, abs=1e-4)
    scores = model.cv_results_["mean_test_score"]
    assert scores[chosen].min() >= np.sort(scores)[-MOST_MEMBERS]
    fits = [AdditiveLCC(**params[k]).fit(X, y) for k in chosen]
    scores = sum(weight[k] * fit.decision_function(X) for k, fit in zip(chosen, fits, strict=True))
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-5)
    assert model.objective_ == pytest.approx(sum(fit.objective_ for fit in fits))
    assert model.duality_gap_ == pytest.approx(max(fit.duality_gap_ for fit in fits), abs=1e-9)


def test_a_number_of_pairs_is_kept_whatever_cross_validation_says():
    X, y = noisy(150, 4)
    model = AdditiveLCCCV(interactions=2).fit(X, y)
    assert len(model._terms.pairs) == model.best_params_["interactions"] == 2
    hurried = AdditiveLCCCV(interactions=2, time_limit=1e-6, tol=1.0).fit(X, y)
    assert hurried.best_params_["interactions"] == 0  # no time to try pairs


@pytest.mark.parametrize(
    ("interactions", "told"), [("many", "Got 'many'"), (-1, "interactions"), (1.5, "int")]
)
def test_unusable_interactions_are_named(interactions, told):
    with pytest.raises(ValueError, match=told):
        AdditiveLCCCV(interactions=interactions).fit(*noisy(60, 3))
