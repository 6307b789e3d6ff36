"""Registry of the data sets: names, sizes, licences and checksums, and the tables they describe.

The values are third-party data and are not part of this package; their checksums are, so that a
table from any source is known to be the published one.  Two files can hold the same table in
different writing (``1`` and ``1.0``, other quotes, other line ends).  ``table_sha256`` is therefore
taken over a canonical text of the *parsed* values: one header row (feature names, then ``class``),
one line per sample, every number as the shortest decimal that gives back the same float64
(``repr``), the class name last, lines ended by one newline character.
"""

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lincent._files import read_toml

TARGET_COLUMN = "class"
DATA_VARIABLE = "LINCENT_DATA"
CACHE_VARIABLE = "LINCENT_CACHE"


class DatasetNotFoundError(FileNotFoundError):
    """The data set is known but not available: no folder, cache, package or server has it."""


class DatasetChecksumError(ValueError):
    """A table was read, but its values are not those of the published data set."""


@dataclass(frozen=True)
class Entry:
    """The fixed facts of one data set."""

    name: str
    title: str
    rows: int
    feature_names: Sequence[str]
    classes: dict[str, int]
    licence: str
    source: str
    description: str
    code: str = ""
    aliases: Sequence[str] = ()
    table_sha256: str = ""
    synthetic: bool = False
    sources: Sequence[dict[str, Any]] = ()

    @property
    def file(self) -> str:
        """Name of the file in a data folder."""
        return f"{self.name}.csv"


_REGISTRY = read_toml("lincent.paper.datasets", "registry.toml")
ENTRIES = {name: Entry(name=name, **facts) for name, facts in _REGISTRY.items()}
"""The data sets in the order in which they are listed."""


@dataclass(frozen=True, eq=False)
class DataTable:
    """Numbers and class names."""

    feature_names: tuple[str, ...]
    data: np.ndarray
    target: np.ndarray


def build_table(
    feature_names: Sequence[str],
    rows: Iterable[Sequence[str | float]],
    target: Iterable[str],
) -> DataTable:
    """Build a table from cells as text or numbers."""
    data = np.array(list(rows), dtype=np.float64)
    if data.ndim != 2:
        raise ValueError("there are no rows.")
    return DataTable(
        feature_names=tuple(feature_names),
        data=data + 0.0,  # no negative zeros: they would change the canonical text
        target=np.array(list(target), dtype=str),
    )


def parse_table(text: str) -> DataTable:
    """Read a table from CSV text with one header row whose last column is ``class``."""
    lines = [row for row in csv.reader(io.StringIO(text)) if row]
    if not lines or lines[0][-1] != TARGET_COLUMN:
        raise ValueError(f"the last column of the header is not '{TARGET_COLUMN}'.")
    header, body = lines[0], lines[1:]
    return build_table(header[:-1], [row[:-1] for row in body], [row[-1] for row in body])


def canonical_text(table: DataTable) -> str:
    """Write the table in the one form over which the checksum is taken."""
    lines = [",".join([*table.feature_names, TARGET_COLUMN])]
    for values, name in zip(table.data.tolist(), table.target.tolist(), strict=True):
        lines.append(",".join([*map(repr, values), name]))
    return "\n".join(lines) + "\n"


def checksum(text: str) -> str:
    """Return the sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def verify(table: DataTable, entry: Entry, place: str, advice: str) -> DataTable:
    """Return a table; raise DatasetChecksumError unless it has the published values."""
    if (found := checksum(canonical_text(table))) != entry.table_sha256:
        raise DatasetChecksumError(
            f"{place} does not hold the published values: expected sha256 {entry.table_sha256}, "
            f"got {found}; {advice}."
        )
    return table


def data_folder() -> Path | None:
    """Return the folder named by ``LINCENT_DATA``, or None where it is not set."""
    name = os.environ.get(DATA_VARIABLE)
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DatasetNotFoundError(
            f"{DATA_VARIABLE} names {str(folder)!r}, which is not a folder; "
            "correct or unset the variable."
        )
    return folder


def cache_folder() -> Path:
    """Return the folder in which downloaded tables are kept; it need not exist.

    Returns
    -------
    pathlib.Path
        ``LINCENT_CACHE`` where that is set, else ``~/.cache/lincent/datasets``.
    """
    return Path(os.environ.get(CACHE_VARIABLE) or "~/.cache/lincent/datasets").expanduser()
