"""Print the training of a pipeline on a table as a Python program.

The program reads the table with pandas, by the inferred dialect and schema, and makes the pipeline
that was evaluated.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from lincent.tables.formats import ARROW, CSV, EXCEL, JSON, PARQUET
from lincent.tables.read import MISSING_TOKENS, ReadOptions
from lincent.tables.schema import CATEGORY, FLAG, NUMBER, TEXT, Column, Schema

WIDTH = 88


def public_import(path: str) -> tuple[str, str]:
    """Return module and name under which a class is public.

    Examples
    --------
    >>> public_import("sklearn.linear_model._logistic.LogisticRegression")
    ('sklearn.linear_model', 'LogisticRegression')
    """
    module, _, name = path.rpartition(".")
    parts = module.split(".")
    candidates = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    for candidate in (*(["lincent.features"] if parts[0] == "lincent" else []), *candidates):
        try:
            if getattr(importlib.import_module(candidate), name, None) is not None:
                return candidate, name
        except ImportError:
            continue
    return module, name


@dataclass(frozen=True)
class Verbatim:
    """An estimator of which only the code is available."""

    imports: str
    call: str


def estimator_code(estimator: Any) -> tuple[list[str], str]:
    """Return import lines, and the call that makes an unfitted estimator with all its parts."""
    names: dict[str, set[str]] = {}
    given = []
    for part in _parts(estimator):
        if isinstance(part, Verbatim):
            given.append(part.imports)
            continue
        module, name = public_import(f"{type(part).__module__}.{type(part).__qualname__}")
        names.setdefault(module, set()).add(name)
    imports = [f"from {m} import {', '.join(sorted(names[m]))}" for m in sorted(names)]
    return [*imports, *given], _code(estimator, 0)


def _code(value: Any, depth: int) -> str:
    """Return a value as code: on one line where it fits, else one line for each of its parts."""
    if isinstance(value, Verbatim):
        return value.call
    if hasattr(value, "get_params") and not isinstance(value, type):
        head, tail = f"{type(value).__name__}(", ")"
        items = [f"{name}={_code(v, depth + 1)}" for name, v in _changed(value).items()]
    elif isinstance(value, (list, tuple)):
        head, tail = ("[", "]") if isinstance(value, list) else ("(", ")")
        items = [_code(item, depth + 1) for item in value]
        if isinstance(value, tuple) and len(items) == 1:
            items[0] += ","
    else:
        return repr(value.item() if hasattr(value, "item") and value.ndim == 0 else value)
    line = head + ", ".join(items) + tail
    if "\n" not in line and 4 * depth + len(line) <= WIDTH:
        return line
    pad = " " * 4 * (depth + 1)
    return head + "\n" + "".join(f"{pad}{item},\n" for item in items) + " " * 4 * depth + tail


def _changed(estimator: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(estimator)).parameters.items()
    }
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if repr(value) != repr(defaults.get(name, inspect.Parameter.empty))
    }


def _parts(estimator: Any) -> Iterable[Any]:
    """Yield the estimator and every estimator among its parameters."""
    yield estimator
    if isinstance(estimator, Verbatim):
        return
    for value in estimator.get_params(deep=False).values():
        yield from _parts_of_value(value)


def _parts_of_value(value: Any) -> Iterable[Any]:
    if isinstance(value, Verbatim) or hasattr(value, "get_params"):
        yield from _parts(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _parts_of_value(item)


def program(
    schema: Schema, data: str, options: ReadOptions, estimator: Any, comment: str = ""
) -> str:
    """Return a program that reads the table and fits the pipeline on all of its rows.

    Parameters
    ----------
    schema : Schema
    data : str
        The path, as the user gave it.
    options : ReadOptions
        As the table was read.
    estimator : pipeline
        Not fitted; takes the frame of the schema.
    comment : str
        A comment above the pipeline.
    """
    imports, call = estimator_code(estimator)
    lines = [
        "import pandas",
        *imports,
        "",
        f"missing = {[token for token in MISSING_TOKENS if token]!r}",
        f"table = pandas.{_reader_call(schema, data, options)}",
        f"y = table[{schema.target!r}]",
        *_frame_lines(schema, options),
        *([f"# {comment}"] if comment else []),
        f"model = {call}",
        "model.fit(X, y)",
        "print(model.predict(X.head()))",
    ]
    return "\n".join(lines)


def _reader_call(schema: Schema, data: str, options: ReadOptions) -> str:
    if options.format == PARQUET:
        return f"read_parquet({data!r})"
    if options.format == ARROW:
        return f"read_feather({data!r})"
    if options.format == JSON:
        lines = PurePath(data).suffix.lower() != ".json"
        return f"read_json({data!r}, lines={lines}, dtype=False)"
    arguments = [repr(data)]
    if options.format == EXCEL:
        arguments.append(f"sheet_name={options.sheet!r}")
    else:
        for name, value, usual in (
            ("sep", options.separator, ","),
            ("decimal", options.decimal, "."),
            ("encoding", options.encoding, "utf-8"),
        ):
            if value not in (usual, None):
                arguments.append(f"{name}={value!r}")
    texts = [c.name for c in schema.columns if c.kind in (CATEGORY, TEXT)]
    if texts:
        arguments.append(f"dtype=dict.fromkeys({texts!r}, str)")
    # The tokens for missing of each column: in the target and in identifiers they are text.
    marked = "".join(
        f", {c.name!r}: [*missing, *{list(c.marks)!r}]" for c in schema.columns if c.marks
    )
    tokens = f"{{**dict.fromkeys({schema.names!r}, missing){marked}}}"
    arguments += ["keep_default_na=False", f"na_values={tokens}"]
    return f"{'read_excel' if options.format == EXCEL else 'read_csv'}({', '.join(arguments)})"


def _frame_lines(schema: Schema, options: ReadOptions) -> list[str]:
    """Return lines that make X as `schema.to_frame` does."""
    parsed = options.format in (CSV, EXCEL)  # pandas has parsed numbers already
    plain = [
        c.name
        for c in schema.columns
        if c.kind in (NUMBER, FLAG) and (parsed or "string" not in c.type)
    ]
    lines = [f'X = table[{plain!r}].astype("float64")']
    for column in schema.columns:
        if column.name not in plain:
            lines += _column_lines(column, schema.missing, parsed)
    return [*lines, f"X = X[{schema.inputs!r}]"]


def _column_lines(column: Column, missing: str, parsed: bool) -> list[str]:
    cell, left = f"table[{column.name!r}]", f"X[{column.name!r}]"
    if column.kind == NUMBER:
        return [f'{left} = pandas.to_numeric({cell}, errors="coerce")']
    if column.kind == FLAG:
        return [f'{left} = {cell}.str.lower().map({{"true": 1.0, "false": 0.0}})']
    if column.kind == CATEGORY:
        present = f"{cell}.notna()" if parsed else f"~{cell}.isin([None, *missing])"
        return [f"{left} = {cell}.astype(object).where({present}, {missing!r}).astype(str)"]
    if column.kind == TEXT:
        return [
            f"words = {cell}.str.lower().str.findall(r'\\w\\w+')",
            f"for word in {list(column.categories)!r}:",
            f"    X[{column.name + ': '!r} + word] = [float(word in row) for row in words]",
        ]
    form = column.form or "ISO8601"
    parts = {
        "days": 'when.sub(pandas.Timestamp("1970-01-01")) / pandas.Timedelta("1D")',
        "month": "when.dt.month.astype(float)",
        "weekday": "when.dt.day_of_week.astype(float)",
        "hour": "when.dt.hour.astype(float)",
    }
    return [
        f"when = pandas.to_datetime({cell}, format={form!r}, utc=True).dt.tz_localize(None)",
        *(f"X[{name!r}] = {parts[name.rpartition(': ')[2]]}" for name in column.inputs),
    ]
