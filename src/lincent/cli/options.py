"""What the commands share: options by name, their parsing, and errors as messages.

A command is a function with plain types and defaults; ``command`` adds the flags and help texts of
this module, so that an option has one meaning in all commands.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from lincent._console import log
from lincent._errors import AppError, first_line

Names = list[str] | None
INTERRUPTED = 130
"""128 plus the number of the signal, as in shells."""

HELP = {
    "all_columns": "Keep every column of the input.",
    "balanced": "Give the classes equal total cost.",
    "by": "Also report errors by the values of this column.",
    "C": "With --method lcc: cost C.",
    "contributions": "What each column adds to the score.",
    "costs": "Costs of errors by true class, as yes=5,no=1: set the threshold by it.",
    "data": "CSV (any separator, also compressed), Parquet, Feather, Excel or JSON lines; - is "
    "stdin.",
    "compare data": "A table (see fit), or a data set's name.",
    "explain data": "Table with the target to evaluate on; - is stdin.",
    "export data": "Table to compare on with predict, as the training table.",
    "dates": "Use columns of dates, as numbers.",
    "decimal": "Decimal mark of a text file: '.' or ','.",
    "discriminator": "With --method lcc: distance, nearest or svm.",
    "drop": "Column to leave out; repeat.",
    "encoding": "Encoding of a text file, such as latin-1.",
    "force": "Replace files that exist.",
    "format": "csv, parquet, arrow, excel or json; else by name or content.",
    "group": "Column whose equal values stay on one side of a split.",
    "fit id": "Column that identifies a row; repeat.",
    "predict id": "Column to keep; else those named in fit.",
    "interictal": "Seizure study: random (as in the paper) or blocks (unbiased).",
    "jobs": "Worker processes; 0: one per core.",
    "json": "Print the answer as JSON.",
    "keep": "Column to use whatever it looks like; repeat.",
    "learning_curve": "Also show how the score grows with the rows.",
    "lenient": "Seizure study: skip unusable files and count them.",
    "margin": "With --method lcc: margin.",
    "method": "auto, linear, additive, structured, kernel, lcc, quick or a class.",
    "compare methods": "Names, or package.module:Class, comma-separated.",
    "reproduce methods": "Methods of procedure 1, comma-separated.",
    "fit metric": "Threshold with the best balanced_accuracy, accuracy, f1 or mcc.",
    "compare metric": "The score that decides.",
    "model": "Model file.",
    "multi_class": "ovr or ovo, for many classes.",
    "output": "Folder for the results.",
    "explain output": "HTML page to write; - is stdout.",
    "export output": "File to write; - is stdout.",
    "fit output": "Model file to write; else beside the table.",
    "predict output": "CSV or Parquet file to write; - is stdout.",
    "output_format": "Format of the output; else by its name.",
    "parts": "Of procedure1,procedure2,nested,kernel,interpretations; else all.",
    "positive": "Class that probability and F1 refer to.",
    "prefix": "Goes before the names of new columns.",
    "probability": "sigmoid, isotonic or none, where there is a choice.",
    "fit quick": "--method quick: linear, not tuned.",
    "reproduce quick": "A few splits, under two minutes.",
    "quiet": "No progress, no log messages.",
    "reasons": "Columns with what speaks most for the class, in words.",
    "report": "HTML page beside the model; default: where --output is not given.",
    "report_json": "The report as JSON and Markdown as well.",
    "retry": "Repeat failed runs of an earlier call.",
    "role": "COLUMN=number, category, date, identifier or drop; repeat.",
    "rows": "Whether the report shows single training rows.",
    "compare runs": "Stratified 70/30 splits.",
    "reproduce runs": "Splits of procedure 1; 0: 100, or 5 if quick.",
    "seed": "Seed of all splits.",
    "seizure": "Folder with Dog_1, Patient_1 and so on: run the seizure study on it.",
    "separator": "Separator of a text file, such as ';' or tab.",
    "set": "NAME=VALUE of the estimator; repeat.",
    "sets": "Codes of the paper's sets, comma-separated.",
    "sheet": "Sheet of a workbook, by title or number.",
    "strict": "An unreadable cell or a missing class is an error.",
    "table": "Table that the SQL reads.",
    "target": "Column to predict; else the last one.",
    "threshold": "Predict --positive from this probability on.",
    "time_limit": "Seconds for one fit.",
    "fit tune": "With --method lcc: choose the margin.",
    "compare tune": "Choose parameters inside training.",
}
"""The help text of each parameter, or of that of one command."""
FLAGS = {
    "output": ("-o", "--output"), "quiet": ("--quiet", "-q"), "separator": ("--sep",),
    "report": ("--report/--no-report",), "rows": ("--rows/--no-rows",),
}  # fmt: skip
"""Flags other than the name of the parameter."""


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function: errors are messages, and options have flags and help.

    The parameters ``columns`` and ``reading`` stand for those of the functions of these names.
    """
    parameters = inspect.signature(function, eval_str=True).parameters
    groups = {name: inspect.signature(make, eval_str=True).parameters
              for name, make in GROUPS.items() if name in parameters}  # fmt: skip
    own = [p for name, p in parameters.items() if name not in groups]
    added = [p.replace(kind=p.KEYWORD_ONLY) for group in groups.values() for p in group.values()]

    @functools.wraps(function)
    def call(**given: Any) -> None:
        with errors_as_messages():
            for group, names in groups.items():
                given[group] = GROUPS[group](**{name: given.pop(name) for name in names})
            function(**given)

    options = [p.replace(annotation=_option(function.__name__, p)) for p in (*own, *added)]
    call.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return call


def _option(command: str, parameter: inspect.Parameter) -> Any:
    name = f"{command} {parameter.name}"
    text = HELP.get(name) or HELP[parameter.name]
    if parameter.default is parameter.empty or name == "explain data":
        return Annotated[parameter.annotation, typer.Argument(help=text)]
    flags = FLAGS.get(parameter.name, (f"--{parameter.name.replace('_', '-')}",))
    least = int(name == "compare runs") if parameter.annotation is int else None
    return Annotated[parameter.annotation, typer.Option(*flags, help=text, min=least)]


def _reading(
    format: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Any:
    """Return how a file is written: what is None is inferred."""
    from lincent.tables.read import ReadOptions

    return ReadOptions(format, separator, encoding, decimal, sheet)


def _columns(
    drop: Names = None,
    keep: Names = None,
    role: Names = None,
    dates: bool = False,
    group: str | None = None,
) -> dict[str, Any]:
    """Return the options on columns as keywords of ``fit_table`` and ``compare``."""
    form = "COLUMN=ROLE, such as zip=category"
    roles = dict(_pair(given, "--role", form) for given in role or ())
    chosen = {"drop": tuple(drop or ()), "keep": tuple(keep or ()), "roles": roles}
    return chosen | {"dates": dates, "group": group}


GROUPS: dict[str, Callable[..., Any]] = {"columns": _columns, "reading": _reading}


@contextmanager
def errors_as_messages(kept: str = "nothing was written") -> Iterator[None]:
    """Turn errors that a user can correct into a message on the error stream and exit code 2.

    An interrupt is exit code 130 and a message on what is ``kept``; a reader of our output that
    goes away (``| head``) is no error.
    """
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
