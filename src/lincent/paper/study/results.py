"""A finished study: the table of runs, and what is needed to read and to repeat it.

    FOLDER/runs.parquet   one row per cell
    FOLDER/study.json     settings, data sets, methods, versions, what is missing
    FOLDER/pictures.json  what the figures in the plane draw, where the study has such figures

Reports are functions of these files: `load_result` reads them back without running anything.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lincent._files import write_whole
from lincent._versions import versions
from lincent.paper.study.cells import settings_of
from lincent.paper.study.methods import Method
from lincent.paper.study.problem import Problem
from lincent.paper.study.runner import Plan, Progress, machine, run_plan
from lincent.paper.study.statistics import TEST
from lincent.paper.study.store import TABLE, RunStore, frame_of, read_runs

RECORD, PICTURES = "study.json", "pictures.json"


@dataclass(frozen=True)
class ProblemRecord:
    """What a report says of a data set."""

    name: str
    title: str
    rows: int
    columns: int
    classes: dict[str, int]
    notes: tuple[str, ...]
    origin: str
    licence: str
    digest: str
    grouped: bool
    categories: tuple[str, ...]


@dataclass(frozen=True)
class MethodRecord:
    """What a report says of a method."""

    code: str
    title: str
    family: str
    settings: str
    grid: int
    note: str


@dataclass(frozen=True)
class StudyResult:
    """The outcome of `compare` or `reproduce`.

    Parameters
    ----------
    kind : {"compare", "reproduce", "seizure"}
        Which study it was.
    frame : DataFrame
        One row per cell; see `lincent.paper.study.store`.
    problems, methods : tuple
        The data sets that were used.
    missing : tuple of (str, str)
        What could not be had, and the way to get it.
    config : dict
        Settings of the run, seed, versions, machine, statistics, wall time.
    pictures : dict
        What figures draw beside the runs; see `lincent.paper.study.pictures`.
    """

    kind: str
    frame: Any = field(repr=False)
    problems: tuple[ProblemRecord, ...]
    methods: tuple[MethodRecord, ...]
    missing: tuple[tuple[str, str], ...]
    config: dict[str, Any]
    pictures: dict[str, Any] = field(default_factory=dict, repr=False)

    def method(self, code: str) -> MethodRecord:
        """Return the record of a method.

        Parameters
        ----------
        code : str
            The short name.

        Returns
        -------
        MethodRecord
            The record of that method.
        """
        return next(record for record in self.methods if record.code == code)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write all but the table of runs, each file whole or not at all.

        Parameters
        ----------
        folder : str or path-like
            Where the study is written.

        Returns
        -------
        Path
            Where it was written.
        """
        record = {
            "kind": self.kind,
            "problems": [asdict(item) for item in self.problems],
            "methods": [asdict(item) for item in self.methods],
            "missing": list(self.missing),
            "config": self.config,
        }
        if self.pictures:
            write_whole(Path(folder) / PICTURES, json.dumps(self.pictures) + "\n")
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        return write_whole(Path(folder) / RECORD, text)


def load_result(folder: str | os.PathLike[str]) -> StudyResult:
    """Read a finished study back.

    Parameters
    ----------
    folder : str or path-like
        Where a study was run or saved.

    Returns
    -------
    StudyResult
        The study.
    """
    folder = Path(folder)
    record = json.loads((folder / RECORD).read_text("utf-8"))
    problems = []
    for item in record["problems"]:
        item |= {name: tuple(item[name]) for name in ("notes", "categories")}
        problems.append(ProblemRecord(**item))
    return StudyResult(
        record["kind"],
        read_runs(folder / TABLE),
        tuple(problems),
        tuple(MethodRecord(**item) for item in record["methods"]),
        tuple((name, how) for name, how in record["missing"]),
        record["config"],
        json.loads((folder / PICTURES).read_text("utf-8")) if (folder / PICTURES).exists() else {},
    )


def problem_records(problems: Iterable[Problem]) -> tuple[ProblemRecord, ...]:
    """Describe problems."""
    return tuple(
        ProblemRecord(
            problem.name,
            problem.title,
            *problem.shape,
            problem.class_counts,
            problem.notes,
            problem.origin,
            problem.licence,
            problem.digest,
            problem.groups is not None,
            problem.categories,
        )
        for problem in problems
    )


def method_records(methods: Iterable[Method]) -> tuple[MethodRecord, ...]:
    """Describe methods."""
    return tuple(
        MethodRecord(
            method.code,
            method.title,
            method.family,
            settings_of(method.estimator),
            len(method.grid),
            method.note,
        )
        for method in methods
    )


def run_study(
    kind: str,
    plan: Plan,
    config: dict[str, Any],
    missing: Iterable[tuple[str, str]],
    *,
    seed: int,
    jobs: int,
    time_limit: float,
    folder: str | os.PathLike[str] | None,
    progress: Progress | None,
    retry: bool,
    budget: float = math.inf,
    pictures: Callable[[list[dict[str, Any]]], dict[str, Any]] | None = None,
) -> StudyResult:
    """Run a plan and describe the outcome.

    Parameters
    ----------
    kind, missing
        As in `StudyResult`.
    plan : Plan
    config : dict
        What is particular to this study; seed, versions, machine and the like are added.
    seed, jobs, time_limit, progress, retry, budget
        As in `run_plan`.
    folder : path or None
        Where the rows are kept; None keeps nothing.
    pictures : callable or None
        Makes the pictures from the rows.
    """
    started = time.time()
    with tempfile.TemporaryDirectory() as temporary:
        store = RunStore(folder if folder is not None else temporary)
        rows = run_plan(
            plan,
            store,
            jobs=jobs,
            time_limit=time_limit,
            progress=progress,
            retry=retry,
            budget=budget,
        )
    common = {
        "seed": seed,
        "jobs": jobs,
        "time_limit": time_limit,
        "cells": len(plan.cells),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": machine(),
        "statistics": TEST,
    }
    drawn = {} if pictures is None else pictures(rows)
    return StudyResult(
        kind,
        frame_of(rows),
        problem_records(plan.problems.values()),
        method_records(plan.methods.values()),
        tuple(missing),
        common | {"wall_seconds": round(time.time() - started, 1)} | config,
        drawn,
    )
