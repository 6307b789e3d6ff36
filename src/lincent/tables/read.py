"""Read a user's table as Arrow, at once or in batches.

Cells of a text file stay text here, exactly as written; their meaning is inferred column by column
(`infer`, `schema`).  So an identifier ``00012`` or ``NA`` is unchanged, and a batch late in a file
is never read differently from the first.  Rows are counted as an editor counts them: the header of
a text file or a sheet is row 1.

What the user says about a text file stands; the rest of its dialect is inferred from its first
rows.  The separator is the character that splits most rows into as many cells as the header, more
cells before fewer.  The decimal mark is a comma where more cells read 1,5 than 1.5; a file that
does not show its mark has that of the training table.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import PurePath
from typing import Any

from lincent._errors import AppError, first_line
from lincent._memory import available_memory, sample_entries
from lincent.tables import formats
from lincent.tables.formats import CSV, OpenedTable, TableError, arrow_csv, open_table, pa, pc

BATCH_ROWS = 16_384
BLOCK_BYTES = 1 << 23
LEAST_BLOCK = 1 << 20
LONGEST_WAIT = 0.5  # seconds, for a thread of Arrow
MISSING_TOKENS = (
    "", "NA", "N/A", "n/a", "#N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None",
    "<NA>",
)  # fmt: skip
"""Cells that hold no number; in a text column they are missing as well, in identifiers not."""
SEPARATORS = (",", ";", "\t", "|", "^", "~")
NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
SAMPLE_BYTES = 1 << 18
SAMPLE_ROWS = 200
_BYTE_ORDER_MARKS = {
    "utf-8-sig": (codecs.BOM_UTF8,),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_SEPARATED = re.compile(r"\s*[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*\s*")
_BOTH_MARKS = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+(?=\.)|(?:\.\d{3})+(?=,))([.,])\d*")
_THREE_DIGITS = re.compile(r"\s*[+-]?\d{3}\s*")
_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read; None is inferred.  Those of a text file that was read have no None."""

    format: str | None = None
    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    expected_decimal: str | None = None  # for a text file that does not show its decimal mark


DEFAULT_READ = ReadOptions()


@dataclass(frozen=True)
class UserTable:
    """A table as read, its name in messages, and the row number of its first row."""

    data: Any = field(repr=False)
    name: str = "The table"
    first_row: int = 1
    options: ReadOptions = DEFAULT_READ
    warnings: tuple[str, ...] = ()
    positions: Any = field(default=None, repr=False)
    """Positions of the rows in the file where some were left out."""

    def row(self, position: int) -> int:
        """Return the number of a row as an editor counts it."""
        return int(self.rows(position))

    def rows(self, positions: Any) -> Any:
        """Return the numbers of rows."""
        return (positions if self.positions is None else self.positions[positions]) + self.first_row

    def where(self, column: str, position: int | None = None) -> str:
        """Return the place of a column, or of one of its cells, for messages."""
        row = "" if position is None else f"row {self.row(position)}, "
        number = self.data.schema.names.index(column) + 1
        return f"{self.name}: {row}column {number} ({column!r})"

    def take(self, rows: Any) -> UserTable:
        """Return some of the rows, which keep their numbers."""
        positions = rows if self.positions is None else self.positions[rows]
        return replace(self, data=self.data.take(pa.array(rows)), positions=positions)

    @property
    def decimal(self) -> str:
        return self.options.decimal or "."


def read_table(data: Any, options: ReadOptions = DEFAULT_READ) -> UserTable:
    """Read a table from a path, ``-`` or a frame of pandas, polars or Arrow."""
    if isinstance(data, UserTable):
        return data
    if not isinstance(data, (str, os.PathLike)):
        table = UserTable(formats.from_frame(data))
    else:
        with open_table(data, options.format) as source, _reader_errors(source):
            table = _read(source, options)
        if table.data.num_rows == 0:
            raise TableError(f"{source.name}: the column names are followed by no rows.")
    names = formats.fill_names(table.data.column_names)
    formats.check_unique(table.name, names)
    table = replace(table, data=table.data.rename_columns(names))
    _check_nul(table)
    return table


