"""A fitted model with all that is needed to use it on a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.validation import plain
from lincent.tables import Schema, Table, to_frame


@dataclass(frozen=True)
class Model:
    """A pipeline (impute, one-hot, scale, classify), its schema and a summary of its training.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Takes a pandas frame with the columns of the schema.
    schema : Schema
        The columns as they were understood.
    summary : dict
        Plain data: rows, classes, settings, certificate, scores, where the classes lie.
    version : str
        The lincent that made it.
    """

    pipeline: Any
    schema: Schema
    summary: dict[str, Any]
    version: str

    @property
    def classifier(self) -> Any:
        """The last step."""
        return self.pipeline[-1]

    @property
    def classes(self) -> list[Any]:
        return [plain(label) for label in self.classifier.classes_]

    @property
    def has_probabilities(self) -> bool:
        return hasattr(self.classifier, "predict_proba")

    def score_batch(self, batch: Table, news: Counter[str] | None = None) -> dict[str, np.ndarray]:
        """The new columns for a batch of rows: class, score and probabilities.

        Parameters
        ----------
        batch : Table
            Rows in a frame.
        news : Counter[str], default=None
            Counts what training had not seen.

        Returns
        -------
        dict[str, ndarray]
            The answers for the batch.
        """
        frame = to_frame(self.schema, batch, news)
        rows = self.pipeline[:-1].transform(frame)
        return score_rows(self.classifier, rows)


def score_rows(classifier: Any, rows: Any) -> dict[str, np.ndarray]:
    """Class, score and probabilities of prepared rows.

    The score is the signed one of two classes, or that of the winning class among more.
    """
    scores = np.asarray(classifier.decision_function(rows))
    if scores.ndim == 1:
        index, score = (scores > 0).astype(np.intp), scores
    else:
        index, score = scores.argmax(axis=1), scores.max(axis=1)
    columns = {"class": classifier.classes_[index], "score": score}
    if hasattr(classifier, "predict_proba"):
        chances = classifier.predict_proba(rows)
        for k, label in enumerate(classifier.classes_):
            columns[f"probability_{plain(label)}"] = chances[:, k]
    return columns
