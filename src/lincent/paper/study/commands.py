"""The work of ``lincent compare``, ``lincent reproduce`` and ``lincent datasets``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lincent._errors import printable
from lincent.model_selection.comparison import check_methods, compare, make_problem
from lincent.model_selection.runner import TABLE, ExperimentResult, Progress
from lincent.model_selection.statistics import means
from lincent.paper.datasets import list_datasets
from lincent.paper.study import paper, report, seizure
from lincent.paper.study.reproduce import FULL, PARTS, QUICK, reproduce
from lincent.report import comparison
from lincent.report.blocks import Page, duration
from lincent.report.rendering import write_page

LINE_SECONDS = 30.0


def run_compare(
    data: str,
    target: str | None,
    folder: Path,
    *,
    reading: Any,
    wishes: dict[str, Any],
    quiet: bool,
    json: bool,
    **settings: Any,
) -> None:
    """Compare methods on a table: the options are checked, then the table, then work begins."""
    check_methods(settings["metric"], settings["methods"])
    problem = make_problem(data, target, reading=reading, **wishes)
    for note in () if quiet else problem.notes:
        log(note)
    with progress_bar(quiet) as progress:
        result = compare(
            data, target, problem=problem, folder=folder, progress=progress, **settings, **wishes
        )
    lines = _finish(result, comparison.comparison_page(result), folder, json)
    if json:
        return
    command = comparison.Comparison(result).command()
    winner = [f"To fit the winner: {command}"] if command else []
    _print(*comparison.summary_lines(result), *lines, *winner)


def run_reproduce(
    folder: Path, *, quick: bool, runs: int, quiet: bool, json: bool, **settings: Any
) -> None:
    """Run the study of the paper again."""
    extent = QUICK if quick else FULL
    if runs:
        extent = replace(extent, runs=runs, slow_runs=min(runs, extent.slow_runs))
    settings["sets"] = settings["sets"] or paper.SETS
    settings["parts"] = settings["parts"] or PARTS
    with progress_bar(quiet) as progress:
        result = reproduce(quick=quick, extent=extent, folder=folder, progress=progress, **settings)
    lines = _finish(result, report.reproduction_page(result), folder, json)
    if not json:
        _print(*report.summary_lines(result), *lines)


def run_seizure(root: Path, folder: Path, *, quiet: bool, json: bool, **settings: Any) -> None:
    """Run the study of seizures on recordings in a folder."""
    with progress_bar(quiet) as progress:
        result = seizure.reproduce_seizure(
            root, folder=folder, progress=progress, log=log, **settings
        )
    lines = _finish(result, seizure.seizure_page(result), folder, json)
    if not json:
        _print(*seizure.summary_lines(result), *lines)


def run_datasets(as_json: bool) -> None:
    """Print every data set, whether it is here, its licence and how to get it."""
    records = list_datasets()
    if as_json:
        _print(json.dumps([asdict(record) for record in records], indent=1, default=str))
        return
    for record in records:
        code = f" ({record.code})" if record.code else ""
        here = f"here: {record.available}" if record.available else "not on this machine"
        n_classes = len(record.classes)
        _print(
            f"{record.name}{code}: {record.title}",
            f"    {record.rows} rows, {record.features} features, {n_classes} classes",
            f"    {here}",
            f"    licence: {record.licence}",
        )
        if not record.available:
            _print(f"    to get it: {record.how}")


def _finish(result: ExperimentResult, page: Page, folder: Path, as_json: bool) -> list[str]:
    """Write the files of an experiment; print the answer as JSON, or return the last lines."""
    result.save(folder)
    html, _ = write_page(page, folder)
    if as_json:
        answer = {
            "kind": result.kind,
            "report": str(html),
            "table": str(folder / TABLE),
            "test_hard_auc": json.loads(
                means(result.frame, "test_hard_auc").to_json(orient="index")
            ),
            "missing": dict(result.missing),
        }
        if result.kind == "compare":
            answer |= comparison.summary_dict(result)
        _print(json.dumps(answer, indent=1))
    wall = duration(result.config["wall_seconds"])
    return ["", f"{wall}. Report: {html}, table: {folder / TABLE}"]


def _print(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(printable(line) + "\n")


def log(line: str) -> None:
    """Print one line on the error stream."""
    sys.stderr.write(f"lincent: {printable(line)}\n")


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Show runs done and time left; without a terminal, a line now and then."""
    if quiet:
        yield lambda done, total, row: None
        return
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        yield _lines()
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    label = TextColumn("{task.description}", markup=False)
    bars = (label, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*bars, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def update(done: int, total: int, row: dict[str, Any]) -> None:
            name = printable(f"{row['dataset']} {row['method']}")
            bar.update(task, completed=done, total=total, description=name[:30].ljust(30))

        yield update


def _lines() -> Callable[[int, int, dict[str, Any]], None]:
    last = started = time.monotonic()
    first: list[int] = []

    def update(done: int, total: int, row: dict[str, Any]) -> None:
        nonlocal last
        now = time.monotonic()
        if not first:
            first.append(done - 1)
        if now - last < LINE_SECONDS:
            return
        last = now
        rate = (done - first[0]) / (now - started)
        # The first fits wait for the worker's imports and do not predict the rest.
        left = f", about {duration((total - done) / rate)} left" if done > first[0] + 10 else ""
        sys.stderr.write(f"{done} of {total} fits{left}\n")
        sys.stderr.flush()

    return update
