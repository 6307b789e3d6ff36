"""The one kind of error that a person can set right, and how foreign text is shown."""

from __future__ import annotations

import difflib
import importlib
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any


class AppError(ValueError):
    """Something that the user can set right; its text is one sentence that says how."""


def need(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package, or say which extra brings it."""
    try:
        return sys.modules.get(package) or importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise AppError(f'{purpose} needs {name}: pip install "lincent[{extra}]".') from error


def first_line(error: object, limit: int = 200) -> str:
    """The message of another package's error, short enough for a sentence."""
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str) -> str:
    r"""Text for a terminal: what would steer it (escapes, direction marks) is spelled out.

    So is what has no sign of its own. Names of columns and classes come from files, and a file may
    hold anything.

    Examples
    --------
    >>> printable("age\x1b[2J")
    'age\\x1b[2J'
    """
    return "".join(c if c in "\n\t" or not _steers(c) else _spelled(c) for c in text)


def _steers(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


def listed(names: Iterable[Any], count: int = 8) -> str:
    """Some names, quoted, and how many more there are."""
    names = [repr(name) for name in names]
    shown = ", ".join(names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"


def nearest(name: str, names: Sequence[str]) -> str:
    """What may have been meant by a name that is not there; else the names that are."""
    close = difflib.get_close_matches(name, names, 3, 0.5)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"the columns are {listed(names, 12)}."
