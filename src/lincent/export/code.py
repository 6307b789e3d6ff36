"""Write linear models as plain SQL and plain Python that need no other package.

The scores are the affine form of their expression: for a number x with its value for missing, and
for a category c,

    score = constant + sum_numbers (coef * x, or a constant where x is missing)
                     + sum_categories coef[c]
"""

from __future__ import annotations

import json
import math
import os
from itertools import combinations
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent._files import atomic_write, check_output
from lincent.estimators.calibration import JointCalibration
from lincent.estimators.problem import STRATEGIES, combine_scores
from lincent.estimators.validation import check_choice
from lincent.export import expression
from lincent.export.contributions import check_linear, contributions_of
from lincent.export.expression import Expr
from lincent.export.model import Model
from lincent.inspection.thresholds import SCORE, positive_code
from lincent.tables.schema import CATEGORY, DATE, FLAG, TEXT

FORMATS = ("onnx", "sql", "python")
MOST_DIFFERENCE = 1e-6  # of the scores of an export to those of the model

Terms = tuple[float, list[tuple[str, float, float]], list[tuple[str, dict[str, float]]]]
"""Constant; name, coefficient and value for missing of numbers; name and values of categories."""


def export_model(
    model: Model,
    output: str | os.PathLike[str],
    format: str = "onnx",
    *,
    table: str = "input_table",
    contributions: bool = False,
    force: bool = False,
) -> float:
    """Write a model as an ONNX graph, a SQL query or a Python module.

    Its scores are compared with those of the model first, on rows drawn around the centers of the
    training columns, with gaps and all categories; a difference above 1e-6 is an error.

    Parameters
    ----------
    model : Model
        A fitted model.
    output : path or "-"
        The file to write, atomically.
    format : {"onnx", "sql", "python"}, default="onnx"
        What is written.
    table : str, default="input_table"
        The table that the SQL query reads.
    contributions : bool, default=False
        Give what each column adds to the score as well; ONNX has their names in its metadata.
    force : bool, default=False
        Replace a file that exists.

    Returns
    -------
    float
        The largest difference of the scores, relative where they exceed one.
    """
    check_output(output, force=force)
    data = export_bytes(model, format, table, contributions=contributions)
    difference = score_difference(model, data if format == "onnx" else None)
    if not difference <= MOST_DIFFERENCE:
        raise AppError(
            f"The scores of the model as {format} differ from those of predict by up to "
            f"{difference:.1e}, more than {MOST_DIFFERENCE:g}: a column varies too little for the "
            "size of its values; subtract its mean in the training table and fit again."
        )
    with atomic_write(output, force=force) as file:
        file.write(data)
    return difference


def score_difference(model: Model, graph: bytes | None = None) -> float:
    """Return the largest difference of the scores of an ONNX graph, or of SQL and Python."""
    import pandas as pd

    encoder, rng, rows = model.pipeline[0], np.random.default_rng(0), 200
    first = np.searchsorted(encoder.sources, np.arange(len(encoder.columns_)))
    columns: dict[str, Any] = {}
    for column, k in zip(encoder.columns_, first, strict=True):
        if column.categories is None:
            values = encoder.center_[k] + encoder.scale_[k] * rng.normal(size=rows)
            columns[column.name] = np.where(rng.random(rows) < 0.1, np.nan, values)
        else:
            columns[column.name] = rng.choice(np.array(column.categories, dtype=object), rows)
    frame = pd.DataFrame(columns)
    missing = frame.mask(frame == encoder.missing_, None)
    expected = model.classifier.decision_function(model.pipeline[:-1].transform(missing))
    expected = np.asarray(expected).reshape(rows, -1) / model.score_scale
    if graph is not None:
        from lincent.export.onnx import graph_scores

        scores = graph_scores(graph, frame).reshape(rows, -1)
    else:
        scores = np.column_stack([_evaluate(frame, terms) for terms in score_terms(model)])
        if expression.has_pairs(model.classifier):
            scores = combine_scores(scores, len(model.classes), "ovo")
    differences = np.abs(scores - expected) / np.maximum(1.0, np.abs(expected))
    if expression.has_pairs(model.classifier):  # a score of about zero may give its vote to either
        differences = differences[np.all(differences < 0.2, axis=1)]
    return float(np.max(differences, initial=0.0)) if len(differences) else math.inf


