"""Reads a user's table, and says in one sentence what is wrong with it: file, row, column.

CSV (also with tabs, semicolons or bars), Parquet, Arrow and Feather. Rows are counted as a person
counts them in an editor: the header of a CSV file is row 1. Nothing is guessed around: a row with a
missing cell, two columns of the same name or a byte that is no text stops the reading.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MISSING_WORDS = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?"]
MAX_LINE = 8 * 1024 * 1024
TABLE_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


class TableError(ValueError):
    """A user's file cannot be used; the message is one sentence with file, row and column."""


@dataclass(frozen=True)
class RawTable:
    """A table as read: a pandas DataFrame, and the row number of its first row in the file."""

    frame: Any
    path: Path
    first_row: int

    def row(self, position: int) -> int:
        """Return the number of a row as an editor counts it."""
        return position + self.first_row


def read_table(path: Path) -> RawTable:
    """Read a file by its suffix."""
    if not path.exists():
        raise TableError(f"{path}: there is no such file.")
    if path.is_dir():
        raise TableError(f"{path}: this is a folder, not a file.")
    if path.stat().st_size == 0:
        raise TableError(f"{path}: the file is empty (row 1, column 1).")
    kind = TABLE_SUFFIXES.get(path.suffix.lower())
    if kind is None:
        known = ", ".join(TABLE_SUFFIXES)
        raise TableError(f"{path}: the ending {path.suffix!r} is not one of {known}.")
    try:
        import pandas  # noqa: F401
        import pyarrow
    except ImportError as error:
        raise ImportError('Reading tables needs pandas and pyarrow: "lincent[app]".') from error
    try:
        table = _read_csv(path) if kind == "csv" else _read_binary(path, kind)
    except pyarrow.ArrowInvalid as error:
        raise TableError(f"{path}: {_one_line(error)} (row and column unknown).") from error
    _check_names(path, list(table.column_names))
    if table.num_rows == 0:
        raise TableError(f"{path}: the header in row 1 is followed by no row.")
    first = 2 if kind == "csv" else 1
    _check_text(path, table, first)
    return RawTable(table.to_pandas(), path, first)


def _read_binary(path: Path, kind: str) -> Any:
    if kind == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.ParquetFile(path).read()
    from pyarrow import feather, ipc

    try:
        return feather.read_table(path)
    except Exception:
        with open(path, "rb") as source:
            return ipc.open_stream(source).read_all()


def _read_csv(path: Path) -> Any:
    from pyarrow import csv

    header = _header_bytes(path)
    text = _decode_header(path, header)
    delimiter = _delimiter(text)
    bad: list[Any] = []

    def remember(row: Any) -> str:
        bad.append(row)
        return "skip"

    table = csv.read_csv(
        path,
        # One thread, so that the number of a bad row is known.
        read_options=csv.ReadOptions(use_threads=False, block_size=MAX_LINE),
        parse_options=csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, invalid_row_handler=remember
        ),
        convert_options=csv.ConvertOptions(
            null_values=MISSING_WORDS,
            strings_can_be_null=True,
            decimal_point="," if _decimal_comma(path, delimiter) else ".",
        ),
    )
    if bad:
        first = bad[0]
        row = f"row {first.number}" if first.number is not None else f"the row {first.text[:60]!r}"
        short = first.actual_columns < first.expected_columns
        column = min(first.actual_columns, first.expected_columns) + 1
        raise TableError(
            f"{path}: {row} has {first.actual_columns} cells where the header has "
            f"{first.expected_columns}: it {'ends before' if short else 'goes on at'} "
            f"column {column}" + (f" ({len(bad)} such rows)." if len(bad) > 1 else ".")
        )
    return table


def _header_bytes(path: Path) -> bytes:
    import gzip

    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rb") as source:
        line: bytes = source.readline(MAX_LINE)
    if len(line) >= MAX_LINE:
        raise TableError(
            f"{path}: row 1 goes on for more than {MAX_LINE // 2**20} MB without a line end; this "
            "is not a table with a header (column 1)."
        )
    return line


def _decode_header(path: Path, header: bytes) -> str:
    if header.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError(f"{path}: row 1 is UTF-16 text (column 1); save the file as UTF-8.")
    try:
        return header.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = header[: error.start].decode("utf-8", "replace")
        column = before.count(_delimiter(before)) + 1
        raise TableError(
            f"{path}: row 1, column {column}: the header is not UTF-8 (byte "
            f"0x{header[error.start]:02x} at position {error.start + 1}); save the file as UTF-8."
        ) from error


def _delimiter(header: str) -> str:
    plain = re.sub(r'"[^"]*"', "", header)
    counts = {mark: plain.count(mark) for mark in (",", ";", "\t", "|")}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else ","


def _decimal_comma(path: Path, delimiter: str) -> bool:
    if delimiter == "," or path.suffix.lower() == ".gz":
        return False
    with open(path, "rb") as source:
        sample = source.read(65536).decode("utf-8", "replace")
    return bool(re.search(r"\d,\d", sample)) and not re.search(r"\d\.\d", sample)


def _check_names(path: Path, names: list[str]) -> None:
    double = [name for name, count in Counter(names).items() if count > 1]
    if double:
        places = [str(k + 1) for k, name in enumerate(names) if name == double[0]]
        raise TableError(
            f"{path}: row 1: the column name {double[0]!r} stands in columns "
            f"{', '.join(places[:-1])} and {places[-1]}; give each column its own name."
        )
    for position, name in enumerate(names):
        if not str(name).strip():
            raise TableError(f"{path}: row 1, column {position + 1}: the column has no name.")


def _check_text(path: Path, table: Any, first: int) -> None:
    import pyarrow

    for position, field in enumerate(table.schema):
        if not (pyarrow.types.is_binary(field.type) or pyarrow.types.is_large_binary(field.type)):
            continue
        for row, value in enumerate(table.column(position).to_pylist()):
            try:
                (value or b"").decode("utf-8")
            except UnicodeDecodeError as error:
                raise TableError(
                    f"{path}: row {row + first}, column {position + 1} ({field.name!r}): byte "
                    f"0x{value[error.start]:02x} is not UTF-8; save the file as UTF-8."
                ) from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".")
