"""The console: answers on the output, log messages and progress on the error stream.

Long work reports each step with ``step``, which costs nothing where nobody listens; ``listening``
passes the steps of a context to functions such as that of ``progress_bar``: a bar in a terminal,
plain lines otherwise, nothing when quiet.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from lincent._errors import printable
from lincent._files import OutputError, reason


class Progress(Protocol):
    """Shows a stage, steps done, steps in all (0 if not known), and the current step."""

    def __call__(self, stage: str, done: int, total: int, detail: str = "") -> None: ...


Listener = Callable[[str, int, int, str], None]
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("lincent_progress", default=())


@contextmanager
def listening(*listeners: Listener) -> Iterator[None]:
    """Pass every step in this context to these listeners, and to those outside of it."""
    token = _listeners.set((*_listeners.get(), *listeners))
    try:
        yield
    finally:
        _listeners.reset(token)


def step(stage: str, done: int, total: int, detail: str = "") -> None:
    """Report that one of ``total`` steps begins, after ``done`` of them; ``detail`` names it."""
    for listener in _listeners.get():
        listener(stage, done, total, detail)


def silent(*args: Any, **named: Any) -> None:
    """Ignore log messages and progress."""


def log(line: str) -> None:
    """Print a log message or a warning on the error stream, if it can be written."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"lincent: {printable(line)}\n")
        sys.stderr.flush()


def answer(text: str) -> None:
    """Print the result of a command."""
    try:
        sys.stdout.write(printable(text) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Standard output was not written: {reason(error)}.") from error


def json_text(data: Any) -> str:
    """Return plain data as JSON, with null for numbers that are not finite."""
    finite = json.loads(json.dumps(data, default=str), parse_constant=lambda name: None)
    return json.dumps(finite, indent=2, ensure_ascii=False)


def answer_json(data: Any) -> None:
    """Print the result of a command as JSON."""
    answer(json_text(data))


def duration(seconds: float) -> str:
    """Return a time span in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def progress_bar(quiet: bool = False, line_seconds: float = 1.0) -> Iterator[Progress]:
    """Show progress; plain lines are at least ``line_seconds`` apart."""
    if quiet:
        yield silent
        return
    from rich import console, progress

    terminal = console.Console(stderr=True)
    if not terminal.is_terminal:
        yield _plain_lines(line_seconds)
        return
    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=terminal, transient=True) as bar:
        task, current = bar.add_task("reading", total=None), ""

        def show(stage: str, done: int, total: int, detail: str = "") -> None:
            nonlocal current
            if stage != current:
                bar.reset(task)
                current = stage
            text = printable(_progress_text(stage, done, total, detail))
            bar.update(task, description=text, completed=done, total=total or None)

        yield show


def _progress_text(stage: str, done: int, total: int, detail: str) -> str:
    which = f" ({detail})" if detail else ""
    return f"{stage} {min(done + 1, total)} of {total}{which}" if total else stage + which


def _plain_lines(seconds: float) -> Progress:
    last = 0.0

    def show(stage: str, done: int, total: int, detail: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if total and (done >= total or now - last < seconds):
            return
        last = now
        log(_progress_text(stage, done, total, detail))

    return show


@contextmanager
def experiment_progress(quiet: bool = False) -> Iterator[Callable[[int, int, Any], None]]:
    """Show the fits of an experiment: fits done, fits in all, and the row of the last one."""
    with progress_bar(quiet, line_seconds=30.0) as show:
        yield lambda done, total, row: show(
            "fit", done, total, f"{row['dataset']}, {row['method']}"
        )
