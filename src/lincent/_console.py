"""Long work shows itself: a bar in a terminal, plain lines in a pipe, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from lincent._errors import printable

LINE_SECONDS = 1.0
"""Lines in a pipe are at least so far apart."""


class Stage(Protocol):
    """Shows what is being done, steps done, steps in all (0: not known), and which it is."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None: ...


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing."""


def _said(stage: str, done: int, total: int, detail: str) -> str:
    which = f" ({detail})" if detail else ""
    return f"{stage} {min(done + 1, total)} of {total}{which}" if total else stage + which


@contextmanager
def stages(quiet: bool = False) -> Iterator[Stage]:
    """A function that shows where the work is."""
    if quiet:
        yield _silent
        return
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        yield _lines()
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(),
               TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        last = [""]

        def show(stage: str, done: int, total: int, detail: str = "") -> None:
            if stage != last[0]:
                bar.reset(task)
                last[0] = stage
            text = _said(stage, done, total, detail)
            bar.update(task, description=printable(text), completed=done, total=total or None)

        yield show


def _lines() -> Stage:
    started: dict[str, tuple[float, int]] = {}
    last = [0.0]

    def show(stage: str, done: int, total: int, detail: str = "") -> None:
        now = time.monotonic()
        since, first = started.setdefault(stage, (now, done))
        if total and (done >= total or now - last[0] < LINE_SECONDS):
            return
        last[0] = now
        left = ""
        if total and done > first:
            left = f", about {(now - since) / (done - first) * (total - done):.0f} s left"
        text = _said(stage, done, total, detail) + left
        sys.stderr.write(f"lincent: {printable(text)}\n")
        sys.stderr.flush()

    return show
