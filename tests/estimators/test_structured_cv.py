"""StructuredLCCCV: the ensemble with local centers."""

import numpy as np
import pytest

from lincent import RegularizedLCC, StructuredLCC, StructuredLCCCV
from lincent.features.similarity import find_local_centers
from support.labeled import ring
from support.samples import three_classes


def test_ensemble_is_the_weighted_mean_of_its_models():
    X, y = ring(80)
    halves = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    model = StructuredLCCCV(5, (1.0,), [0.1], cv=halves, tol=1e-12).fit(X, y)
    assert model.cv_results_["params"] == [{"gamma": None, "C": 0.1}, {"gamma": 1.0, "C": 0.1}]
    total = np.zeros(80)
    for train, _ in halves:
        linear = RegularizedLCC(0.1, (0.0, 2.0), tol=1e-12).fit(X[train], y[train])
        seed = np.random.RandomState(0).randint(2**31)
        found = find_local_centers(X[train], y[train], np.ones(40), 5, seed)
        extended = found.extension(1.0)
        psi = [extended(part) for part in (X[train], X)]
        bent = RegularizedLCC(0.1, (0.0, 2.0), tol=1e-12).fit(psi[0], y[train])
        for weight, rule, rows in zip(
            model.cv_results_["weight"], (linear, bent), (X, psi[1]), strict=True
        ):
            half = (rule.centers_[1] - rule.centers_[0]) @ rule.coef_[0] / 2
            total += weight * rule.decision_function(rows) / half / 2
    np.testing.assert_allclose(model.decision_function(X), total, atol=1e-5)


def test_every_model_of_the_ensemble_is_certified():
    model = StructuredLCCCV().fit(*ring())
    assert model.duality_gap_ <= 1e-9
    assert model.cv_results_["weight"].shape == (33,)
    assert model.cv_results_["weight"].sum() == pytest.approx(1.0)
    assert model.best_params_["gamma"] in (0.3, 1.0)


def test_one_vs_rest_candidates_are_scored_jointly():
    """If each class chose its own C, their decision values could not be compared."""
    X, y = three_classes(spread=1.5)
    model = StructuredLCCCV(n_centers=4, cv=3).fit(X, y)
    assert len(set(model.C_)) == 1
    assert model.cv_results_["params"][model.best_index_] == model.best_params_
    assert model.best_score_ < 0.0  # a log-likelihood
    by_class = StructuredLCCCV(n_centers=4, cv=3, scoring="roc_auc").fit(X, y)
    assert 0.5 < by_class.best_score_ <= 1.0


def test_the_defaults_stay_where_nothing_is_better_by_one_standard_error():
    X, y = three_classes(spread=1.5)
    model, plain = StructuredLCCCV(4, cv=3).fit(X, y), StructuredLCC(4).fit(X, y)
    assert (model.C_ == plain.C).all()
    assert model.best_params_ == {"gamma": plain.gamma, "C": plain.C}
    assert model.cv_results_["weight"].max() == 1.0
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert plain.C not in StructuredLCCCV(4, (0.5,), cv=3).fit(X, y).Cs_


def test_candidates_worse_on_the_first_fold_are_evaluated_on_no_other():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    y = np.digitize(np.hypot(*X.T), [0.4, 0.8])  # rings: no line separates them
    model = StructuredLCCCV(cv=3, gammas=(1.0, 3.0)).fit(X, y)
    linear = model.cv_results_["param_gamma"] == None  # noqa: E711
    assert not model.cv_results_["weight"][linear].any()
    assert model.score(X, y) > 0.9
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("model", [StructuredLCC(5), StructuredLCCCV(5, Cs=(0.1, 1.0), cv=3)])
def test_feature_importances_follow_the_informative_features(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] ** 2 + X[:, 1] > 0.7).astype(int)
    importances = model.fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert importances.argmin() == 2
    # The derivatives are those of the decision values.
    step = 1e-6 * np.eye(3)
    at = model.local_centers_
    slopes = [
        (model.decision_function(at + e) - model.decision_function(at - e)) / 2e-6 for e in step
    ]
    expected = np.abs(slopes).mean(axis=1) * at.std(axis=0)
    np.testing.assert_allclose(importances, expected / expected.sum(), rtol=1e-5)
