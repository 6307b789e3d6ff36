"""Judges one column: number, number with marks for missing, category, text, date, identifier,
constant.

A column of whole numbers is an identifier where no two are equal although chance would make some
so: n draws from a range of R numbers are all different with a probability of about exp(-n^2 / 2R),
and a column for which that is below e^-20 counts the rows, whatever it is called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent._errors import listed
from lincent.tables.convert import (
    is_date,
    is_number,
    is_text,
    plain_array,
    text_to_numbers,
    to_dates,
    without_words,
)
from lincent.tables.errors import arrow
from lincent.tables.schema import CATEGORY, DATE, FLAG, NUMBER, TEXT, WITH_TIME

IDENTIFIER, CONSTANT, LEAK = "identifier", "constant", "leak"
MOST_CATEGORIES = 200
NUMBER_SHARE = 0.8
"""Share of cells that must be numbers for the others to be marks for missing."""
MOST_MARKS = 10
IDENTIFIER_SHARE = 0.95
LEAST_ROWS = 20
"""Fewer rows say nothing about identifiers or free text."""
UNLIKELY = 20.0
TEXT_LENGTH, TEXT_WORDS = 40, 4
DATE_FORMS = tuple(
    day + time
    for time in ("", " %H:%M", " %H:%M:%S")
    for day in ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y/%m/%d", "%d.%m.%y")
)
_NAMED_SO = re.compile(r"(^|[_\W])(id|uuid|guid|key|index|no|nr)$|(?<=[a-z])I[dD]$", re.IGNORECASE)
_PADDED = re.compile(r"0\d{3,}")


@dataclass(frozen=True)
class ColumnVerdict:
    """What a column is, what it is used as, and why it should not be.

    ``asked`` is the kind of a column that is used only where the user asks for it.
    """

    role: str
    kind: str
    why: str = ""
    marks: tuple[str, ...] = ()
    form: str = ""
    detail: str = ""
    asked: str = ""


def judge_column(name: str, values: Any, decimal: str = ".") -> ColumnVerdict:
    """What a column holds; ``kind`` is how it is used where it is used."""
    types = arrow().types
    values = plain_array(values)
    if is_text(values.type):
        return _judge_text(name, values, decimal)
    if types.is_null(values.type) or values.null_count == len(values):
        return ColumnVerdict(CONSTANT, NUMBER, "every cell is empty")
    if types.is_boolean(values.type) or is_number(values.type):
        numbers = values.cast(arrow().float64(), safe=False) if is_number(values.type) else values
        kind = NUMBER if is_number(values.type) else FLAG
        return _judge_numbers(name, np.asarray(numbers.to_numpy(zero_copy_only=False)), kind)
    if is_date(values.type):
        return _judge_dates(to_dates(values, ""), "ISO8601")
    return ColumnVerdict("unknown", "", f"it holds {values.type}, neither numbers nor text")


def _judge_numbers(
    name: str, numbers: np.ndarray, kind: str, marks: tuple[str, ...] = ()
) -> ColumnVerdict:
    present = numbers.astype(np.float64)
    present = present[~np.isnan(present)]
    if len(present) == 0:
        return ColumnVerdict(CONSTANT, kind, "every cell is empty", marks)
    distinct = len(np.unique(present))
    if distinct == 1:
        if len(present) == len(numbers):
            return ColumnVerdict(CONSTANT, kind, f"it is {present[0]:g} in every row", marks)
        return ColumnVerdict(CATEGORY, CATEGORY, marks=marks)  # present or missing is itself a fact
    if kind == NUMBER and _counts_rows(name, present, distinct):
        return ColumnVerdict(IDENTIFIER, NUMBER, "no two rows have the same number", marks)
    return ColumnVerdict(kind, kind, marks=marks)


def _counts_rows(name: str, present: np.ndarray, distinct: int) -> bool:
    n = len(present)
    if n <= LEAST_ROWS or distinct < n or not np.all(np.isfinite(present)):
        return False
    if not np.all(present == np.round(present)):
        return False
    reach = float(present.max() - present.min()) + 1.0
    return n * n / (2.0 * reach) > UNLIKELY or bool(_NAMED_SO.search(name))


def _judge_dates(dates: Any, form: str) -> ColumnVerdict:
    present = dates.dropna()
    if present.nunique() == 1 and len(present) == len(dates):
        return ColumnVerdict(CONSTANT, DATE, f"it is {present.iloc[0]} in every row", form=form)
    detail = WITH_TIME if present.dt.hour.nunique() > 1 else ""
    return ColumnVerdict(DATE, DATE, "it holds dates", form=form, detail=detail)


def _judge_text(name: str, values: Any, decimal: str) -> ColumnVerdict:
    import pyarrow.compute as pc

    text = without_words(values)
    present = pc.utf8_trim_whitespace(text.drop_null())
    if len(present) == 0:
        return ColumnVerdict(CONSTANT, CATEGORY, "every cell is empty")
    different = present.unique().to_pylist()
    if {word.lower() for word in different} <= {"true", "false"}:
        if len(different) == 1 and len(present) == len(text):
            return ColumnVerdict(CONSTANT, FLAG, f"it is {different[0]!r} in every row")
        return (
            ColumnVerdict(FLAG, FLAG) if len(different) > 1 else ColumnVerdict(CATEGORY, CATEGORY)
        )
    if not _are_codes(different):
        numbers, bad = text_to_numbers(text, decimal)
        if not bad.any():
            return _judge_numbers(name, numbers, NUMBER)
        marks = tuple(
            sorted({cell.strip() for cell in text.filter(arrow().array(bad)).to_pylist()})
        )
        if 1 - bad.sum() / len(present) >= NUMBER_SHARE and len(marks) <= MOST_MARKS:
            return _judge_numbers(name, numbers, NUMBER, marks)
    form = _date_form(different)
    if form:
        return _judge_dates(to_dates(text, form), form)
    return _judge_words(text, present, different)


def _are_codes(different: list[str]) -> bool:
    """Digits with leading zeros, all of one length: a postal code, not a quantity."""
    lengths = {len(cell) for cell in different}
    return len(lengths) == 1 and any(_PADDED.fullmatch(cell) for cell in different)


def _date_form(different: list[str]) -> str:
    import pandas as pd

    sample = pd.Series(different[:1000], dtype=object)
    if not sample.str.contains(r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}").all():
        return ""
    for form in ("ISO8601", *DATE_FORMS):
        if pd.to_datetime(sample, format=form, errors="coerce", utc=True).notna().all():
            return form
    return ""


def _judge_words(text: Any, present: Any, different: list[str]) -> ColumnVerdict:
    import pyarrow.compute as pc

    if len(different) == 1:
        if len(present) == len(text):
            return ColumnVerdict(CONSTANT, CATEGORY, f"it is {different[0][:60]!r} in every row")
        return ColumnVerdict(CATEGORY, CATEGORY)
    length = float(pc.mean(pc.utf8_length(present)).as_py())
    words = 1 + float(pc.mean(pc.count_substring(present, " ")).as_py())
    share, many = len(different) / len(present), len(different) > LEAST_ROWS
    if many and (length > TEXT_LENGTH or (share > 0.5 and words >= TEXT_WORDS)):
        why = f"it holds free text ({len(different)} different cells, {length:.0f} characters each)"
        return ColumnVerdict(TEXT, TEXT, why)
    if share > IDENTIFIER_SHARE and len(present) > LEAST_ROWS:
        why = f"{len(different)} of {len(present)} cells are different"
        return ColumnVerdict(IDENTIFIER, CATEGORY, why)
    if len(different) > MOST_CATEGORIES:
        why = f"it has {len(different)} different values, above {MOST_CATEGORIES}"
        return ColumnVerdict(TEXT, CATEGORY, why)
    return ColumnVerdict(CATEGORY, CATEGORY)


def marks_sentence(marks: tuple[str, ...]) -> str:
    """How marks for missing are told."""
    return f"{listed(marks)} {'counts' if len(marks) == 1 else 'count'} as missing"
