"""What the commands share: options by name, their parsing, and errors as messages."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from lincent._console import log
from lincent._errors import AppError, first_line

Names = list[str] | None
INTERRUPTED = 130
"""128 plus the number of the signal, as in shells."""

Jobs = Annotated[int, typer.Option(help="Worker processes; 0: one per core.", min=0)]
Retry = Annotated[bool, typer.Option("--retry", help="Repeat failed runs of an earlier call.")]
TimeLimit = Annotated[float, typer.Option(help="Seconds for one fit.")]
Folder = Annotated[Path | None, typer.Option("-o", "--output", help="Folder for the results.")]
Seed = Annotated[int, typer.Option(help="Seed of all splits.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no log messages.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
ModelFile = Annotated[str, typer.Argument(help="Model file.")]
Contributions = Annotated[
    bool,
    typer.Option("--contributions", help="What each column adds to the score, for sums of them."),
]

# How a file is written: inferred unless given.
Format = Annotated[
    str | None, typer.Option(help="csv, parquet, arrow, excel or json; else by name or content.")
]
Separator = Annotated[
    str | None, typer.Option("--sep", help="Separator of a text file, such as ';' or tab.")
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file, such as latin-1.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of a text file: '.' or ','.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook, by title or number.")]

# What the columns are: inferred unless given.
Drop = Annotated[Names, typer.Option(help="Column to leave out; repeat.")]
Keep = Annotated[Names, typer.Option(help="Column to use whatever it looks like; repeat.")]
Role = Annotated[
    Names, typer.Option(help="COLUMN=number, category, text, date, identifier or drop; repeat.")
]
Dates = Annotated[bool, typer.Option("--dates", help="Use columns of dates, as numbers.")]
Text = Annotated[bool, typer.Option("--text", help="Use columns of free text, by their words.")]
Group = Annotated[
    str | None, typer.Option(help="Column whose equal values stay on one side of a split.")
]


@contextmanager
def errors_as_messages(kept: str = "nothing was written", first: str = "") -> Iterator[None]:
    """Turn errors that a user can correct into a message on the error stream and exit code 2.

    An interrupt is exit code 130 and a message on what is ``kept``; a reader of our output that
    goes away (``| head``) is no error.  The message ``first`` comes before slow imports.
    """
    if first:
        log(first)
    try:
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


def worker_count(jobs: int) -> int:
    """Return the number of worker processes; 0 is one per core."""
    if jobs:
        return jobs
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def parse_names(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def parse_params(texts: list[str] | None) -> dict[str, Any]:
    """Return ``["C=2", "norm=l1"]`` as ``{"C": 2, "norm": "l1"}``."""
    params: dict[str, Any] = {}
    for text in texts or ():
        name, mark, value = text.partition("=")
        if not mark or not name.isidentifier():
            raise AppError(f"--set {text}: write NAME=VALUE, such as C=2.")
        try:
            params[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            params[name] = value
    return params


def parse_roles(texts: list[str] | None) -> dict[str, str]:
    """Return ``["zip=category"]`` as ``{"zip": "category"}``."""
    roles = {}
    for text in texts or ():
        name, mark, role = text.rpartition("=")
        if not mark or not name:
            raise AppError(f"--role {text}: write COLUMN=ROLE, such as zip=category.")
        roles[name] = role
    return roles


def column_options(
    drop: Names, keep: Names, role: Names, dates: bool, text: bool, group: str | None
) -> dict[str, Any]:
    """Return the options on columns as keywords of ``fit_table`` and ``compare``."""
    named = {"drop": tuple(drop or ()), "keep": tuple(keep or ()), "roles": parse_roles(role)}
    return named | {"dates": dates, "text": text, "group": group}


def read_options(
    format: str | None,
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    sheet: str | None,
) -> Any:
    """Return the options on the format of a file."""
    from lincent.tables.read import ReadOptions

    return ReadOptions(format, separator, encoding, decimal, sheet)
