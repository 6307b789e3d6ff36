"""Experiments: ``lincent compare``, ``reproduce`` and ``datasets``."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lincent import _console
from lincent.cli import options


@options.command
def compare(
    data: str,
    target: str | None = None,
    methods: str = "",
    metric: str = "balanced_accuracy",
    runs: int = 20,
    tune: bool = False,
    jobs: int = 0,
    seed: int = 0,
    time_limit: float = 60.0,
    output: Path | None = None,
    retry: bool = False,
    quiet: bool = False,
    json: bool = False,
    columns: Any = None,
    reading: Any = None,
) -> None:
    """Compare methods on a table, with a report.

    Which is best, by how much, is it real, and how long does it take.
    """
    folder = output or Path(f"lincent-compare-{Path(data).name.split('.')[0]}")
    kept = f"finished fits are kept in {folder}, and the same command goes on from there"
    with options.errors_as_messages(kept):
        if not quiet:
            _console.log(f"reading {data}")
        from lincent.model_selection.comparison import check_methods, make_problem
        from lincent.model_selection.comparison import compare as compare_methods
        from lincent.report import comparison

        names = options.parse_names(methods) or None
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
    html = write_page(page, folder)
    if as_json:
        table = means(result.frame, "test_hard_auc").T
        summary = {
            "kind": result.kind,
            "report": str(html),
            "table": str(folder / TABLE),
            "test_hard_auc": table.to_dict(),
            "missing": dict(result.missing),
        }
        if result.kind == "compare":
            summary |= comparison.summary_dict(result)
        _console.answer_json(summary)
    wall = _console.duration(result.config["wall_seconds"])
    return ["", f"{wall}. Report: {html}, table: {folder / TABLE}"]


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
                    seizure, subjects=names, runs=runs or (5 if quick else 50),
                    progress=progress, log=_console.log, **shared,
                )  # fmt: skip
                page, summary = study_of_seizures.seizure_page, study_of_seizures.summary_lines
        lines = finish_experiment(result, page(result), folder, json)
        if not json:
            _console.answer("\n".join([*summary(result), *lines]))


@options.command
def datasets(quiet: bool = False, json: bool = False) -> None:
    """List the data sets of the paper.

    Which are here, which can be downloaded, licence and how.
    """
    from lincent.paper.datasets import list_datasets

    records = list_datasets()
    if json:
        return _console.answer_json([asdict(record) for record in records])
    for record in records:
        code = f" ({record.code})" if record.code else ""
        here = f"here: {record.available}" if record.available else "not on this machine"
        lines = [
            f"{record.name}{code}: {record.title}",
            f"    {record.rows} rows, {record.features} features, {len(record.classes)} classes",
            f"    {here}",
            f"    licence: {record.licence}",
        ]
        lines += [] if record.available else [f"    to get it: {record.how}"]
        _console.answer("\n".join(lines))
