"""How a missing category is written, the same wherever a table is read."""

from __future__ import annotations

from collections.abc import Iterable

MISSING = "(missing)"


def unused_mark(values: Iterable[str]) -> str:
    """A mark for missing text that no value reads like."""
    taken = set(values)
    mark = MISSING
    while mark in taken:
        mark += "'"
    return mark
