"""``lincent compare``."""

from __future__ import annotations

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
    html, _ = write_page(page, folder)
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