def _evaluate(frame: Any, terms: Terms) -> np.ndarray:
    """Return scores as SQL and Python compute them."""
    constant, numbers, categories = terms
    total = np.full(len(frame), constant)
    for name, coef, missing in numbers:
        value = frame[name].to_numpy(dtype=float)
        total += np.where(np.isnan(value), missing, coef * value)
    for name, coefs in categories:
        total += np.array([coefs.get(value, 0.0) for value in frame[name]])
    return total


def export_bytes(
    model: Model, format: str, table: str = "input_table", *, contributions: bool = False
) -> bytes:
    """Return what ``export_model`` writes."""
    derived = [c.name for c in model.schema.columns if c.kind in (DATE, TEXT)]
    if derived and format != "onnx":
        raise AppError(
            f"The column {derived[0]!r} is a date or free text, which {format} has no form for: "
            "export to ONNX, whose inputs are its parts, or fit without it."
        )
    if format == "onnx":
        from lincent.export.onnx import onnx_bytes

        return onnx_bytes(model, contributions_of(model) if contributions else None)
    if format == "sql":
        return sql_query(model, table, contributions=contributions).encode()
    if format == "python":
        return python_module(model, contributions=contributions).encode()
    raise AppError(f"The format {format!r} is not known: choose one of {', '.join(FORMATS)}.")


def score_terms(model: Model) -> list[Terms]:
    """Return the terms of the score of each binary problem, in the scale of the model."""
    scores = expression.problem_scores(model.classifier, _encoded(model))
    return _terms(scores.scale(1.0 / model.score_scale))


def contribution_terms(model: Model) -> dict[str, Terms]:
    """Return the terms of the contribution of each column."""
    parts = contributions_of(model)
    expr = expression.contributions(model.classifier, parts, _encoded(model))
    return dict(zip(parts.names, _terms(expr), strict=True))


def _encoded(model: Model) -> Expr:
    inputs = [
        Expr("text" if column.kind == CATEGORY else "input", (), name)
        for column in model.schema.columns
        for name in column.inputs
    ]
    return expression.encoded(model.pipeline[0], inputs, scaled=True)


def _terms(expr: Expr) -> list[Terms]:
    atoms, weights, constants = expression.affine_form(expr)
    terms = []
    for coefs, constant in zip(weights.T.tolist(), constants.tolist(), strict=True):
        numbers: dict[str, list[float]] = {}
        categories: dict[str, dict[str, float]] = {}
        for (column, op, value), coef in zip(atoms, coefs, strict=True):
            if op == "is":
                categories.setdefault(column, {})[value] = coef
            elif op == "fill":
                numbers[column] = [coef, coef * value]
            else:  # the indicator follows its column
                numbers[column][1] += coef
        rows = [(name, coef, missing) for name, (coef, missing) in numbers.items()]
        terms.append((constant, rows, list(categories.items())))
    return terms


def sigmoid_of(model: Model) -> tuple[float, float] | None:
    """Return slope and offset from the score of two classes to a probability, if it is sigmoid."""
    if len(model.classes) != 2 or not model.has_probabilities:
        return None
    calibration = model.classifier._calibration
    if isinstance(calibration, JointCalibration):
        slope, offset = (
            calibration.softmax.slope / calibration.scale,
            np.diff(calibration.softmax.offset)[0],
        )
    else:
        return None
    return float(_number(slope * model.score_scale)), float(_number(offset))


# Exported code contains finite numbers and quoted text only: all of it comes from these functions.


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
    """Return a class as a Python value."""
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


