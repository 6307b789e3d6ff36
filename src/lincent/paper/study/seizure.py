"""The paper's seizure study: procedure 1 for each subject, from a folder of raw recordings.

The paper's methods but SMP, which took it more than 300 s a fit; name SMP among the methods to run
it under the time limit. Whole seizures go to one side of a split; interictal segments go one by one
at random, as in the paper, or in blocks of consecutive ones, which is the honest way.

A folder that is not one of the twelve subjects (a stand-in) runs as well and is kept apart: it has
its own name and no number of the paper beside it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lincent.paper.datasets.registry import DatasetNotFoundError
from lincent.paper.seizure import (
    SUBJECTS,
    EventShuffleSplit,
    SkippedSegmentsWarning,
    SubjectFeatures,
    differences,
    extract_features,
    find_subject,
    find_subjects,
    split_groups,
)
from lincent.paper.seizure.catalog import HOW, feature_cache
from lincent.paper.study import paper
from lincent.paper.study.compare import find_methods
from lincent.paper.study.methods import Method
from lincent.paper.study.problem import Problem
from lincent.paper.study.procedures import procedure1
from lincent.paper.study.results import StudyResult, run_study
from lincent.paper.study.runner import TIME_LIMIT, Progress

METHODS = tuple(method for method in paper.METHODS if method != "SMP")
CODES = tuple(subject.code for subject in SUBJECTS)

Tell = Callable[[str], None]


def seizure_problem(
    features: SubjectFeatures, interictal: str = "random", origin: str = ""
) -> Problem:
    """Return a subject as a problem of the study, with its events as groups.

    Parameters
    ----------
    features : SubjectFeatures
    interictal : {"random", "blocks"}
        As in `EventShuffleSplit`.
    origin : str
        Where the recordings were read.
    """
    subject = find_subject(features.subject)
    ictal = int((features.y == "ictal").sum())
    counts = {"ictal": ictal, "interictal": len(features.y) - ictal}
    channels, rate = len(features.channels), float(features.rates[0])
    notes = list(features.notes)
    if features.skipped:
        notes.append(f"{len(features.skipped)} files were skipped: {features.skipped[0]}")
    if subject is None:
        notes.insert(0, f"{features.subject} is a stand-in, not one of the paper's subjects.")
        licence = ""
    else:
        notes += differences(subject, **counts, channels=channels, rate=rate)
        licence = "competition rules, no redistribution"
    title = f"{channels} channels, {rate:g} Hz, {features.n_events} events"
    title = title if subject is None else f"{features.subject}, {title}"
    return Problem(
        features.subject if subject is None else subject.code,
        features.X,
        features.y,
        title=title,
        groups=split_groups(features.y, features.events, interictal),
        notes=tuple(notes),
        origin=origin,
        licence=licence,
        splitter=EventShuffleSplit(),
    )


def load_subjects(
    root: str | os.PathLike[str],
    *,
    subjects: Iterable[str] = (),
    interictal: str = "random",
    lenient: bool = False,
    n_jobs: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    tell: Tell | None = None,
) -> list[Problem]:
    """Read the subjects below a folder.

    Parameters
    ----------
    root : path
    subjects : iterable of str
        Codes or folder names; all that are there unless given.
    interictal, lenient, n_jobs
        As in `reproduce_seizure`.
    cache : path or None
        Where features are kept; None for the user's cache.
    tell : callable or None
        Receives a line for each subject.
    """
    wanted = {name.lower() for name in subjects}
    problems = []
    for folder in find_subjects(root):
        known = find_subject(folder.resolve().name)
        names = {folder.resolve().name.lower(), known.code.lower() if known else ""}
        if wanted and not wanted & names:
            continue
        with warnings.catch_warnings():
            # The number of skipped files becomes a note of the problem.
            warnings.simplefilter("ignore", SkippedSegmentsWarning)
            found = extract_features(
                folder, cache=cache or feature_cache(), lenient=lenient, n_jobs=n_jobs
            )
        problem = seizure_problem(found, interictal, str(folder))
        problems.append(problem)
        if tell is not None:
            tell(f"{problem.name}: {problem.title}, {problem.class_counts}")
            for note in problem.notes:
                tell(f"note: {note}")
    if not problems:
        raise DatasetNotFoundError(f"None of {', '.join(sorted(wanted))} is below {root}.")
    return problems


def reproduce_seizure(
    root: str | os.PathLike[str],
    *,
    subjects: Iterable[str] = (),
    methods: Iterable[Any] | None = None,
    runs: int = paper.RUNS_APPENDIX,
    interictal: str = "random",
    lenient: bool = False,
    jobs: int = 1,
    seed: int = 0,
    time_limit: float = TIME_LIMIT,
    folder: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    retry: bool = False,
    tell: Tell | None = None,
) -> StudyResult:
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
    interictal : {"random", "blocks"}
        One by one at random as in the paper, or by blocks of consecutive segments.
    lenient : bool
        Pass over files that cannot be used and note their number.
    jobs : int, default=1
        As in `compare`.
    seed : int, default=0
        As in `compare`.
    time_limit : float, default=TIME_LIMIT
        As in `compare`.
    folder : str or path-like, default=None
        As in `compare`.
    cache : path or None
        Where features are kept between runs; None for the user's cache.
    progress : Progress, default=None
        As in `compare`.
    retry : bool, default=False
        As in `compare`.
    tell : callable or None
        Receives a line for each subject read.

    Returns
    -------
    StudyResult
        Of the kind ``"seizure"``.
    """
    found, missing = find_methods(METHODS if methods is None else methods)
    found = [_for_many_features(method) for method in found]
    problems = load_subjects(
        root,
        subjects=subjects,
        interictal=interictal,
        lenient=lenient,
        n_jobs=jobs,
        cache=cache,
        tell=tell,
    )
    plan = procedure1(problems, found, runs=runs, seed=seed)
    there = {problem.name for problem in problems}
    absent = ", ".join(code for code in CODES if code not in there)
    return run_study(
        "seizure",
        plan,
        {
            "metric": "paper_auc",
            "runs": runs,
            "interictal": interictal,
            "lenient": lenient,
            "root": Path(root).name,
        },
        [*([(absent, HOW)] if absent else []), *missing],
        seed=seed,
        jobs=jobs,
        time_limit=time_limit,
        folder=folder,
        progress=progress,
        retry=retry,
    )


def _for_many_features(method: Method) -> Method:
    """Return SMP with the ridge that singular covariances need; the others as they are."""
    if method.code != "SMP":
        return method
    from lincent.paper.baselines import paper_settings

    return replace(method, estimator=paper_settings("SMP", (1, 1)).estimator)  # type: ignore[union-attr]
