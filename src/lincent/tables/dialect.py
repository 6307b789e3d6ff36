"""How a text table is written: its encoding, its separator and its decimal mark.

What the user says stands; the rest is found in the first rows.  The separator is the mark that cuts
most rows into the same number of cells as the header, more cells before fewer.  The decimal mark is
a comma where more cells read 1,5 than 1.5.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from lincent.tables.errors import TableError

SEPARATORS = (",", ";", "\t", "|", "^", "~")
NAMED_SEPARATORS = {
    "comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " ",
}  # fmt: skip
SAMPLE_BYTES = 1 << 18
SAMPLE_ROWS = 200
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """Encoding (a codec of Python), separator and decimal mark."""

    encoding: str = "utf-8"
    separator: str = ","
    decimal: str = "."


def find_dialect(
    data: bytes,
    name: str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Dialect:
    """The dialect of a text table, or of its beginning; ``name`` is what an error calls it."""
    codec = _codec(encoding, name) if encoding else find_encoding(data)
    text = codecs.getincrementaldecoder(codec)("replace").decode(data[:SAMPLE_BYTES])
    if "\0" in text:
        raise TableError(f"{name} is no table that can be read: it holds the byte 0x00.")
    if separator is None:
        separator = find_separator(text)
    else:
        separator = NAMED_SEPARATORS.get(separator, separator)
        if len(separator) != 1:
            raise TableError(f"The separator {separator!r} (--sep) is not one character.")
    if decimal is None:
        decimal = find_decimal(text, separator)
    elif decimal not in (".", ","):
        raise TableError(f"The decimal mark {decimal!r} (--decimal) is neither '.' nor ','.")
    elif decimal == separator:
        raise TableError(f"--sep and --decimal are both {decimal!r}: a cell would never end.")
    return Dialect(codec, separator, decimal)


def _codec(encoding: str, name: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError as error:
        raise TableError(
            f"The encoding {encoding!r} (--encoding) of {name} is not known: try utf-8, latin-1 or "
            "utf-16."
        ) from error


def find_encoding(data: bytes) -> str:
    """UTF-8 where the bytes are, what the first bytes say, or else Western European."""
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return codec
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        try:
            data.decode("cp1252")
        except UnicodeDecodeError:
            return "latin-1"
        return "cp1252"
    return "utf-8"


def records(text: str | Iterable[str], separator: str, count: int = SAMPLE_ROWS) -> list[list[str]]:
    """The first rows, of a text or its lines, as lists of cells; the last may be cut short."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    rows = csv.reader(lines, delimiter=separator)
    found: list[list[str]] = []
    try:
        for row in rows:
            if row:
                found.append(row)
            if len(found) == count:
                break
    except csv.Error:
        pass
    return found


def find_separator(text: str) -> str:
    """The mark that cuts the most rows like the header."""
    best, most = ",", (0.0, 0)
    for mark in SEPARATORS:
        rows = records(text, mark)
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        # The last row of a sample may be incomplete.
        body = rows[1:-1] or rows[1:]
        alike = sum(len(row) == width for row in body) / len(body) if body else 1.0
        if (alike, width) > most:
            best, most = mark, (alike, width)
    return best


def find_decimal(text: str, separator: str) -> str:
    """A comma where the cells say so."""
    if separator == ",":
        return "."
    cells = [cell for row in records(text, separator)[1:] for cell in row]
    commas = sum(bool(_COMMA.fullmatch(cell)) for cell in cells)
    points = sum(bool(_POINT.fullmatch(cell)) for cell in cells)
    return "," if commas > points else "."
