"""The command line: one public function per command, each a few lines over the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
except ImportError:
    sys.exit('The command line needs typer: pip install "lincent[app]".')

INTERRUPTED = 130
"""128 and the number of the signal, as shells have it."""

Jobs = Annotated[int, typer.Option(help="Worker processes; 0: one per core.", min=0)]
Seed = Annotated[int, typer.Option(help="Seed of all splits.", min=0)]
Folder = Annotated[Path | None, typer.Option("-o", "--output", help="Folder for the results.")]
Retry = Annotated[bool, typer.Option("--retry", help="Run marked cells of an earlier run again.")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]

# How a file is written: found out unless said.
Format = Annotated[
    str | None, typer.Option(help="csv, parquet, arrow, excel or json; else by name or content.")
]
Separator = Annotated[
    str | None, typer.Option("--sep", help="Separator of a text file, such as ';' or tab.")
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file, such as latin-1.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of a text file: '.' or ','.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook, by title or number.")]

# What the columns are: judged unless said.
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; repeat.")]
Keep = Annotated[
    list[str] | None, typer.Option(help="Column to use whatever it looks like; repeat.")
]
Role = Annotated[
    list[str] | None,
    typer.Option(help="COLUMN=number, category, text, date, identifier or drop; repeat."),
]
Dates = Annotated[bool, typer.Option("--dates", help="Use columns of dates, as numbers.")]
Text = Annotated[bool, typer.Option("--text", help="Use columns of free text, by their words.")]
Group = Annotated[
    str | None, typer.Option(help="Column whose equal values stay on one side of a split.")
]


def _commands() -> Any:
    app = typer.Typer(
        name="lincent",
        help="Centralization classifiers: rerun the study of the paper, compare on your own table.",
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
    """Centralization classifiers: from a table to a model, an answer, a comparison."""
    if version:
        from lincent import _versions

        print(f"lincent {_versions.lincent()}")
        raise typer.Exit


def main() -> None:
    """Start the command line; a problem of the user's is one sentence and exit code 2."""
    _commands()()


class _Sentence:
    """Turns errors that a user can mend into one sentence on the error stream and exit code 2.

    An interrupt is exit code 130 and a sentence on what is kept; a reader of our output that goes
    away (``| head``) is no error.
    """

    def __init__(self, kept: str = "nothing was written") -> None:
        self.kept = kept

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        from lincent.datasets import DatasetChecksumError, DatasetNotFoundError
        from lincent.study.store import FolderInUseError

        mendable = (
            ValueError,
            TypeError,
            ImportError,
            OSError,
            DatasetNotFoundError,
            DatasetChecksumError,
            FolderInUseError,
        )
        if isinstance(error, KeyboardInterrupt):
            _remark(f"interrupted; {self.kept}.")
            raise typer.Exit(INTERRUPTED) from error
        if error is None:
            return
        if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
            _leave_the_pipe()
            raise typer.Exit(0) from error
        if isinstance(error, mendable):
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
    quick: Annotated[
        bool, typer.Option("--quick", help="A few splits, under two minutes.")
    ] = False,
    output: Folder = None,
    jobs: Jobs = 0,
    seed: Seed = 0,
    sets: Annotated[str, typer.Option(help="Codes of the paper's sets, comma-separated.")] = "",
    methods: Annotated[str, typer.Option(help="Methods of procedure 1, comma-separated.")] = "",
    parts: Annotated[
        str, typer.Option(help="Of procedure1,procedure2,nested,kernel,readings; else all.")
    ] = "",
    runs: Annotated[int, typer.Option(help="Splits of procedure 1; 0: 100, or 5 if quick.")] = 0,
    time_limit: Annotated[float, typer.Option(help="Seconds for one fit.")] = 300.0,
    retry: Retry = False,
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
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the study of the paper again and write a report that sets ours beside theirs."""
    study = "reproduce" if seizure is None else "seizure"
    folder = output or Path(f"lincent-{study}-quick" if quick else f"lincent-{study}")
    shared: dict[str, Any] = {
        "methods": _names(methods) or None,
        "jobs": jobs or _cores(),
        "seed": seed,
        "time_limit": time_limit,
        "retry": retry,
        "quiet": quiet,
        "json": json,
    }
    with _Sentence(f"what is done is kept in {folder}, and the same command goes on from there"):
        from lincent.study.commands import run_reproduce, run_seizure

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
    data: Annotated[str, typer.Argument(help="A table (see fit), or a data set's name.")],
    target: Annotated[str | None, typer.Option(help="Column with the classes.")] = None,
    group: Group = None,
    methods: Annotated[
        str, typer.Option(help="Names, or package.module:Class, comma-separated.")
    ] = "",
    metric: Annotated[str, typer.Option(help="The score that decides.")] = "balanced_accuracy",
    runs: Annotated[int, typer.Option(help="Stratified 70/30 splits.", min=1)] = 20,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose parameters inside training.")
    ] = False,
    jobs: Jobs = 0,
    seed: Seed = 0,
    time_limit: Annotated[float, typer.Option(help="Seconds for one fit.")] = 60.0,
    drop: Drop = None,
    keep: Keep = None,
    role: Role = None,
    dates: Dates = False,
    text: Text = False,
    format: Format = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    skip_bad_columns: Annotated[bool, typer.Option("--skip-bad-columns", hidden=True)] = False,
    output: Folder = None,
    retry: Retry = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare methods on a table: which, by how much, is it real, how long, and the code."""
    folder = output or Path(f"lincent-compare-{Path(data).name.split('.')[0]}")
    with _Sentence(f"finished fits are kept in {folder}, and the same command goes on from there"):
        from lincent.study.commands import run_compare

        if skip_bad_columns:
            _remark("--skip-bad-columns has no effect any more: such columns are always left out.")
        wishes = {"group": group, "drop": tuple(drop or ()), "keep": tuple(keep or ())}
        run_compare(
            data,
            target,
            folder,
            reading=_reading(format, separator, encoding, decimal, sheet),
            wishes=wishes | {"roles": _roles(role), "dates": dates, "text": text},
            methods=_names(methods) or None,
            metric=metric,
            runs=runs,
            tune=tune,
            jobs=jobs or _cores(),
            seed=seed,
            time_limit=time_limit,
            retry=retry,
            quiet=quiet,
            json=json,
        )


