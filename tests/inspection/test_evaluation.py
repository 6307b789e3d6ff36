"""Metrics, their intervals, the constant prediction, and curves."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lincent.inspection.evaluation import (
    auc_metric,
    errors_by_group,
    evaluate,
    evaluation_warnings,
    label_metric,
    probability_metrics,
    threshold_curves,
    threshold_table,
    wilson_interval,
)
from lincent.inspection.thresholds import HeldOut, choose_threshold
from lincent.model_selection.metrics import confusion_matrix, label_score
from lincent.tables.weighted import poststratified

pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, 200)
PREDICTED = np.where(RNG.random(200) < 0.7, TRUTH, RNG.integers(0, 3, 200))


def held_of(codes, n_classes=2):
    rows = np.arange(len(codes))
    return HeldOut(rows, codes, np.arange(n_classes), rows, None, rows % 5, "")


def metric_of(name, truth, predicted, n_classes=3, effective=1.0):
    return label_metric(name, confusion_matrix(truth, predicted, n_classes), 1, effective)


def test_the_area_is_that_of_scikit_learn_also_with_ties():
    values = RNG.normal(size=200).round(1) + (TRUTH == 1)
    metric = auc_metric(values, TRUTH == 1)
    assert metric["value"] == pytest.approx(roc_auc_score(TRUTH == 1, values))
    assert metric["low"] < metric["value"] < metric["high"]


@pytest.mark.parametrize("classes", [2, 3])
def test_probability_metrics_are_those_of_scikit_learn(classes):
    from sklearn.metrics import log_loss

    codes = RNG.integers(0, classes, 150)
    probabilities = RNG.dirichlet(np.ones(classes), 150)
    loss, brier = probability_metrics(held_of(codes), probabilities)
    assert loss["value"] == pytest.approx(log_loss(codes, probabilities))
    errors = (probabilities - np.eye(classes)[codes]) ** 2
    expected = errors[:, 1].mean() if classes == 2 else errors.sum(axis=1).mean()
    assert brier["value"] == pytest.approx(expected)
    frequencies = np.bincount(codes) / 150
    assert loss["baseline"] == pytest.approx(-frequencies @ np.log(frequencies))
    assert loss["low"] < loss["value"] < loss["high"]


def test_the_constant_prediction_and_the_order():
    rows = np.arange(200)
    held = HeldOut(rows, TRUTH, np.arange(3), np.eye(3)[PREDICTED], None, rows % 5, "")
    scores = evaluate(held, PREDICTED, metric="mcc")["scores"]
    assert [s["name"] for s in scores] == ["mcc", "balanced_accuracy", "accuracy", "roc_auc"]
    assert scores[0]["baseline"] == 0
    assert scores[1]["baseline"] == pytest.approx(1 / 3)
    assert scores[2]["baseline"] == pytest.approx(np.bincount(TRUTH).max() / 200)
    assert all(s["low"] <= s["value"] <= s["high"] for s in scores)


def test_the_constant_of_f1_is_the_positive_class():
    """A majority of the other class would have an F1 of 0, which any prediction exceeds."""
    confusion = np.array([[70, 50], [40, 40]])
    assert label_metric("f1", confusion)["baseline"] == pytest.approx(2 * 80 / (200 + 80))


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "mcc"])
def test_intervals_cover(name):
    """The metric of many rows lies in the interval of few in about 95 of 100 draws."""
    rng = np.random.default_rng(1)

    def draw(n):
        truth = (rng.random(n) < 0.3).astype(int)
        return truth, np.where(rng.random(n) < 0.8, truth, 1 - truth)

    expected = label_score(name, confusion_matrix(*draw(200_000), 2))
    inside = 0
    for _ in range(60):
        metric = metric_of(name, *draw(150), 2)
        inside += metric["low"] <= expected <= metric["high"]
    assert inside >= 51  # 95 % of 60 is 57; fewer than 51 happens once in 100 runs


def test_no_error_in_few_rows_is_no_certainty():
    low, high = wilson_interval(1.0, 10)
    assert low < 0.8
    assert high <= 1.0
    metric = metric_of("balanced_accuracy", np.arange(10) % 2, np.arange(10) % 2, 2)
    assert metric["value"] == 1.0
    assert metric["low"] < 0.9


@pytest.mark.parametrize("name", ["balanced_accuracy", "accuracy", "mcc"])
def test_a_fraction_of_the_rows_has_the_interval_of_so_many_fewer(name):
    once = metric_of(name, TRUTH, PREDICTED)
    thrice = metric_of(name, np.tile(TRUTH, 3), np.tile(PREDICTED, 3), effective=1 / 3)
    assert thrice["value"] == pytest.approx(once["value"])
    assert thrice["low"] == pytest.approx(once["low"], abs=1e-9)
    assert thrice["high"] == pytest.approx(once["high"], abs=1e-9)


def test_metrics_of_folds_have_the_variance_of_folds_that_share_rows():
    """Models that are fitted again vary more than their rows alone."""
    from lincent.workflow.out_of_fold import EFFECTIVE, N_SPLITS

    assert pytest.approx(N_SPLITS * (1 / N_SPLITS + 1 / (N_SPLITS - 1))) == 1 / EFFECTIVE
    scores = np.random.default_rng(0).normal(size=200) + np.repeat([0.0, 1.0], 100)
    positive = np.repeat([False, True], 100)
    alone, folds = auc_metric(scores, positive), auc_metric(scores, positive, EFFECTIVE)
    ratio = (folds["high"] - folds["value"]) / (alone["high"] - alone["value"])
    assert ratio == pytest.approx(EFFECTIVE**-0.5)


def test_thresholds_count_predictions_and_right_ones():
    probability = np.array([0.05, 0.2, 0.5, 0.5, 0.9, 0.99])
    positive = np.array([False, True, False, True, True, True])
    table = threshold_table(probability, positive, np.ones(6))
    pairs = zip(table["called"], table["found"], strict=True)
    counts = dict(zip(table["at"], pairs, strict=True))
    assert counts[0.05] == (6, 4)  # from the threshold on, itself included
    assert counts[0.5] == (4, 3)
    assert counts[0.95] == (1, 1)


def test_curves_over_all_thresholds():
    values = np.array([3.0, 2.0, 2.0, 1.0, 0.0])
    positive = np.array([True, True, False, True, False])
    found = threshold_curves(values, positive)
    assert found["roc"][0] == [0.0, 0.0]
    assert found["roc"][-1] == [1.0, 1.0]
    area = np.trapezoid(*np.array(found["roc"]).T[::-1])
    assert np.isclose(area, roc_auc_score(positive, values))
    assert found["precision_recall"][0] == [round(1 / 3, 6), 1.0]
    assert found["precision_recall"][-1] == [1.0, 0.6]


def test_curves_of_one_class_are_finite():
    found = threshold_curves(np.arange(4.0), np.zeros(4, dtype=bool))
    assert np.isfinite(np.concatenate([np.ravel(points) for points in found.values()])).all()


def test_a_threshold_other_than_one_half_is_told_where_it_matters():
    """Classes that count the same move the threshold; below one row in a hundred nobody is told."""
    rows, codes = np.arange(400), np.arange(400) % 2
    scores = np.where(codes == 1, 1.0, -1.0)
    classes = np.array(["no", "yes"])
    for n_between, told in ((0, False), (3, False), (4, True)):
        chance = np.where(codes == 1, 0.9, 0.1)
        chance[1 : 2 * n_between : 2] = 0.4  # called "yes", with the smaller probability
        held = HeldOut(rows, codes, classes, scores, np.c_[1 - chance, chance], rows % 5, "")
        messages = evaluation_warnings(held, evaluate(held, codes), None)
        assert any("changes where the probability of yes" in m for m in messages) == told


def test_errors_by_group_are_those_of_either_class():
    import pandas as pd

    codes = np.array([1, 1, 1, 1, 0, 0, 0, 0, 1, 0])
    predicted = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1, 0])
    groups = pd.Series(["a"] * 8 + ["b"] * 2)
    first, second = errors_by_group(groups, held_of(codes), predicted)
    assert (first["group"], second["group"]) == ("a", "b")
    found = {name: (first[name]["value"], first[name]["rows"]) for name in list(first)[2:]}
    assert found == {"errors": (3 / 8, 8), "missed": (1 / 4, 4), "false_alarms": (2 / 4, 4)}
    assert second["false_alarms"] | {"high": 0} == {"value": 0.0, "low": 0.0, "high": 0, "rows": 1}
    assert "missed" not in errors_by_group(groups, held_of(codes, n_classes=3), predicted)[0]


def test_quarters_are_in_order_and_many_groups_have_a_rest():
    codes = np.arange(300) % 2
    numbers = pandas.Series(np.arange(300.0))
    numbers[::50] = np.nan
    names = [entry["group"] for entry in errors_by_group(numbers, held_of(codes), codes)]
    assert names == ["1 to 75.25", "75.25 to 150", "150 to 224.8", "224.8 to 299", "(missing)"]
    many = pandas.Series([f"p{min(k // 5, 50)}" for k in range(300)])
    entries = errors_by_group(many, held_of(codes), 1 - codes)
    assert [entries[0]["group"], entries[-1]["group"]] == ["p50", "(31 others)"]
    assert len(entries) == 21
    assert sum(entry["rows"] for entry in entries) == 300
    assert entries[-1]["errors"]["value"] == 1.0


def test_the_histogram_has_the_threshold_of_the_model():
    rows, codes = np.arange(100), np.arange(100) % 2
    scores = RNG.normal(size=100) + codes
    held = HeldOut(rows, codes, np.arange(2), scores, None, rows % 5, "")
    assert evaluate(held, codes)["curves"]["histogram"]["threshold"] == 0.0


def test_a_sample_with_more_of_a_rare_class_is_evaluated_as_all_rows_are():
    rng = np.random.default_rng(0)
    codes = (rng.random(40_000) < 0.05).astype(int)
    chance = np.clip(0.05 + 0.1 * codes + 0.05 * rng.normal(size=len(codes)), 0.001, 0.999)

    def found(rows, weight=None):
        p = chance[rows]
        held = HeldOut(
            rows, codes[rows], np.arange(2), p - 0.1, np.c_[1 - p, p], rows % 5, "", 1.0, weight
        )
        threshold, predicted = choose_threshold({"0": 1.0, "1": 10.0}, held)
        result = evaluate(held, predicted, metric="f1")
        groups = pandas.Series(np.full(len(rows), "all"))
        [group] = errors_by_group(groups, held, predicted)
        scores = {one["name"]: np.array(list(one.values())[1:]) for one in result["scores"]}
        return result, scores, threshold.at, group["errors"]["value"]

    everything = np.arange(len(codes))
    few = np.sort(np.r_[np.flatnonzero(codes == 1), np.flatnonzero(codes == 0)[::4]])
    weight = poststratified(codes[few], np.ones(len(few)), np.bincount(codes))
    whole, sample, biased = found(everything), found(few, weight), found(few)
    for name, numbers in whole[1].items():
        assert sample[1][name][[0, 3]] == pytest.approx(numbers[[0, 3]], abs=0.015), name
        width = sample[1][name][2] - sample[1][name][1]
        assert 0.9 < width / (numbers[2] - numbers[1]) < 2.5, name
    assert abs(biased[1]["accuracy"][3] - whole[1]["accuracy"][3]) > 0.1  # or this tests nothing
    assert sample[2] == pytest.approx(whole[2], abs=0.02)
    assert sample[3] == pytest.approx(whole[3], abs=0.02)
    shares = [part[0]["at_threshold"]["called"] / part[0]["rows"] for part in (whole, sample)]
    assert shares[1] == pytest.approx(shares[0], abs=0.02)
    pairs = zip(whole[0]["curves"]["by_class"]["1"]["calibration"],
                sample[0]["curves"]["by_class"]["1"]["calibration"], strict=False)  # fmt: skip
    assert all(a["observed"] == pytest.approx(b["observed"], abs=0.05) for a, b in pairs)
