"""Export models to other systems: an ONNX graph, a SQL query, or a Python module."""

from __future__ import annotations

import inspect
import math
import os
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np

from lincent._errors import AppError, first_line
from lincent._files import check_output, write_file
from lincent.estimators.base import has_pairs
from lincent.export import evaluator
from lincent.export.model import Model, require_model
from lincent.export.onnx import graph_answers, onnx_bytes
from lincent.export.sql import sql_query
from lincent.inspection.attribution import ROWS
from lincent.inspection.expression import (
    Expr,
    classifier_outputs,
    encoded,
    own_encoding,
    plain_nodes,
    plain_value,
    substitute,
)
from lincent.inspection.thresholds import positive_code
from lincent.tables.formats import pd
from lincent.tables.read import MISSING_TOKENS, ReadOptions, read_table
from lincent.tables.schema import CATEGORY, DATE, FLAG, to_frame

FORMATS = ("onnx", "sql", "python")
MOST_DIFFERENCE = 1e-6  # of the scores of an export to those of the model
CHECKED_ROWS = 200


def export_model(
    model: Model,
    output: str | os.PathLike[str],
    format: str = "onnx",
    *,
    table: str = "input_table",
    data: Any = None,
    force: bool = False,
) -> float:
    """Write a model as an ONNX graph, a SQL query or a Python module.

    Scores and probabilities of what is written are compared with those of the model first: it is
    run, in onnxruntime, SQLite or Python, on rows drawn around the centers of the training columns,
    with missing values and all categories, and on rows of ``data``.  A difference above 1e-6 is an
    error.

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
    data : path or frame, default=None
        A table to compare on, such as the training table; at most 200 of its rows are used.
    force : bool, default=False
        Replace a file that exists.

    Returns
    -------
    float
        The largest difference, relative for scores above one.
    """
    require_model(model)
    check_output(output, force=force)
    content = export_bytes(model, format, table)
    frames = [drawn_rows(model)]
    if data is not None:
        reading = ReadOptions(expected_decimal=model.summary.get("decimal"))
        given = to_frame(model.schema, read_table(data, reading))
        step = -(-len(given) // CHECKED_ROWS)
        frames.append(given.iloc[::step])
    difference = max(largest_difference(model, format, content, rows, table) for rows in frames)
    if not difference <= MOST_DIFFERENCE:
        raise AppError(
            f"The scores of the model as {format} differ from those of predict by up to "
            f"{difference:.1e}, more than {MOST_DIFFERENCE:g}: a column varies too little for the "
            "size of its values; subtract its mean in the training table and fit again."
        )
    write_file(output, content, force=force)
    return difference


def export_bytes(model: Model, format: str, table: str = "input_table") -> bytes:
    """Return what ``export_model`` writes."""
    if format not in FORMATS:
        raise AppError(f"The format {format!r} is not known: choose one of {', '.join(FORMATS)}.")
    derived = [c.name for c in model.schema.columns if c.kind == DATE]
    if derived and format != "onnx":
        raise AppError(
            f"The column {derived[0]!r} is a date, which {format} has no form for: "
            "export to ONNX, which takes its days since 1970, or fit without it."
        )
    if format == "onnx":
        return onnx_bytes(model, model_outputs(model))
    if format == "sql":
        return sql_query(model, table, model_outputs(model)).encode()
    return python_module(model, describe(model)).encode()


def model_outputs(model: Model, contribution: Expr | None = None) -> dict[str, Expr | None]:
    """Return the outputs of a model as expressions of the columns of a table.

    ``decision`` is the score, or what a threshold of the user makes of score or probability: two
    classes are told apart by its sign.
    """
    named = [(c.name, c.kind) for c in model.schema.columns]
    columns = [Expr("text" if kind == CATEGORY else "input", (), name) for name, kind in named]
    encoder, classifier = model.pipeline[0], model.classifier
    tokens = {
        c.name: [token for token in MISSING_TOKENS if token not in c.categories]
        for c in model.schema.columns
    }
    Z = encoded(encoder, columns, tokens=tokens)
    outputs = classifier_outputs(classifier, Z)
    assert outputs["score"] is not None
    outputs["score"] = outputs["score"].scale(1.0 / model.score_scale)
    outputs["decision"] = _decision(model, outputs)
    if contribution is not None:
        outputs["contribution"] = substitute(contribution, ROWS, own_encoding(classifier, Z))
    return outputs


def _decision(model: Model, outputs: dict[str, Expr | None]) -> Expr | None:
    """Describe what is positive for the second class."""
    threshold = model.threshold
    if threshold is None:
        return outputs["score"]
    shares = outputs["probability"]
    if shares is None or not math.isfinite(threshold.at):
        raise AppError("The threshold of the model is not a finite number of its outputs.")
    side = positive_code(model.classifier.classes_, threshold.positive)
    # From the threshold on it is the positive class.
    at = -np.nextafter(threshold.at, -np.inf) if side == 1 else threshold.at
    return shares.take(side).scale(2.0 * side - 1.0, at)


def describe(model: Model, contribution: Expr | None = None) -> dict[str, Any]:
    """Return a model as plain data: numbers, text, lists and dictionaries.

    nodes          the operations (see ``inspection.expression.plain_nodes``)
    score          the position of the score: one column for two classes, else one for each
    probability    the position of the probabilities of all classes, or None
    contribution   the position of ``contribution``, a function of the encoded rows, if given
    decision       the position of what is positive for the second of two classes
    classes        the labels
    """
    nodes = plain_nodes(model_outputs(model, contribution))
    return nodes | {"classes": plain_value(model.classes)}


# Python.

_HEAD = '''"""Scores rows as a model of lincent {version} does; needs nothing but Python.

predict(row) takes a mapping from column names to values (None or NaN where missing) and returns
class and score; with probabilities also that of CLASSES[1] or, with several classes, of each.
"""

'''
_TAIL = '''

CLASSES = MODEL["classes"]


def predict(row):
    """Return class, score and probability of a row."""
    return predict_row(MODEL, row)
'''


def python_module(model: Model, description: dict[str, Any]) -> str:
    """Return a module with the function ``predict(row)``: a description and its evaluator."""
    code = inspect.getsource(evaluator)
    code = code[code.index("import math") :]
    entries = [f"    {key!r}: {value!r}," for key, value in description.items() if key != "nodes"]
    nodes = [f"        {node!r}," for node in description["nodes"]]
    data = ["MODEL = {", *entries, '    "nodes": [', *nodes, "    ],", "}"]
    return _HEAD.format(version=model.version) + code + "\n\n" + "\n".join(data) + _TAIL


# The check of what is written.


def drawn_rows(model: Model) -> Any:
    """Return rows around the centers of the training columns, with gaps and all categories."""
    encoder, rng, rows = model.pipeline[0], np.random.default_rng(0), CHECKED_ROWS
    first = np.searchsorted(encoder.sources, np.arange(len(encoder.columns_)))
    flags = {c.name for c in model.schema.columns if c.kind == FLAG}
    columns: dict[str, Any] = {}
    for code, k in zip(encoder.columns_, first, strict=True):
        if code.categories is None:
            values = encoder.center_[k] + encoder.scale_[k] * rng.normal(size=rows)
            if code.name in flags:
                values = (rng.random(rows) < 0.5).astype(float)
            columns[code.name] = np.where(rng.random(rows) < 0.1, np.nan, values)
        else:
            words = [None if word == encoder.missing_ else word for word in code.categories]
            columns[code.name] = rng.choice(np.array(words, dtype=object), rows)
    return pd.DataFrame(columns)


def largest_difference(
    model: Model, format: str, content: bytes, rows: Any, table: str = "input_table"
) -> float:
    """Return the largest difference of scores and probabilities of an export on rows."""
    encoded = model.pipeline[:-1].transform(rows)
    expected, shares = model.scores(encoded)
    if format == "onnx":
        named = rows.fillna(dict.fromkeys(model.schema.categorical, model.pipeline[0].missing_))
        answers = graph_answers(content, [named[name].to_numpy() for name in named])
        scores, own = answers["score"], answers.get("probability")
    else:
        run = _run_sql if format == "sql" else _run_python
        scores, own = run(model, content, rows, table)
        expected = expected if expected.ndim == 1 else expected.max(axis=1)
    expected = expected.reshape(len(rows), -1)
    differences = np.abs(scores.reshape(expected.shape) - expected)
    differences = (differences / np.maximum(1.0, np.abs(expected))).max(axis=1)
    if shares is not None and own is not None:  # of two classes perhaps the second alone
        shares = shares[:, -own.shape[1] :]
        differences = np.maximum(differences, np.abs(own - shares).max(axis=1))
    if has_pairs(model.classifier):  # a score of about zero may give its vote to either
        pairs = np.abs(model.classifier._rows_scores(encoded))
        differences = differences[pairs.min(axis=1) > MOST_DIFFERENCE * pairs.max()]
    return float(np.max(differences)) if len(differences) else math.inf


def _run_python(model: Model, content: bytes, cells: Any, table: str) -> tuple[Any, Any]:
    description = describe(model)
    rows = [evaluator.predict_row(description, row) for row in cells.to_dict("records")]
    answers = pd.DataFrame(rows)
    own = pd.DataFrame(list(answers["probability"])) if "probability" in answers else None
    return answers["score"].to_numpy(), None if own is None else own.to_numpy()


def _run_sql(model: Model, content: bytes, cells: Any, table: str) -> tuple[Any, Any]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("EXP", 1, math.exp)
        connection.create_function("POWER", 2, math.pow)
        try:
            cells.to_sql(table, connection, index=False)
            answers = pd.read_sql_query(content.decode(), connection).iloc[:, : -cells.shape[1]]
        except (sqlite3.Error, pd.errors.DatabaseError, ValueError) as error:
            raise AppError(
                f"The SQL of this model does not run on SQLite "
                f"({first_line(error.__cause__ or error)}): export to Python or ONNX."
            ) from error
    own = answers.drop(columns=["class", "score"]).to_numpy(float)
    return answers["score"].to_numpy(float), own if own.size else None
