"""Plain SQL and plain Python that give a linear model's answers without this package."""

from __future__ import annotations

import json
import math
from itertools import combinations
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.app.model import Model
from lincent.app.terms import CategoryTerm, NumberTerm, Score, check_linear, scores_in_units
from lincent.estimators.calibration import Sigmoid
from lincent.estimators.multiclass import STRATEGIES
from lincent.estimators.probabilities import JointCalibration
from lincent.estimators.validation import check_choice
from lincent.tables.schema import FLAG


def sigmoid_of(model: Model) -> tuple[float, float] | None:
    """Slope and offset with which the score of a two-class model becomes a probability."""
    if len(model.classes) != 2 or not model.has_probabilities:
        return None
    found = model.classifier._chances()
    if isinstance(found, JointCalibration):
        slope, offset = found.softmax.slope / found.unit, np.diff(found.softmax.offset)[0]
    elif isinstance(found.parts[0], Sigmoid):
        slope, offset = found.parts[0].slope / found.parts[0].unit, found.parts[0].offset
    else:
        return None
    return float(_number(slope)), float(_number(offset))


# Nothing enters the code but what these functions let through: finite numbers, and text inside
# quotes that it cannot leave.


def _number(value: Any) -> str:
    value = float(value)
    if not math.isfinite(value):
        raise AppError("The model has a number that is not finite and cannot be exported.")
    return repr(value)


def _text(value: Any) -> str:
    if type(value) is not str or "\0" in value:
        raise AppError(f"The model has the name {ascii(value)[:60]}, which cannot be exported.")
    return value


def _label(value: Any) -> str | bool | int | float:
    """A class as Python has it."""
    if type(value) in (bool, int):
        return value  # type: ignore[no-any-return]
    return float(_number(value)) if type(value) is float else _text(value)


def _quoted(name: str) -> str:
    return '"' + _text(name).replace('"', '""') + '"'


