"""Judges the columns of a user's table: number, category, identifier, text, constant, leak.

What is harmless is done and said (an identifier is left out); what would give a wrong or useless
answer stops with a sentence, unless the user has asked to skip bad columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lincent.study.files import RawTable, TableError
from lincent.study.problem import MAX_CATEGORIES, Problem

IDENTIFIER_SHARE = 0.95
TEXT_LENGTH = 40
NUMBER_SHARE = 0.8
MAX_CLASSES = 50
LEAK_AUC = 0.999
LEAST_ROWS_PER_CLASS = 4


@dataclass
class _Judgement:
    keep: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def table_problem(
    table: RawTable,
    target: str,
    *,
    group: str | None = None,
    drop: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    skip_bad_columns: bool = False,
) -> Problem:
    """Make a problem of a table, or raise a TableError that says what is wrong and where.

    Parameters
    ----------
    table : RawTable
    target : str
        Column with the classes.
    group : str or None
        Column whose equal values stay on one side of every split.
    drop : tuple of str
        Columns to leave out.
    keep : tuple of str
        Columns to use although they look like identifiers.
    skip_bad_columns : bool
        Leave out constant, text and very large category columns instead of stopping.
    """
    frame = table.frame
    for name, option in [(target, "--target"), (group, "--group"), *((n, "--drop") for n in drop)]:
        if name is not None:
            _check_present(table, name, option)
    y = _classes(table, target)
    groups = _groups(table, group, y)
    judgement = _Judgement()
    for position, name in enumerate(frame.columns):
        if name not in {target, group, *drop}:
            place = f"{table.path}: column {position + 1} ({name!r})"
            _judge(table, name, place, judgement, name in keep, skip_bad_columns)
    if not judgement.keep:
        raise TableError(
            f"{table.path}: no column is left to learn from beside the target (column "
            f"{_number(table, target)}, {target!r}); rows {table.row(0)} to "
            f"{table.row(len(frame) - 1)} were read."
        )
    X = _features(frame, judgement)
    notes = [*judgement.notes, *_leaks(X, judgement.categories, y), *_repeats(X, y)]
    return Problem(
        name=table.path.stem,
        X=X,
        y=y,
        groups=groups,
        categories=tuple(judgement.categories),
        notes=tuple(notes),
        left_out=tuple(n for n in frame.columns if n != target and n not in judgement.keep),
        title=f"{table.path.name}, target {target}",
        origin=table.path.name,
    )


def _check_present(table: RawTable, name: str, option: str) -> None:
    import difflib

    names = [str(column) for column in table.frame.columns]
    if name not in names:
        close = difflib.get_close_matches(name, names, 3, 0.5)
        hint = (
            f"did you mean {' or '.join(map(repr, close))}?"
            if close
            else (
                f"the columns are {', '.join(map(repr, names[:12]))}"
                + (f" and {len(names) - 12} more." if len(names) > 12 else ".")
            )
        )
        row = f"row {table.first_row - 1}" if table.first_row > 1 else "the schema"
        raise TableError(f"{table.path}: {row} has no column {name!r} ({option}): {hint}")


def _number(table: RawTable, name: str) -> int:
    return list(table.frame.columns).index(name) + 1


def _classes(table: RawTable, target: str) -> np.ndarray:
    column = table.frame[target]
    place = f"column {_number(table, target)} ({target!r})"
    empty = np.flatnonzero(column.isna().to_numpy())
    if len(empty) == len(column):
        raise TableError(
            f"{table.path}: rows {table.row(0)} to {table.row(len(column) - 1)}, {place}: every "
            "target cell is empty."
        )
    if len(empty):
        more = f" ({len(empty)} such rows)" if len(empty) > 1 else ""
        raise TableError(
            f"{table.path}: row {table.row(int(empty[0]))}, {place}: the target is missing{more}; "
            "fill it in or remove the row."
        )
    values = column.to_numpy()
    if np.issubdtype(values.dtype, np.floating) and (values == np.round(values)).all():
        values = values.astype(np.int64)
    y = np.asarray([str(value) for value in values])
    _check_classes(table, y, place)
    return y


def _check_classes(table: RawTable, y: np.ndarray, place: str) -> None:
    labels, counts = np.unique(y, return_counts=True)
    rows = f"rows {table.row(0)} to {table.row(len(y) - 1)}"
    if len(labels) == 1:
        raise TableError(
            f"{table.path}: {rows}, {place}: all {len(y)} targets are {labels[0][:60]!r}; a "
            "comparison needs two classes."
        )
    if len(labels) > MAX_CLASSES or len(labels) > len(y) / 2:
        raise TableError(
            f"{table.path}: {rows}, {place}: {len(labels)} different targets in {len(y)} rows are "
            f"no classes (at most {MAX_CLASSES}); choose another --target."
        )
    rare = labels[counts < LEAST_ROWS_PER_CLASS]
    if len(rare):
        position = int(np.flatnonzero(y == rare[0])[0])
        raise TableError(
            f"{table.path}: row {table.row(position)}, {place}: the class {rare[0][:60]!r} has "
            f"{counts.min()} rows; a split needs {LEAST_ROWS_PER_CLASS} of each class."
        )


def _groups(table: RawTable, group: str | None, y: np.ndarray) -> np.ndarray | None:
    if group is None:
        return None
    column = table.frame[group]
    place = f"column {_number(table, group)} ({group!r})"
    empty = np.flatnonzero(column.isna().to_numpy())
    if len(empty):
        raise TableError(
            f"{table.path}: row {table.row(int(empty[0]))}, {place}: the group is missing."
        )
    groups = np.asarray([str(value) for value in column])
    for label in np.unique(y):
        if len(np.unique(groups[y == label])) < 2:
            position = int(np.flatnonzero(y == label)[0])
            raise TableError(
                f"{table.path}: row {table.row(position)}, {place}: the class {label!r} occurs in "
                "one group only, so no split by group can both train and test it."
            )
    return groups


def _judge(
    table: RawTable,
    name: str,
    place: str,
    judgement: _Judgement,
    wanted: bool,
    skip_bad_columns: bool,
) -> None:
    """Sort one column into numbers or categories, leave it out with a note, or stop."""
    column = table.frame[name]
    kind, sentence = _kind(table, column, place)
    if kind == "bad":
        if not skip_bad_columns:
            raise TableError(sentence + " Leave it out with --drop, or pass --skip-bad-columns.")
        judgement.notes.append(sentence + " It is left out.")
    elif kind == "identifier" and not wanted:
        judgement.notes.append(sentence)
    else:
        judgement.keep.append(name)
        if kind == "category" or (kind == "identifier" and not _is_number(column)):
            judgement.categories.append(name)


def _kind(table: RawTable, column: Any, place: str) -> tuple[str, str]:
    present = column.dropna()
    rows = f"rows {table.row(0)} to {table.row(len(column) - 1)}"
    distinct = int(present.nunique())
    if len(present) == 0:
        return "bad", f"{place}: every cell in {rows} is empty, so it tells nothing."
    if distinct == 1:
        value = str(present.iloc[0])[:60]
        if len(present) == len(column):
            return "bad", f"{place}: it is {value!r} in all {rows}, so it tells nothing."
        return "category", ""  # present or missing is itself a fact
    if _is_number(column):
        return _number_kind(column, place, distinct)
    return _text_kind(table, present, place, distinct)


def _is_number(column: Any) -> bool:
    from pandas.api import types

    return bool(types.is_numeric_dtype(column) or types.is_bool_dtype(column))


def _number_kind(column: Any, place: str, distinct: int) -> tuple[str, str]:
    from pandas.api import types

    if types.is_bool_dtype(column) or not types.is_integer_dtype(column):
        return "number", ""
    steps = np.diff(column.to_numpy())
    if distinct == len(column) and len(column) > 20 and (np.all(steps == 1) or np.all(steps == -1)):
        return "identifier", (
            f"{place} counts the rows one by one and looks like an identifier; it is left out "
            "(--keep uses it)."
        )
    return "number", ""


def _text_kind(table: RawTable, present: Any, place: str, distinct: int) -> tuple[str, str]:
    import pandas

    text = present.astype(str)
    numbers = pandas.to_numeric(text, errors="coerce")
    share = float(numbers.notna().mean())
    if NUMBER_SHARE <= share < 1:
        first = int(present.index[numbers.isna().to_numpy()][0])
        value = str(present.loc[first])[:60]
        raise TableError(
            f"{place}, row {table.row(first)}: {value!r} is not a number, and "
            f"{100 * share:.1f} % of this column are; correct the cell, or leave the column out "
            "with --drop."
        )
    length = float(text.str.len().mean())
    first_row = table.row(int(present.index[0]))
    if length > TEXT_LENGTH and distinct > 20:
        return "bad", (
            f"{place}: from row {first_row} on it holds free text ({distinct} different cells, "
            f"{length:.0f} characters on average), which is no category."
        )
    if distinct > IDENTIFIER_SHARE * len(present) and len(present) > 20:
        return "identifier", (
            f"{place} has a different value in nearly every row ({distinct} of {len(present)}) and "
            "looks like an identifier; it is left out (--keep uses it)."
        )
    if distinct > MAX_CATEGORIES:
        return "bad", (
            f"{place}: from row {first_row} on it holds {distinct} different categories, more than "
            f"{MAX_CATEGORIES}."
        )
    return "category", ""


def _features(frame: Any, judgement: _Judgement) -> Any:
    import pandas

    columns = {}
    for name in judgement.keep:
        if name in judgement.categories:
            filled = frame[name].astype(object).where(frame[name].notna(), "(missing)")
            columns[name] = filled.map(str).astype(object)
        else:
            columns[name] = frame[name].astype("float64")
    return pandas.DataFrame(columns)


def _leaks(X: Any, categories: list[str], y: np.ndarray) -> list[str]:
    """Name columns that tell the class nearly alone."""
    from sklearn.metrics import roc_auc_score

    labels, codes = np.unique(y, return_inverse=True)
    notes = []
    for name in X.columns:
        if name in categories:
            counts = X[name].groupby(X[name].to_numpy()).size()
            purity = _purity(X[name].to_numpy(), codes)
            if purity >= LEAK_AUC and len(counts) < len(y) / 2:
                notes.append(_leak(name, f"its categories tell the class in {100 * purity:.1f} % "))
            continue
        values = X[name].to_numpy()
        known = np.isfinite(values)
        for k in range(len(labels) if len(labels) > 2 else 1):
            own = codes[known] == k
            if own.any() and not own.all():
                auc = roc_auc_score(own, values[known])
                if max(auc, 1 - auc) >= LEAK_AUC:
                    notes.append(_leak(name, f"alone it separates {labels[k]!r} in nearly all "))
                    break
    return notes


def _leak(name: str, what: str) -> str:
    return (
        f"Column {name!r} may be a leak: {what}of the rows. Is it known before the class is? If "
        "not, leave it out with --drop."
    )


def _purity(values: np.ndarray, codes: np.ndarray) -> float:
    import pandas

    table = pandas.crosstab(values, codes).to_numpy()
    return float(table.max(axis=1).sum() / table.sum())


def _repeats(X: Any, y: np.ndarray) -> list[str]:
    double = int(X.assign(**{"\0class": y}).duplicated().sum())
    if double == 0:
        return []
    return [
        f"{double} of {len(y)} rows repeat an earlier row; copies that fall on both sides of a "
        "split make every test score look better."
    ]


def with_name(problem: Problem, name: str) -> Problem:
    """Return the same problem under another name."""
    return replace(problem, name=name)
