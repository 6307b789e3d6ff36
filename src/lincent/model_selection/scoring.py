"""Scoring: from decision values, or from fitted candidates, to one number per candidate.

Out-of-fold decision values are scored without a model: ``make_metric`` turns ``scoring`` into a
function of decision values and labels, fast for the default metrics and by way of any scikit-learn
scorer otherwise (``PrecomputedScores`` plays the fitted classifier).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from lincent.estimators.calibration import balanced_likelihood, fit_softmax
from lincent.estimators.problem import predicted_codes
from lincent.model_selection.metrics import weighted_auc


class Labels(NamedTuple):
    """Class codes and weights of the samples that candidates are scored on."""

    codes: np.ndarray
    weight: np.ndarray
    n_classes: int

    def subset(self, index: np.ndarray) -> Labels:
        """Return the labels of some samples."""
        return Labels(self.codes[index], self.weight[index], self.n_classes)

    def calibrated(self, scores: np.ndarray) -> np.ndarray:
        """Return class probabilities, from decision values of the samples calibrated on them."""
        columns = scores.reshape(len(scores), -1)
        return fit_softmax(columns, self.codes, self.weight).probability(columns)


Metric = Callable[[np.ndarray, Labels], float]
"""From decision values of shape (n_samples, n_outputs) and labels to a number; larger is better."""


class PrecomputedScores(ClassifierMixin, BaseEstimator):
    """Fitted classifier whose decision values for the samples to be scored are known.

    ``scores`` has the shape that ``decision_function`` returns, ``codes`` are predicted class codes
    where they are known as well, and ``labels`` offer ``predict_proba``, calibrated on them.
    """

    def __init__(
        self, classes: Any, scores: Any = None, codes: Any = None, labels: Labels | None = None
    ) -> None:
        self.classes, self.scores, self.codes, self.labels = classes, scores, codes, labels
        self.classes_ = classes

    def fit(self, X: Any, y: Any = None) -> PrecomputedScores:
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        return np.asarray(self.scores)

    def predict(self, X: Any) -> np.ndarray:
        codes = predicted_codes(self.scores) if self.codes is None else self.codes
        return np.asarray(self.classes_[codes])

    @available_if(lambda self: self.labels is not None)
    def predict_proba(self, X: Any) -> np.ndarray:
        labels: Any = self.labels
        return np.asarray(labels.calibrated(self.scores))


class RemoteSamples:
    """Samples that stay in their Dask partitions: a scorer passes them on and must not look."""

    def __init__(self, n_samples: int) -> None:
        self.shape = (n_samples,)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            "scoring looks at X itself, but the rows held out stay in their Dask partitions: use a "
            "scorer of predictions or scores (a name, or make_scorer)."
        )

    def __getitem__(self, key: Any) -> Any:
        return self.__array__()


def make_metric(scoring: Any, classes: np.ndarray) -> Metric:
    """Return the metric that ``scoring`` names.

    None is the area under the ROC curve for two classes and the mean log-probability of the true
    class, all classes weighted equally, for more.
    """
    if scoring is None or (isinstance(scoring, str) and scoring == "roc_auc" and len(classes) == 2):
        if len(classes) == 2:
            return _roc_auc
        return lambda scores, labels: balanced_likelihood(scores, *labels)
    from sklearn.metrics import check_scoring  # late: slow to import

    scorer = check_scoring(PrecomputedScores(classes), scoring=scoring)

    def metric(scores: np.ndarray, labels: Labels) -> float:
        flat = scores[:, 0] if scores.shape[1] == 1 else scores
        model = PrecomputedScores(classes, flat, labels=labels)
        extra = {}
        if not np.all(labels.weight == labels.weight[0]):
            # A scorer of the user may not take weights; it is given them only where they matter.
            extra = {"sample_weight": labels.weight}
        return float(scorer(model, scores, classes[labels.codes], **extra))

    return metric


def _roc_auc(scores: np.ndarray, labels: Labels) -> float:
    area = weighted_auc(labels.codes == 1, scores[:, 0], labels.weight)
    return 0.5 if np.isnan(area) else area


def scores_labels(scoring: Any, classes: np.ndarray) -> bool:
    """Return whether a scorer asks for predicted classes, so that the threshold matters to it."""
    if scoring is None:
        return False
    from sklearn.metrics import check_scoring

    scorer = check_scoring(PrecomputedScores(classes), scoring=scoring)
    return bool(getattr(scorer, "_response_method", "predict") == "predict")


def takes_weights(scorer: Any) -> bool:
    """Return whether a scorer accepts sample weights."""
    return "sample_weight" in inspect.signature(scorer).parameters
