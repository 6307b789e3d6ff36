"""What unseen rows say of the settings of a committee, and what each of them weighs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.clearly_better import is_better, mean_and_error, not_behind
from lincent.estimators.committee import Tally
from lincent.estimators.cv_data import Answered
from lincent.estimators.problem import Task
from lincent.estimators.softmax import log_likelihoods
from lincent.model_selection.metrics import weighted_auc

NEGLIGIBLE = 1e-3
"""Settings that weigh less, for several classes at once, are not fitted to all rows."""


@dataclass(frozen=True)
class Together:
    """What rows say of the settings for all classes: the log-probability of their class.

    The area under the curve of each class by itself does not see how scores of different classes
    compare, which decides what is predicted, and it is close to one for most C.  A setting that was
    not tried on all rows is judged by those on which it was.
    """

    likelihoods: np.ndarray  # settings by rows, NaN where a setting was not tried
    codes: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, tallies: Sequence[Tally]) -> Together:
        first = tallies[0]
        scores = np.stack([tally.pooled for tally in tallies], axis=2)
        likelihoods = np.full(scores.shape[:2], np.nan)
        for one, out in zip(scores, likelihoods, strict=True):
            rows = np.isfinite(one[:, 0])
            labels = first.codes[rows], first.weight[rows], len(tallies)
            out[rows] = log_likelihoods(one[rows], *labels)
        return cls(likelihoods, first.codes, first.weight)

    @property
    def whole(self) -> np.ndarray:
        """The settings that were tried on all rows."""
        return np.asarray(np.isfinite(self.likelihoods).all(axis=1))

    def measures(self) -> np.ndarray:
        """The mean of each setting, all classes counting the same."""
        out = np.empty(len(self.likelihoods))
        for k, one in enumerate(self.likelihoods):
            rows = np.isfinite(one)
            mean, _ = mean_and_error(one[rows][None], self.codes[rows], self.weight[rows])
            out[k] = mean[0]
        return out

    def kept(self) -> np.ndarray:
        """The settings that are not clearly behind."""
        return not_behind(self.likelihoods, self.codes, self.weight)

    def weights(self, sharpness: float, known: int | None) -> np.ndarray:
        """Of those tried on all rows; the known one has all unless the best is clearly better."""
        measures = np.where(self.whole, self.measures(), -np.inf)
        if known is not None:
            best, other = self.likelihoods[measures.argmax()], self.likelihoods[known]
            if not is_better(best, other, self.codes, self.weight):
                return np.asarray(np.arange(len(measures)) == known, dtype=np.float64)
            measures[known] = -np.inf
        weights = soft_weights(measures, sharpness)
        weights[weights < NEGLIGIBLE] = 0.0
        return np.asarray(weights / weights.sum())


def measure(scoring: Any, tally: Tally, task: Task) -> np.ndarray:
    """The measure of each setting on its pooled out-of-fold scores."""
    rows = np.arange(len(tally.codes)) if task.whole else task.rows(tally.codes)
    sign, counted, pooled = task.sign(tally.codes[rows]), tally.weight[rows], tally.pooled[:, rows]
    if scoring in (None, "roc_auc"):
        return np.array([weighted_auc(sign > 0, score, counted) for score in pooled])
    from sklearn.metrics import get_scorer  # late, as it is slow to import and rarely needed

    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    classes = np.array([-1, 1])
    labels = classes[(sign > 0).astype(int)]
    # A scorer of the user's own may not know weights; it is asked to only where they matter.
    named = {} if np.all(counted == counted[0]) else {"sample_weight": counted}
    models = [Answered(classes, score) for score in pooled]
    return np.array([float(scorer(m, m.scores[:, None], labels, **named)) for m in models])


def soft_weights(measures: np.ndarray, sharpness: float) -> np.ndarray:
    """Weights of the settings, of sum 1."""
    weights = np.exp(sharpness * (measures - measures.max()))
    return np.asarray(weights / weights.sum())
