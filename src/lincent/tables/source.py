"""Where a table's bytes come from: a file, standard input, something compressed.

The kind of a file is what its name says or, where the name says nothing, what its first bytes are.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from lincent._errors import first_line
from lincent._files import is_stream, reason
from lincent.tables.errors import TableError

CSV, PARQUET, ARROW, EXCEL, JSON = "csv", "parquet", "arrow", "excel", "json"
KINDS = (CSV, PARQUET, ARROW, EXCEL, JSON)
SUFFIXES = {
    ".csv": CSV, ".tsv": CSV, ".txt": CSV, ".data": CSV, ".parquet": PARQUET, ".pq": PARQUET,
    ".arrow": ARROW, ".feather": ARROW, ".ipc": ARROW, ".xlsx": EXCEL, ".xlsm": EXCEL,
    ".jsonl": JSON, ".ndjson": JSON, ".json": JSON,
}  # fmt: skip
COMPRESSED = (".gz", ".zip", ".bz2", ".xz")
HEAD_BYTES = 1 << 23
"""How much is looked at before reading starts; a header may be as long."""
UNREADABLE = (
    OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError,
    RuntimeError, UnicodeDecodeError, struct.error,
)  # fmt: skip
"""What reading something compressed can raise; some come of ways to pack, of locks and of names."""


@dataclass(frozen=True)
class OpenedTable:
    """An open table: its name for sentences, its kind, its first bytes, and all of it."""

    name: str
    kind: str
    head: bytes
    stream: Any
    tabs: bool = False

    def seekable(self) -> Any:
        """All of it, for a format that is not read from front to back."""
        if self.stream.seekable():
            return self.stream
        return io.BytesIO(self.stream.read())


def named(path: str | os.PathLike[str]) -> str:
    """What a sentence calls a path."""
    return "Standard input" if is_stream(path) else os.fspath(path)


def kind_by_name(path: str | os.PathLike[str]) -> str | None:
    """The kind that a file's name tells, also under the ending of a compressed file."""
    plain = PurePath(os.fspath(path).lower())
    if plain.suffix in COMPRESSED:
        plain = plain.with_suffix("")
    return SUFFIXES.get(plain.suffix)


def check_kind(kind: str | None) -> None:
    """Refuse an unknown ``--format``."""
    if kind is not None and kind not in KINDS:
        raise TableError(f"The format {kind!r} (--format) is not one of {', '.join(KINDS)}.")


def check_there(path: str | os.PathLike[str]) -> None:
    """Refuse a path without a file, before anything is imported that reads one."""
    if not is_stream(path) and (Path(path).is_dir() or not Path(path).exists()):
        _file(path).close()  # says why it cannot be opened


@contextmanager
def open_file(path: str | os.PathLike[str], kind: str | None = None) -> Iterator[OpenedTable]:
    """Open a table and find out what it is."""
    check_kind(kind)
    name = named(path)
    with ExitStack() as stack:
        try:
            stream = sys.stdin.buffer if is_stream(path) else stack.enter_context(_file(path))
            head, stream = _unpacked(stack, stream, name)
        except UNREADABLE as error:
            raise TableError(f"{name} cannot be read: {first_line(error).rstrip('.')}.") from error
        if not head.strip():
            raise TableError(f"{name} is empty: it needs a line of column names and rows.")
        by_name = None if is_stream(path) else kind_by_name(path)
        tabs = PurePath(name.lower()).suffixes[-2:].count(".tsv") > 0
        yield OpenedTable(name, kind or by_name or kind_by_content(head, name), head, stream, tabs)


def _file(path: str | os.PathLike[str]) -> Any:
    if Path(path).is_dir():
        raise TableError(f"{path} is a folder: name a file.")
    try:
        return open(path, "rb")
    except OSError as error:
        raise TableError(f"{path} cannot be read: {reason(error)}.") from error


def _unpacked(stack: ExitStack, stream: Any, name: str) -> tuple[bytes, Any]:
    """The first bytes, and the stream from its beginning, both without compression."""
    head, stream = _looked_at(stream)
    opener: Any = None
    if head.startswith(b"\x1f\x8b"):
        opener = gzip.open
    elif head.startswith(b"BZh"):
        opener = bz2.open
    elif head.startswith(b"\xfd7zXZ"):
        opener = lzma.open
    elif head.startswith(b"PK\x03\x04"):
        seekable = stream if stream.seekable() else io.BytesIO(stream.read())
        opener = _zip_member(stack, seekable, name)
        if opener is None:  # a workbook is a zip archive too
            seekable.seek(0)
            return head, seekable
        stream = seekable
    if opener is None:
        return head, stream
    # Going back in a compressed stream would unpack it anew, where it can go back at all.
    return _looked_at(stack.enter_context(opener(stream)), again=True)


def _zip_member(stack: ExitStack, stream: Any, name: str) -> Any:
    archive = stack.enter_context(zipfile.ZipFile(stream))
    members = [m for m in archive.namelist() if not m.endswith("/") and "__MACOSX" not in m]
    if any(member.startswith("xl/") for member in members):
        return None
    if len(members) != 1:
        raise TableError(f"{name} holds {len(members)} files: unpack it and name one of them.")
    return lambda _: archive.open(members[0])


def _looked_at(stream: Any, *, again: bool = False) -> tuple[bytes, Any]:
    head = _up_to(stream, HEAD_BYTES)
    if not again and stream is not sys.stdin.buffer and stream.seekable():
        stream.seek(0)
        return head, stream
    return head, io.BufferedReader(_Again(head, stream), 1 << 20)


def _up_to(stream: Any, count: int) -> bytes:
    """The first bytes of a stream; one read of a pipe may bring fewer than there are."""
    parts = []
    while count > 0:
        part = stream.read(count)
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class _Again(io.RawIOBase):
    """A stream whose beginning was read already."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._rest, self._at = start, rest, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._at < len(self._start):
            data = self._start[self._at : self._at + len(buffer)]
            self._at += len(data)
        else:
            self._start, self._at = b"", 0
            data = self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def kind_by_content(head: bytes, name: str) -> str:
    """The kind that the first bytes tell; text that is nothing else is CSV."""
    for start, kind in (
        (b"PAR1", PARQUET), (b"ARROW1", ARROW), (b"FEA1", ARROW), (b"\xff\xff\xff\xff", ARROW),
        (b"PK\x03\x04", EXCEL),
    ):  # fmt: skip
        if head.startswith(start):
            return kind
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise TableError(f"{name} is a workbook of the old .xls form: save it as .xlsx or CSV.")
    text = head[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b'{"') or (text.startswith(b"[") and text[1:].lstrip().startswith(b"{")):
        return JSON
    return CSV
