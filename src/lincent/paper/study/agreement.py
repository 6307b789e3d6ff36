"""Ours against the paper's printed numbers, cell by cell.

The paper prints means without a spread. Taking ours for both, and the 50 runs of its appendix,

    SE = sd * sqrt(1 / our runs + 1 / 50)

is the combined standard error of the difference; chance alone explains up to about 2 SE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.paper.study import paper
from lincent.paper.study.summary import pivot, verdict

POINTS = 1.5
ERRORS = 2.0


@dataclass(frozen=True)
class Agreement:
    """One printed number beside ours; percent."""

    dataset: str
    row: str
    method: str
    ours: float
    theirs: float
    difference: float
    error: float
    runs: int

    @property
    def errors(self) -> float:
        """The difference in combined standard errors."""
        return abs(self.difference) / self.error if self.error > 0 else float("nan")

    @property
    def within_points(self) -> bool:
        """Whether the difference is at most 1.5 points."""
        return abs(self.difference) <= POINTS

    @property
    def within_error(self) -> bool:
        """Whether the difference is at most two combined standard errors."""
        return bool(abs(self.difference) <= max(ERRORS * self.error, 0.005))


def agreements(frame: Any, sets: tuple[str, ...] = paper.SETS) -> list[Agreement]:
    """Compare all train and test cells that were run."""
    found = []
    for dataset in sets:
        for row in ("train", "test"):
            table = 100 * pivot(frame, dataset, f"{row}_paper_auc")
            for method in paper.METHODS:
                if method not in table or table[method].dropna().empty:
                    continue
                values = table[method].dropna().to_numpy()
                theirs = paper.printed(dataset, row, method).value
                spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
                error = spread * np.sqrt(1 / len(values) + 1 / paper.RUNS_APPENDIX)
                ours = float(values.mean())
                found.append(
                    Agreement(dataset, row, method, ours, theirs, ours - theirs, error, len(values))
                )
    return found


@dataclass(frozen=True)
class CompactCell:
    """LCC significantly better (worse) on so many sets: ours and the paper's."""

    row: str
    method: str
    better: int
    worse: int
    sets: int
    theirs: tuple[int, int] | None


def compact_table(frame: Any, methods: tuple[str, ...], sets: tuple[str, ...]) -> list[CompactCell]:
    """Return the paper's compact table, for its methods and for others beside them."""
    columns = {"train": "train_paper_auc", "test": "test_paper_auc", "time": "fit_seconds"}
    found = []
    for row, column in columns.items():
        tables = [pivot(frame, dataset, column) for dataset in sets]
        for method in methods:
            marks = [mark for table in tables if (mark := verdict(table, "LCC", method))]
            better, worse = marks.count("better"), marks.count("worse")
            if row == "time":  # less is better
                better, worse = worse, better
            theirs = paper.COMPACT[row].get(method)
            found.append(CompactCell(row, method, better, worse, len(marks), theirs))
    return found
