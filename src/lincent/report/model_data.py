"""A fitted model as plain data for the page: its expression, its inputs and rows to start from.

The script of the page evaluates the operations of ``inspection.expression``; it knows no models.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.export.code import describe
from lincent.export.model import Model, contributions_of
from lincent.tables.schema import CATEGORY, FLAG

MAX_CHARACTERS = 12_000_000
MAX_INPUTS = 300


def model_data(model: Model, explanation: dict[str, Any]) -> dict[str, Any] | str:
    """Return what the page computes with, or why it cannot.

    Parameters
    ----------
    model : Model
        A fitted model.
    explanation : dict
        That of ``explain_model``: importances order the inputs, ``examples`` are rows to start
        from.
    """
    if len(model.schema.inputs) > MAX_INPUTS:
        return f"The model has {len(model.schema.inputs)} inputs, too many to change here."
    explainer = contributions_of(model)
    sampled = explainer.exact is None or bool(explainer.rest)
    # Contributions of many leaves take far more space than the scores, which then stay.
    for parts in [None] if sampled else [explainer, None]:
        try:
            data = describe(model, parts.exact if parts else None)
        except AppError as error:
            return f"The model cannot be computed in a page: {error}"
        if len(json.dumps(data["nodes"])) <= MAX_CHARACTERS:
            break
    else:
        return "The model is too large to be computed in a page."
    data.setdefault("contribution", None)
    return data | {
        "classes": [str(label) for label in model.classes],
        "names": list(parts.names) if parts else [],
        "base": parts.base.tolist() if parts else [],
        "inputs": _inputs(model, explanation),
        "rows": explanation.get("examples") or [],
    }


def _inputs(model: Model, explanation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return name, kind, range and a typical value of each input, the most important first."""
    encoder, drawn = model.pipeline[0], np.array(model.summary["background"]["rows"])
    first = np.searchsorted(encoder.sources, np.arange(len(encoder.columns_)))
    kinds = {name: column for column in model.schema.columns for name in column.inputs}
    rank = {entry["column"]: k for k, entry in enumerate(explanation["importances"] or ())}
    inputs = []
    for code, k in zip(encoder.columns_, first, strict=True):
        column = kinds[code.name]
        entry: dict[str, Any] = {"name": code.name, "column": column.name, "kind": column.kind}
        if column.kind == CATEGORY:
            shares = model.summary["shares"].get(code.name, {})
            words = [value for value in code.categories if value != encoder.missing_]
            entry["values"] = words
            entry["typical"] = max(words, key=lambda word: shares.get(word, 0.0), default=None)
        else:
            values = drawn[:, k]
            if encoder.scale:
                values = values * encoder.scale_[k] + encoder.center_[k]
            values = values.round(10)
            entry["kind"] = FLAG if column.kind == FLAG else "number"
            entry |= {"low": float(values.min()), "high": float(values.max())}
            entry["whole"] = bool(np.all(np.abs(values - values.round()) < 1e-6))
            typical = float(np.median(values))
            entry["typical"] = round(typical) if entry["whole"] else float(f"{typical:.4g}")
        inputs.append(entry)
    return sorted(inputs, key=lambda entry: rank.get(entry["column"], len(rank)))
