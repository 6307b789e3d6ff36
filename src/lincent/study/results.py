"""A finished study: the table of runs, and what is needed to read and to repeat it.

    FOLDER/runs.parquet   one row per cell
    FOLDER/study.json     settings, data sets, methods, versions, what is missing
    FOLDER/pictures.json  what the figures in the plane draw, where the study has such figures

Reports are functions of these files: `load_result` reads them back without running anything.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lincent._files import write_whole
from lincent.study.cells import settings_of
from lincent.study.methods import Method
from lincent.study.problem import Problem
from lincent.study.runner import machine, versions
from lincent.study.statistics import TEST
from lincent.study.store import TABLE, read_runs

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

    Attributes
    ----------
    kind : {"compare", "reproduce", "seizure"}
    frame : DataFrame
        One row per cell; see `lincent.study.store`.
    problems, methods : tuple
    missing : tuple of (str, str)
        What could not be had, and the way to get it.
    config : dict
        Settings of the run, seed, versions, machine, statistics, wall time.
    pictures : dict
        What figures draw beside the runs; see `lincent.study.pictures`.
    """

    kind: str
    frame: Any = field(repr=False)
    problems: tuple[ProblemRecord, ...]
    methods: tuple[MethodRecord, ...]
    missing: tuple[tuple[str, str], ...]
    config: dict[str, Any]
    pictures: dict[str, Any] = field(default_factory=dict, repr=False)

    def method(self, code: str) -> MethodRecord:
        """Return the record of a method."""
        return next(record for record in self.methods if record.code == code)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write all but the table of runs, each file whole or not at all."""
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
    """Read a finished study back."""
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


def common_config(
    seed: int, jobs: int, time_limit: float, started: float, ended: float
) -> dict[str, Any]:
    """Return the settings that every study records."""
    return {
        "seed": seed,
        "jobs": jobs,
        "time_limit": time_limit,
        "wall_seconds": round(ended - started, 1),
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": machine(),
        "statistics": TEST,
    }
