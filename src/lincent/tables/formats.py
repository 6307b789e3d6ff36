"""Open a table, whatever its format or compression, and read the formats other than text.

The format of a file follows from its name or, where the name says nothing, from its first bytes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import os
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from lincent._errors import AppError, OptionalPackage, first_line, import_optional, listed
from lincent._files import is_stream, reason
from lincent._memory import available_memory

CSV, PARQUET, ARROW, EXCEL, JSON = "csv", "parquet", "arrow", "excel", "json"
FORMATS = (CSV, PARQUET, ARROW, EXCEL, JSON)
SUFFIXES = {
    ".csv": CSV, ".tsv": CSV, ".txt": CSV, ".data": CSV, ".parquet": PARQUET, ".pq": PARQUET,
    ".arrow": ARROW, ".feather": ARROW, ".ipc": ARROW, ".xlsx": EXCEL, ".xlsm": EXCEL,
    ".jsonl": JSON, ".ndjson": JSON, ".json": JSON,
}  # fmt: skip
SIGNATURES = (
    (b"PAR1", PARQUET), (b"ARROW1", ARROW), (b"FEA1", ARROW), (b"\xff\xff\xff\xff", ARROW),
    (b"PK\x03\x04", EXCEL),
)  # fmt: skip
PACKED: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open),
)  # fmt: skip
"""First bytes of compressed files, and what opens them."""
COMPRESSED = (".gz", ".zip", ".bz2", ".xz")
HEAD_BYTES = 1 << 23  # inspected before reading starts; a header may be as long
RATIO, UNFOLDED = 100, 1 << 26  # of a compressed file in memory: times its size, and in any case
MOST_AREA, LEAST_AREA = 100, 1 << 20  # cells of a sheet for each filled one, and in any case
BUFFER_BYTES = 1 << 23  # of a Parquet file that is read in batches, for all columns together
UNREADABLE = (
    OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError,
    RuntimeError, UnicodeDecodeError, struct.error,
)  # fmt: skip
"""Errors raised by damaged, encrypted or unsupported compressed files."""

pa, pc, arrow_csv, parquet, pd = (
    OptionalPackage(package, "app", "Reading tables")
    for package in ("pyarrow", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "pandas")
)


class TableError(AppError):
    """A table of the user cannot be used; the message names file, row and column."""


# Column names.


def fill_names(names: list[Any]) -> list[str]:
    """Name columns without a name as pandas does."""
    return [
        str(name) if name is not None and str(name).strip() else f"Unnamed: {position}"
        for position, name in enumerate(names)
    ]


def check_unique(where: str, names: list[str]) -> None:
    """Raise an error if two columns have one name."""
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        positions = [str(k + 1) for k, name in enumerate(names) if name == duplicates[0]]
        raise TableError(
            f"{where}: the column name {duplicates[0]!r} stands in columns "
            f"{', '.join(positions[:-1])} and {positions[-1]}; give each column its own name."
        )


# Files, streams and compression.


@dataclass(frozen=True)
class OpenedTable:
    """An open table: its name in messages, its format, its first bytes and the whole stream."""

    name: str
    format: str
    head: bytes
    stream: Any
    most: float = math.inf
    """Bytes to which the file may unfold in memory."""

    def read(self) -> bytes:
        """Return all bytes, if they are not too many for the memory or the size of the file."""
        most = min(available_memory() / 4, self.most)  # text, parsed text, a copy in columns
        data: bytes = self.stream.read(-1 if most == math.inf else int(max(most, 0)) + 1)
        if len(data) > most:
            why = f"{RATIO} times its size" if most == self.most else "too much for the free memory"
            raise TableError(
                f"{self.name} has more than {len(data) >> 20} MB of text, {why}: lincent fit and "
                "predict read a file that is named in batches."
            )
        return data

    def seekable(self) -> Any:
        """Return the stream, copied to memory unless it can seek."""
        return self.stream if self.stream.seekable() else io.BytesIO(self.read())


def format_from_name(path: str | os.PathLike[str]) -> str | None:
    """Return the format that a file name implies, also under the suffix of a compressed file."""
    plain = PurePath(os.fspath(path).lower())
    if plain.suffix in COMPRESSED:
        plain = plain.with_suffix("")
    return SUFFIXES.get(plain.suffix)


def format_from_content(head: bytes, name: str) -> str:
    """Return the format that the first bytes imply; other text is CSV."""
    for signature, format in SIGNATURES:
        if head.startswith(signature):
            return format
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise TableError(f"{name} is a workbook of the old .xls form: save it as .xlsx or CSV.")
    text = head[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b'{"') or (text.startswith(b"[") and text[1:].lstrip().startswith(b"{")):
        return JSON
    return CSV


def check_exists(path: str | os.PathLike[str]) -> None:
    """Raise an error for a path without a file, before any package is imported to read one."""
    if not is_stream(path) and (Path(path).is_dir() or not Path(path).exists()):
        _open(path).close()


@contextmanager
def open_table(path: str | os.PathLike[str], format: str | None = None) -> Iterator[OpenedTable]:
    """Open and decompress a table and detect its format."""
    if format is not None and format not in FORMATS:
        raise TableError(f"The format {format!r} (--format) is not one of {', '.join(FORMATS)}.")
    name = "Standard input" if is_stream(path) else os.fspath(path)
    with ExitStack() as stack:
        try:
            stream = sys.stdin.buffer if is_stream(path) else stack.enter_context(_open(path))
            head, stream = _decompress(stack, stream, name)
        except UNREADABLE as error:
            raise TableError(f"{name} cannot be read: {first_line(error).rstrip('.')}.") from error
        if not head.strip():
            raise TableError(f"{name} is empty: it needs a line of column names and rows.")
        if format is None and not is_stream(path):
            format = format_from_name(path)
        format = format or format_from_content(head, name)
        yield OpenedTable(name, format, head, stream, most_unpacked(path))


def _open(path: str | os.PathLike[str]) -> Any:
    if Path(path).is_dir():
        raise TableError(f"{path} is a folder: name a file.")
    try:
        return open(path, "rb")
    except OSError as error:
        raise TableError(f"{path} cannot be read: {reason(error)}.") from error


def _decompress(stack: ExitStack, stream: Any, name: str) -> tuple[bytes, Any]:
    """Return the first bytes and the stream from its beginning, both decompressed."""
    head = _read_up_to(stream, HEAD_BYTES)
    if stream is not sys.stdin.buffer and stream.seekable():
        stream.seek(0)
    else:
        stream = io.BufferedReader(_Replay(head, stream), 1 << 20)
    unpacked: Any = next((o(stream) for magic, o in PACKED if head.startswith(magic)), None)
    if head.startswith(b"PK\x03\x04"):
        stream = stream if stream.seekable() else io.BytesIO(stream.read())
        archive = stack.enter_context(zipfile.ZipFile(stream))
        members = [m for m in archive.namelist() if not m.endswith("/") and "__MACOSX" not in m]
        if any(member.startswith("xl/") for member in members):  # a workbook
            stream.seek(0)
            return head, stream
        if len(members) != 1:
            raise TableError(f"{name} holds {len(members)} files: unpack it and name one of them.")
        unpacked = archive.open(members[0])
    if unpacked is None:
        return head, stream
    stack.enter_context(unpacked)
    # Seeking back in a compressed stream would decompress it a second time.
    head = _read_up_to(unpacked, HEAD_BYTES)
    return head, io.BufferedReader(_Replay(head, unpacked), 1 << 20)


def unpacked_size(path: str | os.PathLike[str]) -> float:
    """Estimate the size of a file without its compression, by the ratio of its beginning."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        start = file.read(6)
        if start.startswith(b"PK"):
            return float(sum(member.file_size for member in zipfile.ZipFile(file).infolist()))
        opened = next((opener for magic, opener in PACKED if start.startswith(magic)), None)
        if opened is None:
            return float(size)
        file.seek(0)
        estimate = len(_read_up_to(opened(file), HEAD_BYTES)) * size / file.tell()
        file.seek(-4, os.SEEK_END)  # gzip ends with its size modulo 4 GiB
        return max(estimate, struct.unpack("<I", file.read())[0] if opened is gzip.open else 0.0)


