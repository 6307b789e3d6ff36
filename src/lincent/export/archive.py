"""Archives and JSON of unknown origin, read within bounds that are checked beforehand.

A zip archive says how large its members are, and no more than that is ever unpacked: so the sum of
what it says bounds the memory.  JSON is measured (depth, entries) before it is parsed.
"""

from __future__ import annotations

import io
import json
import math
import struct
import warnings
import zipfile
import zlib
from typing import Any

import numpy as np

from lincent.tables.formats import outside_strings

LARGEST = 1 << 28
"""Bytes of a file, and of what its members unpack to."""
LARGEST_TEXT = 1 << 25
MOST_MEMBERS = 10_000
MOST_ENTRIES = 1_000_000
DEEPEST = 60
"""Nested lists and objects of JSON; a model has about 25."""
LONGEST_NPY_HEADER = 4_096
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)
"""What reading a broken archive can raise."""


class Unacceptable(ValueError):
    """What is wrong with the data, as the end of a sentence that begins with the file's name."""


def unpack(data: bytes) -> dict[str, bytes]:
    """All members of a zip archive, by name."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members)
            return {member.filename: archive.read(member) for member in members}
    except Unacceptable:
        raise
    except BROKEN as error:
        raise Unacceptable(f"is damaged: {_said(error)}") from error


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MOST_MEMBERS:
        raise Unacceptable(f"has {len(members)} members, more than the {MOST_MEMBERS} allowed")
    size = sum(member.file_size for member in members)
    if size > LARGEST:
        raise Unacceptable(
            f"unpacks to {size / 2**20:.0f} MiB, more than the {LARGEST >> 20} allowed"
        )
    if len({member.filename for member in members}) < len(members):
        raise Unacceptable("has two members of one name")
    for member in members:
        # Others (lzma) may ask for gigabytes of working memory before the first byte.
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unacceptable("is compressed in a way that no model file is")


def read_json(data: bytes) -> Any:
    """JSON, refused if it is too long, too deep or has too many entries."""
    if len(data) > LARGEST_TEXT:
        raise Unacceptable(f"has a description of {len(data) >> 20} MiB")
    bare = outside_strings(data)
    opened = (bare == ord("[")) | (bare == ord("{"))
    closed = (bare == ord("]")) | (bare == ord("}"))
    marks = opened.astype(np.int8)[opened | closed] * 2 - 1
    if np.cumsum(marks, dtype=np.int32).max(initial=0) > DEEPEST:
        raise Unacceptable(f"has a description nested more than {DEEPEST} deep")
    if len(marks) + np.count_nonzero(bare == ord(",")) > MOST_ENTRIES:
        raise Unacceptable(f"has a description of more than {MOST_ENTRIES} entries")
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise Unacceptable("is damaged: its description is not JSON") from error


def read_value(text: str) -> Any:
    """A single value of JSON: a model has hundreds, which need no measuring."""
    if text.lstrip()[:1] in ("[", "{"):
        raise Unacceptable("is damaged: a single value is expected where it has several")
    try:
        return json.loads(text)
    except ValueError as error:
        raise Unacceptable("is damaged: its description is not JSON") from error


def read_array(data: bytes) -> np.ndarray:
    """An array of numbers, truth values or text in NumPy's format, of exactly its size."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        header = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy warns of heads that lincent does not write
            shape, fortran, dtype = header[version[0]](stream, max_header_size=LONGEST_NPY_HEADER)
    except (ValueError, KeyError, TypeError, SyntaxError, EOFError, Warning) as error:
        raise Unacceptable("is damaged: it has an array without a readable head") from error
    rest = data[stream.tell() :]
    plain = dtype.kind in "biufU" and dtype.itemsize > 0 and dtype.subdtype is None
    sizes = len(shape) <= 8 and all(0 <= size <= LARGEST for size in shape)
    if not plain or not sizes or math.prod(shape) * dtype.itemsize != len(rest):
        raise Unacceptable(f"has an array of {dtype} whose size does not fit its shape {shape}")
    array = np.frombuffer(rest, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "U":
        _check_text(array)
    return array.copy()


def _check_text(array: np.ndarray) -> None:
    """Code points that are none make an interpreter error when they are read."""
    points = np.frombuffer(array.tobytes(), dtype=np.uint32)
    if array.dtype.byteorder == ">" or (points.size and points.max() > 0x10FFFF):
        raise Unacceptable("has text that is no text")


def _said(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
