"""A fitted model with all that is needed to use it on a table."""

from __future__ import annotations

import html
from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lincent._errors import printable
from lincent.estimators.validation import plain
from lincent.inspection.score_intervals import TITLES
from lincent.inspection.thresholds import Cut, codes_of
from lincent.tables.read import UserTable
from lincent.tables.schema import Schema, to_frame


class Sum(Protocol):
    """How a score is a sum over the columns (see ``contributions``)."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def of(self, classifier: Any, rows: Any) -> np.ndarray: ...


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
    def cut(self) -> Cut | None:
        """The cut that was asked for at training, if any."""
        return Cut.from_json(self.summary.get("cut"))

    @property
    def unit(self) -> float:
        """What the classifier's scores are divided by: the distance between the classes.

        1 in files of version 0.1.0, which had none.
        """
        return float(self.summary.get("unit", 1.0))

    @property
    def has_probabilities(self) -> bool:
        return hasattr(self.classifier, "predict_proba")

    def score_batch(
        self,
        batch: UserTable,
        news: Counter[str] | None = None,
        contributions: Sum | None = None,
    ) -> dict[str, np.ndarray]:
        """The new columns for a batch of rows: class, score and probabilities.

        The score is in units of the distance between the classes.

        Parameters
        ----------
        batch : UserTable
            Rows in a frame.
        news : Counter[str], default=None
            Counts what training had not seen.
        contributions : Sum, default=None
            What the columns add to the score, to be given as well.

        Returns
        -------
        dict[str, ndarray]
            The answers for the batch.
        """
        frame = to_frame(self.schema, batch, news)
        rows = self.pipeline[:-1].transform(frame)
        found = score_rows(self.classifier, rows, self.cut, self.unit)
        if contributions is not None:
            parts = contributions.of(self.classifier, rows)
            found |= {f"contribution_{name}": parts[:, k]
                      for k, name in enumerate(contributions.names)}  # fmt: skip
        return found

    def __repr__(self) -> str:
        said = self.summary.get("held_out") or {}
        first = (said.get("scores") or [None])[0]
        score = "" if first is None else f", held-out {TITLES[first['name']]} {first['value']:.3f}"
        classes = ", ".join(str(label) for label in self.classes)
        return printable(
            f"<Model {type(self.classifier).__name__} for {self.schema.target!r}: "
            f"{len(self.schema.columns)} columns, classes {classes}{score}>"
        )

    def _repr_html_(self) -> str:
        """The same as a small table, above scikit-learn's view of the pipeline."""
        said = self.summary.get("held_out") or {}
        rows = "".join(
            f"<tr><th>{html.escape(TITLES[s['name']])}</th><td>{s['value']:.3f}</td>"
            f"<td>{s['low']:.3f} to {s['high']:.3f}</td><td>{s['baseline']:.3f}</td></tr>"
            for s in said.get("scores", ())
        )
        head = "<tr><th>held out</th><th>score</th><th>95 % interval</th><th>always the larger "
        table = f"<table><thead>{head}class</th></tr></thead><tbody>{rows}</tbody></table>"
        title = f"<p><code>{html.escape(repr(self))}</code></p>"
        return title + (table if rows else "") + self.pipeline._repr_html_()


def score_rows(
    classifier: Any, rows: Any, cut: Cut | None = None, unit: float = 1.0
) -> dict[str, np.ndarray]:
    """Class, score (in units) and probabilities of prepared rows.

    The score is the signed one of two classes, or that of the winning class among more.
    """
    scores = np.asarray(classifier.decision_function(rows)) / unit
    score = scores if scores.ndim == 1 else scores.max(axis=1)
    has = hasattr(classifier, "predict_proba")
    chances = classifier.predict_proba(rows) if has else None
    index = codes_of(scores) if cut is None else cut.codes(classifier.classes_, scores, chances)
    columns = {"class": classifier.classes_[index], "score": score}
    if chances is not None:
        for k, label in enumerate(classifier.classes_):
            columns[f"probability_{plain(label)}"] = chances[:, k]
    return columns
