"""Cells become what the model takes: numbers, dates as numbers, categories as text."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from lincent._errors import first_line, listed
from lincent.tables.errors import TableError, arrow
from lincent.tables.names import check_double
from lincent.tables.read import MISSING_WORDS, UserTable
from lincent.tables.schema import CATEGORY, DATE, FLAG, TEXT, Column, Schema

WORD = re.compile(r"\w\w+")
TRUE, FALSE = ("true", "1", "yes", "t"), ("false", "0", "no", "f")


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers."""
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    types = arrow().types
    views = (types.is_string_view(kind),) if hasattr(types, "is_string_view") else ()
    return bool(types.is_string(kind) or types.is_large_string(kind) or any(views))


def is_date(kind: Any) -> bool:
    """Whether an Arrow type is one of dates or times of a day."""
    types = arrow().types
    return bool(types.is_date(kind) or types.is_timestamp(kind))


def plain_array(values: Any) -> Any:
    """One Arrow array: chunks joined, a dictionary looked up."""
    pa = arrow()
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([])
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def without_words(text: Any, words: Any = MISSING_WORDS) -> Any:
    """Text with null in the place of the words for missing."""
    import pyarrow.compute as pc

    pa = arrow()
    text = text.cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(text)
    gone = pc.is_in(trimmed, value_set=pa.array(list(words), pa.string()))
    return pc.if_else(gone, pa.scalar(None, pa.string()), text)


def text_to_numbers(text: Any, decimal: str, marks: tuple[str, ...] = ()) -> Any:
    """Numbers, NaN where missing; and the places that hold something else."""
    import pandas as pd
    import pyarrow.compute as pc

    pa = arrow()
    cells = pc.utf8_trim_whitespace(without_words(text, (*MISSING_WORDS, *marks)))
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
    """A pandas series of times, NaT where there is none or where it cannot be read.

    Times with zones become UTC; those without one stay as they are, also beside the others.
    """
    import pandas as pd

    if is_date(values.type):
        dates = pd.to_datetime(values.to_pandas(), errors="coerce")
    else:
        cells = without_words(values).to_pandas()
        dates = pd.to_datetime(cells, format=form or "ISO8601", errors="coerce", utc=True)
    if getattr(dates.dt, "tz", None) is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return dates


def to_frame(schema: Schema, table: UserTable, news: Counter[str] | None = None) -> Any:
    """The columns that the model uses, as a pandas frame of numbers and text.

    ``news`` counts values of categories that the training rows did not have.
    """
    import pandas as pd

    _check_columns(schema, table)
    data: dict[str, np.ndarray] = {}
    for column in schema.columns:
        values = plain_array(table.data.column(column.name))
        if column.kind == CATEGORY:
            data[column.name] = _categories(column, values, schema.missing, news)
        elif column.kind == TEXT:
            data |= zip(column.inputs, _word_marks(column, values), strict=True)
        elif column.kind == DATE:
            data |= zip(column.inputs, _date_parts(column, values, table), strict=True)
        else:
            data[column.name] = _numbers(column, values, table)
    return pd.DataFrame(data, copy=False)


def _check_columns(schema: Schema, table: UserTable) -> None:
    names = list(table.data.schema.names)
    absent = [name for name in schema.names if name not in names]
    if absent:
        columns = "column" if len(absent) == 1 else "columns"
        raise TableError(
            f"{table.name} lacks the {columns} {listed(absent)}, which the model uses."
        )
    check_double(table.name, [name for name in names if name in schema.names])


def _numbers(column: Column, values: Any, table: UserTable) -> np.ndarray:
    pa = arrow()
    kind = values.type
    if is_text(kind):
        numbers = _numbers_of_text(column, values, table)
    elif is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        if pa.types.is_boolean(kind):
            values = values.cast(pa.uint8())
        try:
            values = values.cast(pa.float64(), safe=False)
        except pa.ArrowInvalid as error:
            raise TableError(f"The column {column.name!r}: {first_line(error)}.") from error
        numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    else:
        raise _wrong(column, kind, "numbers")
    if np.isinf(numbers).any():
        row = table.row(int(np.flatnonzero(np.isinf(numbers))[0]))
        raise TableError(f"The column {column.name!r} has an infinite value in row {row}.")
    return numbers


