"""The error that users can correct, and text of other origin in messages."""

from __future__ import annotations

import difflib
import importlib
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

CONTROL = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
"""Unicode categories of characters that do something to a terminal, or show nothing."""


class AppError(ValueError):
    """An error that the user can correct; its message is one line that gives the remedy."""


class MissingPackageError(AppError, ImportError):
    """An optional package is not installed."""


def import_optional(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package, or raise an error that names the extra."""
    try:
        return sys.modules.get(package) or importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        message = f'{purpose} needs {name}: pip install "lincent[{extra}]".'
        raise MissingPackageError(message) from error


class OptionalPackage:
    """An optional package that is imported with the first use of one of its names."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self._how = package, extra, purpose

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_optional(*self._how), name)
        setattr(self, name, value)
        return value


def first_line(error: object, limit: int = 200) -> str:
    """Return the message of another package's error on one line, truncated."""
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str) -> str:
    r"""Return text for a terminal, with control characters (escapes, direction marks) escaped.

    Names of columns and classes come from files, and a file may contain anything.

    Examples
    --------
    >>> printable("age\x1b[2J")
    'age\\x1b[2J'
    """
    control = {c for c in {*text} - {*"\n\t"} if unicodedata.category(c) in CONTROL}
    escaped = {c: c.encode("unicode_escape", "surrogatepass").decode() for c in control}
    return text.translate(str.maketrans(escaped))


def listed(names: Iterable[Any], count: int = 8) -> str:
    """Return some names, quoted, and the number of the others."""
    names = [repr(name) for name in names]
    shown = ", ".join(names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"


def nearest(name: str, names: Sequence[str], what: str = "columns", count: int = 12) -> str:
    """Return a hint for an unknown name: similar names in any case, else some of all names."""
    by_lower = {given.lower(): given for given in names}
    close = difflib.get_close_matches(name.lower(), by_lower, 3, 0.5)
    if close:
        return f"did you mean {' or '.join(repr(by_lower[key]) for key in close)}?"
    return f"the {what} are {listed(names, count)}."
