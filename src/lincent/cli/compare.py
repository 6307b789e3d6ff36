"""``lincent compare``."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from lincent import _console
from lincent.cli import options


def compare(
    data: Annotated[str, typer.Argument(help="A table (see fit), or a data set's name.")],
    target: Annotated[str | None, typer.Option(help="Column to predict.")] = None,
    group: options.Group = None,
    methods: Annotated[
        str, typer.Option(help="Names, or package.module:Class, comma-separated.")
    ] = "",
    metric: Annotated[str, typer.Option(help="The score that decides.")] = "balanced_accuracy",
    runs: Annotated[int, typer.Option(help="Stratified 70/30 splits.", min=1)] = 20,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose parameters inside training.")
    ] = False,
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
    with options.errors_as_messages(kept, "" if quiet else f"reading {data}"):
        from lincent.model_selection.comparison import check_methods, make_problem
        from lincent.model_selection.comparison import compare as compare_methods
        from lincent.report import comparison

        names = options.parse_names(methods) or None
        columns = options.column_options(drop, keep, role, dates, text, group)
        reading = options.read_options(format, separator, encoding, decimal, sheet)
        check_methods(metric, names)
        problem = make_problem(data, target, reading=reading, **columns)
        for note in () if quiet else problem.notes:
            _console.log(note)
        with _console.experiment_progress(quiet) as progress:
            result = compare_methods(
                data, target, problem=problem, folder=folder, methods=names, metric=metric,
                n_splits=runs, tune=tune, time_limit=time_limit, retry=retry,
                n_jobs=options.worker_count(jobs), random_state=seed, progress=progress, **columns,
            )  # fmt: skip
        lines = finish_experiment(result, comparison.comparison_page(result), folder, json)
        if json:
            return
        command = comparison.Comparison(result).command()
        winner = [f"To fit the winner: {command}"] if command else []
        _console.answer("\n".join([*comparison.summary_lines(result), *lines, *winner]))


def finish_experiment(result: Any, page: Any, folder: Path, as_json: bool) -> list[str]:
    """Write the files of an experiment; print the answer as JSON, or return the last lines."""
    from lincent.model_selection.runner import TABLE
    from lincent.model_selection.statistics import means
    from lincent.report import comparison
    from lincent.report.rendering import write_page

    result.save(folder)
    html, _ = write_page(page, folder)
    if as_json:
        table = means(result.frame, "test_hard_auc")
        summary = {
            "kind": result.kind,
            "report": str(html),
            "table": str(folder / TABLE),
            "test_hard_auc": json_module.loads(table.to_json(orient="index")),
            "missing": dict(result.missing),
        }
        if result.kind == "compare":
            summary |= comparison.summary_dict(result)
        _console.answer(json_module.dumps(summary, indent=1))
    wall = _console.duration(result.config["wall_seconds"])
    return ["", f"{wall}. Report: {html}, table: {folder / TABLE}"]
