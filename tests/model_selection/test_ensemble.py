"""Ensembles of fold models: standard errors, weights of candidates, mean models."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lincent import RegularizedLCC, RegularizedLCCCV, StructuredLCCCV
from lincent.estimators.linear import Direction
from lincent.estimators.threshold import Threshold
from lincent.model_selection.ensemble import (
    FoldResults,
    joint_scores,
    joint_weights,
    log_probabilities,
    mean_and_error,
    softmax_weights,
    within_one_se,
)
from lincent.model_selection.scoring import Labels, make_metric
from support.clock import Clock
from support.labeled import noisy
from support.samples import three_classes

RNG = np.random.default_rng(0)


def test_weights_fall_with_the_distance_from_the_best():
    weights = softmax_weights(np.array([0.9, 0.8975, 0.5]))
    assert weights.sum() == pytest.approx(1.0)
    assert weights[1] / weights[0] == pytest.approx(np.exp(-1.0))
    assert weights[2] < 1e-10
    np.testing.assert_array_equal(softmax_weights(np.array([np.nan, 0.5])), [0.0, 1.0])
    np.testing.assert_array_equal(softmax_weights(np.full(2, np.nan)), [0.5, 0.5])


@pytest.mark.parametrize("scoring", [None, "roc_auc", "balanced_accuracy"])
def test_candidates_are_scored_on_their_pooled_decision_values(scoring):
    codes = np.arange(60) % 2
    pooled = np.stack([2.0 * codes - 1, RNG.normal(size=60), 1 - 2.0 * codes])
    metric = make_metric(scoring, np.array([-1, 1]))
    values = [metric(one[:, None], Labels(codes, np.ones(60), 2)) for one in pooled]
    assert values[0] == 1.0
    assert values[2] == 0.0
    assert 0.2 < values[1] < 0.8


def candidates(strengths, rows=300, evaluated=None):
    """Return candidates that separate three classes the better, the larger the strength.

    Each makes the same errors on other samples: two of one strength are tied.
    """
    codes = np.arange(rows) % 3
    noise = np.random.default_rng(1).normal(size=(rows, 3))
    pooled = [
        np.roll(noise + strength * np.eye(3)[codes], 3 * k, axis=0)
        for k, strength in enumerate(strengths)
    ]
    for one, count in zip(pooled, evaluated or [], strict=False):
        one[count:] = np.nan
    labels = codes, np.ones(rows)
    results = FoldResults([], np.moveaxis(np.array(pooled), 2, 0), np.arange(rows), *labels)
    return log_probabilities(results), *labels


def test_candidates_worse_by_more_than_one_standard_error_are_pruned():
    kept = within_one_se(*candidates([0.5, 3.0, 3.0]))
    assert kept.tolist() == [False, True, True]


def test_the_default_candidate_stays_unless_the_best_is_better_by_one_standard_error():
    tied = candidates([3.0, 3.01])
    assert joint_scores(*tied)[1] > joint_scores(*tied)[0]
    assert joint_weights(*tied, default=0).tolist() == [1.0, 0.0]
    assert joint_weights(*candidates([0.5, 3.0]), default=0).tolist() == [0.0, 1.0]


def test_candidates_evaluated_on_some_samples_have_a_score_and_no_weight():
    some = candidates([3.0, 1.0], evaluated=[60])
    assert np.isfinite(joint_scores(*some)).all()
    assert joint_weights(*some, default=None).tolist() == [0.0, 1.0]


def sample(counts=(200, 50), seed=0):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(counts)), counts)
    return rng.normal(size=(3, len(codes))) + codes, codes, np.ones(len(codes))


def test_classes_are_weighted_equally_whatever_their_size():
    values, codes, weight = sample()
    mean, error = mean_and_error(values, codes, weight)
    parts = [values[:, codes == k] for k in (0, 1)]
    np.testing.assert_allclose(mean, np.mean([part.mean(axis=1) for part in parts], axis=0))
    squares = [part.var(axis=1, ddof=1) / part.shape[1] for part in parts]
    np.testing.assert_allclose(error, np.sqrt(np.sum(squares, axis=0)) / 2)


def test_the_error_is_the_standard_deviation_of_the_mean_over_other_samples():
    drawn = [mean_and_error(*sample((40, 10), seed)) for seed in range(400)]
    means, errors = (np.array(part) for part in zip(*drawn, strict=True))
    assert errors.mean() == pytest.approx(means.std(), rel=0.1)


def test_weights_are_frequencies():
    values, codes, weight = sample((20, 10))
    weight[::3] = 2.0
    index = np.repeat(np.arange(len(codes)), weight.astype(int))
    repeated = mean_and_error(values[:, index], codes[index], np.ones(len(index)))
    np.testing.assert_allclose(mean_and_error(values, codes, weight), repeated)


def test_nothing_is_decided_where_a_class_has_one_sample():
    values, codes, weight = sample((50, 1))
    values[0] += 100.0
    assert within_one_se(values, codes, weight).all()
    kept = joint_weights(values[:2], codes, weight, default=1)
    np.testing.assert_array_equal(kept, [0.0, 1.0])


def test_a_candidate_is_not_better_than_itself():
    values, codes, weight = sample()
    same = joint_weights(values[[0, 0]], codes, weight, default=1)
    np.testing.assert_array_equal(same, [0.0, 1.0])
    above = np.stack([values[0] + 0.1, values[0]])
    better = joint_weights(above, codes, weight, default=1)
    np.testing.assert_array_equal(better, [1.0, 0.0])


def model_of(beta, at, width):
    return Direction(np.array(beta), np.zeros((2, 2)), 0.0, width, Threshold(at), None)


def test_the_mean_model_is_normalized_by_half_the_distance_between_centers():
    one, two = model_of([2.0, 0.0], 1.0, 4.0), model_of([0.0, 6.0], -3.0, 2.0)
    models = [np.array([[[one, two]]])]
    results = FoldResults(models, np.zeros((1, 2, 1)), np.arange(1), np.zeros(1, int), np.ones(1))
    direction, intercept = results.mean_model(np.array([[0.25, 0.75]]), 0, 0, 0)
    np.testing.assert_allclose(direction, 0.25 * np.array([1.0, 0.0]) + 0.75 * np.array([0.0, 6.0]))
    assert intercept == pytest.approx(0.25 * -0.5 + 0.75 * 3.0)


def test_candidates_that_were_not_evaluated_take_no_part():
    fitted = model_of([2.0, 0.0], 1.0, 4.0)
    pooled = np.array([[[np.nan, np.nan], [1.0, 2.0]]])
    models = [np.array([[[None, fitted]]])]
    results = FoldResults(models, pooled, np.arange(2), np.zeros(2, int), np.ones(2))
    weights = np.array([[0.0, 1.0]])
    np.testing.assert_allclose(results.mean_model(weights, 0, 0, 0)[0], [1.0, 0.0])
    np.testing.assert_allclose(results.averaged(weights), [[1.0], [2.0]])


def test_costs_are_positive_and_rising():
    X, y = noisy(60, 3)
    found = RegularizedLCCCV([3.0, 1.0, 2.0]).fit(X, y).cv_results_["params"]
    assert found == [{"C": 1.0}, {"C": 2.0}, {"C": 3.0}]
    for wrong in ([], [0.0], [-1.0], [[1.0]]):
        with pytest.raises(ValueError, match="Cs"):
            RegularizedLCCCV(wrong).fit(X, y)


def test_search_results_have_an_entry_for_every_problem():
    X, y = noisy(150, 3, classes=3)
    model = RegularizedLCCCV([0.1, 1.0]).fit(X, y)
    table = model.cv_results_
    assert table["params"] == [{"C": 0.1}, {"C": 1.0}]
    for k in range(3):
        assert table[f"problem{k}_weight"].sum() == pytest.approx(1.0)
        best = table[f"problem{k}_test_score"].argmax()
        assert model.best_index_[k] == best
        assert model.C_[k] == model.Cs_[best] == model.best_params_[k]["C"]
    assert table["weight"].sum() == pytest.approx(1.0)
    two = RegularizedLCCCV([0.1, 1.0]).fit(X[y < 2], y[y < 2])
    assert two.cv_results_["mean_test_score"].shape == (2,)
    assert two.best_score_ == two.cv_results_["mean_test_score"].max()
    assert two.best_params_ == {"C": two.C_}
    assert np.ndim(two.C_) == 0


def test_folds_are_repeated_for_few_samples(monkeypatch):
    X, y = noisy(60, 3)
    n_models = len(RegularizedLCCCV([0.1]).fit(X, y).objectives_)
    assert n_models == 5 * RegularizedLCCCV._n_repeats == 15
    assert len(RegularizedLCCCV([0.1], cv=2).fit(X, y).objectives_) == 2  # as many as given
    monkeypatch.setattr("lincent.model_selection.ensemble.REPEATED_SAMPLES", 50)
    assert len(RegularizedLCCCV([0.1]).fit(X, y).objectives_) == 5
    # A weight of one half makes as many samples as there were.
    halves = RegularizedLCCCV([0.1]).fit(X, y, np.full(60, 0.5))
    assert len(halves.objectives_) == 15


@pytest.mark.parametrize("model", [RegularizedLCCCV, StructuredLCCCV])
def test_no_fold_is_begun_after_the_time_limit(model, monkeypatch):
    Clock(monkeypatch)
    X, y = noisy(100, 3)
    with pytest.warns(ConvergenceWarning) as record:
        fitted = model(Cs=[0.1], time_limit=1e-9).fit(X, y)
    words = "time_limit=1e-09 s ended the search after 1 of"
    assert any(words in str(warning.message) for warning in record)
    assert fitted.predict(X).shape == (100,)
    assert model(Cs=[0.1], time_limit=1e3).fit(X, y).duality_gap_ <= 1e-9
    with pytest.raises(ValueError, match="time_limit"):
        model(time_limit=-1.0).fit(X, y)


def test_uncertified_models_are_reported():
    with pytest.warns(ConvergenceWarning, match="worst relative duality gap"):
        RegularizedLCCCV([100.0], max_iter=1).fit(*noisy(100, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RegularizedLCCCV([100.0]).fit(*noisy(100, 3))


def test_one_against_the_rest_is_refitted_to_all_samples():
    """Folds choose the weights; no class loses the held-out samples."""
    X, y = three_classes(spread=1.5)
    model = RegularizedLCCCV(Cs=[0.1], multi_class="ovr", cv=3).fit(X, y)
    alone = RegularizedLCC(0.1, multi_class="ovr").fit(X, y)
    lengths = np.linalg.norm(model.coef_, axis=1) / np.linalg.norm(alone.coef_, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-5)  # one scale for all classes
    np.testing.assert_allclose(model.coef_, lengths[0] * alone.coef_, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
