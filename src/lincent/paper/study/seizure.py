"""The paper's seizure study and its report: procedure 1 for each subject, from raw recordings.

The paper's methods except SMP, which took it more than 300 s a fit; name SMP among the methods to
run it under the time limit. Whole seizures go to one side of a split; interictal segments go one by
one at random, as in the paper.

A folder that is not one of the twelve subjects (a substitute) runs as well and is kept apart: it
has its own name and table, without a number of the paper.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lincent.model_selection.comparison import find_methods
from lincent.model_selection.experiment import Problem, plan_runs
from lincent.model_selection.runner import ExperimentResult, run_experiment
from lincent.model_selection.statistics import summarize
from lincent.paper.datasets.registry import DatasetNotFoundError, cache_folder
from lincent.paper.seizure import (
    SUBJECTS,
    EventShuffleSplit,
    SubjectFeatures,
    differences,
    extract_features,
    find_subject,
    find_subjects,
    split_groups,
)
from lincent.paper.seizure.subjects import HOW
from lincent.paper.study import paper, report
from lincent.paper.study.compare_with_paper import agreements
from lincent.report.blocks import Page, Paragraph, Section, number, seconds, tabulated, text

METHODS = tuple(method for method in paper.METHODS if method != "SMP")
CODES = tuple(subject.code for subject in SUBJECTS)


def seizure_problem(features: SubjectFeatures, origin: str = "") -> Problem:
    """Return a subject as a problem of the study, with its events as groups.

    Parameters
    ----------
    features : SubjectFeatures
    origin : str
        Where the recordings were read.
    """
    subject = find_subject(features.subject)
    ictal = features.y == "ictal"
    n_channels, rate = len(features.channels), features.rate
    title = f"{n_channels} channels, {rate:g} Hz, {features.n_events} events"
    if subject is None:
        name, licence = features.subject, ""
        notes = [f"{name} is a substitute, not one of the paper's subjects."]
    else:
        name, licence = subject.code, "competition rules, no redistribution"
        title = f"{features.subject}, {title}"
        counts = {"ictal": int(ictal.sum()), "interictal": int((~ictal).sum())}
        notes = differences(subject, **counts, channels=n_channels, rate=rate)
    if unknown := int(np.isnan(features.latency[ictal]).sum()):
        notes.append(
            f"{unknown} ictal segments have no latency; each is taken as part of the seizure "
            "before it."
        )
    return Problem(
        name,
        features.X,
        features.y,
        title=title,
        groups=split_groups(features.events),
        notes=tuple(notes),
        origin=origin,
        licence=licence,
        splitter=EventShuffleSplit(),
    )


def reproduce_seizure(
    root: str | os.PathLike[str],
    *,
    subjects: Iterable[str] = (),
    methods: Iterable[Any] | None = None,
    runs: int = paper.RUNS_APPENDIX,
    random_state: int = 0,
    n_jobs: int = 1,
    cache: str | os.PathLike[str] | None = None,
    log: Callable[[str], None] | None = None,
    **options: Any,
) -> ExperimentResult:
    """Run procedure 1 on every subject below a folder.

    Parameters
    ----------
    root : path
        Holds Dog_1, Patient_1 and so on, in the challenge's layout.
    subjects : iterable of str
        Codes (``Subject1``) or folder names; all that are there unless given.
    methods : iterable or None
        None for the paper's but SMP.
    runs : int
        Splits; the paper has 50.
    random_state : int, default=0
        Seed of the splits.
    n_jobs : int, default=1
        Number of processes, of the extraction of features as well.
    cache : path or None
        Where features are kept between runs; None for the user's cache.
    log : callable or None
        Receives a line for each subject read.
    **options
        ``time_limit``, ``folder``, ``progress``, ``retry``: as in
        `lincent.model_selection.compare`.

    Returns
    -------
    ExperimentResult
        Of the kind ``"seizure"``.
    """
    available, missing = find_methods(METHODS if methods is None else methods)
    wanted = {name.lower() for name in subjects}
    problems = []
    for path in find_subjects(root):
        name = path.resolve().name
        subject = find_subject(name)
        if wanted and not wanted & {name.lower(), subject.code.lower() if subject else ""}:
            continue
        features = extract_features(path, cache=cache or cache_folder() / "eeg", n_jobs=n_jobs)
        problem = seizure_problem(features, str(path))
        problems.append(problem)
        if log is not None:
            log(f"{problem.name}: {problem.title}, {problem.describe()['classes']}")
            for note in problem.notes:
                log(f"note: {note}")
    if not problems:
        raise DatasetNotFoundError(f"None of {', '.join(sorted(wanted))} is below {root}.")
    for method in available:
        if (method.code, method.family) == ("SMP", "paper"):
            method.estimator.set_params(ridge=1e-6)  # singular covariances need a larger one
    names = {problem.name for problem in problems}
    absent = ", ".join(code for code in CODES if code not in names)
    return run_experiment(
        "seizure",
        plan_runs(problems, available, n_splits=runs, random_state=random_state),
        {"metric": "paper_auc", "runs": runs, "root": Path(root).name},
        [*([(absent, HOW)] if absent else []), *missing],
        random_state=random_state,
        n_jobs=n_jobs,
        **options,
    )


# ------------------------------------------------------------------------------------ the report


def _split_names(result: ExperimentResult) -> tuple[tuple[str, ...], list[str]]:
    """Return the paper's subjects that were run, and the substitutes."""
    names = [problem["name"] for problem in result.problems]
    subjects = tuple(code for code in CODES if code in names)
    return subjects, [name for name in names if name not in CODES]


