"""Fast metrics agree with scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics as reference

from lincent.model_selection import metrics


@pytest.fixture(params=range(4))
def sample(request):
    rng = np.random.default_rng(request.param)
    n_classes = 2 + request.param % 2
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=60)])
    predicted = np.where(
        rng.random(len(codes)) < 0.6, codes, rng.integers(n_classes, size=len(codes))
    )
    weight = rng.integers(0, 4, size=len(codes)).astype(float) if request.param > 1 else None
    return codes, predicted, n_classes, weight, rng


def test_label_scores_are_those_of_scikit_learn(sample):
    codes, predicted, n_classes, weight, _ = sample
    confusion = metrics.confusion_matrix(codes, predicted, n_classes, weight)
    np.testing.assert_array_equal(
        confusion, reference.confusion_matrix(codes, predicted, sample_weight=weight)
    )
    expected = {
        "accuracy": reference.accuracy_score(codes, predicted, sample_weight=weight),
        "balanced_accuracy": reference.balanced_accuracy_score(
            codes, predicted, sample_weight=weight
        ),
        "mcc": reference.matthews_corrcoef(codes, predicted, sample_weight=weight),
        "f1": reference.f1_score(codes, predicted, labels=[1], average=None, sample_weight=weight)[
            0
        ],
    }
    for name, value in expected.items():
        assert metrics.label_score(name, confusion) == pytest.approx(value), name
    assert metrics.balanced_accuracy(codes, predicted, n_classes, weight) == pytest.approx(
        expected["balanced_accuracy"]
    )
    if n_classes == 2:
        assert metrics.label_score("label_auc", confusion) == pytest.approx(
            expected["balanced_accuracy"]
        )
    with pytest.raises(ValueError, match="no metric of predicted labels"):
        metrics.label_score("log_loss", confusion)


def test_auc_is_that_of_scikit_learn(sample):
    codes, _, n_classes, weight, rng = sample
    scores = np.round(rng.normal(size=(len(codes), n_classes)) + np.eye(n_classes)[codes], 1)
    expected = reference.roc_auc_score(codes == 1, scores[:, 1], sample_weight=weight)
    assert metrics.weighted_auc(codes == 1, scores[:, 1], weight) == pytest.approx(expected)
    if n_classes == 2:
        assert metrics.one_vs_rest_auc(codes, scores[:, 1], weight) == pytest.approx(expected)
    else:
        each = [
            reference.roc_auc_score(codes == k, scores[:, k], sample_weight=weight)
            for k in range(n_classes)
        ]
        assert metrics.one_vs_rest_auc(codes, scores, weight) == pytest.approx(np.mean(each))


def test_metrics_without_a_class_are_nan():
    codes = np.zeros(4, dtype=int)
    assert np.isnan(metrics.weighted_auc(codes == 1, np.arange(4.0)))
    assert np.isnan(metrics.one_vs_rest_auc(codes, np.full((4, 2), np.nan)))
    assert np.isnan(metrics.label_score("label_auc", metrics.confusion_matrix(codes, codes, 2)))
    assert metrics.balanced_accuracy(codes, codes, 3) == 1.0
    assert metrics.label_score("mcc", metrics.confusion_matrix(codes, codes, 2)) == 0.0
