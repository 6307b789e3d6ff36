"""The appendix from which a study can be repeated."""

from __future__ import annotations

import json

from lincent.pages.blocks import (
    Bullets,
    Code,
    Paragraph,
    Section,
    Table,
    columns,
    duration,
    number,
    text,
)
from lincent.study.results import StudyResult


def method_table(result: StudyResult) -> Table:
    """Return methods with their settings."""
    rows = []
    for method in result.methods:
        settings = json.loads(method.settings)
        arguments = ", ".join(f"{k}={v!r}" for k, v in settings["params"].items())
        kind = settings["class"].rpartition(".")[2]
        rows.append(
            (
                text(method.code),
                text(method.title, "wrap"),
                text(f"{kind}({arguments})", "wrap"),
                number(method.grid, 0),
                text(method.note, "wrap"),
            )
        )
    head = columns(
        "Method", "What it is", "Settings", "Grid values#|how many values tuning tries", "Note"
    )
    return Table(head, tuple(rows), "Every method receives z-scored features.")


def problem_table(result: StudyResult) -> Table:
    """Return data sets with size, origin and fingerprint."""
    rows = tuple(
        (
            text(problem.name),
            text(problem.title, "wrap"),
            number(problem.rows, 0),
            number(problem.columns, 0),
            text(", ".join(f"{label} {count}" for label, count in problem.classes.items()), "wrap"),
            text(problem.origin),
            text(problem.licence, "wrap"),
            text(problem.digest, "quiet"),
        )
        for problem in result.problems
    )
    head = columns(
        "Set", "What it is", "Rows#", "Columns#", "Classes", "Taken from", "Licence", "Fingerprint"
    )
    return Table(head, rows)


def settings_section(result: StudyResult, command: str) -> Section:
    """Return methods, settings, statistics, versions and the command."""
    config = result.config
    versions = ", ".join(f"{name} {version}" for name, version in config["versions"].items())
    machine = config["machine"]
    statistics = config["statistics"]
    return Section(
        "settings",
        "Methods and settings",
        (
            Paragraph("This command repeats the run; the same seed gives the same splits:"),
            Code(command),
            method_table(result),
            problem_table(result),
            Bullets(
                (
                    "Preparation, fitted on the training part of each split: missing numbers "
                    "become the median, categories one-hot, constant columns dropped, z-scores.",
                    f"Test: {statistics['test']}; zeros: {statistics['zero_rule']}; "
                    f"{statistics['method']}; level {statistics['alpha']}. Intervals: corrected "
                    "resampled t, Nadeau and Bengio 2003; several comparisons: Holm.",
                    f"Seed {config['seed']}, {config['jobs']} worker process(es) of one thread "
                    f"each, limit {config['time_limit']:g} s for a fit.",
                    f"Versions: {versions}.",
                    f"Machine: {machine['system']} {machine['architecture']}, "
                    f"{machine['cores']} cores.",
                    "All runs, with every score, time, warning and error, are rows of runs.parquet "
                    "beside this file.",
                )
            ),
        ),
    )


def wall_time(result: StudyResult) -> str:
    """Return the time of this call and of all fits; a resumed study has more of the latter."""
    config = result.config
    fits = float(result.frame[["fit_seconds", "score_seconds"]].sum().sum())
    return (
        f"{duration(config['wall_seconds'])} in this call with {config['jobs']} process(es); "
        f"all fits {duration(fits)}"
    )