def sql_query(model: Model, table: str = "input_table", *, contributions: bool = False) -> str:
    """Return a SELECT that adds score, class and (if sigmoid) probability to a table.

    Every name is qualified, so that a column which the table lacks is an error on SQLite, too,
    which reads an unqualified ``"name"`` as text.  Scores that are compared are named inside a
    subquery of the row and do not leave it, so no column of the table can be taken for one of them.
    """
    check_linear(model, "Export to SQL")
    scores = [_sql_score(model, terms) for terms in score_terms(model)]
    names = [f"lincent_scores.score_{k}" for k in range(len(scores))]
    inner = ", ".join(f"{score} AS score_{k}" for k, score in enumerate(scores))
    columns = [
        f"  (SELECT {value}\n    FROM (SELECT {inner}) AS lincent_scores) AS {alias}"  # noqa: S608
        for alias, value in _sql_answers(model, names)
    ]
    if contributions:
        for name, terms in contribution_terms(model).items():
            alias = _quoted(f"contribution_{_text(name)}")
            columns.append(f"  {_sql_score(model, terms, name)} AS {alias}")
    lines = [
        f"-- Made by lincent {model.version}; target {json.dumps(model.schema.target)}.",
        f"SELECT {_ROW}.*,",
        ",\n".join(columns),
        f"FROM {_quoted(table)} AS {_ROW};",
    ]
    return "\n".join(lines) + "\n"


_ROW = "lincent_input"
"""The name of the scored table inside the query."""


def _sql_score(model: Model, terms: Terms, only: str | None = None) -> str:
    """Return the sum of all terms, or of those of one column."""
    constant, numbers, categories = terms
    flags = {column.name for column in model.schema.columns if column.kind == FLAG}
    parts = [_number(constant)]
    for column, coef, missing in numbers:
        name = f"{_ROW}.{_quoted(column)}"
        if only not in (None, column):
            continue
        if column in flags:
            parts.append(
                f"CASE WHEN {name} THEN {_number(coef)} WHEN NOT {name} THEN 0.0 "
                f"ELSE {_number(missing)} END"
            )
        else:
            parts.append(f"COALESCE({_number(coef)} * {name}, {_number(missing)})")
    for column, coefs in categories:
        name = f"{_ROW}.{_quoted(column)}"
        if only not in (None, column):
            continue
        cases = [
            f"WHEN {name} {'IS NULL' if value == model.schema.missing else '= ' + _literal(value)} "
            f"THEN {_number(coef)}"
            for value, coef in coefs.items()
        ]
        parts.append(f"CASE {' '.join(cases)} ELSE 0.0 END")
    return "(" + "\n      + ".join(parts) + ")"


def _sql_answers(model: Model, names: list[str]) -> list[tuple[str, str]]:
    """Return the new columns: their name and their expression in the scores of all problems."""
    classes = model.classes
    if len(classes) == 2:
        score, sigmoid, (condition, side) = names[0], sigmoid_of(model), _threshold(model)
        probability = ""
        if sigmoid is not None:
            slope, offset = sigmoid
            probability = f"1.0 / (1.0 + EXP(-({slope!r} * {score} + {offset!r})))"
        above = condition.format(score=score, probability=probability)
        sides = _literal(classes[side]), _literal(classes[1 - side])
        answers = [
            ("score", score),
            ("class", f"CASE WHEN {above} THEN {sides[0]} ELSE {sides[1]} END"),
        ]
        if probability:
            answers.append((_quoted(f"probability_{classes[1]}"), probability))
        return answers
    values = names if _strategy(model) != "ovo" else _sql_votes(len(classes), names)
    cases = []
    for k, label in enumerate(classes[:-1]):
        wins = " AND ".join(f"{values[k]} >= {values[j]}" for j in range(k + 1, len(classes)))
        cases.append(f"WHEN {wins} THEN {_literal(label)}")
    return [("class", f"CASE {' '.join(cases)} ELSE {_literal(classes[-1])} END")]


