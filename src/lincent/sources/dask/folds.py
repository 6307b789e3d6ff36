"""Folds of a table in blocks: the rows that a pass leaves out, and scores of the held-out rows.

A fold is a number per row.  Either it is given, in blocks beside the rows, or it follows from the
hash of a row (``hashing.HashKFold``).

No row moves: rows that are left out have the weight zero, and no other function needs to know about
folds.  Held-out rows are scored where they are, and a confusion matrix is returned; only a metric
that needs every row's own score transfers one number per row and model to the client.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Vector
from lincent.sources.dask import blocks
from lincent.sources.dask.schedule import Schedule
from lincent.sources.dask.table import DaskTable, pieces
from lincent.sources.hashing import HashKFold, HeldOutScores, RowHashes, row_hashes, smallest_hashes
from lincent.sources.shared_reads import BaseSchedule
from lincent.sources.source import Kind, kind_of

_own = threading.local()
Numbers = NDArray[np.intp]
Decide = Callable[[Any], NDArray[Any]]
"""From rows to the values of ``decision_function``."""
Choose = Callable[[NDArray[Any]], NDArray[np.intp]]
"""From there to the index of the class."""


def fold_by_hash(
    x: Any, labels: NDArray[Any], *, classes: NDArray[Any], assignment: HashKFold, n: int
) -> Numbers:
    """Return the fold of each row of a block by its values (see ``hashing``)."""
    hashes = row_hashes(blocks.tidy(x, n), assignment.seed)
    return assignment.numbers(hashes, blocks.class_codes(classes, labels))


@dataclass(frozen=True)
class FoldWeights:
    """The weights of a block without one fold, or (``held``) of that fold alone."""

    weight: Any
    numbers: Any  # one per row, or a function of rows and labels
    fold: int
    held: bool

    def among(self, x: Any, labels: Any, weight: Any) -> Vector:
        """Return the weights with zeros where a row is left out."""
        numbers = self.numbers
        if callable(numbers):
            numbers = _cached_numbers(numbers, x, np.asarray(labels).reshape(-1))
        inside: NDArray[np.bool_] = (np.asarray(numbers).reshape(-1) == self.fold) == self.held
        return np.where(inside, blocks.weights_of(weight, len(inside)), 0.0)


def _cached_numbers(rule: Any, x: Any, labels: NDArray[Any]) -> NDArray[Any]:
    """Return the fold numbers of a block; all folds use them one after the other."""
    last = getattr(_own, "last", None)
    if last is not None and last[0] is rule and last[1]() is x:
        return np.asarray(last[2])
    numbers: NDArray[Any] = rule(x, labels).astype(np.int16)
    with contextlib.suppress(TypeError):  # objects without weak references are not cached
        _own.last = (rule, weakref.ref(x), numbers)
    return numbers


class TableFolds:
    """A table whose rows have fold numbers."""

    def __init__(self, table: DaskTable, numbers: list[Any], folds: Sequence[int]) -> None:
        self.table, self.numbers, self.folds = table, numbers, list(folds)

    @classmethod
    def hashed(cls, table: DaskTable, assignment: HashKFold) -> TableFolds:
        """Return folds by the values of the rows; no pass."""
        assignment.check()
        terms: Any = {"classes": table.survey.classes, "assignment": assignment, "n": table.n}
        rule = table.schedule.sent(partial(fold_by_hash, **terms))
        return cls(table, [rule] * len(table.survey.lengths), assignment.used)

    @classmethod
    def given(cls, table: DaskTable, numbers: Any) -> TableFolds:
        """Return folds by one number per row, as ``PredefinedSplit``: -1 is in no fold."""
        lengths = table.survey.lengths
        parts = pieces("cv", numbers, len(lengths), lengths)
        if kind_of(numbers) is Kind.DASK:
            run = Schedule([(part,) for part in parts], table.schedule.log).run
            known = np.unique(np.concatenate(run("folds", _distinct)))
        else:
            known = np.unique(np.asarray(numbers))
        return cls(table, parts, [int(k) for k in known if k != -1])

    def without(self, fold: int) -> DaskTable:
        """Return the rows of all folds but one, surveyed."""
        return DaskTable(self._weighted(fold, held=False), self.table.n)

    def confusion(self, fold: int, models: Sequence[Decide], choose: Choose) -> Matrix:
        """Return the confusion matrix of each model on the held-out rows: one pass."""
        return self._weighted(fold, held=True).run(
            "score", confusion, n=self.table.n, classes=self.table.survey.classes,
            models=list(models), choose=choose,
        )  # fmt: skip

    def decision_values(
        self, fold: int, models: Sequence[Any], assignment: HashKFold | None = None
    ) -> HeldOutScores:
        """Return scores of the held-out rows by model: one pass.

        With an ``assignment`` only as many rows as are needed to compare models.
        """
        parts = self._weighted(fold, held=True).run(
            "scores", held_out_scores, each=self.table.first_rows, n=self.table.n,
            classes=self.table.survey.classes, models=list(models), assignment=assignment,
        )  # fmt: skip
        if not parts and assignment is None:
            raise ValueError(f"No row of fold {fold} has a weight above 0; give other folds.")
        if not parts:
            empty = np.empty(0, dtype=np.intp)
            parts = [(empty, empty, np.empty(0), [np.empty((0, m.width)) for m in models])]
        *columns, scores = zip(*parts, strict=True)
        rows, codes, weight = (np.concatenate(column) for column in columns)
        values = [np.concatenate(column) for column in zip(*scores, strict=True)]
        return HeldOutScores(rows, codes, weight, values)

    def _weighted(self, fold: int, *, held: bool) -> BaseSchedule:
        """Return the blocks with the weights of a fold, or without it."""

        def reweigh(x: Any, y: Any, weight: Any, numbers: Any) -> tuple[Any, Any, Any]:
            return x, y, FoldWeights(weight, numbers, fold, held)

        name = f"fold {fold}" if held else f"without fold {fold}"
        return self.table.schedule.altered(reweigh, [(part,) for part in self.numbers], name)


def hash_folds(table: DaskTable, folds: int, seed: int, *, every_class: bool = False) -> HashKFold:
    """Return the hash-based folds of a table: one pass."""
    smallest = table.schedule.run(
        "hashes", _smallest, merge=_joined_hashes, n=table.n, classes=table.survey.classes,
        seed=seed,
    )  # fmt: skip
    return HashKFold.of(smallest, folds, seed, every_class=every_class)


@blocks.on_table
def _smallest(block: blocks.LabeledBlock, *, classes: NDArray[Any], seed: int) -> list[RowHashes]:
    hashes, counted = row_hashes(block.X, seed), block.weight > 0
    return [smallest_hashes(hashes[counted & (block.labels == label)]) for label in classes]


def _joined_hashes(parts: list[list[RowHashes]]) -> list[RowHashes]:
    return [smallest_hashes(np.concatenate(same)) for same in zip(*parts, strict=True)]


def _distinct(numbers: Any) -> list[NDArray[Any]]:
    return [np.unique(np.asarray(numbers))]


@blocks.on_table
def confusion(
    block: blocks.LabeledBlock, *, classes: NDArray[Any], models: list[Decide], choose: Choose
) -> Matrix:
    """Return the weight of the rows of each class that each model assigns to each class."""
    counts = np.zeros((len(models), len(classes), len(classes)))
    for _, codes, weight, scores in _scores_of(block, 0, classes, models, None):
        for table, values in zip(counts, scores, strict=True):
            np.add.at(table, (codes, choose(values)), weight)
    return counts


@blocks.on_table
def held_out_scores(
    block: blocks.LabeledBlock, begin: int, *, classes: Any, models: Any, assignment: Any
) -> list[Any]:
    """Return number, class, weight and scores of the held-out rows of a block."""
    return list(_scores_of(block, begin, classes, models, assignment))


def _scores_of(
    block: blocks.LabeledBlock, begin: int, classes: Any, models: Any, assignment: HashKFold | None
) -> Iterator[tuple[Numbers, Numbers, Vector, list[Any]]]:
    """Yield the scores of rows of positive weight, a slice at a time."""
    codes, asked = block.codes(classes), block.weight > 0
    if assignment is not None:
        asked &= assignment.scored(row_hashes(block.X, assignment.seed), codes)
    rows = np.flatnonzero(asked)
    for start in range(0, len(rows), blocks.SLICE_ROWS):
        some = rows[start : start + blocks.SLICE_ROWS]
        values = [decide(block.X[some]) for decide in models]
        yield begin + some, codes[some], block.weight[some], values