def answer(result: ExperimentResult) -> tuple[str, ...]:
    """Return what a reader wants to know first."""
    subjects, substitutes = _split_names(result)
    sentence = report.prose("seizure-none")
    if subjects:
        frame = result.frame[result.frame["method"].isin(METHODS)]
        gaps = [abs(n.difference) for n in agreements(frame, subjects) if n.row == "test"]
        counts = {"count": len(subjects), "figures": len(gaps)}
        sentence = report.prose("seizure-answer", **counts, median=np.median(gaps))
    if not substitutes:
        return (sentence,)
    return (sentence, f"Substitutes, not the paper's data: {', '.join(substitutes)}.")


def seizure_page(result: ExperimentResult) -> Page:
    """Return the report of the seizure study."""
    config = result.config
    subjects, substitutes = _split_names(result)
    numbers = agreements(result.frame[result.frame["method"].isin(METHODS)], subjects)
    sections = [_data_section(result)]
    if numbers:
        printed = paper.COMPACT_SEIZURE
        wins = report.wins_table(result, subjects, METHODS[1:], printed, "12 subjects")
        scores = report.agreement_table(numbers, subjects, METHODS)
        sections += [
            Section("procedure-1", "Procedure 1", (scores,)),
            Section("compact", "Wins and losses of LCC", (wins,)),
            report.time_section(result, subjects, METHODS),
        ]
    sections += [_substitute_section(result, name) for name in substitutes]
    options = {"seizure": config["root"], "seed": str(config["seed"]), "runs": str(config["runs"])}
    facts = (
        ("Subjects", f"{len(subjects)} of 12"),
        ("Runs", f"{config['runs']} (paper: {paper.RUNS_APPENDIX})"),
    )
    title = "Seizure detection: the paper's twelve subjects"
    return report.study_page(result, title, answer(result), facts, sections, options)


def _data_section(result: ExperimentResult) -> Section:
    """Return what was read, and where it is not what the paper describes."""
    table = tabulated(
        result.problems,
        ("Set", lambda problem: problem["name"]),
        ("What was read", lambda problem: text(problem["title"], "wrap")),
        ("Ictal#", lambda problem: number(problem["classes"].get("ictal", 0), 0)),
        ("Interictal#", lambda problem: number(problem["classes"].get("interictal", 0), 0)),
        ("Features#", lambda problem: number(problem["columns"], 0)),
        (
            "Against the paper's table",
            lambda problem: text("; ".join(problem["notes"]) or "as in the paper", "wrap"),
        ),
        caption=report.prose("seizure-data"),
    )
    return Section("data", "The recordings", (table,))


def _substitute_section(result: ExperimentResult, name: str) -> Section:
    """Return the scores on a substitute, apart from everything of the paper."""
    table = tabulated(
        summarize(result.frame, name, "test_hard_auc").itertuples(),
        ("Method", lambda line: line.method),
        ("Hard-label AUC#", lambda line: number(100 * line.mean, 2)),
        ("sd over splits#", lambda line: number(100 * line.sd, 2)),
        ("Fit#", lambda line: seconds(line.seconds)),
        ("Runs#", lambda line: number(line.runs, 0)),
        ("Marked", lambda line: text(line.reason, "wrap")),
    )
    warning = Paragraph(report.prose("seizure-substitute"))
    return Section(f"substitute-{name}", f"Substitute: {name}", (warning, table))


def summary_lines(result: ExperimentResult) -> list[str]:
    """Return the summary for a terminal."""
    lines = list(answer(result))
    for problem in result.problems:
        name = problem["name"]
        lines.append(f"{name}: {problem['title']}")
        lines += [f"    note: {note}" for note in problem["notes"]]
        for line in summarize(result.frame, name, "test_paper_auc").itertuples():
            shown = f"{100 * line.mean:6.2f}" if line.runs else f"     – {line.reason[:80]}"
            if name in CODES and line.method in METHODS:
                shown += f" ({paper.printed(name, 'test', line.method):.2f})"
            lines.append(f"    {line.method:<8}{shown}")
    return [*lines, "Hard-label AUC on held-out events, percent; in brackets the paper's."]
