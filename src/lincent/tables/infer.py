"""Infer the schema of a table: the type of each column and whether it is used as a feature.

Identifiers, constants, free text, dates and columns that leak the target are dropped with a reason;
the options of the user take precedence (``keep``, ``roles``, ``dates``, ``text``).

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
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lincent._errors import listed, nearest
from lincent.tables.encoder import missing_token
from lincent.tables.formats import TableError, arrow
from lincent.tables.read import MISSING_TOKENS, UserTable
from lincent.tables.schema import (
    CATEGORY,
    DATE,
    DECIMAL_ONLY,
    FLAG,
    NUMBER,
    TEXT,
    THOUSANDS,
    WITH_THOUSANDS,
    WITH_TIME,
    Column,
    Schema,
    is_date,
    is_number,
    is_text,
    plain_array,
    text_to_numbers,
    to_dates,
    to_frame,
    with_nulls,
    words_of,
)

IDENTIFIER, CONSTANT, LEAK, DROP = "identifier", "constant", "leak", "drop"
LEFT_OUT, TARGET, GROUP = "left out", "target", "group"
ROLES = (NUMBER, CATEGORY, TEXT, DATE, IDENTIFIER, DROP)
MOST_CATEGORIES = 200
MOST_CLASSES = 100
LONG_NAME, LONGEST_CLASS = 64, 1_000  # characters
LEAST_ROWS = 20  # too few rows to recognize identifiers or free text
NUMBER_FRACTION, MOST_MARKS = 0.8, 10  # numbers, and tokens for missing, in a column of numbers
IDENTIFIER_FRACTION = 0.95
TEXT_LENGTH, TEXT_WORDS = 40, 4
MOST_WORDS, LEAST_WORD_FRACTION, MOST_WORD_FRACTION = 100, 0.01, 0.5  # words that become columns
LEAK_SCORE, LEAK_ROWS, LEAK_CLASS_ROWS = 0.999, 30, 5  # fewer rows may be separable by chance
DATE_FORMS = tuple(
    day + time
    for time in ("", " %H:%M", " %H:%M:%S")
    for day in ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y/%m/%d", "%d.%m.%y")
)
_ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key|index|no|nr)$|(?<=[a-z])I[dD]$", re.IGNORECASE)
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


DEFAULT_OPTIONS = ColumnOptions()


@dataclass(frozen=True)
class ColumnReport:
    """One column of the table: its role, how it is used ("" if not), the reason and the remedy."""

    name: str
    position: int
    role: str
    kind: str
    reason: str = ""
    hint: str = ""

    @property
    def message(self) -> str:
        """The warning about the column; empty where it is used without comment or was dropped."""
        if not self.reason:
            return ""
        column = f"column {self.position} ({self.name!r})"
        if self.kind:
            return f"{column}: {self.reason}."
        hint = self.hint or f"--keep {shlex.quote(self.name)}"
        return f"{column} is left out as {self.role}: {self.reason} ({hint} uses it)."


@dataclass(frozen=True)
class PreparedTable:
    """A table with its schema, as features, labels and groups ready for training."""

    table: UserTable = field(repr=False)
    schema: Schema = field(repr=False)
    columns: tuple[ColumnReport, ...]
    frame: Any = field(repr=False)
    labels: np.ndarray = field(repr=False)
    groups: np.ndarray | None = field(repr=False)
    warnings: tuple[str, ...]

    @property
    def roles(self) -> dict[str, str]:
        return {column.name: column.role for column in self.columns}

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns if not c.kind and c.role != TARGET)


def infer_schema(
    table: UserTable, target: str, options: ColumnOptions = DEFAULT_OPTIONS, *, least: int = 1
) -> PreparedTable:
    """Infer the schema of a table and prepare it for training.

    ``least`` rows of each class are required.
    """
    _check_options(table, target, options)
    labels = read_labels(table, target)
    warnings = [*table.warnings, *check_classes(table, target, labels, least)]
    groups = read_groups(table, options.group, labels) if options.group else None
    types: dict[str, InferredType] = {}
    reports = []
    for position, name in enumerate(table.data.column_names, 1):
        if name in (target, options.group):
            role = TARGET if name == target else GROUP
            reports.append(ColumnReport(name, position, role, ""))
            continue
        inferred = types[name] = _column_type(table, name, options)
        reason, hint = inferred.reason, ""
        if inferred.kind:
            marks, verb = inferred.marks, "counts" if len(inferred.marks) == 1 else "count"
            notes = [f"{listed(marks)} {verb} as missing"] if marks else []
            if inferred.kind == NUMBER and inferred.example:
                notes.append(_thousands_note(inferred.example, table.decimal))
            reason = "; ".join(notes)
        elif inferred.usable_as in (DATE, TEXT):
            hint = "--dates" if inferred.usable_as == DATE else "--text"
        reports.append(ColumnReport(name, position, inferred.role, inferred.kind, reason, hint))
    schema = _make_schema(table, target, reports, types)
    frame = to_frame(schema, table)
    reports, schema = _drop_leaks(reports, schema, frame, labels, options)
    frame = frame[schema.inputs]
    warnings += [report.message for report in reports if report.message]
    duplicates = count_duplicates(frame, labels)
    if duplicates:
        warnings.append(
            f"{duplicates} of {len(labels)} rows repeat an earlier row; copies that fall on both "
            "sides of a split make every test score look better."
        )
    return PreparedTable(table, schema, tuple(reports), frame, labels, groups, tuple(warnings))


def _check_options(table: UserTable, target: str, options: ColumnOptions) -> None:
    names = table.data.column_names
    named = [(target, "--target"), *((name, "--drop") for name in options.drop)]
    named += [*((name, "--id") for name in options.ids), *((n, "--keep") for n in options.keep)]
    named += [(name, "--role") for name in options.roles]
    named += [(options.group, "--group")] if options.group else []
    for name, option in named:
        if name not in names:
            hint = nearest(name, names)
            raise TableError(f"{table.name} has no column {name!r} ({option}): {hint}")
        if name == target and option != "--target":
            raise TableError(f"The column {name!r} is the target and cannot be {option} as well.")
    for name, role in options.roles.items():
        if role not in ROLES:
            raise TableError(f"--role {name}={role}: the role is one of {', '.join(ROLES)}.")


# The type of one column.


@dataclass(frozen=True)
class InferredType:
    """The role of a column, the kind as which it is used, and the reason why it should not be.

    ``usable_as`` is the kind of a column that is used only where the user asks for it;
    ``example`` is a number with separated thousands, if any.
    """

    role: str
    kind: str
    reason: str = ""
    marks: tuple[str, ...] = ()
    form: str = ""
    detail: str = ""
    usable_as: str = ""
    example: str = ""


def _column_type(table: UserTable, name: str, options: ColumnOptions) -> InferredType:
    """Return the type of a column after the options of the user."""
    values = table.data.column(name)
    inferred = infer_type(name, values, table.decimal)
    role = options.roles.get(name)
    if name in options.drop or role == DROP:
        return InferredType(LEFT_OUT, "")
    if name in options.ids or role == IDENTIFIER:
        return InferredType(IDENTIFIER, "")
    if role == NUMBER and inferred.kind not in (NUMBER, FLAG):
        values = plain_array(values)
        if is_text(values.type):
            detail, example = _thousands(with_nulls(values), table.decimal)
            thousands = detail != DECIMAL_ONLY
            numbers, bad = text_to_numbers(values, table.decimal, thousands=thousands)
            if np.isfinite(numbers).any():
                marks = _distinct_cells(values, bad)
                return InferredType(NUMBER, NUMBER, marks=marks, detail=detail, example=example)
        raise TableError(
            f"The column {name!r} (--role) holds {values.type} without a number in it."
        )
    if role == DATE and inferred.kind != DATE:
        raise TableError(f"The column {name!r} (--role) holds no dates in a form that is known.")
    if role is not None:
        return replace(inferred, role=role, kind=role)
    if not inferred.kind:
        return inferred
    used = (
        name in options.keep
        or (inferred.role == inferred.kind and inferred.role not in (DATE, TEXT))
        or (inferred.role == DATE and options.dates)
        or (inferred.kind == TEXT and options.text)
    )
    return inferred if used else replace(inferred, kind="", usable_as=inferred.kind)


def _distinct_cells(text: Any, mask: np.ndarray) -> tuple[str, ...]:
    cells = text.filter(arrow().array(mask)).to_pylist()
    return tuple(sorted({cell.strip() for cell in cells}))


def _thousands(text: Any, decimal: str) -> tuple[str, str]:
    """Return the detail of a column of numbers, and one whose thousands are separated.

    A point in a table with decimal commas (or the reverse) separates thousands unless some number
    of the column cannot be read so, such as 1.5 or 0.125.
    """
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(text.drop_null())
    cells = cells.filter(pc.match_substring(cells, "." if decimal == "," else ","))
    separated = pc.match_substring_regex(cells, THOUSANDS[decimal])
    plain = cells.filter(pc.invert(separated))
    if len(plain) and pc.any(pc.match_substring_regex(plain, r"^[+-]?\d*[.,]\d*")).as_py():
        return DECIMAL_ONLY, ""
    if pc.any(separated).as_py():
        return WITH_THOUSANDS, cells.filter(separated)[0].as_py()
    return "", ""


def _thousands_note(example: str, decimal: str) -> str:
    other = "." if decimal == "," else ","
    whole, mark, rest = example.replace(other, "").partition(decimal)
    note = f"{example} is read as {whole}{mark and '.'}{rest}"
    if mark or example.count(other) > 1:
        return note
    return f"{note}, not as {example.replace(',', '.')}"


def infer_type(name: str, values: Any, decimal: str = ".") -> InferredType:
    """Return what a column holds; ``kind`` is how it is used where it is used."""
    types = arrow().types
    values = plain_array(values)
    if is_text(values.type):
        return _infer_text(name, values, decimal)
    if types.is_null(values.type) or values.null_count == len(values):
        return InferredType(CONSTANT, NUMBER, "every cell is empty")
    if types.is_boolean(values.type):
        return _infer_numbers(name, np.asarray(values.to_numpy(zero_copy_only=False)), FLAG)
    if is_number(values.type):
        numbers = values.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False)
        return _infer_numbers(name, np.asarray(numbers), NUMBER)
    if is_date(values.type):
        return _infer_dates(to_dates(values, ""), "ISO8601")
    return InferredType("unknown", "", f"it holds {values.type}, neither numbers nor text")


def _infer_numbers(
    name: str, numbers: np.ndarray, kind: str, marks: tuple[str, ...] = ()
) -> InferredType:
    present = numbers.astype(np.float64)
    present = present[~np.isnan(present)]
    n = len(present)
    if n == 0:
        return InferredType(CONSTANT, kind, "every cell is empty", marks)
    distinct = len(np.unique(present))
    if distinct == 1:
        if n == len(numbers):
            return InferredType(CONSTANT, kind, f"it is {present[0]:g} in every row", marks)
        return InferredType(CATEGORY, CATEGORY, marks=marks)  # missing or not is the information
    if (
        kind == NUMBER
        and n > LEAST_ROWS
        and distinct == n
        and np.all(np.isfinite(present))
        and np.all(present == np.round(present))
    ):
        value_range = float(present.max() - present.min()) + 1.0
        if n * n / (2.0 * value_range) > 20.0 or _ID_NAME.search(name):
            return InferredType(IDENTIFIER, NUMBER, "no two rows have the same number", marks)
    return InferredType(kind, kind, marks=marks)


def _infer_dates(dates: Any, form: str) -> InferredType:
    present = dates.dropna()
    if present.nunique() == 1 and len(present) == len(dates):
        return InferredType(CONSTANT, DATE, f"it is {present.iloc[0]} in every row", form=form)
    detail = WITH_TIME if present.dt.hour.nunique() > 1 else ""
    return InferredType(DATE, DATE, "it holds dates", form=form, detail=detail)


def _infer_text(name: str, values: Any, decimal: str) -> InferredType:
    import pyarrow.compute as pc

    text = with_nulls(values)
    present = pc.utf8_trim_whitespace(text.drop_null())
    if len(present) == 0:
        return InferredType(CONSTANT, CATEGORY, "every cell is empty")
    distinct = present.unique().to_pylist()
    if {word.lower() for word in distinct} <= {"true", "false"}:
        if len(distinct) > 1:
            return InferredType(FLAG, FLAG)
        if len(present) == len(text):
            return InferredType(CONSTANT, FLAG, f"it is {distinct[0]!r} in every row")
        return InferredType(CATEGORY, CATEGORY)
    # Digits with leading zeros, all of one length, are codes (of postal areas), not quantities.
    one_length = len({len(cell) for cell in distinct}) == 1
    if not (one_length and any(_PADDED.fullmatch(cell) for cell in distinct)):
        detail, example = _thousands(text, decimal)
        numbers, bad = text_to_numbers(text, decimal, thousands=detail != DECIMAL_ONLY)
        marks = _distinct_cells(text, bad) if bad.any() else ()
        if 1 - bad.sum() / len(present) >= NUMBER_FRACTION and len(marks) <= MOST_MARKS:
            inferred = _infer_numbers(name, numbers, NUMBER, marks)
            return replace(inferred, detail=detail, example=example)
    form = _date_form(distinct)
    if form:
        return _infer_dates(to_dates(text, form), form)
    return _infer_category(text, present, distinct)


def _date_form(distinct: list[str]) -> str:
    import pandas as pd

    sample = pd.Series(distinct[:1000], dtype=object)
    if not sample.str.contains(r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}").all():
        return ""
    for form in ("ISO8601", *DATE_FORMS):
        if pd.to_datetime(sample, format=form, errors="coerce", utc=True).notna().all():
            return form
    return ""


def _infer_category(text: Any, present: Any, distinct: list[str]) -> InferredType:
    """Return the type of text that is neither numbers nor dates."""
    import pyarrow.compute as pc

    count = len(distinct)
    if count == 1:
        if len(present) == len(text):
            return InferredType(CONSTANT, CATEGORY, f"it is {distinct[0][:60]!r} in every row")
        return InferredType(CATEGORY, CATEGORY)
    length = float(pc.mean(pc.utf8_length(present)).as_py())
    words = 1 + float(pc.mean(pc.count_substring(present, " ")).as_py())
    fraction = count / len(present)
    if count > LEAST_ROWS and (length > TEXT_LENGTH or (fraction > 0.5 and words >= TEXT_WORDS)):
        reason = f"it holds free text ({count} different cells, {length:.0f} characters each)"
        return InferredType(TEXT, TEXT, reason)
    if fraction > IDENTIFIER_FRACTION and len(present) > LEAST_ROWS:
        return InferredType(IDENTIFIER, CATEGORY, f"{count} of {len(present)} cells are different")
    if count > MOST_CATEGORIES:
        reason = f"it has {count} different values, above {MOST_CATEGORIES}"
        return InferredType(TEXT, CATEGORY, reason)
    return InferredType(CATEGORY, CATEGORY)


# The schema of all columns.


def _make_schema(
    table: UserTable, target: str, reports: list[ColumnReport], types: dict[str, InferredType]
) -> Schema:
    used = [report for report in reports if report.kind]
    if not used:
        reasons = "; ".join(r.message.rstrip(".") for r in reports if r.message)
        raise TableError(
            f"{table.name} has no column beside the target {target!r} to learn from"
            + (f": {reasons}." if reasons else ".")
        )
    texts = {
        report.name: with_nulls(plain_array(table.data.column(report.name)))
        for report in used
        if report.kind == CATEGORY
    }
    values = {name: text.drop_null().unique().to_pylist() for name, text in texts.items()}
    missing = missing_token(value for distinct in values.values() for value in distinct)
    columns = []
    for report in used:
        name, inferred = report.name, types[report.name]
        categories: tuple[str, ...] = ()
        if report.kind == CATEGORY:
            extra = [missing] if texts[name].null_count else []
            categories = tuple(sorted([*values[name], *extra]))
        elif report.kind == TEXT:
            categories = _frequent_words(table, name)
        type = str(plain_array(table.data.column(name)).type)
        columns.append(
            Column(
                name, report.kind, type, categories, inferred.marks, inferred.form, inferred.detail
            )
        )
    ids = tuple(r.name for r in reports if r.role == IDENTIFIER and not r.kind)
    target_type = str(table.data.schema.field(target).type)
    return Schema(tuple(columns), target, target_type, ids, missing)


def _frequent_words(table: UserTable, name: str) -> tuple[str, ...]:
    """Return the most frequent words, without those that most rows or next to none have."""
    cells = plain_array(table.data.column(name)).cast(arrow().string()).to_pylist()
    counts = Counter(word for cell in cells for word in words_of(cell))
    least = max(2.0, LEAST_WORD_FRACTION * len(cells))
    most = MOST_WORD_FRACTION * len(cells)
    words = [word for word, count in counts.most_common() if least <= count <= most]
    if not words:
        raise TableError(
            f"The column {name!r} (--text) has no word that between "
            f"{100 * LEAST_WORD_FRACTION:g} % and {100 * MOST_WORD_FRACTION:g} % of the rows "
            "share: leave it out with --drop."
        )
    return tuple(words[:MOST_WORDS])


# Target leakage and duplicates.


def _drop_leaks(
    reports: list[ColumnReport],
    schema: Schema,
    frame: Any,
    labels: np.ndarray,
    options: ColumnOptions,
) -> tuple[list[ColumnReport], Schema]:
    """Drop the columns that leak the target, unless there are no others."""
    codes = np.unique(labels, return_inverse=True)[1]
    leaks = {
        column.name
        for column in schema.columns
        if column.kind != TEXT
        and any(
            leaks_target(frame[name].to_numpy(), codes, numeric=column.kind != CATEGORY)
            for name in column.inputs
        )
    }
    dropped = leaks - {*options.keep, *options.roles}
    if dropped == set(schema.names):
        dropped = set()
    reason = "alone it tells the class of nearly every row, as if it were noted afterwards"
    reports = [replace(r, reason=reason) if r.name in leaks else r for r in reports]
    reports = [replace(r, role=LEAK, kind="") if r.name in dropped else r for r in reports]
    kept = tuple(column for column in schema.columns if column.name not in dropped)
    return reports, replace(schema, columns=kept)


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
        auc = _auc(values, codes == classes[1])
        return max(auc, 1.0 - auc) >= LEAK_SCORE
    from sklearn.tree import DecisionTreeClassifier

    # Trees use single precision, in which large values overflow and close ones are equal: ranks.
    ranks = np.unique(values, return_inverse=True)[1][:, None]
    tree = DecisionTreeClassifier(max_leaf_nodes=len(classes), random_state=0)
    return float(tree.fit(ranks, codes).score(ranks, codes)) >= LEAK_SCORE


def _accuracy_by_group(values: Any, codes: np.ndarray) -> float:
    """Return the accuracy of predicting the majority class of each value."""
    import pandas as pd

    groups, names = pd.factorize(np.asarray(values))
    valid = groups >= 0
    n_classes = int(codes.max()) + 1
    pairs = np.bincount(groups[valid] * n_classes + codes[valid], minlength=len(names) * n_classes)
    counts = pairs.reshape(len(names), n_classes)
    largest, total = counts.max(axis=1, initial=0), counts.sum(axis=1)
    return float(largest[total > 1].sum() / total.sum())


def _auc(values: np.ndarray, positive: np.ndarray) -> float:
    """Return the area under the ROC curve, ties counting half."""
    _, rank = np.unique(values, return_inverse=True)
    up, down = (np.bincount(rank, weights=side) for side in (positive, ~positive))
    below = np.cumsum(down) - down / 2
    return float(up @ below) / (float(up.sum()) * float(down.sum()))


def count_duplicates(frame: Any, labels: np.ndarray) -> int:
    """Return how many rows repeat an earlier one, class included."""
    import pandas as pd

    classes = pd.Series(labels, index=frame.index)
    return int(pd.concat([frame, classes], axis=1).duplicated().sum())


# The target and groups of rows.


def _where(table: UserTable, name: str) -> str:
    return f"column {table.data.schema.names.index(name) + 1} ({name!r})"


def read_labels(table: UserTable, target: str) -> np.ndarray:
    """Return the target column as text, booleans or whole numbers."""
    import pyarrow.compute as pc

    pa = arrow()
    values = plain_array(table.data.column(target))
    if not is_text(values.type):
        _check_present(table, target, np.asarray(values.is_null()))
        if pa.types.is_boolean(values.type) or pa.types.is_integer(values.type):
            return np.asarray(values.to_numpy(zero_copy_only=False))
        if pa.types.is_floating(values.type):
            numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
            if _are_whole(numbers):
                return numbers.astype(np.int64)
        raise _not_classes(table, target, values.type)
    # Cells of a text file are numbers where all are, else names of classes, and so are digits with
    # leading zeros: 01 is not 1.  NA beside numbers is a missing number; beside names it is a name.
    text = pc.utf8_trim_whitespace(values.cast(pa.string()))
    encoded = pc.dictionary_encode(text, null_encoding="encode")
    text, codes = encoded.dictionary, np.asarray(encoded.indices)
    numbers, bad = text_to_numbers(text, table.decimal, thousands=False)
    present = ~np.isnan(numbers)
    padded = pc.any(pc.match_substring_regex(text, _LEADING_ZERO)).as_py()
    if present.any() and not bad.any() and not padded:
        _check_present(table, target, ~present[codes])
        if _are_whole(numbers):
            return np.asarray(numbers.astype(np.int64)[codes])
        raise _not_classes(table, target, "numbers with fractions")
    blank = np.asarray(pc.fill_null(pc.equal(text, ""), True))
    _check_present(table, target, blank[codes])
    names = text.to_pylist()
    if {name.lower() for name in names} <= {"true", "false"}:
        return np.array([name.lower() == "true" for name in names])[codes]
    return _names_of_rows(names, codes)


def _names_of_rows(names: list[str], codes: np.ndarray) -> np.ndarray:
    """Return the name of each row; long ones as objects, which are not copied for each row."""
    longest = max(map(len, names), default=0)
    return np.array(names, dtype=str if longest <= LONG_NAME else object)[codes]


def _are_whole(numbers: np.ndarray) -> bool:
    """Return whether all numbers are integers that floats represent exactly."""
    exact = np.isfinite(numbers) & (np.abs(numbers) < 2.0**53)
    return bool(np.all(exact & (numbers == np.floor(numbers))))


def _check_present(table: UserTable, target: str, missing: np.ndarray) -> None:
    rows = np.flatnonzero(missing)
    if len(rows):
        more = f" ({len(rows)} such rows)" if len(rows) > 1 else ""
        raise TableError(
            f"{table.name}: row {table.row(int(rows[0]))}, {_where(table, target)}: the target "
            f"is missing{more}; fill it in or remove the row."
        )


def _not_classes(table: UserTable, target: str, what: Any) -> TableError:
    return TableError(
        f"{table.name}: {_where(table, target)} holds {what}, not classes: give a --target of "
        "text, true/false or whole numbers."
    )


def check_classes(table: UserTable, target: str, labels: np.ndarray, least: int = 1) -> list[str]:
    """Raise an error for labels that are no classes; return warnings about them."""
    classes, counts = np.unique(labels, return_counts=True)
    where = f"{table.name}: {_where(table, target)}"
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
    if labels.dtype.kind == "O" and max(map(len, classes)) > LONGEST_CLASS:
        longest = max(classes, key=len)
        row = table.row(int(np.flatnonzero(labels == longest)[0]))
        raise TableError(
            f"{where}, row {row}: {longest[:20]!r}... is no class: it has {len(longest)} "
            f"characters (at most {LONGEST_CLASS}); choose another --target."
        )
    if counts.min() < least:
        rare = classes[counts.argmin()]
        row = table.row(int(np.flatnonzero(labels == rare)[0]))
        raise TableError(
            f"{where}, row {row}: the class {str(rare)[:60]!r} has {counts.min()} rows; a split "
            f"needs {least} of each class."
        )
    if labels.dtype.kind not in "UO":
        return []
    return [
        f"{_where(table, target)} has a class {str(name)!r} ({count} rows): if it means missing, "
        "remove these rows."
        for name, count in zip(classes, counts, strict=True)
        if str(name) in MISSING_TOKENS
    ]


def read_groups(table: UserTable, group: str, labels: np.ndarray) -> np.ndarray:
    """Return the group of every row as text; a group is never split between folds."""
    values = plain_array(table.data.column(group)).cast(arrow().string())
    missing = np.flatnonzero(np.asarray(with_nulls(values).is_null()))
    if len(missing):
        row = table.row(int(missing[0]))
        raise TableError(f"{table.name}: row {row}, {_where(table, group)}: the group is missing.")
    encoded = values.dictionary_encode()
    groups = _names_of_rows(encoded.dictionary.to_pylist(), np.asarray(encoded.indices))
    for label in np.unique(labels):
        if len(np.unique(groups[labels == label])) < 2:
            row = table.row(int(np.flatnonzero(labels == label)[0]))
            raise TableError(
                f"{table.name}: row {row}, {_where(table, group)}: the class {str(label)!r} occurs "
                "in one group only, so no split by group can both train and test it."
            )
    return groups