def _threshold(model: Model) -> tuple[str, int]:
    """Return the condition for a class, on {score} and {probability}, and the class."""
    threshold = model.threshold
    if threshold is None:
        return "{score} > 0", 1
    side = positive_code(model.classifier.classes_, threshold.positive)
    if threshold.scale == SCORE:
        value = "{score}" if side == 1 else "-{score}"
    elif sigmoid_of(model) is None:
        raise AppError(
            f"The class changes at a probability of {threshold.at:.4g} ({threshold.by}), and "
            "isotonic probabilities have no form here: export to ONNX, or fit with "
            "--probability sigmoid."
        )
    else:
        value = "({probability})" if side == 1 else "1.0 - ({probability})"
    return f"{value} >= {_number(threshold.at)}", side


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
    votes = []
    for k in range(classes):
        total = "(" + " + ".join(sums[k]) + ")"
        votes.append(f"({' + '.join(won[k])} + {total} / (3.0 * (ABS({total}) + 1.0)))")
    return votes


_PYTHON = '''"""Scores rows as a model of lincent {version} does; needs nothing but Python.

predict(row) takes a mapping from column names to values (None or NaN where missing) and returns
the class and its score; with two classes also the probability of CLASSES[1] where CALIBRATION is
given{more}.
"""

import math

CLASSES = {classes!r}
STRATEGY = {strategy!r}
SCORES = {scores}
CALIBRATION = {calibration!r}
CONTRIBUTIONS = {contributions}


def _score(row, constant, numbers, categories):
    total = constant
    for name, coef, if_missing in numbers:
        value = row[name]
        total += if_missing if value is None or value != value else coef * float(value)
    for name, coefs in categories:
        value = row[name]
        gap = value is None or value != value
        total += coefs.get({missing!r} if gap else str(value), 0.0)
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
        score, probability = scores[0], None
        if CALIBRATION:
            slope, offset = CALIBRATION
            probability = _sigmoid(slope * score + offset)
        answer = {{"class": CLASSES[{side}] if {condition} else CLASSES[{other}], "score": score}}
        if CALIBRATION:
            answer["probability"] = probability
        if CONTRIBUTIONS:
            answer["contributions"] = {{k: _score(row, *v) for k, v in CONTRIBUTIONS.items()}}
        return answer
    values = scores if STRATEGY == "ovr" else _votes(scores)
    best = max(range(len(CLASSES)), key=lambda k: values[k])
    return {{"class": CLASSES[best], "score": values[best]}}
'''


def python_module(model: Model, *, contributions: bool = False) -> str:
    """Return a module with one function, ``predict(row)``."""
    check_linear(model, "Export to Python")
    condition, side = _threshold(model)
    parts = contribution_terms(model) if contributions else {}
    entries = [f"    {_text(k)!r}: {_python_terms(v, k)}," for k, v in parts.items()]
    scores = [f"    {_python_terms(terms)}," for terms in score_terms(model)]
    return _PYTHON.format(
        version=model.version,
        classes=[_label(label) for label in model.classes],
        strategy=_strategy(model),
        scores="\n".join(["[", *scores, "]"]),
        calibration=sigmoid_of(model),
        contributions="\n".join(["{", *entries, "}"]) if entries else "{}",
        more=", and contributions" if contributions else "",
        condition=condition.format(score="score", probability="probability"),
        side=side,
        other=1 - side,
        missing=model.schema.missing,
    )


def _python_terms(terms: Terms, only: str | None = None) -> str:
    constant, numbers, categories = terms
    lines = ["(", f"        {_number(constant)},", "        ["]
    for column, coef, missing in numbers:
        if only in (None, column):
            lines.append(f"            ({_text(column)!r}, {_number(coef)}, {_number(missing)}),")
    lines += ["        ],", "        ["]
    for column, coefs in categories:
        if only in (None, column):
            pairs = (f"{_text(value)!r}: {_number(coef)}" for value, coef in coefs.items())
            lines.append(f"            ({_text(column)!r}, {{{', '.join(pairs)}}}),")
    return "\n".join([*lines, "        ],", "    )"])
