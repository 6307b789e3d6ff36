"""Answers of many parts of the data, merged before they take much room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

FEW_ANSWERS = 64
MUCH = 2**25
"""So many answers, or so many bytes of them, are kept before they are merged; where what has been
merged is larger (rows that are collected), as many as that, so that it is not copied each time."""

Merge = Callable[[list[Any]], Any]
"""From the answers of some parts to that of all of them together."""


class Pile:
    """Answers that are put on each other."""

    def __init__(self, merge: Merge) -> None:
        self.merge = merge
        self.answers: list[Any] = []
        self._fresh = self._merged = 0

    def put(self, answer: Any) -> None:
        """One more."""
        self.answers.append(answer)
        self._fresh += _bytes(answer)
        if len(self.answers) >= FEW_ANSWERS or self._fresh > max(MUCH, self._merged):
            self.answers = [self.merge(self.answers)]
            self._fresh, self._merged = 0, _bytes(self.answers[0])


def _bytes(answer: Any) -> int:
    """The size of the arrays in an answer."""
    if isinstance(answer, np.ndarray):
        return answer.nbytes
    if is_dataclass(answer):
        return sum(_bytes(getattr(answer, field.name)) for field in fields(answer))
    return sum(map(_bytes, answer)) if isinstance(answer, list | tuple) else 0
