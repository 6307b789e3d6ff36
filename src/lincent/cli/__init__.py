"""The command line: one public function per command, each a few lines over the package."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

try:
    import typer
except ImportError:
    sys.exit('The command line needs typer: pip install "lincent[app]".')

from lincent import _memory
from lincent._errors import first_line
from lincent.cli import options

INTERRUPTED = 130
"""128 and the number of the signal, as shells have it."""


def _commands() -> Any:
    app = typer.Typer(
        name="lincent",
        help="Centralization classifiers: from a table to a model, a report and scored rows.",
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_main)
    for command in (fit, predict, explain, export, reproduce, compare, datasets):
        app.command()(command)
    return app


def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)
    ] = False,
) -> None:
    """Centralization classifiers: from a table to a model, a report and scored rows."""
    if version:
        from lincent import _versions

        print(f"lincent {_versions.lincent()}")
        raise typer.Exit


def main() -> None:
    """Start the command line; a problem of the user's is one sentence and exit code 2."""
    _memory.spare_addresses()
    try:
        _commands()()
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            _leave_at_once()
        raise


def _leave_at_once() -> NoReturn:
    """End an interrupted process, whose work is tidied up by now, with the code that it said.

    Under ``python -m`` an interrupt that came inside ``exec`` (dataclasses use it) is remembered
    although it was handled, and ends the process by the signal: the code would hang on chance.
    """
    with contextlib.suppress(OSError):  # nobody reads any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(INTERRUPTED)


class _Sentence:
    """Turns errors that a user can mend into one sentence on the error stream and exit code 2.

    An interrupt is exit code 130 and a sentence on what is kept; a reader of our output that goes
    away (``| head``) is no error.  The first word comes before what takes a second to import.
    """

    def __init__(self, kept: str = "nothing was written", first_word: str = "") -> None:
        self.kept, self.first_word = kept, first_word

    def __enter__(self) -> None:
        if self.first_word:
            _remark(self.first_word)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, KeyboardInterrupt):
            _remark(f"interrupted; {self.kept}.")
            raise typer.Exit(INTERRUPTED) from error
        if error is None:
            return
        if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
            _leave_the_pipe()
            raise typer.Exit(0) from error
        if isinstance(error, MemoryError):
            _remark(
                f"memory does not suffice ({first_line(error) or 'no further word'}); {self.kept}."
            )
            raise typer.Exit(2) from error
        if isinstance(error, (ValueError, TypeError, ImportError, OSError)):
            _remark(" ".join(str(error).split()))
            raise typer.Exit(2) from error


def _leave_the_pipe() -> None:
    """Nobody reads the output any more; the interpreter must not try to flush it at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def reproduce(
    quick: options.FewSplits = False,
    output: options.Folder = None,
    jobs: options.Jobs = 0,
    seed: options.Seed = 0,
    sets: Annotated[str, typer.Option(help="Codes of the paper's sets, comma-separated.")] = "",
    methods: Annotated[str, typer.Option(help="Methods of procedure 1, comma-separated.")] = "",
    parts: Annotated[
        str, typer.Option(help="Of procedure1,procedure2,nested,kernel,interpretations; else all.")
    ] = "",
    runs: Annotated[int, typer.Option(help="Splits of procedure 1; 0: 100, or 5 if quick.")] = 0,
    time_limit: options.TimeLimit = 300.0,
    retry: options.Retry = False,
    seizure: Annotated[
        Path | None,
        typer.Option(help="Folder with Dog_1, Patient_1 and so on: run the seizure study on it."),
    ] = None,
    interictal: Annotated[
        str, typer.Option(help="Seizure study: random (as in the paper) or blocks (honest).")
    ] = "random",
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Seizure study: skip unusable files and count them.")
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Run the study of the paper again, with a report.

    It sets our figures beside those of the paper.
    """
    study = "reproduce" if seizure is None else "seizure"
    folder = output or Path(f"lincent-{study}-quick" if quick else f"lincent-{study}")
    shared: dict[str, Any] = {
        "methods": _names(methods) or None,
        "n_jobs": jobs or _cores(),
        "random_state": seed,
        "time_limit": time_limit,
        "retry": retry,
        "quiet": quiet,
        "json": json,
    }
    kept = f"what is done is kept in {folder}, and the same command goes on from there"
    with _Sentence(kept, "" if quiet else f"the study goes to {folder}"):
        from lincent.paper.study.commands import run_reproduce, run_seizure

        if seizure is None:
            if lenient or interictal != "random":
                raise ValueError("--lenient and --interictal go with --seizure DIR.")
            shared |= {"sets": _names(sets), "parts": _names(parts)}
            return run_reproduce(folder, quick=quick, runs=runs, **shared)
        if parts:
            raise ValueError("--parts has no meaning with --seizure, which is procedure 1.")
        shared |= {"subjects": _names(sets), "runs": runs or (5 if quick else 50)}
        run_seizure(seizure, folder, interictal=interictal, lenient=lenient, **shared)


