"""A fitted model with everything that is needed to use it on a table."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lincent._errors import printable
from lincent.estimators.validation import plain
from lincent.inspection.thresholds import DecisionThreshold, predict_codes
from lincent.model_selection.metrics import TITLES
from lincent.tables.read import UserTable
from lincent.tables.schema import Schema, to_frame


class Sum(Protocol):
    """A score as a sum over the columns (see ``contributions``)."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def of(self, classifier: Any, rows: Any) -> np.ndarray: ...


@dataclass(frozen=True)
class Model:
    """A fitted pipeline of encoder and classifier, its schema and a summary of its training.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Takes a pandas frame with the columns of the schema.
    schema : Schema
        The inferred types of the columns.
    summary : dict
        Plain data: rows, classes, parameters, certificate, held-out metrics.
    version : str
        The version of lincent.
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
    def threshold(self) -> DecisionThreshold | None:
        """The decision threshold that was set at training, if any."""
        threshold = self.summary.get("threshold")
        return None if threshold is None else DecisionThreshold(**threshold)

    @property
    def score_scale(self) -> float:
        """The divisor of the classifier's scores: the distance between the classes."""
        return float(self.summary.get("score_scale", 1.0))

    @property
    def has_probabilities(self) -> bool:
        return hasattr(self.classifier, "predict_proba")

    def score_batch(
        self,
        batch: UserTable,
        new_categories: Counter[str] | None = None,
        contributions: Sum | None = None,
    ) -> dict[str, np.ndarray]:
        """Return the new columns for a batch of rows: class, score and probabilities.

        The score is normalized by the distance between the classes.

        Parameters
        ----------
        batch : UserTable
            Rows of a table.
        new_categories : Counter[str], default=None
            Counts the rows with values that training did not have, by column.
        contributions : Sum, default=None
            Adds the contributions of the columns to the score.

        Returns
        -------
        dict[str, ndarray]
            The new columns by name.
        """
        encoded = self.pipeline[:-1].transform(to_frame(self.schema, batch, new_categories))
        columns = score_rows(self.classifier, encoded, self.threshold, self.score_scale)
        if contributions is not None:
            values = contributions.of(self.classifier, encoded)
            for k, name in enumerate(contributions.names):
                columns[f"contribution_{name}"] = values[:, k]
        return columns

    def __repr__(self) -> str:
        evaluation = self.summary.get("held_out") or {}
        first = (evaluation.get("scores") or [None])[0]
        score = "" if first is None else f", held-out {TITLES[first['name']]} {first['value']:.3f}"
        classes = ", ".join(str(label) for label in self.classes)
        return printable(
            f"<Model {type(self.classifier).__name__} for {self.schema.target!r}: "
            f"{len(self.schema.columns)} columns, classes {classes}{score}>"
        )

    def _repr_html_(self) -> str:
        """Return a small table above scikit-learn's view of the pipeline."""
        evaluation = self.summary.get("held_out") or {}
        rows = "".join(
            f"<tr><th>{html.escape(TITLES[s['name']])}</th><td>{s['value']:.3f}</td>"
            f"<td>{s['low']:.3f} to {s['high']:.3f}</td><td>{s['baseline']:.3f}</td></tr>"
            for s in evaluation.get("scores", ())
        )
        head = "<tr><th>held out</th><th>score</th><th>95 % interval</th><th>always the larger "
        table = f"<table><thead>{head}class</th></tr></thead><tbody>{rows}</tbody></table>"
        title = f"<p><code>{html.escape(repr(self))}</code></p>"
        return title + (table if rows else "") + self.pipeline._repr_html_()


def score_rows(
    classifier: Any,
    encoded: Any,
    threshold: DecisionThreshold | None = None,
    score_scale: float = 1.0,
) -> dict[str, np.ndarray]:
    """Return class, normalized score and probabilities of encoded rows.

    The score is the signed one of two classes, or that of the predicted class among more.
    """
    classes = classifier.classes_
    scores = np.asarray(classifier.decision_function(encoded)) / score_scale
    has_probabilities = hasattr(classifier, "predict_proba")
    probabilities = classifier.predict_proba(encoded) if has_probabilities else None
    if threshold is None:
        codes = predict_codes(scores)
    else:
        codes = threshold.predict(classes, scores, probabilities)
    columns = {
        "class": classes[codes],
        "score": scores if scores.ndim == 1 else scores.max(axis=1),
    }
    if probabilities is not None:
        for k, label in enumerate(classes):
            columns[f"probability_{plain(label)}"] = probabilities[:, k]
    return columns