def most_unpacked(path: str | os.PathLike[str]) -> float:
    """Return the bytes to which a compressed file may unfold in memory: no table needs more."""
    if not os.path.isfile(path):
        return math.inf
    with open(path, "rb") as file:
        start = file.read(6)
    packed = start.startswith((b"PK", *(magic for magic, _ in PACKED)))
    return max(UNFOLDED, RATIO * os.path.getsize(path)) if packed else math.inf


def _read_up_to(stream: Any, count: int) -> bytes:
    """Read so many bytes or all; a single read of a pipe may return fewer than there are."""
    parts = []
    while count > 0 and (part := stream.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class _Replay(io.RawIOBase):
    """A stream whose first bytes have been read and are returned again."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._rest = io.BytesIO(start), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._start.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


# Parquet, Arrow and JSON.


def read_parquet(file: Any) -> Any:
    """Read a Parquet file as an Arrow table."""
    return _validated(parquet.ParquetFile(file).read())


def parquet_batches(source: OpenedTable, rows: int) -> Iterator[Any]:
    """Yield a Parquet file as record batches of at most so many rows."""
    # Small buffers, one for each column, and no look-ahead: a row group may be all of the file.
    stream = source.seekable()
    metadata = parquet.read_metadata(stream)
    buffer = max(BUFFER_BYTES // max(metadata.num_columns, 1), 1 << 13)
    file = parquet.ParquetFile(stream, metadata=metadata, pre_buffer=False, buffer_size=buffer)
    for batch in file.iter_batches(batch_size=rows, use_threads=False):
        yield _validated(batch)


def read_arrow(file: Any) -> Any:
    """Read an Arrow file or stream, Feather included."""
    from pyarrow import feather, ipc

    streamed = file.read(4) == b"\xff\xff\xff\xff"
    file.seek(0)
    if streamed:
        return _validated(ipc.open_stream(file).read_all())
    return _validated(feather.read_table(file, memory_map=False))


def _validated(data: Any) -> Any:
    """Check offsets and text of all columns: Arrow crashes on invalid ones."""
    data.validate(full=True)
    return data


def read_json(stream: Any, name: str) -> Any:
    """Read one object per line, or a list of objects."""
    from pyarrow import json as arrow_json

    data = stream.read()
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        data = "\n".join(json.dumps(row) for row in json.loads(data)).encode()
    if not only_objects(data.removeprefix(b"\xef\xbb\xbf")):
        # Arrow reads null as a row, and crashes where no other row defines the columns.
        raise TableError(f"{name}: it is JSON, and not every row of it is an object {{...}}.")
    options = arrow_json.ReadOptions(block_size=max(1 << 20, min(len(data), 1 << 30)))
    return _validated(arrow_json.read_json(io.BytesIO(data), read_options=options))


def outside_strings(data: bytes) -> Any:
    """Return the bytes of JSON text that are outside of strings, opening quotes included.

    Without its escapes every quote of a text opens or closes a string, so that nesting can be
    measured with running sums before anything is parsed.  Invalid text is right up to its first
    error, where a parser stops.
    """
    import numpy as np

    plain = np.frombuffer(data.replace(b"\\\\", b"").replace(b'\\"', b""), dtype=np.uint8)
    quotes = plain == ord('"')
    within = np.logical_xor.accumulate(quotes)
    return np.asarray(plain[within == quotes])


def only_objects(data: bytes) -> bool:
    """Return whether JSON text has nothing but objects and blanks at its top level."""
    import numpy as np

    bare = outside_strings(data)
    change = (bare == ord("{")).astype(np.int8) - (bare == ord("}")).astype(np.int8)
    top = bare[(np.cumsum(change, dtype=np.int32) <= 0) & (bare != ord("}"))]
    return not top.tobytes().strip(b" \t\r\n")


# Workbooks and frames.


def read_excel(file: Any, name: str, sheet: str | None) -> tuple[Any, str, int]:
    """Return a sheet as a table, its title, and the number of sheets."""
    openpyxl = import_optional("openpyxl", "app", "Reading a workbook")
    try:
        with closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book:
            titles = list(book.sheetnames)
            if not titles:
                raise TableError(f"{name} is a workbook without a sheet.")
            if sheet is None:
                sheet = titles[0]
            elif sheet not in titles:
                if not (sheet.isdigit() and 1 <= int(sheet) <= len(titles)):
                    raise TableError(
                        f"{name} has no sheet {sheet!r} (--sheet); it has {listed(titles)}."
                    )
                sheet = titles[int(sheet) - 1]
            book[sheet].reset_dimensions()  # else every row is as wide as the widest
            rows: list[Any] = []
            width = used = 0
            for row in book[sheet].iter_rows(values_only=True):
                filled = [k for k, cell in enumerate(row) if cell is not None]
                if filled:
                    rows.append(row[: filled[-1] + 1])
                    width, used = max(width, len(rows[-1])), used + len(filled)
                if len(rows) * width > MOST_AREA * used + LEAST_AREA:
                    raise TableError(
                        f"{name}: the sheet {sheet!r} has {used} filled cells in {len(rows)} rows "
                        f"and goes on to column {width}: remove the cells far from the table, or "
                        "save the table as CSV."
                    )
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"{name} cannot be read as a workbook: {first_line(error)}.") from error
    if not rows:
        raise TableError(f"{name}: the sheet {sheet!r} is empty.")
    names = fill_names([*rows[0], *[None] * width][:width])
    columns = [[row[k] if k < len(row) else None for row in rows[1:]] for k in range(width)]
    arrays = [pa.array(_one_type(cells)) for cells in columns]
    return pa.table(arrays, names=names), sheet, len(titles)


def _one_type(cells: list[Any]) -> list[Any]:
    """Return cells of one type unchanged, integers and floats as floats, other mixtures as text."""
    types = {type(cell) for cell in cells if cell is not None}
    if len(types) <= 1:
        return cells
    if types == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    return [
        None if cell is None
        else str(int(cell)) if isinstance(cell, float) and cell.is_integer()
        else str(cell)
        for cell in cells
    ]  # fmt: skip


def from_frame(data: Any) -> Any:
    """Return an Arrow table from a frame of pandas, polars, Arrow or any Arrow-speaking package."""
    from lincent.sources.source import in_memory, package_of

    data = in_memory(data) if package_of(data) in ("narwhals", "polars") else data
    if package_of(data) == "polars":
        import polars

        # pyarrow decodes no dictionaries of text views.
        data = data.with_columns(polars.col(polars.Categorical, polars.Enum).cast(polars.String))
    try:
        if package_of(data) == "pandas":
            return _from_pandas(data)
        if hasattr(data, "__arrow_c_stream__"):
            table = pa.table(data)
            # Views of text, which polars has, cannot be taken from by row.
            types = [
                pa.large_string() if str(t) == "string_view" else t for t in table.schema.types
            ]
            return table.cast(pa.schema(zip(table.schema.names, types, strict=True)))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TableError(f"The frame cannot be read: {first_line(error)}.") from error
    raise TableError(
        f"A {type(data).__name__} is not a table: give a path or a frame of pandas, polars or "
        "Arrow."
    )


def _from_pandas(frame: Any) -> Any:
    frame = frame.rename(columns=str)
    check_unique("The table", list(frame.columns))
    arrays = []
    for name in frame.columns:
        try:
            arrays.append(pa.Array.from_pandas(frame[name]))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            # Numbers and text mixed in one column, as pandas reads "1, 2, ?".
            arrays.append(pa.array(_one_type([None if c != c else c for c in frame[name]])))
        except (pa.ArrowNotImplementedError, OverflowError) as error:
            raise TableError(
                f"The column {name!r} holds {frame[name].dtype} values that are neither numbers of "
                f"64 bits nor text ({first_line(error).rstrip('.')})."
            ) from error
    return pa.table(arrays, names=list(frame.columns))
