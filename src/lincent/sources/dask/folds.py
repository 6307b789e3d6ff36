"""Folds of a Dask table: which rows a read leaves out, and what the rows held out say.

A fold is a number per row.  Either it is given, in blocks beside the rows, or it follows from the
rank of a row among those of its class, as scikit-learn's ``StratifiedKFold`` deals them: the first
rows of a class are in fold 0, the next in fold 1, and so on, with

    allocation_ik = number of places j = i, i + f, i + 2f, ... that class k has in the sorted labels

rows of class k in fold i of f.  How many rows of each class the earlier blocks have is known from
the survey, so a block finds the ranks of its own rows, whatever the blocks are.

No row moves: rows that are left out have the weight zero, and no other verb needs to know about
folds.  Held-out rows answer where they are, with the counts of who is taken for whom; only a score
that needs every row's own value brings one number per row and model to the client.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Vector
from lincent.sources.dask.blocks import Reweighed, add, apart, chained, class_codes, sliced, tidy
from lincent.sources.dask.schedule import Schedule
from lincent.sources.dask.table import DaskTable, pieces
from lincent.sources.hashing import HashKFold, RowHashes, row_hashes, smallest_hashes
from lincent.sources.source import Kind, kind_of

_own = threading.local()
Numbers = NDArray[np.intp]
Decide = Callable[[Any], NDArray[Any]]
"""From rows to what ``decision_function`` says of them."""
Choose = Callable[[NDArray[Any]], NDArray[np.intp]]
"""From there to the index of the class."""


class FoldRule(Protocol):
    """How the rows of a block find their folds."""

    def numbers(self, x: Any, labels: NDArray[Any]) -> Numbers:
        """One number per row."""


@dataclass(frozen=True)
class FoldByHash:
    """By the values of the rows (see ``passes.dealing``)."""

    classes: np.ndarray[Any, Any]
    dealing: HashKFold
    n: int

    def numbers(self, x: Any, labels: NDArray[Any]) -> Numbers:
        keys = row_hashes(tidy(x, self.n), self.dealing.seed)
        return self.dealing.numbers(keys, class_codes(self.classes, labels))


@dataclass(frozen=True)
class FoldByRank:
    """By the turn of each row in its class, as scikit-learn deals."""

    classes: np.ndarray[Any, Any]
    begin: Numbers  # the rank of the first row of each class in this block
    ends: Numbers  # the rank at which each fold ends, classes by folds

    def numbers(self, x: Any, labels: NDArray[Any]) -> Numbers:
        codes = class_codes(self.classes, labels)
        fold = np.empty(len(codes), dtype=np.intp)
        for k, ends in enumerate(self.ends):
            rows = np.flatnonzero(codes == k)
            # Ranks follow each other, so the folds are stretches of the rows.
            cuts = np.clip(ends - self.begin[k], 0, len(rows))
            counts = np.diff(cuts, prepend=0, append=len(rows))
            fold[rows] = np.repeat(np.arange(len(counts)), counts)
        return fold


@dataclass(frozen=True)
class FoldWeights(Reweighed):
    """The weights of a block without one fold, or (``held``) of that fold alone."""

    weight: Any
    numbers: Any  # one per row, or a FoldRule
    fold: int
    held: bool
    plain: bool  # every row that is left counts once, whatever its weight

    def among(self, x: Any, labels: Any, weight: Any) -> Vector:
        """The weights with zeros where a row is left out."""
        numbers = self.numbers
        if hasattr(numbers, "numbers"):
            numbers = _remembered(numbers, x, np.asarray(labels).reshape(-1))
        inside: NDArray[np.bool_] = (np.asarray(numbers).reshape(-1) == self.fold) == self.held
        if weight is None or self.plain:
            return inside.astype(np.float64)
        return np.where(inside, np.asarray(weight, dtype=np.float64).reshape(-1), 0.0)


def _remembered(rule: FoldRule, x: Any, labels: NDArray[Any]) -> NDArray[Any]:
    """The fold numbers of a block; all folds ask for them one after the other."""
    last = getattr(_own, "last", None)
    if last is not None and last[0] is rule and last[1]() is x:
        return np.asarray(last[2])
    numbers = rule.numbers(x, labels).astype(np.int16)
    with contextlib.suppress(TypeError):  # what cannot be referred to is not remembered
        _own.last = (rule, weakref.ref(x), numbers)
    return numbers


def allocation(counts: Numbers, first: Numbers, folds: int) -> Numbers:
    """Rows of each class in each fold (classes by folds), as scikit-learn has them.

    Classes take their places in the order in which they first appear.
    """
    order = np.argsort(first, kind="stable")
    stop = np.cumsum(counts[order])
    start = stop - counts[order]
    places = np.empty((len(counts), folds), dtype=np.intp)
    for i in range(folds):
        # The number of j with start <= j < stop and j = i modulo folds.
        places[order, i] = -((i - stop) // folds) + ((i - start) // folds)
    return places


def turns(
    classes: np.ndarray[Any, Any], present: Numbers, first: Numbers, folds: int
) -> list[FoldByRank]:
    """The rule of each block; ``present`` counts all rows, blocks by classes."""
    ends = np.cumsum(allocation(present.sum(axis=0), first, folds), axis=1)
    begin = np.cumsum(present, axis=0) - present
    return [FoldByRank(classes, row, ends) for row in begin]


class TableFolds:
    """A table whose rows have fold numbers."""

    def __init__(self, table: DaskTable, numbers: list[Any], folds: Sequence[int]) -> None:
        self.table, self.numbers, self.folds = table, numbers, list(folds)

    @classmethod
    def stratified(cls, table: DaskTable, folds: int) -> TableFolds:
        """As scikit-learn's ``StratifiedKFold`` without shuffling; nothing is read."""
        survey = table.survey
        rules = turns(survey.classes, survey.present, survey.first, folds)
        return cls(table, list(rules), range(folds))

    @classmethod
    def dealt(cls, table: DaskTable, dealing: HashKFold) -> TableFolds:
        """By the values of the rows; nothing is read."""
        dealing.check()
        rule = table.sent(FoldByHash(table.survey.classes, dealing, table.n))
        return cls(table, [rule] * len(table.survey.lengths), dealing.used)

    @classmethod
    def given(cls, table: DaskTable, numbers: Any) -> TableFolds:
        """By one number per row, as ``PredefinedSplit`` has them: -1 is in no fold."""
        lengths = table.survey.lengths
        parts = pieces("cv", numbers, len(lengths), lengths)
        if kind_of(numbers) is Kind.DASK:
            run = Schedule([(part,) for part in parts], table.schedule.tell).run
            known = np.unique(np.concatenate(run("folds", _distinct, merge=chained)))
        else:
            known = np.unique(np.asarray(numbers))
        return cls(table, parts, [int(k) for k in known if k != -1])

    def without(self, fold: int) -> DaskTable:
        """The rows of all folds but one, surveyed."""
        schedule = self._dealt(fold, False, False, f"without fold {fold}")
        return DaskTable(schedule, self.table.n)

    def confusion(self, fold: int, models: Sequence[Decide], choose: Choose, plain: bool) -> Matrix:
        """For each model, how much weight of each class is taken for each class: one read."""
        counts: Matrix = self._held(fold, plain).run(
            "score", confusion, merge=add, n=self.table.n, classes=self.table.survey.classes,
            models=list(models), choose=choose,
        )  # fmt: skip
        return counts

    def lines(
        self, fold: int, models: Sequence[Decide], plain: bool
    ) -> tuple[NDArray[np.intp], Vector, list[NDArray[Any]]]:
        """Class, weight and, for each model, the scores of every row held out: one read."""
        parts = self._held(fold, plain).run(
            "lines", lines, merge=chained, n=self.table.n, classes=self.table.survey.classes,
            models=list(models),
        )  # fmt: skip
        if not parts:
            raise ValueError(f"No row of fold {fold} has a weight above 0; give other folds.")
        codes, weights, scores = zip(*parts, strict=True)
        columns = [np.concatenate(column) for column in zip(*scores, strict=True)]
        return np.concatenate(codes), np.concatenate(weights), columns

    def judged(self, fold: int, models: Sequence[Decide], dealing: HashKFold) -> HeldOutScores:
        """What the models say of rows held out, as many as it takes to compare them: one read."""
        survey = self.table.survey
        begin = np.concatenate([[0], np.cumsum(survey.lengths)[:-1]])
        found: HeldOutScores = self._held(fold, False).run(
            "score", judged, each=[(int(place),) for place in begin], merge=HeldOutScores.joined,
            n=self.table.n, classes=survey.classes, models=list(models), dealing=dealing,
        )  # fmt: skip
        return found

    def _held(self, fold: int, plain: bool) -> Any:
        return self._dealt(fold, True, plain, f"fold {fold}")

    def _dealt(self, fold: int, held: bool, plain: bool, name: str) -> Any:
        """The blocks with the weights of a fold, or without it."""

        def deal(x: Any, y: Any, weight: Any, numbers: Any) -> tuple[Any, Any, Any]:
            return x, y, FoldWeights(weight, numbers, fold, held, plain)

        return self.table.schedule.altered(deal, [(part,) for part in self.numbers], name)


