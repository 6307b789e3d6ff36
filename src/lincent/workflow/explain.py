"""What a model uses and how good it is: ``lincent explain``."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.export.contributions import CategoryTerm, Score, is_linear, linear_scores
from lincent.export.model import Model
from lincent.inspection.evaluation import HeldOut, evaluate, suspected_label_errors
from lincent.inspection.thresholds import predict_codes
from lincent.tables.encoder import MISSING
from lincent.tables.infer import PreparedTable, read_labels
from lincent.tables.read import DEFAULT_READ, ReadOptions, read_table
from lincent.tables.schema import to_frame

FROM_SUMMARY = (
    "estimator", "method", "params", "certificate", "tuned", "tuning", "learning_curve",
    "importances", "columns", "notes", "data", "versions", "created", "seconds", "threshold",
    "warnings",
)  # fmt: skip


def explain_model(
    model: Model, data: Any = None, *, reading: ReadOptions = DEFAULT_READ
) -> dict[str, Any]:
    """Return what a model uses, how good it is and how it was fitted, as plain data.

    Parameters
    ----------
    model : Model
        A fitted model.
    data : path, "-" or frame, default=None
        Rows with the target to evaluate the model on. None: the rows held out at training.
    reading : ReadOptions
        Format, separator, encoding and so on, where they are not to be inferred.

    Returns
    -------
    dict
        ``problems`` (coefficients of a linear score in the columns' own units, largest effect
        first), ``importances``, ``evaluation`` (metrics, confusion matrix, curves),
        ``score_quantiles``, ``suspected_label_errors``, and facts about the training.
    """
    summary = model.summary
    explanation: dict[str, Any] = {
        "lincent": model.version,
        "target": model.schema.target,
        "classes": model.classes,
        "training_rows": summary.get("rows"),
        **{name: summary.get(name) for name in FROM_SUMMARY},
        "problems": [],
    }
    if is_linear(model.classifier):
        explanation["problems"] = [_coefficients(score) for score in linear_scores(model)]
    evaluation: dict[str, Any] | None
    if data is not None:
        evaluated_on = "given data"
        evaluation, suspects = _evaluate_on(model, data, reading)
    else:
        evaluation = summary.get("held_out")
        suspects = summary.get("suspected_label_errors", [])
        evaluated_on = "held-out rows" if evaluation else "training rows"
    return explanation | {
        "evaluated_on": evaluated_on,
        "evaluation": evaluation,
        "score_quantiles": evaluation["score_quantiles"] if evaluation else [],
        "suspected_label_errors": suspects,
    }


def _coefficients(score: Score) -> dict[str, Any]:
    """Return the coefficients of a binary subproblem, largest effect first."""
    terms: list[dict[str, Any]] = []

    def add_indicator(column: str, category: str, share: float, coef: float) -> None:
        deviation = max(share * (1 - share), 0.0) ** 0.5
        entry = {"column": column, "category": category, "share": share}
        terms.append(entry | {"coef": coef, "effect": coef * deviation})

    for term in score.terms:
        if isinstance(term, CategoryTerm):
            for share, (category, coef) in zip(term.shares, term.coefs, strict=True):
                add_indicator(term.column, category, share, coef - term.average)
        else:
            terms.append({"column": term.column, "coef": term.coef, "effect": term.effect})
            if term.share:
                add_indicator(term.column, MISSING, term.share, term.missing)
    terms.sort(key=lambda term: -abs(term["effect"]))
    return {
        "negative": list(score.negative),
        "positive": list(score.positive),
        "constant": score.constant,
        "terms": terms,
    }


def _evaluate_on(
    model: Model, data: Any, reading: ReadOptions
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the evaluation on a table and its suspected label errors."""
    table, target = read_table(data, reading), model.schema.target
    if target not in table.data.column_names:
        raise AppError(
            f"The table has no column {target!r}: explain needs the true classes to evaluate."
        )
    labels, classes = read_labels(table, target), model.classifier.classes_
    if classes.dtype.kind in "UO" and labels.dtype.kind not in "UO":
        labels = labels.astype(str)
    new = np.flatnonzero(~np.isin(labels, classes))
    if len(new):
        raise AppError(
            f"Row {table.row(int(new[0]))} has the class {labels[new[0]]!s}, which the model does "
            f"not know; it knows {', '.join(str(label) for label in classes)}."
        )
    frame = to_frame(model.schema, table)
    encoded = model.pipeline[:-1].transform(frame)
    scores = np.asarray(model.classifier.decision_function(encoded)) / model.score_scale
    probabilities = model.classifier.predict_proba(encoded) if model.has_probabilities else None
    rows, threshold = np.arange(len(labels)), model.threshold
    how = f"{len(rows)} rows of the given data"
    held = HeldOut(rows, labels, scores, probabilities, rows, how)
    if threshold is None:
        predicted, positive = predict_codes(scores), None
    else:
        predicted = threshold.predict(classes, scores, probabilities)
        positive = threshold.positive
    prepared = PreparedTable(table, model.schema, (), frame, labels, None, ())
    evaluation = evaluate(held, classes, predicted, positive, threshold=threshold)
    return evaluation, suspected_label_errors(held, classes, prepared)
