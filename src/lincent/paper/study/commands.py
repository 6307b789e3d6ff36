"""The work of ``lincent compare`` and ``lincent reproduce``, without argument parsing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from lincent._errors import printable
from lincent.paper.study import paper
from lincent.paper.study.compare import check_plan, compare, make_problem
from lincent.paper.study.reports import write_report
from lincent.paper.study.reports.terminal import (
    comparison_summary,
    progress_bar,
    reproduction_summary,
    study_json,
)
from lincent.paper.study.reproduce import FULL, PARTS, QUICK, reproduce
from lincent.paper.study.seizure import reproduce_seizure


def remark(line: str) -> None:
    """One line on the error stream."""
    sys.stderr.write(f"lincent: {printable(line)}\n")


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
    check_plan(settings["metric"], settings["methods"])
    problem = make_problem(data, target, reading=reading, **wishes)
    for note in () if quiet else problem.notes:
        remark(note)
    with progress_bar(quiet) as progress:
        result = compare(
            data, target, problem=problem, folder=folder, progress=progress, **settings, **wishes
        )
    result.save(folder)
    html, _ = write_report(result, folder)
    (study_json if json else comparison_summary)(result, html)


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
    result.save(folder)
    html, _ = write_report(result, folder)
    (study_json if json else reproduction_summary)(result, html)


def run_seizure(root: Path, folder: Path, *, quiet: bool, json: bool, **settings: Any) -> None:
    """Run the study of seizures on recordings in a folder."""
    with progress_bar(quiet) as progress:
        result = reproduce_seizure(root, folder=folder, progress=progress, tell=remark, **settings)
    result.save(folder)
    html, _ = write_report(result, folder)
    (study_json if json else reproduction_summary)(result, html)
