import numpy as np
import pytest
from sklearn import metrics as reference
from sklearn.linear_model import LogisticRegression

from lincent.paper.study.metrics import (
    METRICS,
    confusion,
    label_auc,
    matthews,
    score,
    scores_of,
    share_found,
)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [2, 4])
def test_all_metrics_agree_with_scikit_learn(seed, k):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((80, 3)), 1)  # ties in the scores
    y = np.array(list("pqrs"))[rng.integers(0, k, 80)]
    model = LogisticRegression().fit(X[:40], y[:40])
    found = score(model, X, y)
    predicted = model.predict(X)
    labels = np.unique(y)
    assert set(found) == set(METRICS)
    assert found["accuracy"] == pytest.approx(reference.accuracy_score(y, predicted))
    assert found["balanced_accuracy"] == pytest.approx(
        reference.balanced_accuracy_score(y, predicted)
    )
    assert found["mcc"] == pytest.approx(reference.matthews_corrcoef(y, predicted))
    hard = [reference.roc_auc_score(y == a, predicted == a) for a in labels]
    assert found["hard_auc"] == pytest.approx(np.mean(hard))
    chances = model.predict_proba(X)
    expected = reference.roc_auc_score(y, chances[:, 1] if k == 2 else chances, multi_class="ovr")
    assert found["score_auc"] == pytest.approx(expected)


def test_two_classes_hard_auc_is_balanced_accuracy():
    counts = confusion(np.array([0, 0, 0, 1]), np.array([0, 1, 0, 1]))
    assert label_auc(counts) == share_found(counts) == pytest.approx((2 / 3 + 1) / 2)


def test_degenerate_predictions_have_defined_scores():
    always = confusion(np.array([0, 1, 1]), np.array([1, 1, 1]))
    assert label_auc(always) == 0.5
    assert matthews(always) == 0.0
    unknown = confusion(np.array(["a", "b"]), np.array(["c", "c"]))
    assert share_found(unknown) == 0.0


def test_probabilities_of_two_classes_become_one_score():
    class Probable:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.array([[0.9, 0.1], [0.2, 0.8]])

    assert scores_of(Probable(), None).tolist() == pytest.approx([-0.8, 0.6])


def test_paper_scoring_replaces_only_the_papers_number():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    model = LogisticRegression().fit(X, y)
    found = score(model, X, y, lambda *_: 0.123)
    assert found["paper_auc"] == 0.123
    assert found["hard_auc"] == 1.0
