"""Judges a table: what each column is, whether it is learned from, and why not.

Identifiers, constants, free text, dates and leaks are left out and named; the user's word overrules
(``keep``, ``roles``, ``dates``, ``text``).  `fit` and `compare` both ask here, so they agree.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lincent._errors import nearest
from lincent._marks import unused_mark
from lincent.tables.columns import (
    CONSTANT,
    IDENTIFIER,
    LEAK,
    ColumnVerdict,
    judge_column,
    marks_sentence,
)
from lincent.tables.convert import (
    is_text,
    plain_array,
    text_to_numbers,
    to_frame,
    without_words,
    words_of,
)
from lincent.tables.errors import TableError, arrow
from lincent.tables.leaks import gives_away, repeated_rows
from lincent.tables.read import UserTable
from lincent.tables.schema import CATEGORY, DATE, NUMBER, TEXT, Column, Schema
from lincent.tables.target import check_target_classes, read_groups, read_labels

DROP = "drop"
ROLES = (NUMBER, CATEGORY, TEXT, DATE, IDENTIFIER, DROP)
"""What a user may call a column."""
MOST_WORDS, LEAST_WORD_SHARE, MOST_WORD_SHARE = 100, 0.01, 0.5
"""Words of a free text that become columns."""
LEFT_OUT, TARGET, GROUP = "left out", "target", "group"


@dataclass(frozen=True)
class Wishes:
    """What the user says about columns.

    Attributes
    ----------
    drop, ids : tuple of str
        Columns to leave out; columns that identify a row.
    keep : tuple of str
        Columns to use whatever they look like.
    roles : dict
        ``{column: role}``, one of number, category, text, date, identifier, drop.
    dates, text : bool
        Use columns of dates, of free text.
    group : str or None
        Rows with equal values in this column belong together.
    """

    drop: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    roles: dict[str, str] = field(default_factory=dict)
    dates: bool = False
    text: bool = False
    group: str | None = None


NO_WISHES = Wishes()
KEEP = "--keep"


@dataclass(frozen=True)
class JudgedColumn:
    """One column of the table: its role, how it is used ("" if not), and what is said of it."""

    name: str
    place: int
    role: str
    kind: str
    why: str = ""
    hint: str = KEEP

    @property
    def sentence(self) -> str:
        """What the user is told; nothing of a column that is simply used or was dropped."""
        if not self.why:
            return ""
        said = f"column {self.place} ({self.name!r})"
        if self.kind:
            return f"{said}: {self.why}."
        hint = f"--keep {shlex.quote(self.name)}" if self.hint == KEEP else self.hint
        return f"{said} is left out as {self.role}: {self.why} ({hint} uses it)."


@dataclass(frozen=True)
class Understood:
    """A table with its columns judged, ready to be learned from."""

    table: UserTable = field(repr=False)
    schema: Schema = field(repr=False)
    columns: tuple[JudgedColumn, ...]
    frame: Any = field(repr=False)
    labels: np.ndarray = field(repr=False)
    groups: np.ndarray | None = field(repr=False)
    remarks: tuple[str, ...]

    @property
    def roles(self) -> dict[str, str]:
        return {column.name: column.role for column in self.columns}

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns if not c.kind and c.role != TARGET)


def understand(
    table: UserTable, target: str, wishes: Wishes = NO_WISHES, *, least: int = 1
) -> Understood:
    """Judge a table; ``least`` rows are needed of each class."""
    _check_wishes(table, target, wishes)
    labels = read_labels(table, target)
    remarks = [*table.remarks, *check_target_classes(table, target, labels, least)]
    groups = read_groups(table, wishes.group, labels) if wishes.group else None
    verdicts = {
        name: _verdict(table, name, wishes)
        for name in table.data.column_names
        if name not in (target, wishes.group)
    }
    columns = _columns(table, target, wishes, verdicts)
    schema = _schema(table, target, columns, verdicts)
    frame = to_frame(schema, table)
    columns, schema = _without_leaks(columns, schema, frame, labels, wishes)
    frame = frame[[name for c in schema.columns for name in c.inputs]]
    remarks += [column.sentence for column in columns if column.sentence]
    double = repeated_rows(frame, labels)
    if double:
        remarks.append(
            f"{double} of {len(labels)} rows repeat an earlier row; copies that fall on both sides "
            "of a split make every test score look better."
        )
    return Understood(table, schema, tuple(columns), frame, labels, groups, tuple(remarks))


def _check_wishes(table: UserTable, target: str, wishes: Wishes) -> None:
    names = table.data.column_names
    said = [(target, "--target"), *((name, "--drop") for name in wishes.drop)]
    said += [*((name, "--id") for name in wishes.ids), *((n, "--keep") for n in wishes.keep)]
    said += [(name, "--role") for name in wishes.roles]
    said += [(wishes.group, "--group")] if wishes.group else []
    for name, option in said:
        if name not in names:
            raise TableError(f"{table.name} has no column {name!r} ({option}): "
                             f"{nearest(name, names)}")  # fmt: skip
        if name == target and option != "--target":
            raise TableError(f"The column {name!r} is the target and cannot be {option} as well.")
    for name, role in wishes.roles.items():
        if role not in ROLES:
            raise TableError(f"--role {name}={role}: the role is one of {', '.join(ROLES)}.")


def _verdict(table: UserTable, name: str, wishes: Wishes) -> ColumnVerdict:
    values = table.data.column(name)
    found = judge_column(name, values, table.decimal)
    role = wishes.roles.get(name)
    if name in wishes.drop or role == DROP:
        return ColumnVerdict(LEFT_OUT, "", "")
    if name in wishes.ids or role == IDENTIFIER:
        return ColumnVerdict(IDENTIFIER, "", "")
    if role == NUMBER and found.kind not in (NUMBER, "flag"):
        return _forced_number(table, name)
    if role == DATE and found.kind != DATE:
        raise TableError(f"The column {name!r} (--role) holds no dates in a form that is known.")
    if role is not None:
        return replace(found, role=role, kind=role)
    if not found.kind:
        return found
    used = name in wishes.keep or (found.role == found.kind and found.role not in (DATE, TEXT))
    used = used or (found.role == DATE and wishes.dates) or (found.kind == TEXT and wishes.text)
    return found if used else replace(found, kind="", asked=found.kind)


def _forced_number(table: UserTable, name: str) -> ColumnVerdict:
    values = plain_array(table.data.column(name))
    if is_text(values.type):
        numbers, bad = text_to_numbers(values, table.decimal)
        if np.isfinite(numbers).any():
            strange = values.filter(arrow().array(bad)).to_pylist()
            return ColumnVerdict(
                NUMBER, NUMBER, marks=tuple(sorted({cell.strip() for cell in strange}))
            )
    raise TableError(f"The column {name!r} (--role) holds {values.type} without a number in it.")


def _columns(
    table: UserTable, target: str, wishes: Wishes, verdicts: dict[str, ColumnVerdict]
) -> list[JudgedColumn]:
    found = []
    for place, name in enumerate(table.data.column_names, 1):
        if name in (target, wishes.group):
            found.append(JudgedColumn(name, place, TARGET if name == target else GROUP, ""))
            continue
        verdict = verdicts[name]
        why = marks_sentence(verdict.marks) if verdict.kind and verdict.marks else ""
        why = why if verdict.kind else verdict.why
        hint = {DATE: "--dates", TEXT: "--text"}.get(verdict.asked, "--keep")
        found.append(JudgedColumn(name, place, verdict.role, verdict.kind, why, hint))
    return found


def _schema(
    table: UserTable, target: str, columns: list[JudgedColumn], verdicts: dict[str, ColumnVerdict]
) -> Schema:
    used = [column for column in columns if column.kind]
    if not used:
        reasons = "; ".join(c.sentence.rstrip(".") for c in columns if c.sentence)
        raise TableError(
            f"{table.name} has no column beside the target {target!r} to learn from"
            + (f": {reasons}." if reasons else ".")
        )
    texts = {c.name: _values(table, c.name) for c in used if c.kind == CATEGORY}
    mark = unused_mark(value for values, _ in texts.values() for value in values)
    made = []
    for column in used:
        verdict = verdicts[column.name]
        kind = str(plain_array(table.data.column(column.name)).type)
        categories: tuple[str, ...] = ()
        if column.kind == CATEGORY:
            values, gaps = texts[column.name]
            categories = tuple(sorted([*values, mark] if gaps else values))
        elif column.kind == TEXT:
            categories = _usual_words(table, column.name)
        made.append(
            Column(column.name, column.kind, kind, categories, verdict.marks, verdict.form,
                   verdict.detail)
        )  # fmt: skip
    ids = tuple(c.name for c in columns if c.role == IDENTIFIER and not c.kind)
    target_type = str(table.data.schema.field(target).type)
    return Schema(tuple(made), target, target_type, ids, mark)


def _values(table: UserTable, name: str) -> tuple[list[str], bool]:
    """The different values of a category, and whether any cell is missing."""
    text = without_words(plain_array(table.data.column(name)))
    return text.drop_null().unique().to_pylist(), bool(text.null_count)


def _usual_words(table: UserTable, name: str) -> tuple[str, ...]:
    """The most frequent words of a text, without those that most rows or next to none have."""
    cells = plain_array(table.data.column(name)).cast(arrow().string()).to_pylist()
    counts = Counter(word for cell in cells for word in words_of(cell))
    least, most = max(2.0, LEAST_WORD_SHARE * len(cells)), MOST_WORD_SHARE * len(cells)
    usual = [word for word, count in counts.most_common() if least <= count <= most]
    if not usual:
        raise TableError(
            f"The column {name!r} (--text) has no word that between {100 * LEAST_WORD_SHARE:g} % "
            f"and {100 * MOST_WORD_SHARE:g} % of the rows share: leave it out with --drop."
        )
    return tuple(usual[:MOST_WORDS])


def _without_leaks(
    columns: list[JudgedColumn], schema: Schema, frame: Any, labels: np.ndarray, wishes: Wishes
) -> tuple[list[JudgedColumn], Schema]:
    """Leave out the columns that give the answer away, unless nothing else is there."""
    codes = np.unique(labels, return_inverse=True)[1]
    told = {
        column.name
        for column in schema.columns
        if column.kind != TEXT
        and any(
            gives_away(frame[name].to_numpy(), codes, numeric=column.kind != CATEGORY)
            for name in column.inputs
        )
    }
    wanted = {*wishes.keep, *wishes.roles}
    left = told - wanted
    if left == set(schema.names):
        left = set()
    found = [
        replace(
            column,
            role=LEAK if column.name in left else column.role,
            kind="" if column.name in left else column.kind,
            why="alone it tells the class of nearly every row, as if it were noted afterwards",
        )
        if column.name in told
        else column
        for column in columns
    ]
    kept = tuple(column for column in schema.columns if column.name not in left)
    return found, replace(schema, columns=kept)


__all__ = [
    "CONSTANT", "DROP", "GROUP", "IDENTIFIER", "LEAK", "LEFT_OUT", "ROLES", "TARGET",
    "JudgedColumn", "Understood", "Wishes", "understand",
]  # fmt: skip
