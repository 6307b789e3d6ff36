"""``lincent reproduce``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lincent import _console
from lincent.cli import options
from lincent.cli.compare import finish_experiment


@options.command
def reproduce(
    quick: bool = False,
    output: Path | None = None,
    jobs: int = 0,
    seed: int = 0,
    sets: str = "",
    methods: str = "",
    parts: str = "",
    runs: int = 0,
    time_limit: float = 300.0,
    retry: bool = False,
    seizure: Path | None = None,
    interictal: str = "random",
    lenient: bool = False,
    quiet: bool = False,
    json: bool = False,
) -> None:
    """Run the study of the paper again, with a report.

    It compares our scores with those of the paper.
    """
    study = "reproduce" if seizure is None else "seizure"
    folder = output or Path(f"lincent-{study}-quick" if quick else f"lincent-{study}")
    kept = f"what is done is kept in {folder}, and the same command goes on from there"
    with options.errors_as_messages(kept):
        if not quiet:
            _console.log(f"the study goes to {folder}")
        if seizure is None and (lenient or interictal != "random"):
            raise ValueError("--lenient and --interictal go with --seizure DIR.")
        if seizure is not None and parts:
            raise ValueError("--parts has no meaning with --seizure, which is procedure 1.")
        names = options.parse_names(sets)
        shared: dict[str, Any] = {
            "methods": options.parse_names(methods) or None,
            "n_jobs": options.worker_count(jobs),
            "random_state": seed,
            "time_limit": time_limit,
            "retry": retry,
            "folder": folder,
        }
        with _console.experiment_progress(quiet) as progress:
            if seizure is None:
                from lincent.paper.study import paper, report
                from lincent.paper.study.reproduce import FULL, PARTS, QUICK
                from lincent.paper.study.reproduce import reproduce as reproduce_study

                extent = QUICK if quick else FULL
                if runs:
                    extent = replace(extent, runs=runs, slow_runs=min(runs, extent.slow_runs))
                result = reproduce_study(
                    quick=quick, extent=extent, sets=names or paper.SETS,
                    parts=options.parse_names(parts) or PARTS, progress=progress, **shared,
                )  # fmt: skip
                page, summary = report.reproduction_page, report.summary_lines
            else:
                from lincent.paper.study import seizure as study_of_seizures

                result = study_of_seizures.reproduce_seizure(
                    seizure, interictal=interictal, lenient=lenient, subjects=names,
                    runs=runs or (5 if quick else 50), progress=progress, log=_console.log,
                    **shared,
                )  # fmt: skip
                page, summary = study_of_seizures.seizure_page, study_of_seizures.summary_lines
        lines = finish_experiment(result, page(result), folder, json)
        if not json:
            _console.answer("\n".join([*summary(result), *lines]))
