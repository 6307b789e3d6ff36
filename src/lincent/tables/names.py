"""Names of columns: each has one, and no two have the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lincent.tables.errors import TableError


def filled_names(names: list[Any]) -> list[str]:
    """A column without a name (pandas writes its index so) is called as pandas calls it."""
    return [
        str(name) if name is not None and str(name).strip() else f"Unnamed: {place}"
        for place, name in enumerate(names)
    ]


def check_double(where: str, names: list[str]) -> None:
    """Refuse two columns of one name."""
    double = [name for name, count in Counter(names).items() if count > 1]
    if double:
        places = [str(k + 1) for k, name in enumerate(names) if name == double[0]]
        raise TableError(
            f"{where}: the column name {double[0]!r} stands in columns "
            f"{', '.join(places[:-1])} and {places[-1]}; give each column its own name."
        )


def checked_names(table: Any, where: str) -> Any:
    """The Arrow table with a name for every column."""
    names = filled_names(table.column_names)
    check_double(where, names)
    return table if names == table.column_names else table.rename_columns(names)
