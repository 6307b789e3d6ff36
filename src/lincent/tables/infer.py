"""Infer the schema of a table: the type of each column and whether it is used as a feature.

Identifiers, constants, free text, dates and columns that leak the target are dropped with a reason;
the options of the user take precedence (``keep``, ``roles``, ``dates``).

A column of whole numbers is an identifier where no two are equal although some would be by chance:
n draws from a range of R numbers are all different with a probability of about exp(-n^2 / 2R), and
where that is below e^-20 the column counts the rows, whatever its name.

A column leaks the target where it alone determines the class of nearly every row: by its order (two
classes), by splitting it into as many intervals as there are classes, by its categories, or by
where it is missing.  A category that occurs once determines only itself and counts as wrong.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.tree import DecisionTreeClassifier

from lincent._errors import listed, nearest
from lincent.tables.formats import TableError, pa, pc, pd
from lincent.tables.read import MISSING_TOKENS, UserTable, read_table
from lincent.tables.schema import (
    CATEGORY,
    DATE,
    FLAG,
    NUMBER,
    THOUSANDS,
    Column,
    OddCells,
    Schema,
    is_date,
    is_number,
    is_text,
    plain_array,
    text_to_numbers,
    to_frame,
    with_nulls,
)

IDENTIFIER, CONSTANT, LEAK, TEXT = "identifier", "constant", "leak", "text"
LEFT_OUT, TARGET, GROUP = "left out", "target", "group"
ROLES = (NUMBER, CATEGORY, DATE)
MOST_CATEGORIES = 200
MOST_CLASSES = 100
LONG_NAME, LONGEST_CLASS = 64, 1_000  # characters
LEAST_ROWS = 20  # too few rows to recognize identifiers or free text
NUMBER_FRACTION, MOST_MARKS = 0.8, 10  # numbers, and tokens for missing, in a column of numbers
IDENTIFIER_FRACTION = 0.95
TEXT_LENGTH, TEXT_WORDS = 40, 4
LONG_CELL, SOME_CELLS = 64, 1_000  # bytes of a cell that is no number, cells that are trimmed first
LEAK_SCORE, LEAK_ROWS, LEAK_CLASS_ROWS = 0.999, 30, 5  # fewer rows may be separable by chance
DATE_FORMS = tuple(
    day + time
    for time in ("", " %H:%M", " %H:%M:%S")
    for day in ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y/%m/%d", "%d.%m.%y")
)
_ID_NAME = re.compile(r"(^|[_\W])(?i:id|uuid|guid|key|index|no|nr)$|(?<=[a-z])I[dD]$")
_PADDED = re.compile(r"0\d{3,}")
_LEADING_ZERO = r"^[+-]?0\d"


@dataclass(frozen=True)
class ColumnOptions:
    """What the user says about columns.

    Attributes
    ----------
    drop, ids : tuple of str
        Columns to leave out; columns that identify a row.
    keep : tuple of str
        Columns to use whatever they look like.
    roles : dict
        ``{column: role}``, one of number, category, date: columns to use as such.
    group : str or None
        Rows with equal values in this column belong together.
    """

    drop: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    roles: dict[str, str] = field(default_factory=dict)
    group: str | None = None


DEFAULT_OPTIONS = ColumnOptions()


@dataclass(frozen=True)
class ColumnReport:
    """What a column of the table holds, how it is used and why not.

    Attributes
    ----------
    role, kind : str
        What the column is, and the kind as which it is used ("" if it is left out).
    reason : str
        Why it is left out, or a note on its cells.
    marks, form, thousands
        As in `Column`.
    example : str
        A number whose thousands are separated; in other columns, if most of their cells are
        numbers, one that is not.
    name, position
        The column, counted from 1.
    """

    role: str
    kind: str = ""
    reason: str = ""
    marks: tuple[str, ...] = ()
    form: str = ""
    thousands: bool = True
    example: str = ""
    name: str = ""
    position: int = 0

    @property
    def message(self) -> str:
        """The warning about the column; empty where it is used without comment or was dropped."""
        if not self.reason:
            return ""
        column = f"column {self.position} ({self.name!r})"
        if self.kind:
            return f"{column}: {self.reason}."
        hint = f"--keep {shlex.quote(self.name)} uses it"
        return f"{column} is left out as {self.role}: {self.reason} ({hint})."


@dataclass(frozen=True)
class PreparedTable:
    """A table with its schema, as features, labels, row hashes and groups ready for training."""

    table: UserTable = field(repr=False)
    schema: Schema = field(repr=False)
    columns: tuple[ColumnReport, ...]
    frame: Any = field(repr=False)
    labels: np.ndarray = field(repr=False)
    hashes: np.ndarray = field(repr=False)
    groups: np.ndarray | None = field(repr=False)
    warnings: tuple[str, ...]

    def take(self, rows: np.ndarray) -> PreparedTable:
        """Return some of the rows."""
        taken: dict[str, Any] = {"labels": self.labels[rows], "hashes": self.hashes[rows]}
        taken["groups"] = None if self.groups is None else self.groups[rows]
        return replace(self, table=self.table.take(rows), frame=self.frame.iloc[rows], **taken)

    @property
    def roles(self) -> dict[str, str]:
        return {column.name: column.role for column in self.columns}


def infer_schema(
    table: UserTable,
    target: str,
    options: ColumnOptions = DEFAULT_OPTIONS,
    *,
    least: int = 1,
    strict: bool = False,
) -> PreparedTable:
    """Infer the schema of a table and prepare it for training.

    ``least`` rows of each class are required.  Rows without a class and cells without a number are
    an error if ``strict``.
    """
    _check_options(table, target, options)
    odd = OddCells(strict)
    table, labels = labeled_rows(table, target, strict)
    warnings = [*table.warnings, *check_classes(table, target, labels, least)]
    groups = read_groups(table, options.group, labels) if options.group else None
    reports, schema, frame = _infer_columns(table, target, labels, options, odd)
    warnings += odd.messages + [report.message for report in reports if report.message]
    hashes = hash_rows(frame, labels)
    duplicates = len(labels) - len(np.unique(hashes))
    if duplicates:
        warnings.append(
            f"{duplicates} of {len(labels)} rows repeat an earlier row; equal rows stay on one "
            "side of every split."
        )
    pa.default_memory_pool().release_unused()  # else it keeps that of columns that were text
    columns = tuple(reports)
    return PreparedTable(table, schema, columns, frame, labels, hashes, groups, tuple(warnings))


def columns_left_out(data: Any, labels: np.ndarray, keep: Iterable[str] = ()) -> dict[str, str]:
    """Return the columns of a frame that ``lincent fit`` does not learn from, with the reasons.

    There are none where no other column is left, where the frame holds what tables do not, or
    without pyarrow.
    """
    options = ColumnOptions(keep=tuple(keep))
    try:
        reports = _infer_columns(read_table(data), None, labels, options)[0]
    except (TableError, ImportError):
        return {}
    return {r.name: f"{r.role}: {r.reason}" for r in reports if not r.kind}


def _infer_columns(
    table: UserTable,
    target: str | None,
    labels: np.ndarray,
    options: ColumnOptions,
    odd: OddCells | None = None,
) -> tuple[list[ColumnReport], Schema, Any]:
    """Return what each column holds, and the schema and the frame of those that are used.

    Columns that leak the target are left out, unless there are no others.
    """
    reports = []
    for position, name in enumerate(table.data.column_names, 1):
        if target is not None and name in (target, options.group):
            report = ColumnReport(TARGET if name == target else GROUP)
        else:
            report = _report_column(table, name, options)
        reports.append(replace(report, name=name, position=position))
    used = [report for report in reports if report.kind]
    if not used:
        reasons = "; ".join(r.message.rstrip(".") for r in reports if r.message)
        raise TableError(
            f"{table.name} has no column beside the target {target!r} to learn from"
            + (f": {reasons}." if reasons else ".")
        )
    columns = []
    for r in used:
        values = table.data.column(r.name)
        words = with_nulls(values.unique()).unique().to_pylist() if r.kind == CATEGORY else []
        categories = tuple(sorted(words, key=lambda word: word or ""))  # missing first
        type = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        columns.append(Column(r.name, r.kind, str(type), categories, r.marks, r.form, r.thousands))
    ids = tuple(r.name for r in reports if r.role == IDENTIFIER and not r.kind)
    schema = Schema(tuple(columns), target or "", ids)
    frame, codes = to_frame(schema, table, odd), np.unique(labels, return_inverse=True)[1]
    leaks = {
        column.name
        for column in columns
        if leaks_target(frame[column.name].to_numpy(), codes, numeric=column.kind != CATEGORY)
    }
    dropped = leaks - {*options.keep, *options.roles}
    if dropped == set(schema.names):
        dropped = set()
    reason = "alone it tells the class of nearly every row, as if it were noted afterwards"
    reports = [replace(r, reason=reason) if r.name in leaks else r for r in reports]
    reports = [replace(r, role=LEAK, kind="") if r.name in dropped else r for r in reports]
    schema = replace(schema, columns=tuple(c for c in columns if c.name not in dropped))
    return reports, schema, frame[schema.names]


def _check_options(table: UserTable, target: str, options: ColumnOptions) -> None:
    names = table.data.column_names
    named: dict[str, Iterable[str]] = {
        "--target": (target,), "--drop": options.drop, "--id": options.ids, "--keep": options.keep,
        "--role": options.roles, "--group": (options.group,) if options.group else (),
    }  # fmt: skip
    for option, given in named.items():
        for name in given:
            if name not in names:
                hint = nearest(name, names)
                raise TableError(f"{table.name} has no column {name!r} ({option}): {hint}")
        if target in given and option != "--target":
            raise TableError(f"The column {target!r} is the target and cannot be {option} as well.")
    for name, role in options.roles.items():
        if role not in ROLES:
            raise TableError(f"--role {name}={role}: the role is one of {', '.join(ROLES)}.")


# The type of one column.


def _report_column(table: UserTable, name: str, options: ColumnOptions) -> ColumnReport:
    """Return what a column holds, after the options of the user."""
    values, role = plain_array(table.data.column(name)), options.roles.get(name)
    if name in options.drop:
        return ColumnReport(LEFT_OUT)
    if name in options.ids:
        return ColumnReport(IDENTIFIER)
    report = infer_type(name, values, table.decimal)
    if role == NUMBER and report.kind not in (NUMBER, FLAG):
        numbers: Any = np.empty(0)
        if is_text(values.type):
            report, numbers, _ = _read_text_numbers(values, table.decimal)
        if not np.isfinite(numbers).any():
            what = f"holds {values.type} without a number in it"
            raise TableError(f"The column {name!r} (--role) {what}.")
    if role == DATE and report.kind != DATE:
        raise TableError(f"The column {name!r} (--role) holds no dates in a form that is known.")
    if role is not None:
        report = replace(report, role=role, kind=role)
    elif not report.kind:
        return report
    if not (role or name in options.keep or report.role == report.kind != DATE):
        return replace(report, kind="")
    verb = "counts" if len(report.marks) == 1 else "count"
    notes = [f"{listed(report.marks)} {verb} as missing"] if report.marks else []
    if report.kind == NUMBER and report.example:
        number = text_to_numbers(pa.array([report.example]), table.decimal)[0][0]
        notes.append(f"{report.example} is read as {number:.15g}")
    elif report.example:
        cell, role = repr(report.example[:60]), shlex.quote(f"{name}=number")
        notes.append(f"most cells are numbers, but {cell} is not (--role {role} reads the numbers)")
    return replace(report, reason="; ".join(notes))


def _read_text_numbers(text: Any, decimal: str) -> tuple[ColumnReport, np.ndarray, np.ndarray]:
    """Return a report of text as numbers, the numbers, and a mask of cells that are none."""
    thousands, example = _thousands(with_nulls(text), decimal)
    numbers, bad = text_to_numbers(text, decimal, thousands=thousands)
    cells = text.filter(pa.array(bad)).to_pylist()
    marks = tuple(sorted({cell.strip() for cell in cells}))
    return ColumnReport(NUMBER, NUMBER, "", marks, "", thousands, example), numbers, bad


def _thousands(text: Any, decimal: str) -> tuple[bool, str]:
    """Return whether numbers may have separated thousands, and one that has.

    A point in a table with decimal commas (or the reverse) separates thousands unless some number
    of the column cannot be read so, such as 1.5 or 0.125.
    """
    cells = pc.utf8_trim_whitespace(text.drop_null())
    cells = cells.filter(pc.match_substring(cells, "." if decimal == "," else ","))
    separated = pc.match_substring_regex(cells, THOUSANDS[decimal])
    plain = cells.filter(pc.invert(separated))
    if len(plain) and pc.any(pc.match_substring_regex(plain, r"^[+-]?\d*[.,]\d*")).as_py():
        return False, ""
    return True, cells.filter(separated)[0].as_py() if pc.any(separated).as_py() else ""


def infer_type(name: str, values: Any, decimal: str = ".") -> ColumnReport:
    """Return what a column holds; ``kind`` is how it is used where it is used."""
    types = pa.types
    if is_text(values.type):
        return _infer_text(name, values, decimal)
    if types.is_null(values.type) or values.null_count == len(values):
        return ColumnReport(CONSTANT, NUMBER, "every cell is empty")
    if types.is_boolean(values.type) or is_number(values.type):
        kind = FLAG if types.is_boolean(values.type) else NUMBER
        numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return _infer_numbers(name, np.asarray(numbers), ColumnReport(kind, kind))
    if is_date(values.type):
        return ColumnReport(DATE, DATE, "it holds dates", form="ISO8601")
    return ColumnReport("unknown", "", f"it holds {values.type}, neither numbers nor text")


def _constant(report: ColumnReport, value: Any, complete: bool) -> ColumnReport:
    """Return the report of a column with one value; missing or not may be information."""
    if complete:
        return replace(report, role=CONSTANT, reason=f"it is {value} in every row")
    return replace(report, role=CATEGORY, kind=CATEGORY)


def _infer_numbers(name: str, numbers: np.ndarray, report: ColumnReport) -> ColumnReport:
    present = numbers[~np.isnan(numbers)]
    n, distinct = len(present), len(np.unique(present))
    if n == 0:
        return replace(report, role=CONSTANT, reason="every cell is empty")
    if distinct == 1:
        return _constant(report, f"{present[0]:g}", n == len(numbers))
    whole = np.all(np.isfinite(present) & (present == np.round(present)))
    if report.kind == NUMBER and distinct == n > LEAST_ROWS and whole:
        value_range = float(present.max() - present.min()) + 1.0
        if n * n / (2.0 * value_range) > 20.0 or _ID_NAME.search(name):
            return replace(report, role=IDENTIFIER, reason="no two rows have the same number")
    return report


def _infer_text(name: str, values: Any, decimal: str) -> ColumnReport:
    values = values.cast(pa.string())
    cells, present = values.unique(), values.drop_null()
    long = _most_are_long(values) and _most_are_long(pc.utf8_trim_whitespace(values[:SOME_CELLS]))
    if long and len(cells) > MOST_CATEGORIES:
        return _infer_category(present, len(cells))
    words = pc.utf8_trim_whitespace(with_nulls(cells)).unique()
    distinct, complete = words.drop_null().to_pylist(), words.null_count == 0
    if not distinct:
        return ColumnReport(CONSTANT, CATEGORY, "every cell is empty")
    if {word.lower() for word in distinct} <= {"true", "false"}:
        flag = ColumnReport(FLAG, FLAG)
        return flag if len(distinct) > 1 else _constant(flag, repr(distinct[0]), complete)
    # Digits with leading zeros are codes (of postal areas), not quantities, where all have one
    # length, or where some are others without their zeros (007 and 7).
    one_length = len({len(cell) for cell in distinct}) == 1
    without = {cell.lstrip("0") or "0" for cell in distinct if re.fullmatch(r"0\d+", cell)}
    codes = one_length and any(_PADDED.fullmatch(cell) for cell in distinct)
    example = ""
    if not long:
        text = with_nulls(values)
        present = pc.utf8_trim_whitespace(text.drop_null())
        if not codes and without.isdisjoint(distinct):
            report, numbers, bad = _read_text_numbers(text, decimal)
            share = 1 - bad.sum() / len(present)
            if share >= NUMBER_FRACTION and len(report.marks) <= MOST_MARKS:
                return _infer_numbers(name, numbers, report)
            example = report.marks[0] if share > 0.5 else ""
        form = _date_form(distinct)
        if form:
            return ColumnReport(DATE, DATE, "it holds dates", form=form)
    if len(distinct) == 1:
        shown = repr(distinct[0][:60])
        return _constant(ColumnReport(CATEGORY, CATEGORY), shown, complete)
    return replace(_infer_category(present, len(distinct)), example=example)


def _most_are_long(text: Any) -> bool:
    """Return whether most cells are longer than a number or a date; their text is not copied."""
    return bool((pc.mean(pc.greater(pc.binary_length(text), LONG_CELL)).as_py() or 0.0) > 0.5)


def _date_form(distinct: list[str]) -> str:
    sample = pd.Series(distinct[:1000], dtype=object)
    if not sample.str.contains(r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}").all():
        return ""
    for form in ("ISO8601", *DATE_FORMS):
        if pd.to_datetime(sample, format=form, errors="coerce", utc=True).notna().all():
            return form
    return ""


def _infer_category(present: Any, count: int) -> ColumnReport:
    """Return the report of text that is neither numbers nor dates, with so many values."""
    length = float(pc.mean(pc.utf8_length(present)).as_py())
    words = 1 + float(pc.mean(pc.count_substring(present, " ")).as_py())
    fraction = count / len(present)
    if count > LEAST_ROWS and (length > TEXT_LENGTH or (fraction > 0.5 and words >= TEXT_WORDS)):
        reason = (
            f"it holds free text ({count} different cells, {length:.0f} characters each), for a "
            "text vectorizer such as scikit-learn's TfidfVectorizer"
        )
        return ColumnReport(TEXT, CATEGORY, reason)
    if fraction > IDENTIFIER_FRACTION and len(present) > LEAST_ROWS:
        return ColumnReport(IDENTIFIER, CATEGORY, f"{count} of {len(present)} cells are different")
    if count > MOST_CATEGORIES:
        reason = f"it has {count} different values, above {MOST_CATEGORIES}"
        return ColumnReport(TEXT, CATEGORY, reason)
    return ColumnReport(CATEGORY, CATEGORY)


# Target leakage and duplicates.


def leaks_target(values: Any, codes: np.ndarray, *, numeric: bool) -> bool:
    """Return whether a column of the frame alone determines the classes (codes from 0)."""
    counts = np.bincount(codes)
    if len(codes) < LEAK_ROWS or counts[counts > 0].min() < LEAK_CLASS_ROWS:
        return False
    if not numeric:
        return _accuracy_by_group(values, codes) >= LEAK_SCORE
    values = np.asarray(values, dtype=np.float64)
    present = ~np.isnan(values)
    if not present.all() and _accuracy_by_group(present, codes) >= LEAK_SCORE:
        return True
    if present.sum() < LEAK_SCORE * len(codes):
        return False
    values, codes = values[present], codes[present]
    classes = np.unique(codes)
    if len(classes) == 2:
        auc = float(roc_auc_score(codes == classes[1], values))
        return max(auc, 1.0 - auc) >= LEAK_SCORE
    # Trees use single precision, in which large values overflow and close ones are equal: ranks.
    ranks = np.unique(values, return_inverse=True)[1][:, None]
    tree = DecisionTreeClassifier(max_leaf_nodes=len(classes), random_state=0)
    return float(tree.fit(ranks, codes).score(ranks, codes)) >= LEAK_SCORE


def _accuracy_by_group(values: Any, codes: np.ndarray) -> float:
    """Return the accuracy of predicting the majority class of each value."""
    counts = contingency_matrix(pd.factorize(np.asarray(values))[0], codes)
    largest, total = counts.max(axis=1), counts.sum(axis=1)
    return float(largest[total > 1].sum() / total.sum())


def hash_rows(frame: Any, labels: np.ndarray) -> np.ndarray:
    """Return a hash of the features and the class of each row, the same in any file format."""
    from pandas.util import hash_array, hash_pandas_object

    classes, codes = np.unique(labels, return_inverse=True)
    names = hash_array(classes.astype(str).astype(object))[codes]
    mixed = np.asarray(hash_pandas_object(frame, index=False)) ^ np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(mixed * np.uint64(3) + names, dtype=np.uint64)


def independent_fraction(frame: Any, hashes: np.ndarray) -> float:
    """Return the fraction of the rows that count in intervals: copies of a row count once.

    Rows of a table with few distinct values coincide without being copies.  They are copies where
    far more pairs are equal than independent columns would have.
    """
    counts = np.unique(hashes, return_counts=True)[1].astype(float)
    pairs = float((counts * (counts - 1)).sum())
    by_column = [column.value_counts(dropna=False, normalize=True) for _, column in frame.items()]
    chance = np.prod([float((shares**2).sum()) for shares in by_column]) * len(hashes) ** 2
    return len(hashes) / float((counts**2).sum()) if pairs > 10 * chance else 1.0


# The target and groups of rows.


def labeled_rows(
    table: UserTable, target: str, strict: bool = False, least: int = 1
) -> tuple[UserTable, np.ndarray]:
    """Return the rows that have a class, and their classes: text, booleans or whole numbers.

    All rows must have a class if ``strict``, else ``least`` of them; a warning of the table counts
    the others.
    """
    labels, missing = _read_labels(table, target)
    if not missing.any():
        return table, labels
    if strict or len(labels) < least:
        more = f" ({missing.sum()} such rows)" if missing.sum() > 1 else ""
        raise TableError(
            f"{_first(table, target, missing)}: the target is missing{more}; fill it in or "
            "remove the row."
        )
    message = (
        f"{table.where(target)}: {missing.sum()} rows have no class and are left out, first row "
        f"{table.row(int(missing.argmax()))}."
    )
    table = replace(table, warnings=(*table.warnings, message))
    return table.take(np.flatnonzero(~missing)), labels


def _read_labels(table: UserTable, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of the rows that have one, and a mask of the others."""
    values = plain_array(table.data.column(target))
    if not is_text(values.type):
        missing, values = np.asarray(values.is_null()), values.drop_null()
        if pa.types.is_boolean(values.type) or pa.types.is_integer(values.type) or not len(values):
            return np.asarray(values.to_numpy(zero_copy_only=False)), missing
        if pa.types.is_floating(values.type):
            numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
            if _are_whole(numbers):
                return numbers.astype(np.int64), missing
        raise _not_classes(table, target, values.type)
    # Cells of a text file are numbers where all are, else names of classes, and so are digits with
    # leading zeros: 01 is not 1.  NA beside numbers is a missing number; beside names it is a name.
    encoded = pc.dictionary_encode(
        pc.utf8_trim_whitespace(values.cast(pa.string())), null_encoding="encode"
    )
    text, codes = encoded.dictionary, np.asarray(encoded.indices)
    numbers, bad = text_to_numbers(text, table.decimal, thousands=False)
    absent = np.isnan(numbers)
    padded = pc.any(pc.match_substring_regex(text, _LEADING_ZERO)).as_py()
    if not absent.all() and not bad.any() and not padded:
        if not _are_whole(numbers[~absent]):
            raise _not_classes(table, target, "numbers with fractions")
        missing = absent[codes]
        return numbers[codes[~missing]].astype(np.int64), missing
    names = [name or "" for name in text.to_pylist()]
    missing = np.array([not name for name in names])[codes]
    codes = codes[~missing]
    if {name.lower() for name in names if name} <= {"true", "false"}:
        return np.array([name.lower() == "true" for name in names])[codes], missing
    return _names_of_rows(names, codes), missing


