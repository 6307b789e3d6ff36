"""Solves that go on side by side: a read answers the questions of all that are on their way.

A walk is a generator: it asks for what the rows say at a point, is sent the answer, and returns a
solution in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

Point = TypeVar("Point")
Answer = TypeVar("Answer")
Found = TypeVar("Found")


def answered(
    walks: Sequence[Generator[Point, Answer, Found]],
    read: Callable[[list[Point]], Sequence[Answer]],
) -> list[Found]:
    """What the walks return; ``read`` answers some points at once."""
    asked = {k: next(walk) for k, walk in enumerate(walks)}
    done: dict[int, Found] = {}
    while asked:
        found = read(list(asked.values()))
        for k, answer in zip(list(asked), found, strict=True):
            try:
                asked[k] = walks[k].send(answer)
            except StopIteration as end:
                done[k] = end.value
                del asked[k]
    return [done[k] for k in range(len(walks))]
