"""What a model expects of a table: names, kinds and categories of its columns.

Numbers stay numbers (missing ones are imputed later); true and false become 1 and 0; text is a
category, and missing text is a category of its own.  Columns are found by name, so their order
does not matter; columns that the model does not know are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lincent._errors import AppError, first_line
from lincent.app.tables import arrow

NUMBER, FLAG, CATEGORY = "number", "flag", "category"
MISSING = "(missing)"
MOST_CATEGORIES = 200


@dataclass(frozen=True)
class Column:
    """One column that the model uses."""

    name: str
    kind: str
    type: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """All columns that the model uses, the target and the identifiers."""

    columns: tuple[Column, ...]
    target: str
    target_type: str
    ids: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def numeric(self) -> list[str]:
        return [column.name for column in self.columns if column.kind != CATEGORY]

    @property
    def categorical(self) -> list[str]:
        return [column.name for column in self.columns if column.kind == CATEGORY]

    def csv_types(self) -> dict[str, Any]:
        """The Arrow type in which a CSV column is read."""
        pa = arrow()
        kinds = {NUMBER: pa.float64(), FLAG: pa.bool_(), CATEGORY: pa.string()}
        return {column.name: kinds[column.kind] for column in self.columns}

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Schema:
        columns = tuple(
            Column(c["name"], c["kind"], c["type"], tuple(c["categories"])) for c in data["columns"]
        )
        return cls(columns, data["target"], data["target_type"], tuple(data["ids"]))


def infer_schema(table: Any, target: str, drop: Iterable[str], ids: Iterable[str]) -> Schema:
    """The schema of a training table."""
    _check_names(table, [target, *drop, *ids])
    apart = {target, *drop, *ids}
    fields = [field for field in table.schema if field.name not in apart]
    if not fields:
        raise AppError(f"The table has no column beside the target {target!r} to learn from.")
    columns = tuple(_column(field, table.column(field.name)) for field in fields)
    return Schema(columns, target, str(table.schema.field(target).type), tuple(ids))


def _check_names(table: Any, wanted: list[str]) -> None:
    names = table.column_names
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise AppError(f"The table has the column {twice[0]!r} twice: rename one of them.")
    for name in wanted:
        if name not in names:
            raise AppError(f"The table has no column {name!r}; it has {_some(names)}.")


def _column(field: Any, values: Any) -> Column:
    pa = arrow()
    import pyarrow.compute as pc

    kind = field.type
    name = field.name
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind) or values.null_count == len(values):
        raise AppError(f"The column {name!r} has no values: leave it out with --drop.")
    if pa.types.is_boolean(kind):
        return Column(name, FLAG, str(field.type))
    if _is_number(kind):
        return Column(name, NUMBER, str(field.type))
    if not _is_text(kind):
        raise AppError(
            f"The column {name!r} holds {field.type}, neither numbers nor text: turn it into "
            "numbers, or leave it out with --drop."
        )
    found = pc.unique(_as_text(values)).to_pylist()
    if len(found) > MOST_CATEGORIES:
        raise AppError(
            f"The text column {name!r} has {len(found)} different values, more than "
            f"{MOST_CATEGORIES}: leave it out with --drop, or keep it as an identifier with --id."
        )
    return Column(name, CATEGORY, str(field.type), tuple(sorted(found)))


def _is_number(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    types = arrow().types
    views = (types.is_string_view(kind),) if hasattr(types, "is_string_view") else ()
    return bool(types.is_string(kind) or types.is_large_string(kind) or any(views))


def _some(names: list[str], count: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"


def _as_text(values: Any) -> Any:
    import pyarrow.compute as pc

    return pc.fill_null(values.cast(arrow().string()), MISSING)


def check_columns(schema: Schema, names: list[str]) -> None:
    """Whether a table has what the model needs."""
    absent = [name for name in schema.names if name not in names]
    if absent:
        columns = "column" if len(absent) == 1 else "columns"
        raise AppError(f"The table lacks the {columns} {_some(absent)}, which the model uses.")
    twice = [name for name, count in Counter(names).items() if count > 1 and name in schema.names]
    if twice:
        raise AppError(f"The table has the column {twice[0]!r} twice: rename one of them.")


def to_frame(
    schema: Schema, batch: Any, first_row: int = 0, news: Counter[str] | None = None
) -> Any:
    """The columns that the model uses, as a pandas frame of numbers and text.

    ``news`` counts values of categories that the training rows did not have.
    """
    import pandas as pd

    check_columns(schema, batch.schema.names)
    data = {}
    for column in schema.columns:
        values = batch.column(column.name)
        if column.kind == CATEGORY:
            data[column.name] = _categories(column, values, news)
        else:
            data[column.name] = _numbers(column, values, first_row)
    return pd.DataFrame(data, copy=False)


def _numbers(column: Column, values: Any, first_row: int) -> np.ndarray:
    pa = arrow()
    kind = values.type
    if not (_is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
        raise AppError(
            f"The column {column.name!r} holds {kind}, but the model was trained on numbers in it."
        )
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    try:
        values = values.cast(pa.float64(), safe=False)
    except pa.ArrowInvalid as error:
        raise AppError(f"The column {column.name!r}: {first_line(error)}.") from error
    numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    if np.isinf(numbers).any():
        row = first_row + int(np.flatnonzero(np.isinf(numbers))[0]) + 1
        raise AppError(f"The column {column.name!r} has an infinite value in row {row}.")
    return numbers


def _categories(column: Column, values: Any, news: Counter[str] | None) -> np.ndarray:
    pa = arrow()
    import pyarrow.compute as pc

    kind = values.type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (_is_text(kind) or pa.types.is_null(kind)):
        raise AppError(
            f"The column {column.name!r} holds {kind}, but the model was trained on text in it."
        )
    text = _as_text(values)
    if news is not None:
        known = pc.is_in(text, value_set=pa.array(column.categories, pa.string()))
        strange = len(text) - int(pc.sum(known).as_py() or 0)
        if strange:
            news[column.name] += strange
    return np.asarray(text.to_numpy(zero_copy_only=False), dtype=object)


def read_labels(table: Any, target: str) -> np.ndarray:
    """The target column as text, true/false or whole numbers."""
    pa = arrow()
    values = table.column(target)
    if values.null_count:
        row = next(k for k, value in enumerate(values) if not value.is_valid) + 1
        raise AppError(
            f"The target {target!r} is missing in {values.null_count} rows, first in row {row}: "
            "remove them."
        )
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if _is_text(kind):
        return np.array(values.cast(pa.string()).to_pylist(), dtype=str)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return np.asarray(values.to_numpy())
    if pa.types.is_floating(kind):
        numbers = np.asarray(values.to_numpy(), dtype=np.float64)
        if np.all(numbers == np.floor(numbers)):
            return numbers.astype(np.int64)
    raise AppError(
        f"The target {target!r} holds {kind}, not classes: give a column of text, true/false or "
        "whole numbers."
    )
