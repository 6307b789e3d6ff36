"""Decision thresholds: given, chosen on out-of-fold rows, and the same at prediction."""

from dataclasses import replace

import numpy as np
import pytest

from lincent import AutoLCC
from lincent._errors import AppError
from lincent.inspection.evaluation import evaluate
from lincent.inspection.thresholds import (
    DecisionThreshold,
    HeldOut,
    choose_threshold,
    given_threshold,
    positive_code,
)
from lincent.model_selection.metrics import confusion_matrix, label_score
from lincent.workflow import fit_table

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

CLASSES = np.array(["no", "yes"])


def held_out(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.1
    scores = rng.normal(size=n) + 1.5 * truth
    p = 1 / (1 + np.exp(-scores))
    codes, both = truth.astype(int), np.column_stack([1 - p, p])
    return HeldOut(np.arange(n), codes, CLASSES, scores, both, np.arange(n) % 5, "")


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_the_chosen_threshold_is_the_best_one(positive):
    held = held_out()
    codes, side = held.codes, positive_code(CLASSES, positive)
    threshold, predicted = choose_threshold("f1", held, positive)

    def f1(at):
        by_other = DecisionThreshold(positive, at, "").predict(CLASSES, held.probabilities)
        return label_score("f1", confusion_matrix(codes, by_other, 2), side)

    assert f1(threshold.at) >= max(f1(at) for at in np.linspace(0.02, 0.98, 40)) - 0.01
    cross_validated = label_score("f1", confusion_matrix(codes, predicted, 2), side)
    assert cross_validated <= f1(threshold.at) + 1e-12


def test_a_given_threshold():
    held = held_out()
    threshold = given_threshold(0.3, CLASSES, None, has_probabilities=True)
    codes = threshold.predict(CLASSES, held.probabilities)
    np.testing.assert_array_equal(codes == 1, held.probabilities[:, 1] >= 0.3)
    other = given_threshold(0.3, CLASSES, "no", has_probabilities=True)
    codes = other.predict(CLASSES, held.probabilities)
    np.testing.assert_array_equal(codes == 0, held.probabilities[:, 0] >= 0.3)
    with pytest.raises(AppError, match="needs probabilities"):
        given_threshold(0.3, CLASSES, None, has_probabilities=False)
    with pytest.raises(AppError, match="--metric f1 needs probabilities"):
        choose_threshold("f1", replace(held, probabilities=None))
    with pytest.raises(AppError, match="no class 'maybe'"):
        positive_code(CLASSES, "maybe")


@pytest.mark.parametrize(
    ("asked", "option"), [({"threshold": 0.3}, "--threshold"), ({"metric": "f1"}, "--metric")]
)
def test_a_threshold_of_three_classes_is_refused_before_anything_is_fitted(
    asked, option, monkeypatch
):
    def fitted(*_, **__):
        raise AssertionError("a model was fitted")

    monkeypatch.setattr(AutoLCC, "fit", fitted)
    frame = pandas.DataFrame({"x": np.arange(12.0), "y": list("abc") * 4})
    with pytest.raises(AppError, match=f"{option} moves the threshold of two classes; .* has 3"):
        fit_table(frame, "y", **asked)


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_the_summary_counts_what_is_found_at_the_threshold(positive):
    held = held_out(n=300)
    threshold = given_threshold(0.7, CLASSES, positive, has_probabilities=True)
    predicted = threshold.predict(CLASSES, held.probabilities)
    counts = evaluate(held, predicted, positive, threshold=threshold)["at_threshold"]
    own, called = CLASSES[held.codes] == positive, CLASSES[predicted] == positive
    assert counts == {"found": sum(own & called), "rows": sum(own), "called": sum(called)}


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_its_place_on_the_score_divides_the_rows_as_it_does(positive):
    held = held_out()
    threshold = DecisionThreshold(positive, 0.3, "--threshold")
    place = threshold.on_score(held)
    predicted = threshold.predict(CLASSES, held.probabilities)
    assert 0 < predicted.mean() < 1
    np.testing.assert_array_equal(held.scores >= place, predicted == 1)
    signed = held.scores if positive == "yes" else -held.scores
    np.testing.assert_array_equal(CLASSES[predicted] == positive, 1 / (1 + np.exp(-signed)) >= 0.3)
