"""A table of values and class names, its canonical text and its checksum.

Two files can hold the same table in different writing (``1`` and ``1.0``, other quotes, other line
ends). The checksum is therefore taken over a canonical text of the *parsed* values: one header row
(feature names, then ``class``), one line per row, every number as the shortest decimal that gives
back the same float64 (``repr``), a missing value as nothing, the class name last, line ends of one
newline character. Whoever delivers the same values in the same order passes; one changed digit
does not.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

TARGET_COLUMN = "class"


@dataclass(frozen=True, eq=False)
class DataTable:
    """Numbers, class names and, where the rows belong together, the group of each row."""

    feature_names: tuple[str, ...]
    data: np.ndarray
    target: np.ndarray
    groups: np.ndarray | None = field(default=None)

    def __post_init__(self) -> None:
        rows, columns = self.data.shape
        if columns != len(self.feature_names) or rows != len(self.target):
            raise ValueError(
                f"{rows} x {columns} values do not fit {len(self.feature_names)} feature names "
                f"and {len(self.target)} class names."
            )
        if self.groups is not None and len(self.groups) != rows:
            raise ValueError(f"{len(self.groups)} group names do not fit {rows} rows.")


def build_table(
    feature_names: Sequence[str],
    rows: Iterable[Sequence[str | float]],
    target: Iterable[str],
    groups: Iterable[str] | None = None,
) -> DataTable:
    """Make a table from cells as text or numbers; an empty cell, ``?`` or ``NA`` is missing."""
    data = np.array([[_number(cell) for cell in row] for row in rows], dtype=np.float64)
    if data.ndim != 2:
        raise ValueError("the rows are empty or of unequal length.")
    return DataTable(
        feature_names=tuple(feature_names),
        data=data + 0.0,  # no negative zeros: they would change the canonical text
        target=np.array(list(target), dtype=str),
        groups=None if groups is None else np.array(list(groups), dtype=str),
    )


def _number(cell: str | float) -> float:
    if isinstance(cell, str) and cell.strip() in {"", "?", "NA"}:
        return np.nan
    return float(cell)


def parse_table(text: str, groups: Iterable[str] | None = None) -> DataTable:
    """Read a table from CSV text with one header row whose last column is ``class``."""
    lines = [row for row in csv.reader(io.StringIO(text)) if row]
    if not lines or lines[0][-1] != TARGET_COLUMN:
        raise ValueError(f"the last column of the header is not '{TARGET_COLUMN}'.")
    header, body = lines[0], lines[1:]
    return build_table(header[:-1], [row[:-1] for row in body], [row[-1] for row in body], groups)


def canonical_text(table: DataTable) -> str:
    """Write the table in the one form over which the checksum is taken."""
    lines = [",".join([*table.feature_names, TARGET_COLUMN])]
    for values, name in zip(table.data.tolist(), table.target.tolist(), strict=True):
        cells = ["" if value != value else repr(value) for value in values]  # NaN differs from NaN
        lines.append(",".join([*cells, name]))
    return "\n".join(lines) + "\n"


def table_checksum(table: DataTable) -> str:
    """Return the sha256 of the canonical text."""
    return text_checksum(canonical_text(table))


def groups_text(groups: Iterable[str]) -> str:
    """Write the groups as a CSV of one column."""
    return "\n".join(["subject", *groups]) + "\n"


def parse_groups(text: str) -> list[str]:
    """Read the column ``subject`` of a CSV text."""
    return [row["subject"] for row in csv.DictReader(io.StringIO(text))]


def text_checksum(text: str) -> str:
    """Return the sha256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
