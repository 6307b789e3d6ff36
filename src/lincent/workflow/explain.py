"""What a model uses and how good it is: ``lincent explain``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.export.model import Model, linear_scores, require_model
from lincent.inspection.thresholds import HeldOut
from lincent.tables.infer import PreparedTable, hash_rows, independent_fraction, labeled_rows
from lincent.tables.read import DEFAULT_READ, ReadOptions, read_table
from lincent.tables.schema import OddCells, to_frame
from lincent.workflow.check import training_rows
from lincent.workflow.out_of_fold import check_by, evaluate_rows

FROM_SUMMARY = (
    "estimator", "method", "params", "certificate", "importances",
    "pairs", "columns", "notes", "data", "versions", "created", "seconds", "threshold", "warnings",
)  # fmt: skip


def explain_model(
    model: Model,
    data: Any = None,
    *,
    by: str | None = None,
    strict: bool = False,
    reading: ReadOptions = DEFAULT_READ,
    rows: bool = True,
) -> dict[str, Any]:
    """Return what a model uses, how good it is and how it was fitted, as plain data.

    Parameters
    ----------
    model : Model
        A fitted model.
    data : path, "-" or frame, default=None
        Rows with the target to evaluate the model on. None: the rows held out at training.
    by : str, default=None
        Also report the errors for each value of this column of the table.
    strict : bool, default=False
        A row without a class and a cell without a number are an error, not left out or missing.
    reading : ReadOptions
        Format, separator, encoding and so on, where they are not to be inferred.
    rows : bool, default=True
        Whether single rows of the table are part of the answer.

    Returns
    -------
    dict
        ``problems`` (coefficients of a linear score in the columns' own units, largest effect
        first), ``importances``, ``evaluation`` (metrics, confusion matrix, curves),
        ``suspected_label_errors``, ``examples`` (some rows as the model takes them), and facts
        about the training.
    """
    require_model(model)
    summary = model.summary
    explanation: dict[str, Any] = {
        "lincent": model.version,
        "target": model.schema.target,
        "classes": model.classes,
        "training_rows": summary.get("rows"),
        **{name: summary.get(name) for name in FROM_SUMMARY},
        "problems": linear_scores(model),
        "table_notes": [],
    }
    found, evaluated_on = summary, "held-out rows" if summary.get("held_out") else "training rows"
    if data is not None:
        table = _read_labeled(model, data, strict, reading)
        check_by(table, by)
        explanation["table_notes"] = [*table.warnings]
        known, decided = training_rows(summary["row_hashes"], table.hashes)
        if known.any():
            table, message = _without_training_rows(table, known, decided)
            explanation["table_notes"].append(message)
            explanation["warnings"] = [message, *(explanation["warnings"] or ())]
        if len(table.labels):
            found, evaluated_on = _evaluate_on(model, table, by), "given data"
    elif by is not None:
        raise AppError("--by needs a table: lincent explain MODEL TABLE --by COLUMN.")
    return explanation | {
        "evaluated_on": evaluated_on,
        "evaluation": found.get("held_out"),
        "suspected_label_errors": found.get("suspected_label_errors", []) if rows else [],
        "examples": found.get("examples", []) if rows else [],
    }


def _read_labeled(model: Model, data: Any, strict: bool, reading: ReadOptions) -> PreparedTable:
    """Return the rows of a table that have a class."""
    reading = replace(reading, expected_decimal=model.summary.get("decimal"))
    table, target = read_table(data, reading), model.schema.target
    if target not in table.data.column_names:
        raise AppError(
            f"The table has no column {target!r}: explain needs the true classes to evaluate."
        )
    odd = OddCells(strict)
    table, labels = labeled_rows(table, target, strict)
    classes = model.classifier.classes_
    if classes.dtype.kind in "UO" and labels.dtype.kind not in "UO":
        labels = labels.astype(str)
    new = np.flatnonzero(~np.isin(labels, classes))
    if len(new):
        raise AppError(
            f"Row {table.row(int(new[0]))} has the class {labels[new[0]]!s}, which the model does "
            f"not know; it knows {', '.join(str(label) for label in classes)}."
        )
    frame = to_frame(model.schema, table, odd)
    notes = (*table.warnings, *odd.messages)
    hashes = hash_rows(frame, labels)
    return PreparedTable(table, model.schema, (), frame, labels, hashes, None, notes)


def _without_training_rows(
    table: PreparedTable, known: np.ndarray, decided: np.ndarray
) -> tuple[PreparedTable, str]:
    """Return the rows that the model was not fitted to, and a message about the others."""
    rows = np.flatnonzero(decided & ~known)
    rest = "shown is the score of held-out rows at training"
    if len(rows):
        rest = f"the score is that of the other {len(rows)}"
    sample = "" if decided.all() else f" (of a random sample of the {len(known)})"
    message = (
        f"{known.sum()} of {decided.sum()} rows{sample} of {table.table.name} are rows that the "
        f"model was fitted to, no test: {rest}."
    )
    return table.take(rows), message


def _evaluate_on(model: Model, prepared: PreparedTable, by: str | None) -> dict[str, Any]:
    """Return what the summary has of held-out rows for the rows of a table."""
    frame, classes = prepared.frame, model.classifier.classes_
    codes = np.searchsorted(classes, prepared.labels)
    encoded = model.pipeline[:-1].transform(frame)
    scores, probabilities = model.scores(encoded)
    rows, threshold = np.arange(len(codes)), model.threshold
    how, effective = f"{len(rows)} rows", independent_fraction(frame, prepared.hashes)
    held = HeldOut(rows, codes, classes, scores, probabilities, rows, how, effective)
    predicted = model.predict_codes(scores, probabilities)
    positive = None if threshold is None else threshold.positive
    return evaluate_rows(prepared, held, predicted, positive, threshold=threshold, by=by)
