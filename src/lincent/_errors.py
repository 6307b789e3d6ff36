"""The error that a person at the keyboard can set right, and what its sentences are made of."""

from __future__ import annotations

from typing import Any


class AppError(ValueError):
    """Something that the user can set right; its text is one sentence that says how."""


def need(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package, or say which extra brings it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise AppError(f'{purpose} needs {name}: pip install "lincent[{extra}]".') from error


def first_line(error: object, limit: int = 200) -> str:
    """The message of another package's error, short enough for a sentence."""
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