@dataclass(frozen=True)
class HeldOutScores:
    """Rows held out: their numbers in the data, classes, weights, and scores by model."""

    rows: Numbers
    codes: Numbers
    weight: Vector
    scores: Matrix

    @classmethod
    def joined(cls, parts: list[HeldOutScores]) -> HeldOutScores:
        columns = zip(*((p.rows, p.codes, p.weight, p.scores) for p in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))


def judged(
    x: Any,
    y: Any,
    weight: Any,
    begin: int,
    *,
    n: int,
    classes: NDArray[Any],
    models: list[Decide],
    dealing: HashKFold,
) -> HeldOutScores:
    """The rows of a block that are held out and asked."""
    x, y, weight = apart(x, y, weight)
    X, codes = tidy(x, n), class_codes(classes, y)
    asked = (weight > 0) & dealing.judged(row_hashes(X, dealing.seed), codes)
    rows = np.flatnonzero(asked)
    answers = [decide(X[rows]) for decide in models]
    scores = np.concatenate(answers, axis=1) if len(rows) else np.empty((0, _width(models)))
    return HeldOutScores(begin + rows, codes[rows].astype(np.intp), weight[rows], scores)


def _width(models: Sequence[Any]) -> int:
    return sum(model.width for model in models)


def hash_folds(table: DaskTable, folds: int, seed: int) -> HashKFold:
    """How the rows of a table find their folds: one read."""
    smallest = table.schedule.run(
        "keys", _smallest, merge=_joined_keys, n=table.n, classes=table.survey.classes, seed=seed
    )
    return HashKFold.of(smallest, folds, seed)


