"""Plain SQL and plain Python that give a linear model's answers without this package."""

from __future__ import annotations

import json
import math
from itertools import combinations
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.estimators.calibration import Sigmoid
from lincent.estimators.multiclass import STRATEGIES
from lincent.estimators.probabilities import JointCalibration
from lincent.estimators.validation import check_choice
from lincent.export.model import Model
from lincent.export.terms import CategoryTerm, NumberTerm, Score, check_linear, scores_in_units
from lincent.inspection.thresholds import SCORE, positive_code
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
    return float(_number(slope * model.score_scale)), float(_number(offset))


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


def sql_snippet(model: Model, table: str = "input_table", *, contributions: bool = False) -> str:
    """A SELECT that adds score, class and (two classes, sigmoid) probability to a table."""
    check_linear(model, "Export to SQL")
    flags = {column.name for column in model.schema.columns if column.kind == FLAG}
    scores = scores_in_units(model)
    columns = [
        f"    {_sql_score(score, flags, model.schema.missing)} AS lincent_{k}"
        for k, score in enumerate(scores)
    ]
    if contributions:
        for term in scores[0].terms:
            value = f"{_sql_term(term, flags, model.schema.missing)} - {_number(term.usual)}"
            columns.append(f"    {value} AS {_quoted(f'contribution_{_text(term.column)}')}")
    inner = ",\n".join(columns)
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
    parts = [_number(score.constant), *(_sql_term(term, flags, missing) for term in score.terms)]
    return "(" + "\n      + ".join(parts) + ")"


def _sql_term(term: NumberTerm | CategoryTerm, flags: set[str], missing: str) -> str:
    name = _quoted(term.column)
    if isinstance(term, CategoryTerm):
        cases = []
        for value, coef in term.coefs:
            told = "IS NULL" if value == missing else f"= {_literal(value)}"
            cases.append(f"WHEN {name} {told} THEN {_number(coef)}")
        return f"CASE {' '.join(cases)} ELSE 0.0 END"
    if term.column in flags:
        gone = f"ELSE {_number(term.gone)} END"
        return f"CASE WHEN {name} THEN {_number(term.coef)} WHEN NOT {name} THEN 0.0 {gone}"
    return f"COALESCE({_number(term.coef)} * {name}, {_number(term.gone)})"


def _sql_outer(model: Model, names: list[str]) -> list[str]:
    classes = model.classes
    if len(classes) == 2:
        score, sigmoid, (rule, side) = names[0], sigmoid_of(model), _cut(model)
        chance = ""
        if sigmoid is not None:
            slope, offset = sigmoid
            chance = f"1.0 / (1.0 + EXP(-({slope!r} * {score} + {offset!r})))"
        above = rule.format(score=score, chance=chance)
        sides = _literal(classes[side]), _literal(classes[1 - side])
        lines = [
            "SELECT *,",
            f"  {score} AS score,",
            f"  CASE WHEN {above} THEN {sides[0]} ELSE {sides[1]} END AS class",
        ]
        if chance:
            lines[-1] += ","
            lines.append(f"  {chance} AS {_quoted(f'probability_{classes[1]}')}")
        return lines
    values = names if _strategy(model) != "ovo" else _sql_votes(len(classes), names)
    cases = []
    for k, label in enumerate(classes[:-1]):
        wins = " AND ".join(f"{values[k]} >= {values[j]}" for j in range(k + 1, len(classes)))
        cases.append(f"    WHEN {wins} THEN {_literal(label)}")
    return ["SELECT *,", "  CASE", *cases, f"    ELSE {_literal(classes[-1])}", "  END AS class"]


def _cut(model: Model) -> tuple[str, int]:
    """When a row is of which class: a condition on {score} and {chance}, in SQL as in Python."""
    cut = model.threshold
    if cut is None:
        return "{score} > 0", 1
    side = positive_code(model.classifier.classes_, cut.positive)
    if cut.scale == SCORE:
        value = "{score}" if side == 1 else "-{score}"
    elif sigmoid_of(model) is None:
        raise AppError(
            f"The class changes at a probability of {cut.at:.4g} ({cut.by}), and isotonic "
            "probabilities have no form here: export to ONNX, or fit with --probability sigmoid."
        )
    else:
        value = "({chance})" if side == 1 else "1.0 - ({chance})"
    return f"{value} >= {_number(cut.at)}", side


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
and its score; with two classes also the probability of CLASSES[1] where CALIBRATION is given{more}.
"""

import math

CLASSES = {classes!r}
STRATEGY = {strategy!r}
SCORES = {scores}
CALIBRATION = {calibration!r}
USUAL = {usual}


def _terms(row, numbers, categories):
    for name, coef, gone in numbers:
        value = row[name]
        missing = value is None or value != value
        yield name, gone if missing else coef * float(value)
    for name, coefs in categories:
        value = row[name]
        yield name, coefs.get({missing!r} if value is None else str(value), 0.0)


def _score(row, constant, numbers, categories):
    return constant + sum(term for _, term in _terms(row, numbers, categories))


def _contributions(row):
    """What each column adds to the score, against the average row."""
    return {{name: term - USUAL[name] for name, term in _terms(row, *SCORES[0][1:])}}


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
        score, chance = scores[0], None
        if CALIBRATION:
            slope, offset = CALIBRATION
            chance = _sigmoid(slope * score + offset)
        found = {{"class": CLASSES[{side}] if {rule} else CLASSES[{other}], "score": score}}
        if CALIBRATION:
            found["probability"] = chance
        if USUAL:
            found["contributions"] = _contributions(row)
        return found
    values = scores if STRATEGY == "ovr" else _votes(scores)
    best = max(range(len(CLASSES)), key=lambda k: values[k])
    return {{"class": CLASSES[best], "score": values[best]}}
'''


def python_snippet(model: Model, *, contributions: bool = False) -> str:
    """A module with one function, ``predict(row)``."""
    check_linear(model, "Export to Python")
    scores, (rule, side) = scores_in_units(model), _cut(model)
    pairs = [f"{_text(term.column)!r}: {_number(term.usual)}" for term in scores[0].terms]
    return _PYTHON.format(
        version=model.version,
        classes=[_label(label) for label in model.classes],
        strategy=_strategy(model),
        scores=_python_scores(scores),
        calibration=sigmoid_of(model),
        usual=f"{{{', '.join(pairs)}}}" if contributions else "{}",
        more=", and contributions" if contributions else "",
        rule=rule.format(score="score", chance="chance"),
        side=side,
        other=1 - side,
        missing=model.schema.missing,
    )


def _python_scores(scores: list[Score]) -> str:
    lines = ["["]
    for score in scores:
        numbers, categories = [], []
        for term in score.terms:
            name = repr(_text(term.column))
            if isinstance(term, NumberTerm):
                numbers.append(f"({name}, {_number(term.coef)}, {_number(term.gone)})")
            else:
                pairs = (f"{_text(value)!r}: {_number(coef)}" for value, coef in term.coefs)
                categories.append(f"({name}, {{{', '.join(pairs)}}})")
        lines += ["    (", f"        {_number(score.constant)},"]
        lines += ["        [", *(f"            {entry}," for entry in numbers), "        ],"]
        lines += ["        [", *(f"            {entry}," for entry in categories), "        ],"]
        lines.append("    ),")
    return "\n".join([*lines, "]"])
