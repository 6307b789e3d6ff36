"""The schema of a model: names, kinds and categories of its columns, and how cells are converted.

Numbers stay numbers (missing ones are imputed later); true and false become 1 and 0; a date is its
number of days since 1970; text is a category, None where missing (``tables.encoder``).  Columns are
identified by name, so their order does not matter; those that are not in the schema are ignored.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lincent._errors import first_line, listed
from lincent.tables.formats import TableError, check_unique, pa, pc, pd
from lincent.tables.read import MISSING_TOKENS, UserTable

NUMBER, FLAG, CATEGORY, DATE = "number", "flag", "category", "date"
MEANING = {NUMBER: "numbers", FLAG: "numbers", CATEGORY: "text", DATE: "dates"}
"""What a column of each kind holds, in messages."""
THOUSANDS = {
    ",": r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$",
    ".": r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$",
}
"""Numbers whose thousands are separated, by the decimal mark of the table."""
FLAGS = dict.fromkeys(("true", "1", "yes", "t"), 1.0)
FLAGS |= dict.fromkeys(("false", "0", "no", "f"), 0.0)


@dataclass(frozen=True)
class Column:
    """One column of the schema.

    Attributes
    ----------
    name, kind, type : str
        Name, kind, and the Arrow type in training.
    categories : tuple of str or None
        The values of a category in training; None is missing.
    marks : tuple of str
        Cells of a column of numbers that mean missing, such as ``?``.
    form : str
        The format of a date, as in ``strptime``, or ``ISO8601``.
    thousands : bool
        False for numbers such as 1.094 in a table with decimal commas where others of the column,
        such as 1.5, show that the point does not separate thousands.
    """

    name: str
    kind: str
    type: str
    categories: tuple[str | None, ...] = ()
    marks: tuple[str, ...] = ()
    form: str = ""
    thousands: bool = True


@dataclass(frozen=True)
class Schema:
    """All columns that the model uses, the target and the identifiers."""

    columns: tuple[Column, ...]
    target: str
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

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Schema:
        """Return the schema of ``dataclasses.asdict``, with lists in place of tuples."""

        def with_tuples(entries: dict[str, Any]) -> dict[str, Any]:
            return {k: tuple(v) if isinstance(v, list) else v for k, v in entries.items()}

        columns = tuple(Column(**with_tuples(column)) for column in data["columns"])
        return cls(**with_tuples(data) | {"columns": columns})


# Arrow types and cells.


def is_number(type: Any) -> bool:
    """Return whether an Arrow type is numeric."""
    types = pa.types
    return bool(types.is_integer(type) or types.is_floating(type) or types.is_decimal(type))


def is_text(type: Any) -> bool:
    """Return whether an Arrow type is text."""
    types = pa.types
    is_view = hasattr(types, "is_string_view") and types.is_string_view(type)
    return bool(types.is_string(type) or types.is_large_string(type) or is_view)


def is_date(type: Any) -> bool:
    """Return whether an Arrow type is a date or a timestamp."""
    return bool(pa.types.is_date(type) or pa.types.is_timestamp(type))


def plain_array(values: Any) -> Any:
    """Return one Arrow array, with chunks joined and dictionaries decoded."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([])
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def with_nulls(text: Any, tokens: Any = MISSING_TOKENS) -> Any:
    """Return text with null in place of the tokens for missing."""
    text = text.cast(pa.string())
    missing = pc.is_in(pc.utf8_trim_whitespace(text), value_set=pa.array(list(tokens), pa.string()))
    return pc.if_else(missing, pa.scalar(None, pa.string()), text)