def read_batches(
    data: Any, options: ReadOptions = DEFAULT_READ, rows: int | None = None
) -> Iterator[UserTable]:
    """Yield a table in record batches of at most so many rows (BATCH_ROWS)."""
    rows = BATCH_ROWS if rows is None else rows
    if not isinstance(data, (str, os.PathLike)):
        table = read_table(data)
        yield from _split(table, table.data.to_batches(), rows)
        return
    with (
        open_table(data, options.format) as source,
        _read_ahead(source.stream) as stream,
        _reader_errors(source),
    ):
        if source.format == CSV:
            dialect = infer_dialect(source.head, source.name, options)
            table = UserTable(None, source.name, 2, dialect)
            batches = arrow_csv.open_csv(stream, **_csv_options(source, dialect))
        elif source.format == formats.PARQUET:
            table = UserTable(None, source.name)
            batches = formats.parquet_batches(source, rows)
        else:
            table = _read(source, options)
            batches = table.data.to_batches()
        yield from _split(table, batches, rows)


@contextmanager
def _read_ahead(stream: Any) -> Iterator[Any]:
    """Give a stream to Arrow, which reads it ahead in threads of its own.

    A thread that calls Python while the interpreter ends aborts the process.  So after an error
    the stream has an end, Arrow has some time to reach it, and what Arrow holds of it is kept,
    since the thread that drops it last would call Python again.  Blocks of the file are copied to
    memory of Arrow, which any thread may release.
    """
    ended = _EndedStream(stream)
    file = pa.BufferedInputStream(pa.PythonFile(ended, mode="r"), LEAST_BLOCK)
    try:
        yield file
    except BaseException:
        ended.over = True
        if ended.began:
            ended.reached.wait(LONGEST_WAIT)
        _unfinished.append(file)
        raise


_unfinished: deque[Any] = deque(maxlen=8)
"""Streams of the last failed reads; threads of earlier ones have ended."""


