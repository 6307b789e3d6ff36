"""Formats other than text, and frames, as Arrow tables."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from lincent._errors import first_line, listed, need
from lincent.tables.errors import TableError, arrow
from lincent.tables.json_text import only_objects
from lincent.tables.names import check_double, filled_names

BUFFER_BYTES = 1 << 23
"""Of a Parquet file that is read in batches: for all of its columns together."""


def parquet(file: Any) -> Any:
    """A whole Parquet file."""
    from pyarrow import parquet as reader

    return _valid(reader.ParquetFile(file).read())


def parquet_batches(source: Any, rows: int) -> Iterator[Any]:
    """A Parquet file in record batches of at most so many rows."""
    from pyarrow import parquet as reader

    # Small buffers, one for each column, and no look-ahead: a row group may be all of the file.
    stream = source.seekable()
    about = reader.read_metadata(stream)
    buffer = max(BUFFER_BYTES // max(about.num_columns, 1), 1 << 13)
    file = reader.ParquetFile(stream, metadata=about, pre_buffer=False, buffer_size=buffer)
    for batch in file.iter_batches(batch_size=rows, use_threads=False):
        yield _valid(batch)


def arrow_file(file: Any) -> Any:
    """A file or a stream of Arrow, Feather included."""
    from pyarrow import feather, ipc

    if file.read(4) == b"\xff\xff\xff\xff":
        file.seek(0)
        return _valid(ipc.open_stream(file).read_all())
    file.seek(0)
    return _valid(feather.read_table(file, memory_map=False))


def _valid(data: Any) -> Any:
    """Columns whose offsets and text are in order; Arrow computes with others and crashes."""
    data.validate(full=True)
    return data


def json_rows(stream: Any, name: str) -> Any:
    """One object per line, or a list of objects."""
    from pyarrow import json as reader

    data = stream.read()
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        data = "\n".join(json.dumps(row) for row in json.loads(data)).encode()
    if not only_objects(data.removeprefix(b"\xef\xbb\xbf")):
        # Arrow takes null for a row, and crashes where no other row tells it the columns.
        raise TableError(f"{name}: it is JSON, and not every row of it is an object {{...}}.")
    options = reader.ReadOptions(block_size=max(1 << 20, min(len(data), 1 << 30)))
    return _valid(reader.read_json(io.BytesIO(data), read_options=options))


def excel(file: Any, name: str, sheet: str | None) -> tuple[Any, str, int]:
    """A sheet as a table, its title, and how many sheets there are."""
    openpyxl = need("openpyxl", "app", "Reading a workbook")
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        with closing(book):
            titles = list(book.sheetnames)
            chosen = _sheet(titles, sheet, name)
            rows = [row for row in book[chosen].iter_rows(values_only=True) if _filled(row)]
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"{name} cannot be read as a workbook: {first_line(error)}.") from error
    if not rows:
        raise TableError(f"{name}: the sheet {chosen!r} is empty.")
    width = max(k + 1 for row in rows for k, cell in enumerate(row) if cell is not None)
    header = [*rows[0], *[None] * width][:width]
    names = filled_names(header)
    check_double(name, names)
    columns = [[row[k] if k < len(row) else None for row in rows[1:]] for k in range(width)]
    pa = arrow()
    arrays = [pa.array(_uniform(cells)) for cells in columns]
    return pa.table(arrays, names=names), chosen, len(titles)


def _filled(row: tuple[Any, ...]) -> bool:
    return any(cell is not None for cell in row)


def _sheet(titles: list[str], wanted: str | None, name: str) -> str:
    if not titles:
        raise TableError(f"{name} is a workbook without a sheet.")
    if wanted is None:
        return titles[0]
    if wanted in titles:
        return wanted
    if wanted.isdigit() and 1 <= int(wanted) <= len(titles):
        return titles[int(wanted) - 1]
    raise TableError(f"{name} has no sheet {wanted!r} (--sheet); it has {listed(titles)}.")


def _uniform(cells: list[Any]) -> list[Any]:
    """Cells of one kind as they are; a mixed column as text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        return [float(c) if c is not None and kinds == {int, float} else c for c in cells]
    return [None if cell is None else _as_text(cell) for cell in cells]


def _as_text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def from_frame(data: Any) -> Any:
    """An Arrow table from a frame of pandas, polars, Arrow or any other Arrow-speaking package."""
    pa = arrow()
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    try:
        if type(data).__module__.partition(".")[0] == "pandas":
            return _from_pandas(data)
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TableError(f"The frame cannot be read: {first_line(error)}.") from error
    raise TableError(
        f"A {type(data).__name__} is not a table: give a path or a frame of pandas, polars or "
        "Arrow."
    )


def _from_pandas(frame: Any) -> Any:
    pa = arrow()
    frame = frame.rename(columns=str)
    check_double("The table", list(frame.columns))
    arrays = []
    for name in frame.columns:
        try:
            arrays.append(pa.Array.from_pandas(frame[name]))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            # Numbers and text mixed in one column, as pandas reads "1, 2, ?".
            arrays.append(pa.array(_uniform([None if c != c else c for c in frame[name]])))
    return pa.table(arrays, names=list(frame.columns))