def _smallest(
    x: Any, y: Any, weight: Any, *, n: int, classes: NDArray[Any], seed: int
) -> list[RowHashes]:
    x, y, weight = apart(x, y, weight)
    keys, labels = row_hashes(tidy(x, n), seed), np.asarray(y).reshape(-1)
    counted = np.ones(len(labels), bool) if weight is None else np.asarray(weight).reshape(-1) > 0
    return [smallest_hashes(keys[counted & (labels == label)]) for label in classes]


def _joined_keys(parts: list[list[RowHashes]]) -> list[RowHashes]:
    return [smallest_hashes(np.concatenate(same)) for same in zip(*parts, strict=True)]


def _distinct(numbers: Any) -> list[NDArray[Any]]:
    return [np.unique(np.asarray(numbers))]


def _counted(
    x: Any, y: Any, weight: Any, n: int, classes: NDArray[Any]
) -> tuple[Any, NDArray[np.intp], Vector]:
    """The rows of a block that are held out, their classes and their weights."""
    x, y, weight = apart(x, y, weight)
    X = tidy(x, n)
    rows = np.flatnonzero(weight > 0)
    codes = np.searchsorted(classes, np.asarray(y).reshape(-1)[rows])
    return X[rows], codes.astype(np.intp), weight[rows]


@sliced(add)
def confusion(
    x: Any,
    y: Any,
    weight: Any,
    *,
    n: int,
    classes: NDArray[Any],
    models: list[Decide],
    choose: Choose,
) -> Matrix:
    """The weight of the rows of each class that each model gives to each class."""
    X, codes, weight = _counted(x, y, weight, n, classes)
    k = len(classes)
    counts = np.zeros((len(models), k, k))
    if len(codes):
        for table, decide in zip(counts, models, strict=True):
            pairs = codes * k + choose(decide(X))
            table += np.bincount(pairs, weights=weight, minlength=k * k).reshape(k, k)
    return counts


@sliced(chained)
def lines(
    x: Any, y: Any, weight: Any, *, n: int, classes: NDArray[Any], models: list[Decide]
) -> list[tuple[NDArray[np.intp], Vector, list[NDArray[Any]]]]:
    """Class, weight and scores of every row held out."""
    X, codes, weight = _counted(x, y, weight, n, classes)
    if not len(codes):
        return []
    return [(codes, weight, [decide(X) for decide in models])]
