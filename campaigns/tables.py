"""Tables written in every way and then damaged: read, or refused with a message.

A table goes through what is behind the commands: it is read and judged as `fit` does, or read in
batches and scored as `predict` does.  Bytes that reach new lines of the package are kept and
changed further (where the interpreter can tell: Python 3.12).
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tempfile
import warnings
import zipfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from campaigns import corpus, coverage
from campaigns.changes import bytes_changed
from campaigns.outcome import Outcome

CELLS = (
    "1", "-2.5", "1,5", "1e308", "1e999", "nan", "NA", "", "null", "inf", "yes", "no", "true", "x",
    "2024-01-31", "31.01.2024", "é", "\x1b[31m", '"', '""', "a,b", "a;b", "'", "0x10", "1 000",
    "００", "=cmd()", "(missing)", "#N/A", "\t", "long " * 50, "1e-400", "+1", "1_000", "12:30",
    "99999999999999999999", "0001-01-01", "9999-12-31T23:59:59Z", "%s{}", "<script>", "\u202e",
    "a\nb", "\x00",
)  # fmt: skip
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252")
PACKED = ("csv.gz", "csv.zip", "csv.bz2", "csv.xz")
OTHER = ("tsv", "jsonl", "json", "parquet", "arrow", "xlsx")
FORMATS = ("csv",) * 40 + PACKED + OTHER
MOST_KEPT = 300
_kept: list[tuple[str, bytes]] = []


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    coverage.start()
    if _kept and rng.random() < 0.3:
        kind, data = _kept[rng.integers(len(_kept))]
        data = bytes_changed(data, rng)
    else:
        kind = FORMATS[rng.integers(len(FORMATS))]
        data = draw(kind, rng)
    before = coverage.reached()
    outcome = check({"data": data, "format": kind})
    if coverage.reached() > before and len(_kept) < MOST_KEPT:
        _kept.append((kind, data))
    return outcome


def draw(kind: str, rng: np.random.Generator, *, fitting: bool | None = None) -> bytes:
    """A table in some format, often damaged; ``fitting`` the models of the corpus, or not."""
    # Mostly small: a damaged cell is as odd among few, and four times as many tables are tried.
    rows = int(rng.integers(0, (8, 8, 8, 40)[rng.integers(4)]))
    if rng.random() < 0.2 if fitting is None else fitting:
        cells = corpus.cells(rng, rows)
    else:
        kinds = rng.integers(4, size=int(rng.integers(1, (4, 4, 4, 6)[rng.integers(4)])))
        names = [f"c{k}" if rng.random() < 0.9 else _cell(rng) for k in range(len(kinds))]
        cells = [names, *([_typical(k, rng) for k in kinds] for _ in range(rows))]
    for _ in range(int(rng.integers(0, 3))):  # odd cells at odd places
        row = cells[rng.integers(len(cells))]
        row[rng.integers(len(row))] = _cell(rng)
    data = _written(kind, cells, rng)
    for _ in range(int(rng.integers(0, 3)) * int(rng.integers(0, 2))):
        data = bytes_changed(data, rng)
    return data


def _cell(rng: np.random.Generator) -> str:
    return CELLS[rng.integers(len(CELLS))]


def _typical(kind: int, rng: np.random.Generator) -> str:
    if rng.random() < 0.03:
        return _cell(rng)
    if kind == 0:
        return f"{rng.normal():.3f}"
    if kind == 1:
        return str(rng.integers(5))
    return ("a", "b", "c")[rng.integers(3)] if kind == 2 else ("yes", "no")[rng.integers(2)]


def _written(kind: str, cells: list[list[str]], rng: np.random.Generator) -> bytes:
    if kind in ("json", "jsonl"):
        found = [dict(zip(cells[0], row, strict=False)) for row in cells[1:]]
        lines = [json.dumps(row) for row in found]
        return (json.dumps(found) if kind == "json" else "\n".join(lines)).encode()
    if kind in ("parquet", "arrow"):
        return _columnar(kind, cells)
    if kind == "xlsx":
        return _workbook(cells)
    text = _text(cells, "\t" if kind == "tsv" else ",;\t|"[rng.integers(4)], rng)
    if kind == "csv.zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("t.csv", text)
        return stream.getvalue()
    packed = {"csv.gz": gzip.compress, "csv.bz2": bz2.compress, "csv.xz": lzma.compress}
    return packed[kind](text) if kind in packed else text


def _text(cells: list[list[str]], separator: str, rng: np.random.Generator) -> bytes:
    end = ("\n", "\n", "\r\n", "\r")[rng.integers(4)]
    quoted = rng.random() < 0.7

    def safe(cell: str) -> str:
        odd = quoted and (separator in cell or '"' in cell or "\n" in cell)
        return '"' + cell.replace('"', '""') + '"' if odd else cell

    lines = [separator.join(map(safe, row)) for row in cells]
    return end.join(lines).encode(ENCODINGS[rng.integers(len(ENCODINGS))], "replace")


def _columnar(kind: str, cells: list[list[str]]) -> bytes:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    columns = [pa.array([row[k] for row in cells[1:]], pa.string()) for k in range(len(cells[0]))]
    table = pa.table(columns, names=cells[0])
    stream = io.BytesIO()
    if kind == "parquet":
        pyarrow.parquet.write_table(table, stream)
    else:
        pyarrow.feather.write_feather(table, stream)
    return stream.getvalue()


def _workbook(cells: list[list[str]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in cells:
        sheet.append(["".join(c for c in cell if c.isprintable()) for cell in row])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def check(instance: dict[str, Any]) -> Outcome:
    """The bytes as a file, read and judged, or scored."""
    from lincent._errors import AppError

    data = instance["data"]
    path = _place() / f"t.{instance['format']}"
    path.write_bytes(data)
    use = (_judged, _judged, _scored)[zlib.crc32(data) % 3]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            use(path)
    except AppError as error:
        text = str(error)
        bad = not text.strip() or len(text) > 3000
        return Outcome(
            "refused", f"a bad sentence: {text!r}" if bad else "", instance if bad else {}
        )
    except BaseException as error:
        return Outcome("crash", f"{type(error).__name__}: {str(error)[:300]}", instance)
    finally:
        path.unlink(missing_ok=True)
    return Outcome(use.__name__.strip("_"))


@cache
def _place() -> Path:
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    made = tempfile.TemporaryDirectory(prefix="lincent-tables-", dir=folder)
    _places.append(made)
    return Path(made.name)


_places: list[Any] = []


def _judged(path: Path) -> None:
    from lincent.tables.infer import infer_schema
    from lincent.tables.read import read_table
    from lincent.tables.schema import to_frame

    table = read_table(path)
    names = table.data.column_names
    known = infer_schema(table, names[-1] if names else "target")
    if known.schema.columns:
        to_frame(known.schema, table)


def _scored(path: Path) -> None:
    from lincent.workflow.predict import predict_file

    answers = path.with_name("answers.csv")
    try:
        predict_file(_model(), path, answers, force=True)
    finally:
        answers.unlink(missing_ok=True)


@cache
def _model() -> Any:
    from lincent.export.model_file import load_model

    return load_model(corpus.make() / "quick.lincent")