def _names_of_rows(names: list[str], codes: np.ndarray) -> np.ndarray:
    """Return the name of each row; long ones as objects, which are not copied for each row."""
    longest = max(map(len, names), default=0)
    return np.array(names, dtype=str if longest <= LONG_NAME else object)[codes]


def _are_whole(numbers: np.ndarray) -> bool:
    """Return whether all numbers are integers that floats represent exactly."""
    exact = np.isfinite(numbers) & (np.abs(numbers) < 2.0**53)
    return bool(np.all(exact & (numbers == np.floor(numbers))))


def _not_classes(table: UserTable, target: str, what: Any) -> TableError:
    return TableError(
        f"{table.where(target)} holds {what}, not classes: give a --target of text, true/false or "
        "whole numbers."
    )


def _first(table: UserTable, column: str, rows: np.ndarray) -> str:
    """Return where the first of these rows is."""
    return table.where(column, int(np.flatnonzero(rows)[0]))


def check_classes(table: UserTable, target: str, labels: np.ndarray, least: int = 1) -> list[str]:
    """Raise an error for labels that are no classes; return warnings about them."""
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) == 1:
        raise TableError(
            f"{table.where(target)}: all {len(labels)} rows have one class "
            f"({str(classes[0])[:60]}); a classifier needs rows of at least two."
        )
    if len(classes) > MOST_CLASSES or (len(labels) > 20 and len(classes) > len(labels) / 2):
        raise TableError(
            f"{table.where(target)}: {len(classes)} different values in {len(labels)} rows are no "
            f"classes (at most {MOST_CLASSES}); choose another --target."
        )
    longest, rare = max(classes, key=lambda name: len(str(name))), classes[counts.argmin()]
    if len(str(longest)) > LONGEST_CLASS:
        raise TableError(
            f"{_first(table, target, labels == longest)}: {longest[:20]!r}... is no class: it has "
            f"{len(longest)} characters (at most {LONGEST_CLASS}); choose another --target."
        )
    if counts.min() < least:
        raise TableError(
            f"{_first(table, target, labels == rare)}: the class {str(rare)[:60]!r} has "
            f"{counts.min()} rows; a split needs {least} of each class."
        )
    if labels.dtype.kind not in "UO":
        return []
    return [
        f"{table.where(target)} has a class {str(name)!r} ({count} rows): if it means missing, "
        "remove these rows."
        for name, count in zip(classes, counts, strict=True)
        if str(name) in MISSING_TOKENS
    ]


def read_groups(table: UserTable, group: str, labels: np.ndarray) -> np.ndarray:
    """Return the group of every row as text; a group is never split between folds."""
    values = plain_array(table.data.column(group)).cast(pa.string())
    missing = np.asarray(with_nulls(values).is_null())
    if missing.any():
        raise TableError(f"{_first(table, group, missing)}: the group is missing.")
    encoded = values.dictionary_encode()
    groups = _names_of_rows(encoded.dictionary.to_pylist(), np.asarray(encoded.indices))
    for label in np.unique(labels):
        if len(np.unique(groups[labels == label])) < 2:
            raise TableError(
                f"{_first(table, group, labels == label)}: the class {str(label)!r} occurs in one "
                "group only, so no split by group can both train and test it."
            )
    return groups
