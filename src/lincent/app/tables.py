"""Tables in: CSV and Parquet files, standard input, and frames of pandas, polars and Arrow.

A file is read whole for training and in batches for prediction.  With a schema at hand every CSV
column has a known type, so a batch late in the file cannot be read differently from the first.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lincent._errors import AppError, first_line, need
from lincent._files import is_stream, reason

BATCH_ROWS = 16_384
BLOCK_BYTES = 1 << 22
BUFFER_BYTES = 1 << 20
CSV, PARQUET = "csv", "parquet"
FORMATS = (CSV, PARQUET)
_SUFFIXES = {".csv": CSV, ".txt": CSV, ".tsv": CSV, ".parquet": PARQUET, ".pq": PARQUET}


def arrow() -> Any:
    """The pyarrow package."""
    return need("pyarrow", "app", "Reading tables")


def file_format(path: str | os.PathLike[str], given: str | None = None) -> str:
    """CSV or Parquet, as asked for or by the name; standard input and output are CSV by default."""
    if given is not None:
        if given not in FORMATS:
            raise AppError(f"The format {given!r} is not known: choose csv or parquet.")
        return given
    if is_stream(path):
        return CSV
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise AppError(
            f"{path} ends in neither .csv nor .parquet: rename it, or say --format csv or parquet."
        )
    return _SUFFIXES[suffix]


def _input(path: str | os.PathLike[str]) -> Any:
    if is_stream(path):
        return sys.stdin.buffer
    if Path(path).is_dir():
        raise AppError(f"{path} is a folder: name a file.")
    try:
        return open(path, "rb")
    except OSError as error:
        raise AppError(f"{path} cannot be read: {reason(error)}.") from error


def to_table(data: Any) -> Any:
    """An Arrow table from a frame of pandas, polars, Arrow or any other Arrow-speaking package."""
    pa = arrow()
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    try:
        if type(data).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(data, preserve_index=False)
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise AppError(f"The frame cannot be read: {first_line(error)}.") from error
    raise AppError(
        f"A {type(data).__name__} is not a table: give a path or a frame of pandas, polars or "
        "Arrow."
    )


def read_table(data: Any, given: str | None = None) -> Any:
    """A whole table from a path, ``-`` or a frame."""
    if not isinstance(data, (str, os.PathLike)):
        return to_table(data)
    pa = arrow()
    kind = file_format(data, given)
    with _input(data) as file:
        try:
            if kind == PARQUET:
                from pyarrow import parquet

                return parquet.read_table(_seekable(file))
            from pyarrow import csv

            return csv.read_csv(file, parse_options=_parse(data), convert_options=_convert())
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(data, kind, error) from error


def read_batches(data: Any, types: Mapping[str, Any], given: str | None = None) -> Iterator[Any]:
    """Record batches of at most BATCH_ROWS rows; CSV columns have the types given here.

    Other CSV columns are read as text, so that an identifier leaves as it came.
    """
    pa = arrow()
    if not isinstance(data, (str, os.PathLike)):
        yield from to_table(data).to_batches(max_chunksize=BATCH_ROWS)
        return
    kind = file_format(data, given)
    with _input(data) as file:
        try:
            reader = _parquet_batches(file) if kind == PARQUET else _csv_batches(file, data, types)
            for batch in reader:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise _unreadable(data, kind, error) from error


def _csv_batches(file: Any, path: Any, types: Mapping[str, Any]) -> Iterator[Any]:
    from pyarrow import csv

    names, file = _header(file, path)
    text = arrow().string()
    options = _convert({name: types.get(name, text) for name in names})
    read = csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=True)
    reader = csv.open_csv(
        file, read_options=read, parse_options=_parse(path), convert_options=options
    )
    yield from reader


def _header(file: Any, path: Any) -> tuple[list[str], Any]:
    """Names of the first line, and the file from its beginning again."""
    from pyarrow import csv

    line = file.readline()
    if not line.strip():
        raise AppError(f"{_named(path)} is empty: it needs a line of column names and rows.")
    first = csv.read_csv(io.BytesIO(line), parse_options=_parse(path))
    return list(first.column_names), _Again(line, file)


class _Again(io.RawIOBase):
    """A stream whose first line was read already."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._rest = start, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._start:
            count = min(len(buffer), len(self._start))
            buffer[:count], self._start = self._start[:count], self._start[count:]
            return count
        data = self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _parquet_batches(file: Any) -> Iterator[Any]:
    from pyarrow import parquet

    # A small buffer and no look-ahead: a row group may be as large as the file.
    source = parquet.ParquetFile(_seekable(file), pre_buffer=False, buffer_size=BUFFER_BYTES)
    yield from source.iter_batches(batch_size=BATCH_ROWS, use_threads=False)


def _seekable(file: Any) -> Any:
    if file is sys.stdin.buffer or not file.seekable():
        return io.BytesIO(file.read())
    return file


def _parse(path: Any) -> Any:
    from pyarrow import csv

    tabs = not is_stream(path) and Path(path).suffix.lower() == ".tsv"
    return csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True)


def _convert(types: Mapping[str, Any] | None = None) -> Any:
    from pyarrow import csv

    return csv.ConvertOptions(
        column_types=dict(types or {}), strings_can_be_null=True, quoted_strings_can_be_null=False
    )


def _named(path: Any) -> str:
    return "Standard input" if is_stream(path) else os.fspath(path)


def _unreadable(path: Any, kind: str, error: Exception) -> AppError:
    text = first_line(error).rstrip(".")
    if "Empty CSV" in text:
        return AppError(f"{_named(path)} is empty: it needs a line of column names and rows.")
    return AppError(f"{_named(path)} cannot be read as {kind}: {text}.")
