"""The one reader of the package: a user's table as Arrow, whole or in batches.

Cells of a text file stay text here, exactly as written; what they mean is judged column by column
(`columns`, `convert`).  So an identifier ``00012`` or ``NA`` leaves as it came, and a batch late in
a file is never read differently from the first.  Rows are counted as an editor counts them: the
header of a text file or a sheet is row 1.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from lincent._errors import AppError, first_line
from lincent._memory import entries, room
from lincent.tables import formats
from lincent.tables.dialect import Dialect, find_dialect, records
from lincent.tables.errors import TableError, arrow
from lincent.tables.names import check_double, checked_names, filled_names
from lincent.tables.source import (
    ARROW,
    CSV,
    EXCEL,
    HEAD_BYTES,
    JSON,
    PARQUET,
    UNREADABLE,
    OpenedTable,
    open_file,
)

BATCH_ROWS = 16_384
BLOCK_BYTES = 1 << 23
LEAST_BLOCK = 1 << 20
ENOUGH = 1 << 30
"""Where so many bytes are free and memory runs out all the same, the file asks for nonsense."""
MISSING_WORDS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None",
    "<NA>",
)  # fmt: skip
"""Cells that hold no number; in a text column they are missing as well, in identifiers not."""


@dataclass(frozen=True)
class Reading:
    """What the user says about a file; None is found out."""

    format: str | None = None
    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None


AS_FOUND = Reading()


@dataclass(frozen=True)
class UserTable:
    """A table as read, its name for sentences, and the row number of its first row."""

    data: Any = field(repr=False)
    name: str = "The table"
    first_row: int = 1
    reading: Reading = AS_FOUND
    remarks: tuple[str, ...] = ()

    def row(self, position: int) -> int:
        """The number of a row as an editor counts it."""
        return position + self.first_row

    @property
    def decimal(self) -> str:
        return self.reading.decimal or "."


def read_table(data: Any, reading: Reading = AS_FOUND) -> UserTable:
    """A whole table from a path, ``-`` or a frame of pandas, polars or Arrow."""
    if isinstance(data, UserTable):
        return data
    if not isinstance(data, (str, os.PathLike)):
        return UserTable(checked_names(formats.from_frame(data), "The table"))
    with open_file(data, reading.format) as source, _readable(source):
        table = _READERS[source.kind](source, reading)
    table = replace(table, data=checked_names(table.data, source.name))
    if table.data.num_rows == 0:
        raise TableError(f"{source.name}: the column names are followed by no rows.")
    return table


def read_batches(
    data: Any, types: Mapping[str, Any], reading: Reading = AS_FOUND, rows: int | None = None
) -> Iterator[UserTable]:
    """The table in parts of at most so many rows (BATCH_ROWS); their data are record batches.

    Columns of a text file are text, but for those whose type is given here.
    """
    rows = BATCH_ROWS if rows is None else rows
    if not isinstance(data, (str, os.PathLike)):
        table = read_table(data)
        yield from _cut(table, table.data.to_batches(), rows)
        return
    with open_file(data, reading.format) as source, _readable(source):
        if source.kind == CSV:
            yield from _cut(*_csv_batches(source, reading, types), rows)
        elif source.kind == PARQUET:
            parts = formats.parquet_batches(source, rows)
            yield from _cut(UserTable(None, source.name), parts, rows)
        else:
            table = _READERS[source.kind](source, reading)
            yield from _cut(table, table.data.to_batches(), rows)


def _cut(table: UserTable, batches: Any, rows: int) -> Iterator[UserTable]:
    row = table.first_row
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            yield replace(table, data=part, first_row=row)
            row += part.num_rows


# Text.


def _dialect(source: OpenedTable, reading: Reading, sample: bytes) -> Dialect:
    separator = reading.separator or ("\t" if source.tabs else None)
    return find_dialect(
        sample,
        source.name,
        separator=separator,
        encoding=reading.encoding,
        decimal=reading.decimal,
    )


def _names(source: OpenedTable, dialect: Dialect) -> list[str]:
    """The cells of the first row, also where one of them goes over several lines."""
    head = source.head
    if len(head) >= HEAD_BYTES and b"\n" not in head and b"\r" not in head:
        raise TableError(
            f"{source.name}: row 1 goes on for more than {HEAD_BYTES >> 20} MB without a line end; "
            "this is not a table with a header."
        )
    lines = io.TextIOWrapper(io.BytesIO(head), dialect.encoding, "replace", newline="")
    first = next(lines, "").removeprefix("\ufeff")
    found = records(chain([first], lines), dialect.separator, 1)
    return found[0] if found else []


def _csv_options(source: OpenedTable, dialect: Dialect, types: Mapping[str, Any]) -> dict[str, Any]:
    from pyarrow import csv

    names = filled_names(_names(source, dialect))
    check_double(source.name, names)
    kinds = {name: types.get(name, arrow().string()) for name in names}
    encoding = "utf-8" if dialect.encoding == "utf-8-sig" else dialect.encoding
    return {
        # One thread, so that the number of a bad row is known.
        "read_options": csv.ReadOptions(
            use_threads=bool(types),
            block_size=_block_bytes(names),
            column_names=names,
            skip_rows_after_names=1,
            encoding=encoding,
        ),
        "convert_options": csv.ConvertOptions(
            column_types=kinds,
            null_values=list(MISSING_WORDS),
            strings_can_be_null=False,
            decimal_point=dialect.decimal,
        ),
    }


def _block_bytes(names: list[str]) -> int:
    """Bytes that Arrow reads at once: fewer where memory is short, but some rows at least."""
    row = sum(map(len, names))
    return min(BLOCK_BYTES, max(entries(BLOCK_BYTES), LEAST_BLOCK, 20 * row))


def _csv_table(source: OpenedTable, reading: Reading) -> UserTable:
    from pyarrow import csv

    data = source.stream.read()
    dialect = _dialect(source, reading, data)
    _check_encoding(source.name, data, dialect.encoding)
    bad: list[Any] = []

    def remember(row: Any) -> str:
        bad.append(row)
        return "skip"

    parse = csv.ParseOptions(
        delimiter=dialect.separator, newlines_in_values=True, invalid_row_handler=remember
    )
    options = _csv_options(source, dialect, {})
    table = csv.read_csv(io.BytesIO(data), parse_options=parse, **options)
    if bad:
        raise _bad_row(source.name, bad)
    found = replace(
        reading, format=CSV, separator=dialect.separator, encoding=dialect.encoding,
        decimal=dialect.decimal,
    )  # fmt: skip
    remarks: tuple[str, ...] = ()
    if reading.encoding is None and dialect.encoding in ("cp1252", "latin-1"):
        remarks = (f"the file is not UTF-8; read as {dialect.encoding} (--encoding overrules).",)
    return UserTable(table, source.name, 2, found, remarks)


def _check_encoding(name: str, data: bytes, encoding: str) -> None:
    """Refuse bytes that are not in the encoding, with their place, before rows are made of them."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        read = error.object  # without the mark of the encoding
        row = read.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{name}: row {row}: byte 0x{read[error.start]:02x} is not {encoding}; say how the "
            "file is written with --encoding, such as latin-1."
        ) from error


