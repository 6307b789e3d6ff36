"""A table's reading and preparation as Python code that uses pandas and scikit-learn only.

What is printed is made from the very objects that were measured: the pipeline prints itself, and
the reading repeats the dialect and the roles that were found.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from lincent.tables.read import MISSING_WORDS, Reading
from lincent.tables.schema import CATEGORY, DATE, FLAG, NUMBER, TEXT, Column, Schema
from lincent.tables.source import ARROW, CSV, EXCEL, JSON, PARQUET

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
    for length in range(1, len(parts) + 1):
        candidate = ".".join(parts[:length])
        try:
            found = getattr(importlib.import_module(candidate), name, None)
        except ImportError:
            continue
        if found is not None:
            return candidate, name
    return module, name


@dataclass(frozen=True)
class Verbatim:
    """An estimator that is known by its code alone."""

    imports: str
    call: str


def estimator_code(estimator: Any) -> tuple[list[str], str]:
    """Import lines, and the call that makes an estimator with all its parts, not fitted."""
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
    """A value as code: on one line where it fits, else one line for each of its parts."""
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
    """The parameters that are not at their defaults."""
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
    """The estimator and every estimator among its parameters."""
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


def program(schema: Schema, data: str, reading: Reading, estimator: Any, note: str = "") -> str:
    """A program that reads the table and fits the whole pipeline on all of its rows.

    Parameters
    ----------
    schema : Schema
    data : str
        The path, as the user gave it.
    reading : Reading
        As it was found.
    estimator : pipeline
        Not fitted; takes the frame of the schema.
    note : str
        A comment above the pipeline.
    """
    imports, call = estimator_code(estimator)
    lines = [
        "import pandas",
        *imports,
        "",
        *_reading_lines(schema, data, reading),
        f"y = table[{schema.target!r}]",
        *_frame_lines(schema, reading),
        *([f"# {note}"] if note else []),
        f"model = {call}",
        "model.fit(X, y)",
        "print(model.predict(X.head()))",
    ]
    return "\n".join(lines)


def _reading_lines(schema: Schema, data: str, reading: Reading) -> list[str]:
    words = [word for word in MISSING_WORDS if word]
    return [f"missing = {words!r}", f"table = pandas.{_reader(schema, data, reading)}"]


def _reader(schema: Schema, data: str, reading: Reading) -> str:
    simple = {PARQUET: "read_parquet", ARROW: "read_feather"}
    if reading.format in simple:
        return f"{simple[reading.format]}({data!r})"
    if reading.format == JSON:
        lines = PurePath(data).suffix.lower() != ".json"
        return f"read_json({data!r}, lines={lines}, dtype=False)"
    if reading.format == EXCEL:
        arguments = [repr(data), f"sheet_name={reading.sheet!r}"]
        call = "read_excel"
    else:
        arguments = [repr(data)]
        for name, value, usual in (
            ("sep", reading.separator, ","),
            ("decimal", reading.decimal, "."),
            ("encoding", reading.encoding, "utf-8"),
        ):
            if value not in (usual, None):
                arguments.append(f"{name}={value!r}")
        call = "read_csv"
    texts = [c.name for c in schema.columns if c.kind in (CATEGORY, TEXT)]
    if texts:
        arguments.append(f"dtype=dict.fromkeys({texts!r}, str)")
    arguments += ["keep_default_na=False", f"na_values={_missing_code(schema)}"]
    return f"{call}({', '.join(arguments)})"


def _missing_code(schema: Schema) -> str:
    """The words for missing, column by column: in the target and in identifiers they are text."""
    marked = "".join(
        f", {c.name!r}: [*missing, *{list(c.marks)!r}]" for c in schema.columns if c.marks
    )
    return f"{{**dict.fromkeys({schema.names!r}, missing){marked}}}"


def _frame_lines(schema: Schema, reading: Reading) -> list[str]:
    """X as `convert.to_frame` makes it."""
    written = reading.format in (CSV, EXCEL)  # pandas has turned cells into numbers already
    plain = [
        c.name
        for c in schema.columns
        if c.kind in (NUMBER, FLAG) and (written or "string" not in c.type)
    ]
    lines = [f'X = table[{plain!r}].astype("float64")']
    for column in schema.columns:
        if column.name not in plain:
            lines += _column_lines(column, schema.missing, written)
    order = [name for column in schema.columns for name in column.inputs]
    return [*lines, f"X = X[{order!r}]"]


def _column_lines(column: Column, missing: str, written: bool) -> list[str]:
    cell = f"table[{column.name!r}]"
    left = f"X[{column.name!r}]"
    if column.kind == NUMBER:
        return [f'{left} = pandas.to_numeric({cell}, errors="coerce")']
    if column.kind == FLAG:
        return [f'{left} = {cell}.str.lower().map({{"true": 1.0, "false": 0.0}})']
    if column.kind == CATEGORY:
        there = f"{cell}.notna()" if written else f"~{cell}.isin([None, *missing])"
        return [f"{left} = {cell}.astype(object).where({there}, {missing!r}).astype(str)"]
    if column.kind == TEXT:
        return [
            f"words = {cell}.str.lower().str.findall(r'\\w\\w+')",
            f"for word in {list(column.categories)!r}:",
            f"    X[{column.name + ': '!r} + word] = [float(word in found) for found in words]",
        ]
    form = column.form or "ISO8601"
    dates = f"pandas.to_datetime({cell}, format={form!r}, utc=True).dt.tz_localize(None)"
    parts = {
        "days": 'when.sub(pandas.Timestamp("1970-01-01")) / pandas.Timedelta("1D")',
        "month": "when.dt.month.astype(float)",
        "weekday": "when.dt.day_of_week.astype(float)",
        "hour": "when.dt.hour.astype(float)",
    }
    assert column.kind == DATE
    return [
        f"when = {dates}",
        *(f"X[{name!r}] = {parts[name.rpartition(': ')[2]]}" for name in column.inputs),
    ]
