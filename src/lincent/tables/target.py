"""The target column: classes, or a sentence why these are none; and groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.tables.convert import is_text, plain_array, text_to_numbers, without_words
from lincent.tables.errors import TableError, arrow
from lincent.tables.read import MISSING_WORDS, UserTable

MOST_CLASSES = 100
LARGEST_WHOLE = 2.0**53
"""Above it not every whole number has a float of its own."""


def place_of(table: UserTable, name: str) -> str:
    """Number and name of a column, for a sentence."""
    return f"column {table.data.schema.names.index(name) + 1} ({name!r})"


def read_labels(table: UserTable, target: str) -> np.ndarray:
    """The target column as text, true/false or whole numbers."""
    pa = arrow()
    values = plain_array(table.data.column(target))
    if is_text(values.type):
        return _text_labels(table, target, values)
    _check_present(table, target, np.asarray(values.is_null()))
    if pa.types.is_boolean(values.type) or pa.types.is_integer(values.type):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if pa.types.is_floating(values.type):
        numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
        if _whole(numbers):
            return numbers.astype(np.int64)
    raise _no_classes(table, target, values.type)


def _text_labels(table: UserTable, target: str, values: Any) -> np.ndarray:
    """Cells of a text file: numbers where all are, else classes by their names.

    ``NA`` beside numbers is a missing number; beside other names it is a name like them.
    """
    pa = arrow()
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(values.cast(pa.string()))
    distinct = pc.dictionary_encode(text, null_encoding="encode")  # few, where these are classes
    text, codes = distinct.dictionary, np.asarray(distinct.indices)
    blank = np.asarray(pc.fill_null(pc.equal(text, ""), True))
    numbers, bad = text_to_numbers(text, table.decimal)
    known = ~np.isnan(numbers)
    if known.any() and not bad.any():
        _check_present(table, target, ~known[codes])
        if _whole(numbers):
            return np.asarray(numbers.astype(np.int64)[codes])
        raise _no_classes(table, target, "numbers with fractions")
    _check_present(table, target, blank[codes])
    labels = np.array(text.to_pylist(), dtype=str)
    if {label.lower() for label in labels} <= {"true", "false"}:
        labels = np.char.lower(labels) == "true"
    return np.asarray(labels[codes])


def _whole(numbers: np.ndarray) -> bool:
    return bool(
        np.all(np.isfinite(numbers))
        and np.all(np.abs(numbers) < LARGEST_WHOLE)
        and np.all(numbers == np.floor(numbers))
    )


def _check_present(table: UserTable, target: str, empty: np.ndarray) -> None:
    rows = np.flatnonzero(empty)
    if len(rows):
        more = f" ({len(rows)} such rows)" if len(rows) > 1 else ""
        raise TableError(
            f"{table.name}: row {table.row(int(rows[0]))}, {place_of(table, target)}: the target "
            f"is missing{more}; fill it in or remove the row."
        )


def _no_classes(table: UserTable, target: str, what: Any) -> TableError:
    return TableError(
        f"{table.name}: {place_of(table, target)} holds {what}, not classes: give a --target of "
        "text, true/false or whole numbers."
    )


def check_target_classes(
    table: UserTable, target: str, labels: np.ndarray, least: int = 1
) -> list[str]:
    """Refuse what is no classification; returns what a person should know of the classes."""
    classes, counts = np.unique(labels, return_counts=True)
    where = f"{table.name}: {place_of(table, target)}"
    if len(classes) == 1:
        raise TableError(
            f"{where}: all {len(labels)} rows have one class ({str(classes[0])[:60]}); a "
            "classifier needs rows of at least two."
        )
    if len(classes) > MOST_CLASSES or (len(labels) > 20 and len(classes) > len(labels) / 2):
        raise TableError(
            f"{where}: {len(classes)} different values in {len(labels)} rows are no classes (at "
            f"most {MOST_CLASSES}); choose another --target."
        )
    if counts.min() < least:
        rare = classes[counts.argmin()]
        row = table.row(int(np.flatnonzero(labels == rare)[0]))
        raise TableError(
            f"{where}, row {row}: the class {str(rare)[:60]!r} has {counts.min()} rows; a split "
            f"needs {least} of each class."
        )
    if labels.dtype.kind != "U":
        return []
    return [
        f"{place_of(table, target)} has a class {str(name)!r} ({count} rows): if it means missing, "
        "remove these rows."
        for name, count in zip(classes, counts, strict=True)
        if str(name) in MISSING_WORDS
    ]


def read_groups(table: UserTable, group: str, labels: np.ndarray) -> np.ndarray:
    """The group of every row as text; rows of one group stay on one side of every split."""
    values = plain_array(table.data.column(group)).cast(arrow().string())
    empty = np.flatnonzero(np.asarray(without_words(values).is_null()))
    place = place_of(table, group)
    if len(empty):
        raise TableError(
            f"{table.name}: row {table.row(int(empty[0]))}, {place}: the group is missing."
        )
    groups = np.array(values.to_pylist(), dtype=str)
    for label in np.unique(labels):
        if len(np.unique(groups[labels == label])) < 2:
            row = table.row(int(np.flatnonzero(labels == label)[0]))
            raise TableError(
                f"{table.name}: row {row}, {place}: the class {str(label)!r} occurs in one group "
                "only, so no split by group can both train and test it."
            )
    return groups
