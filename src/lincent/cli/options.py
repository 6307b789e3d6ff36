"""What the commands share: options by name, their parsing, and errors as messages.

A command is a function with plain types and defaults; ``command`` adds the flags and help texts of
``options.toml``, so that an option has one meaning in all commands.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Annotated, Any

import typer

from lincent._console import log
from lincent._errors import AppError, first_line
from lincent._files import read_toml
from lincent.tables.read import ReadOptions

Names = list[str] | None
INTERRUPTED = 130
"""128 plus the number of the signal, as in shells."""
interrupted = threading.Event()
"""Whether an interrupt has arrived in the present command."""

OPTIONS: dict[str, dict[str, Any]] = read_toml("lincent.cli", "options.toml")
"""Flags and help texts: for all commands, and for one of them."""


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function: errors are messages, and options have flags and help.

    The parameters ``columns`` and ``reading`` stand for those of `GROUPS`.
    """
    signature = functools.partial(inspect.signature, eval_str=True)
    own = dict(signature(function).parameters)
    groups = {
        name: [p for p in signature(make).parameters.values() if p.name in OPTIONS["all"]]
        for name, make in GROUPS.items()
        if own.pop(name, None)
    }

    @functools.wraps(function)
    def call(**given: Any) -> None:
        with errors_as_messages():
            for name, group in groups.items():
                given[name] = GROUPS[name](**{p.name: given.pop(p.name) for p in group})
            function(**given)

    options = [
        p.replace(annotation=_option(function.__name__, p), kind=p.KEYWORD_ONLY)
        for p in chain(own.values(), *groups.values())
    ]
    call.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return call


def _option(command: str, parameter: inspect.Parameter) -> Any:
    name = f"{command} {parameter.name}"
    text = OPTIONS.get(command, {}).get(parameter.name) or OPTIONS["all"][parameter.name]
    if parameter.default is parameter.empty or name == "explain data":
        return Annotated[parameter.annotation, typer.Argument(help=text)]
    flags = OPTIONS["flags"].get(parameter.name, (f"--{parameter.name.replace('_', '-')}",))
    least = int(name == "compare runs") if parameter.annotation is int else None
    return Annotated[parameter.annotation, typer.Option(*flags, help=text, min=least)]


def _columns(
    drop: Names = None,
    keep: Names = None,
    role: Names = None,
    group: str | None = None,
) -> dict[str, Any]:
    """Return the options on columns as keywords of ``fit_table`` and ``compare``."""
    form = "COLUMN=ROLE, such as zip=category"
    roles = dict(_pair(given, "--role", form) for given in role or ())
    return {"drop": tuple(drop or ()), "keep": tuple(keep or ()), "roles": roles, "group": group}


GROUPS: dict[str, Callable[..., Any]] = {"columns": _columns, "reading": ReadOptions}


@contextmanager
def errors_as_messages(kept: str = "nothing was written") -> Iterator[None]:
    """Turn errors that a user can correct into a message on the error stream and exit code 2.

    An interrupt is exit code 130 and a message on what is ``kept``; a reader of our output that
    goes away (``| head``) is no error.
    """
    try:
        with _keep_interrupts():
            yield
    except KeyboardInterrupt as error:
        log(f"interrupted; {kept}.")
        raise typer.Exit(INTERRUPTED) from error
    except MemoryError as error:
        log(f"memory does not suffice ({first_line(error) or 'no further word'}); {kept}.")
        raise typer.Exit(2) from error
    except (ValueError, TypeError, ImportError, OSError) as error:
        if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
            # The interpreter must not try to flush the output at its end.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
            raise typer.Exit(0) from error
        log(" ".join(str(error).split()))
        raise typer.Exit(2) from error


@contextmanager
def _keep_interrupts() -> Iterator[None]:
    """Raise an interrupt as such where native code has made another error of it."""
    previous = signal.getsignal(signal.SIGINT)
    interrupted.clear()

    def note(number: int, frame: Any) -> None:
        interrupted.set()
        signal.default_int_handler(number, frame)

    is_main = threading.current_thread() is threading.main_thread()
    noted = callable(previous) and is_main
    if noted:
        signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if interrupted.is_set() and not isinstance(error, typer.Exit):
            raise KeyboardInterrupt from error
        raise
    finally:
        if noted:
            signal.signal(signal.SIGINT, previous)


def worker_count(jobs: int) -> int:
    """Return the number of worker processes; 0 is one per core."""
    from joblib import cpu_count

    return jobs or int(cpu_count())


def parse_names(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def parse_params(texts: list[str] | None) -> dict[str, Any]:
    """Return ``["C=2", "norm=l1"]`` as ``{"C": 2, "norm": "l1"}``."""
    params: dict[str, Any] = {}
    for text in texts or ():
        name, value = _pair(text, "--set", "NAME=VALUE, such as C=2")
        try:
            params[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            params[name] = value
    return params


def parse_costs(text: str | None) -> dict[str, float] | None:
    """Return ``"yes=5,no=1"`` as ``{"yes": 5.0, "no": 1.0}``."""
    if text is None:
        return None
    form = "CLASS=COST,CLASS=COST, such as yes=5,no=1"
    pairs = dict(_pair(part, "--costs", form) for part in parse_names(text))
    try:
        return {name: float(cost) for name, cost in pairs.items()}
    except ValueError as error:
        raise AppError(f"--costs {text}: write {form}.") from error


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    name, mark, value = text.partition("=") if option == "--set" else text.rpartition("=")
    if not mark or not name:
        raise AppError(f"{option} {text}: write {form}.")
    return name, value
