"""The appendix from which a study can be repeated."""

from __future__ import annotations

import json

from lincent.paper.study.results import ProblemRecord, StudyResult
from lincent.report.blocks import (
    Bullets,
    Code,
    Paragraph,
    Section,
    Table,
    duration,
    number,
    tabulated,
    text,
)


def method_table(result: StudyResult) -> Table:
    """Return methods with their settings."""
    return tabulated(
        result.methods,
        ("Method", lambda method: method.code),
        ("What it is", lambda method: text(method.title, "wrap")),
        ("Settings", lambda method: text(_call(method.settings), "wrap")),
        ("Grid values#|how many values tuning tries", lambda method: number(method.grid, 0)),
        ("Note", lambda method: text(method.note, "wrap")),
        caption="Every method receives z-scored features.",
    )


def _call(settings: str) -> str:
    made = json.loads(settings)
    arguments = ", ".join(f"{name}={value!r}" for name, value in made["params"].items())
    return f"{made['class'].rpartition('.')[2]}({arguments})"


def problem_table(result: StudyResult) -> Table:
    """Return data sets with size, origin and fingerprint."""
    return tabulated(
        result.problems,
        ("Set", lambda problem: problem.name),
        ("What it is", lambda problem: text(problem.title, "wrap")),
        ("Rows#", lambda problem: number(problem.rows, 0)),
        ("Columns#", lambda problem: number(problem.columns, 0)),
        ("Classes", lambda problem: text(class_counts(problem), "wrap")),
        ("Taken from", lambda problem: problem.origin),
        ("Licence", lambda problem: text(problem.licence, "wrap")),
        ("Fingerprint", lambda problem: text(problem.digest, "quiet")),
    )


def class_counts(problem: ProblemRecord) -> str:
    """Return the classes of a set with their rows."""
    return ", ".join(f"{label} {count}" for label, count in problem.classes.items())


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
                    f"Seed {config['seed']}, {processes(config['jobs'])} of one thread "
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


def processes(jobs: int) -> str:
    """The number of worker processes in words."""
    return "1 process" if jobs == 1 else f"{jobs} processes"


def wall_time(result: StudyResult) -> str:
    """Return the time of this call and of all fits; a resumed study has more of the latter."""
    config = result.config
    fits = float(result.frame[["fit_seconds", "score_seconds"]].sum().sum())
    return (
        f"{duration(config['wall_seconds'])} in this call with {processes(config['jobs'])}; "
        f"all fits {duration(fits)}"
    )
