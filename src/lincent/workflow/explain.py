"""What a model uses and where its classes lie: ``lincent explain``."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.export.model import Model
from lincent.export.terms import CategoryTerm, Score, is_linear, scores_in_units
from lincent.inspection.evaluation import describe_held_out, describe_line, most_at_odds
from lincent.inspection.held_out import HeldOut
from lincent.inspection.thresholds import codes_of
from lincent.tables.encoder import MISSING
from lincent.tables.infer import PreparedTable, read_labels
from lincent.tables.read import DEFAULT_READ, ReadOptions, UserTable, read_table
from lincent.tables.schema import to_frame

KEPT = (
    "estimator", "method", "settings", "certificate", "tuned", "tuning", "learning_curve",
    "effects", "columns", "remarks", "data", "versions", "made", "seconds", "cut", "warnings",
)  # fmt: skip
"""What a model file tells of its training."""


def explain_model(
    model: Model, data: Any = None, *, reading: ReadOptions = DEFAULT_READ
) -> dict[str, Any]:
    """Everything that can be said about a model, as plain data.

    Parameters
    ----------
    model : Model
        A fitted model.
    data : path, "-" or frame, default=None
        Rows with the target, on which the model is judged. None: the rows that were held out when
        it was made.
    reading : ReadOptions
        How the file is written, where that is not to be found out.

    Returns
    -------
    dict
        ``problems`` (coefficients of a linear score in original units, largest effect first),
        ``effects``, ``judged`` (figures, confusion, curves), ``line``, ``impact``, and what is
        known of the training.
    """
    summary = model.summary
    found: dict[str, Any] = {
        "lincent": model.version,
        "target": model.schema.target,
        "classes": model.classes,
        "training_rows": summary.get("rows"),
        **{name: summary.get(name) for name in KEPT},
        "problems": [],
    }
    if is_linear(model.classifier):
        found["problems"] = [_problem(score) for score in scores_in_units(model)]
    if data is not None:
        return found | {"judged_on": "given data"} | _judge(model, data, reading)
    held = summary.get("held_out")
    judged = {
        "judged": held,
        "line": held["line"] if held else summary.get("line", []),
        "impact": summary.get("impact", []),
    }
    return found | {"judged_on": "held-out rows" if held else "training rows"} | judged


def _problem(score: Score) -> dict[str, Any]:
    terms: list[dict[str, Any]] = []
    for term in score.terms:
        if isinstance(term, CategoryTerm):
            for share, (value, coef) in zip(term.shares, term.coefs, strict=True):
                above = coef - term.average
                spread = max(share * (1 - share), 0.0) ** 0.5
                entry = {"column": term.column, "category": value, "share": share}
                terms.append(entry | {"coef": above, "effect": above * spread})
        else:
            terms.append({"column": term.column, "coef": term.coef, "effect": term.effect})
            if term.share:
                spread = max(term.share * (1 - term.share), 0.0) ** 0.5
                entry = {"column": term.column, "category": MISSING, "share": term.share}
                terms.append(entry | {"coef": term.missing, "effect": term.missing * spread})
    terms.sort(key=lambda term: -abs(term["effect"]))
    return {
        "negative": list(score.negative),
        "positive": list(score.positive),
        "constant": score.constant,
        "terms": terms,
    }


def _judge(model: Model, data: Any, reading: ReadOptions) -> dict[str, Any]:
    table = read_table(data, reading)
    target = model.schema.target
    if target not in table.data.column_names:
        raise AppError(
            f"The table has no column {target!r}: explain needs the true classes to judge by."
        )
    labels = _known(model, read_labels(table, target), table)
    frame = to_frame(model.schema, table)
    classes = model.classifier.classes_
    scores = np.asarray(model.pipeline.decision_function(frame)) / model.unit
    chances = model.pipeline.predict_proba(frame) if model.has_probabilities else None
    rows = np.arange(len(labels))
    held = HeldOut(rows, labels, scores, chances, rows, f"{len(rows)} rows of the given data")
    cut = model.cut
    answers = codes_of(scores) if cut is None else cut.codes(classes, scores, chances)
    known = PreparedTable(table, model.schema, (), frame, labels, None, ())
    positive = None if cut is None else cut.positive
    return {
        "judged": describe_held_out(held, classes, answers, positive, cut=cut),
        "line": describe_line(held, classes),
        "impact": most_at_odds(held, classes, known),
    }


def _known(model: Model, labels: np.ndarray, table: UserTable) -> np.ndarray:
    classes = model.classifier.classes_
    if classes.dtype.kind == "U" and labels.dtype.kind != "U":
        labels = labels.astype(str)
    strange = ~np.isin(labels, classes)
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise AppError(
            f"Row {table.row(row)} has the class {labels[row]!s}, which the model does not know; "
            f"it knows {', '.join(str(label) for label in classes)}."
        )
    return labels