class _EndedStream(io.RawIOBase):
    """A stream that can be given an end, and that records whether it was reached."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.began, self.over = stream, False, False
        self.reached = threading.Event()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.began = True
        data: bytes = b"" if self.over else self.stream.read(size)
        if not data:
            self.reached.set()
        return data


def _check_nul(table: UserTable) -> None:
    """Raise an error for text with the character 0, which NumPy drops at the end of text."""
    for name, column in zip(table.data.schema.names, table.data.columns, strict=True):
        if "string" in str(column.type) and not pa.types.is_nested(column.type):
            has_nul = pc.match_substring(column.cast(pa.large_string()), "\0")
            position = pc.index(has_nul, True).as_py()
            if position >= 0:
                where = table.where(name, position)
                raise TableError(f"{where}: the cell holds the byte 0x00; remove it.")


def _split(table: UserTable, batches: Any, rows: int) -> Iterator[UserTable]:
    row = table.first_row
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            part = batch.slice(start, rows)
            named = replace(table, data=part, first_row=row)
            _check_nul(named)
            yield named
            row += part.num_rows


def _read(source: OpenedTable, options: ReadOptions) -> UserTable:
    if source.format == CSV:
        return _read_csv(source, options)
    if source.format == formats.EXCEL:
        data, sheet, count = formats.read_excel(source.seekable(), source.name, options.sheet)
        warnings: tuple[str, ...] = ()
        if count > 1 and options.sheet is None:
            warnings = (f"read the sheet {sheet!r}, the first of {count} (--sheet names another).",)
        return UserTable(data, source.name, 2, options, warnings)
    if source.format == formats.JSON:
        data = formats.read_json(source.seekable(), source.name)
    elif source.format == formats.PARQUET:
        data = formats.read_parquet(source.seekable())
    else:
        data = formats.read_arrow(source.seekable())
    return UserTable(data, source.name, 1, options)


@contextmanager
def _reader_errors(source: OpenedTable) -> Iterator[None]:
    """Turn errors of other packages on damaged files into a TableError."""
    try:
        yield
    except (AppError, BrokenPipeError):
        raise
    except (pa.ArrowException, *formats.UNREADABLE, ValueError) as error:
        # With a gigabyte available, a file that exhausts the memory declares impossible sizes.
        if isinstance(error, MemoryError) and available_memory() < 1 << 30:
            raise
        text = first_line(error).rstrip(".")
        if "straddl" in text:
            text = f"a row is too long to be read at once (at most {BLOCK_BYTES >> 20} MB)"
        if source.format == CSV and ("UTF8" in text or isinstance(error, UnicodeError)):
            text += "; say how the file is written with --encoding, such as latin-1"
        raise TableError(f"{source.name} cannot be read as {source.format}: {text}.") from error


# Text files.


def _read_csv(source: OpenedTable, options: ReadOptions) -> UserTable:
    data = source.read()
    dialect = infer_dialect(data, source.name, options)
    table = arrow_csv.read_csv(pa.BufferReader(data), **_csv_options(source, dialect))
    warnings: tuple[str, ...] = ()
    if options.encoding is None and dialect.encoding in ("cp1252", "latin-1"):
        warnings = (f"the file is not UTF-8; read as {dialect.encoding} (--encoding overrules).",)
    mark, cell = infer_decimal(_sample_text(data, dialect.encoding), dialect.separator or ",")
    if cell and not mark and options.decimal is options.expected_decimal is None:
        whole, given, rest = re.split("([.,])", cell)
        other = "," if given == "." else "."
        warnings += (
            f"{cell} is read as {whole}.{rest}; --decimal {other!r} reads it as {whole}{rest}.",
        )
    return UserTable(table, source.name, 2, dialect, warnings)


def _csv_options(source: OpenedTable, dialect: ReadOptions) -> dict[str, Any]:
    head = source.head
    if len(head) >= formats.HEAD_BYTES and b"\n" not in head and b"\r" not in head:
        raise TableError(
            f"{source.name}: row 1 goes on for more than {formats.HEAD_BYTES >> 20} MB without a "
            "line end; this is not a table with a header."
        )
    # The cells of the first row, which may span several lines.
    lines = io.TextIOWrapper(io.BytesIO(head), dialect.encoding, "replace", newline="")
    first = next(lines, "").removeprefix("\ufeff")
    rows = split_rows(chain([first], lines), dialect.separator or ",", 1)
    names = formats.fill_names(rows[0] if rows else [])
    formats.check_unique(source.name, names)
    # Arrow reads fewer bytes at once where memory is short, but some rows at least.
    least = max(sample_entries(BLOCK_BYTES), LEAST_BLOCK, 20 * sum(map(len, names)))
    return {
        "read_options": arrow_csv.ReadOptions(
            use_threads=False,  # so that errors have the number of the row
            block_size=min(BLOCK_BYTES, least),
            column_names=names,
            skip_rows_after_names=1,
            encoding="utf-8" if dialect.encoding == "utf-8-sig" else dialect.encoding,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=dialect.separator, newlines_in_values=True
        ),
    }


def infer_dialect(data: bytes, name: str, options: ReadOptions = DEFAULT_READ) -> ReadOptions:
    """Return encoding, separator and decimal mark of a text table, or of its beginning.

    ``name`` is the name of the table: a file ``.tsv`` has tabs.
    """
    encoding, separator, decimal = options.encoding, options.separator, options.decimal
    if encoding is None:
        encoding = infer_encoding(data)
    else:
        try:
            encoding = codecs.lookup(encoding).name
        except LookupError as error:
            raise TableError(
                f"The encoding {encoding!r} (--encoding) of {name} is not known: try utf-8, "
                "latin-1 or utf-16."
            ) from error
    text = _sample_text(data, encoding)
    if "\0" in text:
        raise TableError(f"{name} is no table that can be read: it holds the byte 0x00.")
    if separator is None:
        tabs = ".tsv" in PurePath(name.lower()).suffixes[-2:]
        separator = "\t" if tabs else infer_separator(text)
    else:
        separator = NAMED_SEPARATORS.get(separator, separator)
        if len(separator) != 1:
            raise TableError(f"The separator {separator!r} (--sep) is not one character.")
    if decimal is None:
        decimal, cell = infer_decimal(text, separator)
        if not decimal and separator != "," and options.expected_decimal in (".", ","):
            decimal = options.expected_decimal
        decimal = decimal or ("," if "," in cell else ".")
    elif decimal not in (".", ","):
        raise TableError(f"The decimal mark {decimal!r} (--decimal) is neither '.' nor ','.")
    elif decimal == separator:
        raise TableError(f"--sep and --decimal are both {decimal!r}: a cell would never end.")
    return replace(options, format=CSV, encoding=encoding, separator=separator, decimal=decimal)


def infer_encoding(data: bytes) -> str:
    """Return the encoding of the byte order mark, UTF-8 if valid, or else Western European."""
    for encoding, marks in _BYTE_ORDER_MARKS.items():
        if data.startswith(marks):
            return encoding
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            codecs.getincrementaldecoder(encoding)().decode(data)
            return encoding
    return "latin-1"


def split_rows(
    text: str | Iterable[str], separator: str, count: int = SAMPLE_ROWS
) -> list[list[str]]:
    """Return the first nonempty rows as lists of cells; the last may be truncated."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(filter(None, csv.reader(lines, delimiter=separator)), count))
    return rows


