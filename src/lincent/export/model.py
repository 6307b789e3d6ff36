"""A fitted model with everything that is needed to use it on a table, and its score by column.

The score of a linear model in the columns' own units is

    score = constant + sum over numbers (coef x) + sum over indicators of categories (coef),

the same score without filling, encoding and scaling, divided by the distance between the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lincent._errors import printable
from lincent.estimators.base import Classifier, binary_coefficients, is_linear
from lincent.estimators.problem import binary_tasks, predicted_codes
from lincent.estimators.validation import plain
from lincent.inspection.thresholds import DecisionThreshold
from lincent.model_selection.metrics import TITLES
from lincent.tables.encoder import MISSING
from lincent.tables.schema import Schema

if TYPE_CHECKING:
    from lincent.inspection.attribution import Explainer


def require_model(model: Any) -> None:
    """Raise an error for what is no result of ``fit_table``, such as an estimator or a path."""
    if not isinstance(model, Model):
        raise TypeError(
            f"model is a {type(model).__name__}, not a lincent.workflow.Model: give the result of "
            "fit_table or load_model. (Estimators are saved with pickle or skops.)"
        )


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

    def scores(self, encoded: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return normalized decision values and probabilities (None if there are none).

        Parameters
        ----------
        encoded : ndarray of shape (n_rows, n_encoded_columns)
            Rows as the encoder of the pipeline returns them.

        Returns
        -------
        tuple of ndarray
            Of shape (n_rows,) or (n_rows, n_classes), and (n_rows, n_classes).
        """
        scores = np.asarray(self.classifier.decision_function(encoded)) / self.score_scale
        return scores, self.classifier.predict_proba(encoded) if self.has_probabilities else None

    def predict_codes(self, scores: np.ndarray, probabilities: np.ndarray | None) -> np.ndarray:
        """Return class codes by the threshold of the model, or else of its classifier.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
            Normalized decision values.
        probabilities : ndarray of shape (n_rows, n_classes) or None
            Probabilities, where the model has them.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positions in ``classes``.
        """
        if self.threshold is None:
            return predicted_codes(scores)
        return self.threshold.predict(self.classifier.classes_, probabilities)

    def score_frame(self, frame: Any, explainer: Explainer | None = None) -> dict[str, np.ndarray]:
        """Return the new columns for some rows: class, score and probabilities.

        The score is normalized by the distance between the classes.

        Parameters
        ----------
        frame : DataFrame
            Rows of a table as ``to_frame`` returns them.
        explainer : Explainer, default=None
            Adds the contributions of the columns to the score (see ``contributions_of``).

        Returns
        -------
        dict[str, ndarray]
            The new columns by name.
        """
        encoded = self.pipeline[:-1].transform(frame)
        scores, probabilities = self.scores(encoded)
        codes = self.predict_codes(scores, probabilities)
        # The score is the signed one of two classes, or that of the predicted class among more.
        score = scores if scores.ndim == 1 else scores.max(axis=1)
        columns = {"class": self.classifier.classes_[codes], "score": score}
        if probabilities is not None:
            for k, label in enumerate(self.classes):
                columns[f"probability_{label}"] = probabilities[:, k]
        if explainer is None:
            return columns
        parts = explainer.explain(np.asarray(encoded))
        values, error = parts.values, parts.standard_error
        if values.ndim == 3:  # of the predicted class, as the score
            own = codes[:, None, None]
            values = np.take_along_axis(values, own, axis=2)[:, :, 0]
            error = None if error is None else np.take_along_axis(error, own, axis=2)[:, :, 0]
        columns |= {f"contribution_{name}": values[:, k] for k, name in enumerate(parts.names)}
        return columns | ({} if error is None else {"contribution_error": error.max(axis=1)})

    def __repr__(self) -> str:
        evaluation = self.summary.get("held_out") or {}
        first = (evaluation.get("scores") or [None])[0]
        score = "" if first is None else f", held-out {TITLES[first['name']]} {first['value']:.3f}"
        classes = ", ".join(str(label) for label in self.classes)
        return printable(
            f"<Model {type(self.classifier).__name__} for {self.schema.target!r}: "
            f"{len(self.schema.columns)} columns, classes {classes}{score}>"
        )


def linear_scores(model: Model) -> list[dict[str, Any]]:
    """Return the terms of each binary problem, largest effect first; none if it is not linear.

    A term has a coefficient, its effect (the change of the score over one standard deviation of the
    training rows) and, where it is an indicator, its category and the fraction of rows that have
    it.  Coefficients of categories are relative to their mean over the training rows.
    """
    classifier = model.classifier
    own = isinstance(classifier, Classifier) and hasattr(classifier, "multi_class")
    if not (own and is_linear(classifier)):
        return []
    labels, problems = model.classes, []
    for k, task in enumerate(binary_tasks(len(labels), classifier.multi_class)):
        negative, positive = ([labels[c] for c in side] for side in (task.negative, task.positive))
        constant, terms = _terms(model, k)
        terms.sort(key=lambda term: -abs(term["effect"]))
        sides = {"negative": negative, "positive": positive}
        problems.append(sides | {"constant": constant, "terms": terms})
    return problems


def _terms(model: Model, k: int) -> tuple[float, list[dict[str, Any]]]:
    """Return the constant and the terms of a binary problem."""
    encoder, shares = model.pipeline[0], model.summary.get("shares", {})
    weights, intercept = binary_coefficients(model.classifier)
    coef = weights[k] / (encoder.scale_ * model.score_scale)
    constant = float(intercept[k]) / model.score_scale - float(coef @ encoder.center_)
    terms: list[dict[str, Any]] = []
    for j, column in enumerate(encoder.columns_):
        own, name = coef[encoder.sources == j], {"column": column.name}
        values: Any = column.categories
        if values is None:
            effect = float(own[0] * encoder.scale_[encoder.sources == j][0])
            terms.append(name | {"coef": float(own[0]), "effect": effect})
            own, values = own[1:], [encoder.missing_] * (len(own) - 1)
        known = shares.get(column.name, {})
        fractions = np.array([float(known.get(value, 0.0)) for value in values])
        average = float(fractions @ own) if column.categories else 0.0
        constant += average
        for value, size, fraction in zip(values, own - average, fractions.tolist(), strict=True):
            effect = float(size) * max(fraction * (1 - fraction), 0.0) ** 0.5
            category = value if column.categories else MISSING
            indicator = {"category": category, "share": fraction}
            terms.append(name | indicator | {"coef": float(size), "effect": effect})
    return constant, terms


def contributions_of(model: Model) -> Explainer:
    """Return how the scores of a model are sums over its columns (see ``attribution``)."""
    from lincent.inspection.attribution import Explainer
    from lincent.inspection.permutation_importance import encoded_owners

    background = model.summary["background"]
    owners = encoded_owners(model.pipeline).tolist()
    rows, means = (np.array(background[name], dtype=np.float64) for name in ("rows", "means"))
    return Explainer(model.classifier, owners, rows, means, model.score_scale)
