"""Whether the description in a model file, its JSON, says what it should."""

from __future__ import annotations

import math
from typing import Any

from lincent.export.archive import Unacceptable
from lincent.tables.schema import CATEGORY, KINDS, TEXT, WITH_TIME

LONGEST_NAME = 10_000
COLUMN: dict[str, type] = {"name": str, "kind": str, "type": str, "categories": list}
SCHEMA: dict[str, type] = {"columns": list, "target": str, "target_type": str, "ids": list}


def check_description(header: dict[str, Any]) -> None:
    """Raise Unacceptable unless the schema is complete and the summary is plain data."""
    schema = _typed(header.get("schema"), SCHEMA, "schema")
    columns = [_typed(column, COLUMN, "column") for column in schema["columns"]]
    names = [column["name"] for column in columns]
    if not names or len(set(names)) < len(names):
        raise Unacceptable("is damaged: its description has no columns, or one of them twice")
    for column in columns:
        values = column["categories"]
        if column["kind"] not in KINDS:
            raise Unacceptable("is damaged: its description has a column of no kind")
        if bool(values) != (column["kind"] in (CATEGORY, TEXT)) or len(set(_texts(values))) < len(
            values
        ):
            raise Unacceptable("is damaged: its description has a column with broken categories")
        _check_later_fields(column)
    _texts([schema.get("missing", "")])
    _texts([*names, schema["target"], schema["target_type"], *schema["ids"]])
    if not isinstance(header.get("summary"), dict):
        raise Unacceptable("is damaged: its description has no summary")
    _plain(header["summary"])
    unit = header["summary"].get("score_scale", 1.0)
    if type(unit) is not float or not 0 < unit < math.inf:
        raise Unacceptable("is damaged: the unit of its scores is not positive")


def _check_later_fields(column: dict[str, Any]) -> None:
    """What version 0.1.0 did not know of a column."""
    marks, form = column.get("marks", []), column.get("form", "")
    if type(marks) is not list or column.get("detail", "") not in ("", WITH_TIME):
        raise Unacceptable("is damaged: its description has a column that cannot be read")
    _texts([*marks, form])


def _typed(value: Any, wanted: dict[str, type], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unacceptable(f"is damaged: its description has no {what}")
    for name, kind in wanted.items():
        if type(value.get(name)) is not kind:
            raise Unacceptable(f"is damaged: its description lacks {name!r} of a {what}")
    return value


def _texts(values: list[Any]) -> list[str]:
    """Text that a table can hold: no surrogates, which no file can be written with."""
    for value in values:
        if type(value) is not str or len(value) > LONGEST_NAME:
            raise Unacceptable("is damaged: its description has a name that is not one")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise Unacceptable("is damaged: a name in it is no text") from error
    return values


def _plain(value: Any) -> None:
    """Text that can be written and numbers that can be shown."""
    if isinstance(value, dict):
        _texts(list(value))
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            _plain(entry)
    elif isinstance(value, str):
        _texts([value])
    elif isinstance(value, float) and math.isnan(value):
        raise Unacceptable("is damaged: its description has a number that is none")