def infer_separator(text: str) -> str:
    """Return the character that splits the most rows into as many cells as the header."""
    best, best_score = ",", (0.0, 0)
    for separator in SEPARATORS:
        rows = split_rows(text, separator)
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        body = rows[1:-1] or rows[1:]  # the last row of a sample may be incomplete
        alike = sum(len(row) == width for row in body) / len(body) if body else 1.0
        if (alike, width) > best_score:
            best, best_score = separator, (alike, width)
    return best


def _sample_text(data: bytes, encoding: str | None) -> str:
    decoder = codecs.getincrementaldecoder(encoding or "utf-8")("replace")
    return decoder.decode(data[:SAMPLE_BYTES])


def infer_decimal(text: str, separator: str) -> tuple[str, str]:
    """Return the decimal mark that the cells show, or "" and a cell that may be read in two ways.

    The last mark of 1.094,5; a comma where more cells read 1,5 than 1.5.  The mark of cells such as
    1.094 separates thousands where one has it twice, or where whole numbers of three digits (999)
    are in the same column.
    """
    rows = [] if separator == "," else split_rows(text, separator)[1:]
    cells = [(k, cell.strip()) for row in rows for k, cell in enumerate(row)]
    plain = [cell for _, cell in cells if not _SEPARATED.fullmatch(cell)]
    commas = sum(bool(_COMMA.fullmatch(cell)) for cell in plain)
    points = sum(bool(_POINT.fullmatch(cell)) for cell in plain)
    both = {match[1] for _, cell in cells if (match := _BOTH_MARKS.fullmatch(cell))}
    if len(both) == 1:
        return both.pop(), ""
    if commas != points:
        return "," if commas > points else ".", ""
    whole = {k for k, cell in cells if _THREE_DIGITS.fullmatch(cell)}
    example = ""
    for k, cell in cells:
        if match := _SEPARATED.fullmatch(cell):
            if match[2] or k in whole:
                return "," if match[1] == "." else ".", ""
            example = example or cell
    return "", example