def _literal(value: Any) -> str:
    value = _label(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return repr(value)
    return "'" + value.replace("'", "''") + "'"


def sql_snippet(model: Model, table: str = "input_table") -> str:
    """A SELECT that adds score, class and (two classes, sigmoid) probability to a table."""
    check_linear(model, "Export to SQL")
    flags = {column.name for column in model.schema.columns if column.kind == FLAG}
    scores = scores_in_units(model)
    inner = ",\n".join(
        f"    {_sql_score(score, flags, model.schema.missing)} AS lincent_{k}"
        for k, score in enumerate(scores)
    )
    lines = [
        f"-- Made by lincent {model.version}; target {json.dumps(model.schema.target)}.",
        *_sql_outer(model, [f"lincent_{k}" for k in range(len(scores))]),
        "FROM (",
        f"  SELECT *,\n{inner}",
        f"  FROM {_quoted(table)}",
        ") AS lincent_scores;",
    ]
    return "\n".join(lines) + "\n"


def _sql_score(score: Score, flags: set[str], missing: str) -> str:
    parts = [_number(score.constant)]
    for term in score.terms:
        name = _quoted(term.column)
        if isinstance(term, CategoryTerm):
            cases = []
            for value, coef in term.coefs:
                told = "IS NULL" if value == missing else f"= {_literal(value)}"
                cases.append(f"WHEN {name} {told} THEN {_number(coef)}")
            parts.append(f"CASE {' '.join(cases)} ELSE 0.0 END")
        elif term.column in flags:
            fill = f"ELSE {_number(term.fill)} END"
            value = f"CASE WHEN {name} THEN 1.0 WHEN NOT {name} THEN 0.0 {fill}"
            parts.append(f"{_number(term.coef)} * {value}")
        else:
            parts.append(f"{_number(term.coef)} * COALESCE({name}, {_number(term.fill)})")
    return "(" + "\n      + ".join(parts) + ")"


def _sql_outer(model: Model, names: list[str]) -> list[str]:
    classes = model.classes
    if len(classes) == 2:
        score = names[0]
        lines = [
            "SELECT *,",
            f"  {score} AS score,",
            f"  CASE WHEN {score} > 0 THEN {_literal(classes[1])} ELSE {_literal(classes[0])} END"
            " AS class",
        ]
        sigmoid = sigmoid_of(model)
        if sigmoid is not None:
            slope, offset = sigmoid
            lines[-1] += ","
            lines.append(
                f"  1.0 / (1.0 + EXP(-({slope!r} * {score} + {offset!r})))"
                f" AS {_quoted(f'probability_{classes[1]}')}"
            )
        return lines
    values = names if _strategy(model) == "ovr" else _sql_votes(len(classes), names)
    cases = []
    for k, label in enumerate(classes[:-1]):
        wins = " AND ".join(f"{values[k]} >= {values[j]}" for j in range(k + 1, len(classes)))
        cases.append(f"    WHEN {wins} THEN {_literal(label)}")
    return ["SELECT *,", "  CASE", *cases, f"    ELSE {_literal(classes[-1])}", "  END AS class"]


def _strategy(model: Model) -> str:
    return str(check_choice("multi_class", model.classifier.multi_class, STRATEGIES))


def _sql_votes(classes: int, names: list[str]) -> list[str]:
    won: list[list[str]] = [[] for _ in range(classes)]
    sums: list[list[str]] = [[] for _ in range(classes)]
    for name, (i, j) in zip(names, combinations(range(classes), 2), strict=True):
        won[j].append(f"CASE WHEN {name} > 0 THEN 1 ELSE 0 END")
        won[i].append(f"CASE WHEN {name} > 0 THEN 0 ELSE 1 END")
        sums[j].append(name)
        sums[i].append(f"-{name}")
    found = []
    for k in range(classes):
        total = "(" + " + ".join(sums[k]) + ")"
        found.append(f"({' + '.join(won[k])} + {total} / (3.0 * (ABS({total}) + 1.0)))")
    return found


_PYTHON = '''"""Scores rows as a model of lincent {version} does; needs nothing but Python.

predict(row) takes a mapping from column names to values (None where missing) and returns the class
and its score; with two classes also the probability of CLASSES[1] where CALIBRATION is given.
"""

import math

CLASSES = {classes!r}
STRATEGY = {strategy!r}
SCORES = {scores}
CALIBRATION = {calibration!r}


def _score(row, constant, numbers, categories):
    total = constant
    for name, coef, fill in numbers:
        value = row[name]
        missing = value is None or value != value
        total += coef * (fill if missing else float(value))
    for name, coefs in categories:
        value = row[name]
        total += coefs.get({missing!r} if value is None else str(value), 0.0)
    return total


def _votes(scores):
    votes, sums = [0.0] * len(CLASSES), [0.0] * len(CLASSES)
    pairs = [(i, j) for i in range(len(CLASSES)) for j in range(i + 1, len(CLASSES))]
    for score, (i, j) in zip(scores, pairs):
        votes[j if score > 0 else i] += 1
        sums[j] += score
        sums[i] -= score
    return [v + s / (3 * (abs(s) + 1)) for v, s in zip(votes, sums)]


def _sigmoid(z):
    if z < 0:  # exp of a large number would overflow
        return math.exp(z) / (1.0 + math.exp(z))
    return 1.0 / (1.0 + math.exp(-z))


def predict(row):
    scores = [_score(row, *parts) for parts in SCORES]
    if len(CLASSES) == 2:
        found = {{"class": CLASSES[scores[0] > 0], "score": scores[0]}}
        if CALIBRATION:
            slope, offset = CALIBRATION
            found["probability"] = _sigmoid(slope * scores[0] + offset)
        return found
    values = scores if STRATEGY == "ovr" else _votes(scores)
    best = max(range(len(CLASSES)), key=lambda k: values[k])
    return {{"class": CLASSES[best], "score": values[best]}}
'''


def python_snippet(model: Model) -> str:
    """A module with one function, ``predict(row)``."""
    check_linear(model, "Export to Python")
    return _PYTHON.format(
        version=model.version,
        classes=[_label(label) for label in model.classes],
        strategy=_strategy(model),
        scores=_python_scores(scores_in_units(model)),
        calibration=sigmoid_of(model),
        missing=model.schema.missing,
    )


def _python_scores(scores: list[Score]) -> str:
    lines = ["["]
    for score in scores:
        numbers, categories = [], []
        for term in score.terms:
            name = repr(_text(term.column))
            if isinstance(term, NumberTerm):
                numbers.append(f"({name}, {_number(term.coef)}, {_number(term.fill)})")
            else:
                pairs = (f"{_text(value)!r}: {_number(coef)}" for value, coef in term.coefs)
                categories.append(f"({name}, {{{', '.join(pairs)}}})")
        lines += ["    (", f"        {_number(score.constant)},"]
        lines += ["        [", *(f"            {entry}," for entry in numbers), "        ],"]
        lines += ["        [", *(f"            {entry}," for entry in categories), "        ],"]
        lines.append("    ),")
    return "\n".join([*lines, "]"])