def _numbers_of_text(column: Column, values: Any, table: UserTable) -> np.ndarray:
    import pyarrow.compute as pc

    if column.kind == FLAG:
        low = pc.utf8_lower(pc.utf8_trim_whitespace(without_words(values)))
        cells = low.to_pandas()
        known = dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
        numbers = cells.map(known).to_numpy(dtype=np.float64)
        bad = np.isnan(numbers) & cells.notna().to_numpy()
    else:
        numbers, bad = text_to_numbers(values, table.decimal, column.marks)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        raise TableError(
            f"The column {column.name!r} holds {values[place].as_py()[:60]!r} in row "
            f"{table.row(place)}, but the model was trained on numbers in it."
        )
    return np.asarray(numbers, dtype=np.float64)


def _date_parts(column: Column, values: Any, table: UserTable) -> list[np.ndarray]:
    if not (is_date(values.type) or is_text(values.type) or arrow().types.is_null(values.type)):
        raise _wrong(column, values.type, "dates")
    dates = to_dates(values, column.form)
    given = without_words(values).is_valid() if is_text(values.type) else values.is_valid()
    bad = dates.isna().to_numpy() & given.to_numpy(zero_copy_only=False)
    if bad.any():
        place = int(np.flatnonzero(bad)[0])
        raise TableError(
            f"The column {column.name!r} holds {str(values[place].as_py())[:60]!r} in row "
            f"{table.row(place)}, which is no date as at training ({column.form})."
        )
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    parts = {"days": days, "month": dates.dt.month, "weekday": dates.dt.day_of_week}
    parts["hour"] = dates.dt.hour
    wanted = [name.rpartition(": ")[2] for name in column.inputs]
    return [parts[name].to_numpy(dtype=np.float64) for name in wanted]


def words_of(cell: str | None) -> set[str]:
    """The different words of a text, in small letters."""
    return set(WORD.findall(cell.lower())) if cell else set()


def _word_marks(column: Column, values: Any) -> np.ndarray:
    """For each word of the column 1 where a row's text has it and 0 elsewhere."""
    if not (is_text(values.type) or arrow().types.is_null(values.type)):
        raise _wrong(column, values.type, "text")
    place = {word: k for k, word in enumerate(column.categories)}
    found = np.zeros((len(column.categories), len(values)))
    for row, cell in enumerate(values.cast(arrow().string()).to_pylist()):
        for word in words_of(cell) & place.keys():
            found[place[word], row] = 1.0
    return found


def _categories(column: Column, values: Any, missing: str, news: Counter[str] | None) -> np.ndarray:
    import pyarrow.compute as pc

    pa = arrow()
    kind = values.type
    plain = is_number(kind) or pa.types.is_boolean(kind)
    if not (is_text(kind) or pa.types.is_null(kind)) and ("string" in column.type or not plain):
        raise _wrong(column, kind, "text")
    words = set(MISSING_WORDS) - set(column.categories)
    text = without_words(values, words)
    # What reads like the mark for missing, but is there, is a value that training did not have.
    text = pc.if_else(pc.equal(text, missing), missing + "'", text)
    text = pc.fill_null(text, missing)
    if news is not None:
        known = pc.is_in(text, value_set=pa.array(column.categories, pa.string()))
        strange = len(text) - int(pc.sum(known).as_py() or 0)
        if strange:
            news[column.name] += strange
    return np.asarray(text.to_numpy(zero_copy_only=False), dtype=object)


def _wrong(column: Column, kind: Any, wanted: str) -> TableError:
    return TableError(
        f"The column {column.name!r} holds {kind}, but the model was trained on {wanted} in it."
    )