def _csv_batches(
    source: OpenedTable, reading: Reading, types: Mapping[str, Any]
) -> tuple[UserTable, Any]:
    """What is known of the table without its rows, and the parts in which Arrow reads it."""
    from pyarrow import csv

    dialect = _dialect(source, reading, source.head)
    parse = csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True)
    options = _csv_options(source, dialect, types)
    table = UserTable(None, source.name, 2, replace(reading, decimal=dialect.decimal))
    return table, csv.open_csv(source.stream, parse_options=parse, **options)


def _bad_row(name: str, bad: list[Any]) -> TableError:
    first = bad[0]
    row = f"row {first.number}" if first.number is not None else f"the row {first.text[:60]!r}"
    short = first.actual_columns < first.expected_columns
    column = min(first.actual_columns, first.expected_columns) + 1
    return TableError(
        f"{name}: {row} has {first.actual_columns} cells where the header has "
        f"{first.expected_columns}: it {'ends before' if short else 'goes on at'} column {column}"
        + (f" ({len(bad)} such rows)." if len(bad) > 1 else ".")
    )


# The other formats.


def _parquet_table(source: OpenedTable, reading: Reading) -> UserTable:
    found = replace(reading, format=PARQUET)
    return UserTable(formats.parquet(source.seekable()), source.name, 1, found)


def _arrow_table(source: OpenedTable, reading: Reading) -> UserTable:
    found = replace(reading, format=ARROW)
    return UserTable(formats.arrow_file(source.seekable()), source.name, 1, found)


def _json_table(source: OpenedTable, reading: Reading) -> UserTable:
    return UserTable(
        formats.json_rows(source.stream, source.name),
        source.name,
        1,
        replace(reading, format=JSON),
    )


def _excel_table(source: OpenedTable, reading: Reading) -> UserTable:
    data, sheet, count = formats.excel(source.seekable(), source.name, reading.sheet)
    remarks: tuple[str, ...] = ()
    if count > 1 and reading.sheet is None:
        remarks = (f"read the sheet {sheet!r}, the first of {count} (--sheet names another).",)
    found = replace(reading, format=EXCEL, sheet=sheet)
    return UserTable(data, source.name, 2, found, remarks)


_READERS = {
    CSV: _csv_table,
    PARQUET: _parquet_table,
    ARROW: _arrow_table,
    JSON: _json_table,
    EXCEL: _excel_table,
}


@contextmanager
def _readable(source: OpenedTable) -> Iterator[None]:
    """Turn what a reader of another package makes of damaged bytes into a sentence."""
    try:
        yield
    except (AppError, BrokenPipeError):
        raise
    except (arrow().ArrowException, *UNREADABLE, ValueError) as error:
        if isinstance(error, MemoryError) and room() < ENOUGH:
            raise
        text = first_line(error).rstrip(".")
        if source.kind == CSV and ("UTF8" in text or isinstance(error, UnicodeError)):
            text += "; say how the file is written with --encoding, such as latin-1"
        raise TableError(f"{source.name} cannot be read as {source.kind}: {text}.") from error