def compare(
    data: options.TableOrSet,
    target: options.Classes = None,
    group: options.Group = None,
    methods: options.Methods = "",
    metric: options.Score = "balanced_accuracy",
    runs: options.Runs = 20,
    tune: options.TuneInside = False,
    jobs: options.Jobs = 0,
    seed: options.Seed = 0,
    time_limit: options.TimeLimit = 60.0,
    drop: options.Drop = None,
    keep: options.Keep = None,
    role: options.Role = None,
    dates: options.Dates = False,
    text: options.Text = False,
    format: options.Format = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    output: options.Folder = None,
    retry: options.Retry = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Compare methods on a table, with a report.

    Which is best, by how much, is it real, how long does it take, and the code.
    """
    folder = output or Path(f"lincent-compare-{Path(data).name.split('.')[0]}")
    kept = f"finished fits are kept in {folder}, and the same command goes on from there"
    with _Sentence(kept, "" if quiet else f"reading {data}"):
        from lincent.paper.study.commands import run_compare

        reading = _reading(format, separator, encoding, decimal, sheet)
        wishes = _wishes(group, drop, keep, role, dates, text)
        trial: dict[str, Any] = {"methods": _names(methods) or None, "metric": metric}
        trial |= {"n_splits": runs, "tune": tune, "time_limit": time_limit, "retry": retry}
        trial |= {"n_jobs": jobs or _cores(), "random_state": seed}
        shown = {"quiet": quiet, "json": json}
        run_compare(data, target, folder, reading=reading, wishes=wishes, **trial, **shown)


def _remark(line: str) -> None:
    """One line on the error stream."""
    from lincent._errors import printable

    print(f"lincent: {printable(line)}", file=sys.stderr)


def fit(
    data: options.Table,
    target: options.Target,
    model: options.NewModel,
    method: options.Method = None,
    quick: options.Quick = False,
    report: options.Report = False,
    learning_curve: options.LearningCurve = False,
    metric: options.CutMetric = None,
    threshold: options.Threshold = None,
    positive: options.Positive = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    role: options.Role = None,
    dates: options.Dates = False,
    text: options.Text = False,
    id: options.Id = None,
    group: options.Group = None,
    set: options.Set = None,
    tune: options.TuneMargin = False,
    C: options.Cost = None,
    margin: options.Margin = None,
    discriminator: options.Discriminator = None,
    balanced: options.Balanced = False,
    multi_class: options.MultiClass = None,
    probability: options.Probability = "",
    format: options.Format = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Fit a classifier to a table.

    It is said how good it is on rows that were held out.
    """
    with _Sentence("nothing was written; the same command starts afresh"):
        from lincent.cli.commands import run_fit
        from lincent.tables.infer import ColumnOptions

        wishes = ColumnOptions(**_wishes(group, drop, keep, role, dates, text), ids=tuple(id or ()))
        reading = _reading(format, separator, encoding, decimal, sheet)
        rule: Any = {"settings": options.parse_settings(set), "method": method, "quick": quick}
        rule |= {"C": C, "margin": margin, "discriminator": discriminator, "balanced": balanced}
        rule |= {"multi_class": multi_class, "probability": _or_none(probability), "seed": seed}
        rule |= {"metric": metric, "threshold": threshold, "positive": positive, "tune": tune}
        rule |= {"target": target, "jobs": jobs or _cores(), "learning_curve": learning_curve}
        shown = {"report": report, "force": force, "quiet": quiet, "json": json}
        code = run_fit(data, model, wishes=wishes, reading=reading, **rule, **shown)
    raise typer.Exit(code)


def predict(
    model: Annotated[str, typer.Argument(help="Model file.")],
    data: Annotated[str, typer.Argument(help="A table as for fit; - is stdin.")],
    output: Annotated[
        str, typer.Option("-o", "--output", help="CSV or Parquet file to write; - is stdout.")
    ],
    id: Annotated[
        list[str] | None, typer.Option("--id", help="Column to keep; else those named in fit.")
    ] = None,
    all_columns: Annotated[
        bool, typer.Option("--all-columns", help="Keep every column of the input.")
    ] = False,
    prefix: Annotated[str, typer.Option(help="Goes before the names of new columns.")] = "",
    contributions: options.Contributions = False,
    format: options.Format = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    output_format: Annotated[
        str | None, typer.Option(help="csv or parquet; else by the name.")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Score a table with a model.

    Its rows get a class, a score and probabilities; it may exceed the memory.
    """
    with _Sentence():
        from lincent.cli.commands import run_predict

        code = run_predict(
            model,
            data,
            output,
            ids=tuple(id) if id else None,
            keep_all=all_columns,
            prefix=prefix,
            contributions=contributions,
            reading=_reading(format, separator, encoding, decimal, sheet),
            output_format=output_format,
            force=force,
            json=json,
        )
    raise typer.Exit(code)


def explain(
    model: Annotated[str, typer.Argument(help="Model file.")],
    data: Annotated[
        str | None, typer.Argument(help="Table with the target to judge by; - is stdin.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="HTML page to write; - is stdout.")
    ] = None,
    format: options.Format = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Show what a model goes by, and how good it is.

    How far each column moves the score, where the classes lie, and the rows most at odds with it.
    """
    with _Sentence():
        from lincent.cli.commands import run_explain

        reading = _reading(format, separator, encoding, decimal, sheet)
        code = run_explain(model, data, output=output, reading=reading, force=force, json=json)
    raise typer.Exit(code)


def export(
    model: Annotated[str, typer.Argument(help="Model file.")],
    output: Annotated[str, typer.Argument(help="File to write; - is stdout.")],
    format: Annotated[
        str | None, typer.Option(help="onnx, sql or python; else by the name.")
    ] = None,
    table: Annotated[str, typer.Option(help="Table that the SQL reads.")] = "input_table",
    contributions: options.Contributions = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write a model as ONNX, SQL or Python code."""
    with _Sentence():
        from lincent.cli.commands import run_export

        code = run_export(
            model,
            output,
            format=format,
            table=table,
            contributions=contributions,
            force=force,
            json=json,
        )
    raise typer.Exit(code)


def datasets(
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the data sets of the paper.

    What is there, what can be had, licence and how.
    """
    from lincent.paper.study.commands import run_datasets

    run_datasets(json)


def _reading(
    format: str | None,
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    sheet: str | None,
) -> Any:
    from lincent.tables.read import ReadOptions

    return ReadOptions(format, separator, encoding, decimal, sheet)


def _wishes(
    group: str | None,
    drop: list[str] | None,
    keep: list[str] | None,
    role: list[str] | None,
    dates: bool,
    text: bool,
) -> dict[str, Any]:
    """What was said of the columns, by the names that ``ColumnOptions`` has for it."""
    named = {"group": group, "drop": tuple(drop or ()), "keep": tuple(keep or ())}
    return named | {"roles": _roles(role), "dates": dates, "text": text}


def _roles(said: list[str] | None) -> dict[str, str]:
    """``["zip=category"]`` as ``{"zip": "category"}``."""
    found = {}
    for text in said or ():
        name, mark, role = text.rpartition("=")
        if not mark or not name:
            raise ValueError(f"--role {text}: write COLUMN=ROLE, such as zip=category.")
        found[name] = role
    return found


def _or_none(text: str) -> str | None:
    """The word ``none`` as None."""
    return None if text == "none" else text


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