def text_to_numbers(
    text: Any, decimal: str, marks: tuple[str, ...] = (), *, thousands: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, NaN where missing, and a mask of the cells that hold something else.

    ``thousands``: 1.094 is 1094 where the decimal mark is a comma, and 1,094 where it is a point.
    """
    if decimal == ".":
        with suppress(pa.ArrowInvalid):  # most columns hold nothing but plain numbers
            numbers = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
            return np.asarray(numbers), np.zeros(len(text), dtype=bool)
    cells = pc.utf8_trim_whitespace(with_nulls(text, (*MISSING_TOKENS, *marks)))
    other = "." if decimal == "," else ","
    if thousands and pc.any(pc.match_substring(cells, other)).as_py():
        separated = pc.match_substring_regex(cells, THOUSANDS[decimal])
        cells = pc.if_else(separated, pc.replace_substring(cells, other, ""), cells)
    if decimal == ",":
        cells = pc.replace_substring(cells, ",", ".")
    try:
        numbers = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return np.asarray(numbers, dtype=np.float64), np.zeros(len(cells), dtype=bool)
    except pa.ArrowInvalid:
        column = cells.to_pandas().astype(object)
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
        return numbers, np.isnan(numbers) & column.notna().to_numpy()


def to_dates(values: Any, form: str) -> Any:
    """Return a pandas series of times, NaT where missing or unreadable.

    Times with zones become UTC; those without one stay unchanged, also beside the others.
    """
    if is_date(values.type):
        dates = pd.to_datetime(values.to_pandas(), errors="coerce")
    else:
        cells = with_nulls(values).to_pandas()
        dates = pd.to_datetime(cells, format=form or "ISO8601", errors="coerce", utc=True)
    if getattr(dates.dt, "tz", None) is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return dates


# A table as the frame that the pipeline takes.


@dataclass
class OddCells:
    """Cells that count as missing or as no known category.

    Attributes
    ----------
    strict : bool
        Whether an unreadable cell is an error.
    unknown : Counter of str
        For each column, the rows with a category that training did not have.
    unreadable : dict
        For each column, the number of cells that hold no number or date, and where the first is.
    """

    strict: bool = False
    unknown: Counter[str] = field(default_factory=Counter)
    unreadable: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def messages(self) -> list[str]:
        """A warning for each column with unreadable cells."""
        return [
            f"{where}; it counts as missing"
            + (f", as do {n - 1} more cells of the column." if n > 1 else ".")
            for n, where in self.unreadable.values()
        ]

    def check(self, bad: np.ndarray, column: Column, values: Any, table: UserTable) -> None:
        """Count the unreadable cells of a column, or raise an error for the first."""
        if not bad.any():
            return
        what = "no date" if column.kind == DATE else "no finite number"
        if column.form:
            what += f" as at training ({column.form})"
        position = int(np.flatnonzero(bad)[0])
        cell = str(values[position].as_py())[:60]
        where = f"{table.where(column.name, position)}: {cell!r} is {what}"
        if self.strict:
            raise TableError(f"{where}; the model was trained on {MEANING[column.kind]} in it.")
        count, first = self.unreadable.get(column.name, (0, where))
        self.unreadable[column.name] = (count + int(bad.sum()), first)


def to_frame(schema: Schema, table: UserTable, odd: OddCells | None = None) -> Any:
    """Return the columns that the model uses, as a pandas frame of numbers and text.

    A cell that holds no number or date where training had them is missing and counted in ``odd``;
    without that it is an error.
    """
    odd, types = OddCells(strict=True) if odd is None else odd, pa.types
    names = list(table.data.schema.names)
    absent = [name for name in schema.names if name not in names]
    if absent:
        what = f"column{'s' * (len(absent) > 1)} {listed(absent)}"
        raise TableError(f"{table.name} lacks the {what}, which the model uses.")
    check_unique(table.name, [name for name in names if name in schema.names])
    data: dict[str, Any] = {}
    for column in schema.columns:
        values = plain_array(table.data.column(column.name))
        type = values.type
        # Text and nothing may hold any kind; else the type has to be that of training.
        numeric = is_number(type) or types.is_boolean(type)
        by_kind = {CATEGORY: numeric and "string" not in column.type, DATE: is_date(type)}
        if not (is_text(type) or types.is_null(type) or by_kind.get(column.kind, numeric)):
            raise TableError(
                f"The column {column.name!r} holds {type}, but the model was trained on "
                f"{MEANING[column.kind]} in it."
            )
        if column.kind == CATEGORY:
            words = _categories(column, values, odd)
            data[column.name] = pd.Series(words, dtype=object)  # the strings of equal cells are one
        elif column.kind == DATE:
            data[column.name] = _days(column, values, table, odd)
        else:
            data[column.name] = _numbers(column, values, table, odd)
    return pd.DataFrame(data, copy=False)


def _numbers(column: Column, values: Any, table: UserTable, odd: OddCells) -> np.ndarray:
    bad = np.zeros(len(values), dtype=bool)
    if is_text(values.type) and column.kind == FLAG:
        cells = pc.utf8_lower(pc.utf8_trim_whitespace(with_nulls(values))).to_pandas()
        numbers = cells.map(FLAGS).to_numpy(dtype=np.float64)
        bad = np.isnan(numbers) & cells.notna().to_numpy()
    elif is_text(values.type):
        marks, thousands = column.marks, column.thousands
        numbers, bad = text_to_numbers(values, table.decimal, marks, thousands=thousands)
    else:
        try:
            numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid as error:
            raise TableError(f"The column {column.name!r}: {first_line(error)}.") from error
    bad = bad | np.isinf(numbers)
    odd.check(bad, column, values, table)
    return np.where(bad, np.nan, numbers) if bad.any() else np.asarray(numbers)


def _days(column: Column, values: Any, table: UserTable, odd: OddCells) -> np.ndarray:
    """Return dates as days since 1970."""
    dates = to_dates(values, column.form)
    given = with_nulls(values).is_valid() if is_text(values.type) else values.is_valid()
    bad = dates.isna().to_numpy() & given.to_numpy(zero_copy_only=False)
    odd.check(bad, column, values, table)
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    return np.asarray(days.to_numpy(dtype=np.float64))


def _categories(column: Column, values: Any, odd: OddCells) -> np.ndarray:
    coded = values.cast(pa.string()).dictionary_encode()  # few words, many rows
    text = with_nulls(coded.dictionary, set(MISSING_TOKENS) - set(column.categories))
    words = np.array([*text.to_pylist(), None], dtype=object)
    codes = pc.fill_null(coded.indices, len(words) - 1).to_numpy(zero_copy_only=False)
    known = set(column.categories)
    count = int(np.sum(np.array([word not in known for word in words])[codes]))
    if count:
        odd.unknown[column.name] += count
    return np.asarray(words[codes], dtype=object)
