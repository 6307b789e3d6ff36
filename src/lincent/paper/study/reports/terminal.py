"""What the command line shows: a progress bar on the error stream, a summary on the output."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lincent._errors import printable
from lincent.paper.study.results import StudyResult
from lincent.paper.study.runner import Progress
from lincent.report.blocks import duration

QUIET_SECONDS = 30.0


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Show cells done and time left; where there is no terminal, a line now and then."""
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
        yield _plain_progress()
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain_progress()
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("starting", total=None)

        def update(done: int, total: int, row: dict[str, Any]) -> None:
            # markup=False would be lost in a column: names are cut to plain characters instead.
            name = f"{row['dataset']} {row['method']}".replace("[", "(").replace("]", ")")
            bar.update(task, completed=done, total=total, description=name[:30].ljust(30))

        yield update


def _plain_progress() -> Progress:
    last = started = time.monotonic()
    first: list[int] = []

    def update(done: int, total: int, row: dict[str, Any]) -> None:
        nonlocal last
        now = time.monotonic()
        if not first:
            first.append(done - 1)
        if now - last < QUIET_SECONDS:
            return
        last = now
        rate = (done - first[0]) / (now - started)
        # The first fits wait for the worker's imports and say nothing about the rest.
        left = f", about {duration((total - done) / rate)} left" if done > first[0] + 10 else ""
        sys.stderr.write(f"{done} of {total} fits{left}\n")
        sys.stderr.flush()

    return update


def comparison_summary(result: StudyResult, html: Path) -> None:
    """Print the answer of a comparison."""
    from lincent.paper.study.reports.comparison import Comparison, best_command

    found = Comparison(result)
    for sentence in found.answer():
        _say(sentence)
    _say("")
    width = max((len(line.method) for line in found.lines), default=6)
    for line in found.lines:
        if line.mean == line.mean:
            score = f"{found.scale * line.mean:7.2f} ± {found.scale * line.sd:.2f}"
        else:
            score = f"      – {line.reason[:80]}"
        mark = "*" if found.best and line.method == found.best.method else " "
        mark = "~" if line.method in found.near else mark
        _say(f" {mark} {line.method:<{width}} {score}")
    _say(" * best   ~ cannot be told from it")
    for name, why in result.missing:
        _say(f"Not run: {name}: {why}")
    _wrote(result, html)
    command = best_command(found)
    if command:
        _say(f"To fit the winner: {command}")


def reproduction_summary(result: StudyResult, html: Path) -> None:
    """Print how well ours and the paper's numbers agree."""
    from lincent.paper.study.reports import reproduction, seizure

    page = seizure if result.kind == "seizure" else reproduction
    for sentence in page.summary_lines(result):
        _say(sentence)
    _wrote(result, html)


def _wrote(result: StudyResult, html: Path) -> None:
    wall = duration(result.config["wall_seconds"])
    _say("")
    _say(f"{wall}. Report: {html}, table: {html.parent / 'runs.parquet'}")


def study_json(result: StudyResult, html: Path) -> None:
    """The same for a program: where the files are, the mean scores, what is missing."""
    from lincent.paper.study.summary import means

    table = means(result.frame, "test_hard_auc")
    found = {
        "kind": result.kind,
        "report": str(html),
        "table": str(html.parent / "runs.parquet"),
        "test_hard_auc": json.loads(table.to_json(orient="index")),
        "missing": dict(result.missing),
    }
    if result.kind == "compare":
        found |= _verdict(result)
    _say(json.dumps(found, indent=1))


def _verdict(result: StudyResult) -> dict[str, Any]:
    """The winner, every method's mean, and how far each is behind with its interval."""
    from lincent.paper.study.reports.comparison import Comparison, best_command

    found = Comparison(result)
    return {
        "metric": found.metric,
        "winner": None if found.best is None else found.best.method,
        "not_told_apart": found.near,
        "means": {
            line.method: {"mean": line.mean, "sd": line.sd, "runs": line.runs}
            for line in found.lines
            if line.mean == line.mean
        },
        "behind": {
            pair.method: {
                "by": pair.difference.mean,
                "low": pair.difference.low,
                "high": pair.difference.high,
                "real": pair.real,
            }
            for pair in found.pairs
        },
        "roles": result.config.get("roles", {}),
        "fit": best_command(found),
    }


def dataset_json() -> None:
    """The list of data sets for a program."""
    from lincent.paper.datasets import list_datasets

    _say(json.dumps([asdict(record) for record in list_datasets()], indent=1, default=str))


def dataset_list() -> None:
    """Print every data set, whether it is here, its licence and how to get it."""
    from lincent.paper.datasets import list_datasets

    for record in list_datasets():
        code = f" ({record.code})" if record.code else ""
        here = f"here: {record.available}" if record.available else "not on this machine"
        _say(f"{record.name}{code}: {record.title}")
        _say(f"    {record.rows} rows, {record.features} features, {len(record.classes)} classes")
        _say(f"    {here}")
        _say(f"    licence: {record.licence}")
        if not record.available:
            _say(f"    to get it: {record.how}")


def _say(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")
