"""The error of this room."""

from __future__ import annotations

from typing import Any

from lincent._errors import AppError, need


class TableError(AppError):
    """A user's table cannot be used; the message is one sentence with file, row and column."""


def arrow() -> Any:
    """The pyarrow package."""
    need("pandas", "app", "Reading tables")
    return need("pyarrow", "app", "Reading tables")
