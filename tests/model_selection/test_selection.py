"""Selection of an ensemble, its threshold and its nested-CV score."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from lincent.estimators.calibration import Softmax
from lincent.model_selection.scoring import Labels, make_metric, scores_labels
from lincent.model_selection.selection import (
    Criterion,
    ScoredCandidate,
    aligned,
    best_blend,
    best_candidates,
    choose_threshold_shift,
    final_calibrator,
    greedy_weights,
    log_losses,
    mean_scores,
    nested_scores,
    select,
    select_few,
)

RNG = np.random.default_rng(0)
CODES = (RNG.random(300) < 0.2).astype(int)
LABELS = Labels(CODES, np.ones(300), 2)
CLASSES = np.array(["no", "yes"])
FOLDS = np.array_split(RNG.permutation(300), 5)
EVEN = 1 / np.bincount(CODES)
"""Costs of a sample that give both classes the same total."""
COMMON = Softmax(1.0, np.zeros(2), -np.inf, np.inf)


@pytest.fixture(autouse=True)
def _same_draws_in_any_order():
    global RNG
    RNG = np.random.default_rng(2)


def candidate(quality, shift=0.0, name="columns"):
    scores = (quality * (2 * CODES - 1) + RNG.normal(size=300) + shift)[:, None]
    return ScoredCandidate.of(name, 1.0, scores, LABELS.weight)


def test_metric_is_that_of_the_scorer():
    scores = candidate(1.0).scores
    assert make_metric(None, CLASSES)(scores, LABELS) == pytest.approx(roc_auc_score(CODES, scores))
    hard = make_metric("balanced_accuracy", CLASSES)(scores, LABELS)
    assert hard == pytest.approx(balanced_accuracy_score(CODES, scores[:, 0] > 0))
    weight = RNG.uniform(0.5, 2, 300)
    weighted = make_metric("roc_auc", CLASSES)(scores, Labels(CODES, weight, 2))
    assert weighted == pytest.approx(roc_auc_score(CODES, scores, sample_weight=weight))


def test_more_classes_are_scored_by_balanced_likelihood():
    codes = np.arange(90) % 3
    right = np.eye(3)[codes]
    metric, rows = make_metric(None, np.arange(3)), Labels(codes, np.ones(90), 3)
    assert metric(right + 0.3 * RNG.normal(size=(90, 3)), rows) > metric(
        RNG.normal(size=(90, 3)), rows
    )
    assert metric(np.zeros((90, 3)), rows) == pytest.approx(np.log(1 / 3))


def test_auc_of_one_class_is_one_half():
    assert (
        make_metric(None, CLASSES)(np.ones((3, 1)), Labels(np.ones(3, int), np.ones(3), 2)) == 0.5
    )


def test_scorers_of_labels_are_recognized():
    assert scores_labels("accuracy", CLASSES)
    assert not scores_labels("roc_auc", CLASSES)
    assert not scores_labels(None, CLASSES)


def test_ties_go_to_the_first_candidate():
    assert best_candidates(np.array([0.5, 0.9, 0.9, 0.1]), 3) == [1, 2, 0]
    one, two = candidate(1.0), candidate(1.0)
    mixed = mean_scores([one, two], [0, 1])
    np.testing.assert_allclose(mixed, (one.scores / one.deviation + two.scores / two.deviation) / 2)


def test_threshold_is_moved_only_where_it_is_off():
    metric = make_metric("balanced_accuracy", CLASSES)
    off = candidate(1.5, shift=3.0).scores
    criterion = Criterion(metric, EVEN, shift=True)
    shift = choose_threshold_shift(off, LABELS, FOLDS, criterion, final_calibrator(off, LABELS))
    assert shift[0] < -1.5
    assert metric(off + shift, LABELS) > metric(off, LABELS) + 0.1
    # Another threshold can be better by chance; it must be by more than the error of the gain.
    noise = RNG.normal(size=(300, 1))
    calibrator = final_calibrator(noise, LABELS)
    assert abs(choose_threshold_shift(noise, LABELS, FOLDS, criterion, calibrator)[0]) < 3.0


def test_thresholds_of_several_classes_move_by_their_log_frequencies():
    """Scores that forget how rare a class is are mended by the multiple that undoes it."""
    codes = RNG.choice(3, 600, p=[0.8, 0.15, 0.05])
    labels = Labels(codes, np.ones(600), 3)
    log_frequency = np.log(np.bincount(codes) / 600)
    scores = 2.0 * np.eye(3)[codes] + RNG.normal(size=(600, 3)) + log_frequency
    metric = make_metric("balanced_accuracy", np.arange(3))
    folds = np.array_split(RNG.permutation(600), 5)
    flat = Softmax(0.0, np.zeros(3), -np.inf, np.inf)  # says nothing
    criterion = Criterion(metric, np.ones(3), shift=True)
    shift = choose_threshold_shift(scores, labels, folds, criterion, flat)
    ratio = shift / log_frequency
    np.testing.assert_allclose(ratio, ratio[0])
    assert ratio[0] < 0
    assert metric(scores + shift, labels) > metric(scores, labels) + 0.1


def test_nested_score_of_noise_is_not_that_of_the_luckiest():
    metric = make_metric(None, CLASSES)
    lucky, nested = [], []
    for _ in range(10):
        candidates = [candidate(0.0) for _ in range(30)]
        lucky.append(max(metric(s.scores, LABELS) for s in candidates))
        nested.append(
            nested_scores(candidates, LABELS, FOLDS, Criterion(metric, EVEN), 1, COMMON)[1]
        )
    assert np.mean(lucky) > 0.57
    assert np.mean(nested) < np.mean(lucky) - 0.03


def scored_candidates(n_folds=4):
    """Return candidates of two C for three feature maps, the last evaluated on one fold."""
    codes, fold = np.arange(120) % 2, np.arange(120) % 4
    candidates, evaluated = [], []
    for name, quality in (("columns", 1.0), ("splines", 2.0), ("centers", 0.1)):
        for C in (1 / 120, 10 / 120):
            scores = (quality * (2 * codes - 1) + RNG.normal(size=120))[:, None]
            done = 1 if name == "centers" else n_folds
            scores[fold >= done] = np.nan
            candidates.append(ScoredCandidate.of(name, C, scores, np.ones(120)))
            evaluated.append(done)
    folds = [np.flatnonzero(fold == k) for k in range(4)]
    return candidates, np.array(evaluated), folds, Labels(codes, np.ones(120), 2)


def test_the_best_candidates_are_selected_and_dropped_ones_are_not():
    *found, labels = scored_candidates()
    metric = make_metric(None, np.arange(2))
    selection = select(*found, labels, Criterion(metric, np.ones(2)), 2)
    assert [selection.candidates[k].feature_map for k in selection.blend.chosen] == ["splines"] * 2
    assert selection.by_feature_map().keys() == {"splines"}
    table = selection.cv_results()
    assert table["weight"].sum() == pytest.approx(1.0)
    assert table["rank_test_score"][selection.blend.chosen].max() <= 2
    assert table["rank_test_score"].max() >= 5
    np.testing.assert_array_equal(table["n_folds"], [4, 4, 4, 4, 1, 1])
    assert table["params"][1] == {"feature_map": "columns", "C": 10 / 120}
    assert abs(selection.shift[0]) < 0.3  # of two equally frequent classes of equal costs
    assert metric(selection.scores, labels) >= selection.nested_score > 0.9


@pytest.mark.parametrize("n_folds", [1, 2])
def test_samples_that_were_not_held_out_take_no_part(n_folds):
    *found, labels = scored_candidates(n_folds)
    selection = select(*found, labels, Criterion(make_metric(None, np.arange(2)), np.ones(2)), 1)
    np.testing.assert_array_equal(selection.samples, np.flatnonzero(np.arange(120) % 4 < n_folds))
    assert len(selection.scores) == len(selection.samples)
    assert np.isnan(selection.nested_score) == (n_folds == 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_aligned_scores_have_the_same_probabilities(n_classes):
    scores = RNG.normal(size=(20, n_classes if n_classes > 2 else 1))
    own, common = (
        Softmax(slope, RNG.normal(size=n_classes), -np.inf, np.inf) for slope in (2.0, 0.3)
    )
    found = common.probability(aligned(scores, own, common))
    np.testing.assert_allclose(found, own.probability(scores))
    np.testing.assert_array_equal(aligned(scores, own, own), scores)


def test_few_candidates_are_selected_forward():
    metric = make_metric(None, CLASSES)
    candidates = [candidate(q, name=name) for q, name in ((0.2, "columns"), (1.0, "splines"))]
    selection = select(candidates, np.ones(2), FOLDS, LABELS, Criterion(metric, EVEN), 2)
    few = select_few(selection, candidates, FOLDS, LABELS, Criterion(metric, EVEN, shift=True), 1)
    assert few.blend.chosen == [1]
    np.testing.assert_allclose(few.scores, candidates[1].scores / candidates[1].deviation)
    again = select_few(selection, candidates[1:], FOLDS, LABELS, Criterion(metric, EVEN), 2)
    assert again.blend.chosen == [1]


def test_greedy_weights_minimize_the_log_loss():
    """Two members with independent errors share the weight, a useless one has none."""
    scores = [quality * (2 * CODES - 1) + RNG.normal(size=300) for quality in (1, 1, 0)]
    odds = [np.stack([-z / 2, z / 2]) for z in scores]
    weights = greedy_weights(np.stack(odds), LABELS)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[:2].min() > 0.2
    assert weights[2] < 0.2
    losses = log_losses(np.stack([np.tensordot(weights, odds, axes=1), *odds]), LABELS)
    assert losses[0] < losses[1:].min()
    doubled = Labels(np.tile(CODES, 2), np.ones(600), 2)
    repeated = greedy_weights(np.concatenate([odds, odds], axis=2), doubled)
    np.testing.assert_array_equal(
        repeated, greedy_weights(np.stack(odds), LABELS._replace(weight=np.full(300, 2.0)))
    )


def test_separate_members_are_weighted_and_shrunk_to_the_first():
    ordinary = [candidate(0.5), candidate(0.5)]
    good, useless = candidate(3.0, name="leaves"), candidate(-0.5, name="pairs")
    values = np.arange(4.0)
    blend = best_blend([*ordinary, good, useless], values, LABELS, 2, {"leaves", "pairs"})
    assert sorted(blend.chosen) == [0, 1, 2]
    first, leaves = blend.weights[:2].sum(), blend.weights[2]
    assert first + leaves == pytest.approx(1.0)
    assert first == pytest.approx(4 / 13, abs=0.05)  # 300 samples speak for the leaves
    unlike = [candidate(2.0), candidate(0.0)]  # the best by value adds nothing to the mean
    one = best_blend(unlike, values[:2], LABELS, 2, {"leaves"})
    np.testing.assert_allclose(one.scores(unlike), mean_scores(unlike, [0, 1]))
    alone = best_blend([good], values[:1], LABELS, 2, {"leaves"})
    assert alone.chosen == [0]
    assert alone.weights == 1.0


def test_the_best_quarter_is_a_member_for_two_classes():
    mixed, values = [candidate(3.0), *(candidate(0.0) for _ in range(3))], np.array([1, 0, 0, 0])
    blend = best_blend(mixed, values, LABELS, 4, ())
    shrunk = np.full(4, 1 / 13)  # 300 samples speak for the best
    np.testing.assert_allclose(blend.weights, shrunk + np.eye(4)[0] * 9 / 13, atol=0.05)
    codes = np.arange(300) % 3
    scores = np.eye(3)[codes] * np.array([3.0, 0.2, 0.2, 0.2])[:, None, None]
    labels, noise = Labels(codes, np.ones(300), 3), RNG.normal(size=scores.shape)
    three = [ScoredCandidate.of("columns", 1.0, own, labels.weight) for own in scores + noise]
    np.testing.assert_allclose(best_blend(three, values, labels, 4, ()).weights, 1 / 4)


def test_the_nested_score_of_many_separate_members_is_not_flattered():
    metric, nested = make_metric(None, CLASSES), []
    for _ in range(10):
        candidates = [candidate(0.0, name=f"map {k}") for k in range(12)]
        separate = {f"map {k}" for k in range(1, 12)}
        nested.append(
            nested_scores(
                candidates, LABELS, FOLDS, Criterion(metric, EVEN, False, separate), 1, COMMON
            )[1]
        )
    assert abs(np.mean(nested) - 0.5) < 0.06