def _remark(line: str) -> None:
    """One line on the error stream."""
    from lincent._errors import printable

    print(f"lincent: {printable(line)}", file=sys.stderr)


def fit(
    data: Annotated[
        str,
        typer.Argument(
            help="CSV (any separator, also gzip or zip), Parquet, Feather, Excel or JSON lines; "
            "- is stdin."
        ),
    ],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    model: Annotated[str, typer.Option("-o", "--output", help="Model file to write.")],
    method: Annotated[
        str | None,
        typer.Option(help="auto (default), linear, additive, structured, kernel, lcc or a class."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One line, not tuned.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write an HTML page beside the model.")
    ] = False,
    metric: Annotated[
        str | None,
        typer.Option(help="Move the cut to the best balanced_accuracy, accuracy, f1 or mcc."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Move the cut to this probability.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Class that probability and F1 are about.")
    ] = None,
    drop: Drop = None,
    keep: Keep = None,
    role: Role = None,
    dates: Dates = False,
    text: Text = False,
    id: Annotated[
        list[str] | None, typer.Option("--id", help="Column that identifies a row; repeat.")
    ] = None,
    group: Group = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE of the estimator; repeat.")
    ] = None,
    tune: Annotated[bool, typer.Option("--tune", help="With lcc: choose the margin.")] = False,
    C: Annotated[float | None, typer.Option("--cost", help="Cost of a unit of slack.")] = None,
    margin: Annotated[float | None, typer.Option(help="With lcc: margin.")] = None,
    discriminator: Annotated[
        str | None, typer.Option(help="With lcc: distance, nearest or svm.")
    ] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give the classes equal total cost.")
    ] = False,
    multi_class: Annotated[str | None, typer.Option(help="ovr or ovo, for many classes.")] = None,
    probability: Annotated[
        str, typer.Option(help="sigmoid, isotonic or none, where there is a choice.")
    ] = "",
    format: Format = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit a classifier to a table, and say how good it is on rows that were held out."""
    with _Sentence("nothing was written; the same command starts afresh"):
        from lincent.app.commands import run_fit
        from lincent.app.methods import parse_settings
        from lincent.tables import Wishes

        drop, id, keep = (list(names or ()) for names in (drop, id, keep))
        code = run_fit(
            data,
            model,
            target=target,
            method=method,
            quick=quick,
            tune=tune,
            report=report,
            metric=metric,
            threshold=threshold,
            positive=positive,
            wishes=Wishes(tuple(drop), tuple(id), tuple(keep), _roles(role), dates, text, group),
            reading=_reading(format, separator, encoding, decimal, sheet),
            settings=parse_settings(set),
            C=C,
            margin=margin,
            discriminator=discriminator,
            balanced=balanced,
            multi_class=multi_class,
            probability=None if probability == "none" else probability,
            jobs=jobs or _cores(),
            seed=seed,
            force=force,
            quiet=quiet,
            json=json,
        )
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
    format: Format = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    output_format: Annotated[
        str | None, typer.Option(help="csv or parquet; else by the name.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Add class, score and probability to the rows of a table, which may exceed the memory."""
    with _Sentence():
        from lincent.app.commands import run_predict

        code = run_predict(
            model,
            data,
            output,
            ids=tuple(id) if id else None,
            keep_all=all_columns,
            prefix=prefix,
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
    format: Format = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    sheet: Sheet = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Show what a model uses, where its classes lie, and the rows most at odds with it."""
    with _Sentence():
        from lincent.app.commands import run_explain

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
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write a model as an ONNX graph, a SQL query or a Python module."""
    with _Sentence():
        from lincent.app.commands import run_export

        code = run_export(model, output, format=format, table=table, force=force, json=json)
    raise typer.Exit(code)


def datasets(
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List data sets: what is there, what can be had, licence and how."""
    from lincent.study.reports.terminal import (
        dataset_json,
        dataset_list,
    )

    (dataset_json if json else dataset_list)()


def _reading(
    format: str | None,
    separator: str | None,
    encoding: str | None,
    decimal: str | None,
    sheet: str | None,
) -> Any:
    from lincent.tables import Reading

    return Reading(format, separator, encoding, decimal, sheet)


def _roles(said: list[str] | None) -> dict[str, str]:
    """``["zip=category"]`` as ``{"zip": "category"}``."""
    found = {}
    for text in said or ():
        name, mark, role = text.rpartition("=")
        if not mark or not name:
            raise ValueError(f"--role {text}: write COLUMN=ROLE, such as zip=category.")
        found[name] = role
    return found


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


if __name__ == "__main__":
    main()
