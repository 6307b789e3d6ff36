"""Folds of rows in blocks: which rows a read leaves out.

A fold is a number per row.  Either it is given, in blocks beside the rows, or it follows from the
rank of a row among those of its class, as scikit-learn's ``StratifiedKFold`` deals them: the first
rows of a class are in fold 0, the next in fold 1, and so on, with

    allocation_ik = number of places j = i, i + f, i + 2f, ... that class k has in the sorted labels

rows of class k in fold i of f.  How many rows of each class the earlier blocks have is known from
the survey, so a block finds the ranks of its own rows, whatever the blocks are.

Rows that are left out have the weight zero: no other verb needs to know about folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.programs.arrays import Vector

Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Turns:
    """The rule by which the rows of one block find their folds."""

    classes: np.ndarray[Any, Any]
    begin: Numbers  # the rank of the first row of each class in this block
    ends: Numbers  # the rank at which each fold ends, classes by folds

    def numbers(self, labels: np.ndarray[Any, Any]) -> Numbers:
        codes = np.searchsorted(self.classes, labels)
        fold = np.empty(len(codes), dtype=np.intp)
        for k in np.unique(codes):
            rows = np.flatnonzero(codes == k)
            rank = self.begin[k] + np.arange(len(rows))
            fold[rows] = np.searchsorted(self.ends[k], rank, side="right")
        return fold


@dataclass(frozen=True)
class Dealt:
    """The weights of a block without one fold, or (``held``) of that fold alone."""

    weight: Any
    numbers: Any  # one per row, or Turns
    fold: int
    held: bool
    plain: bool  # every row that is left counts once, whatever its weight

    def among(self, labels: Any, weight: Any) -> Vector:
        """The weights with zeros where a row is left out."""
        labels = np.asarray(labels).reshape(-1)
        numbers = self.numbers
        if isinstance(numbers, Turns):
            numbers = numbers.numbers(labels)
        inside: NDArray[np.bool_] = (np.asarray(numbers).reshape(-1) == self.fold) == self.held
        if weight is None or self.plain:
            return inside.astype(np.float64)
        return np.where(inside, np.asarray(weight, dtype=np.float64).reshape(-1), 0.0)


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
) -> list[Turns]:
    """The rule of each block; ``present`` counts all rows, blocks by classes."""
    ends = np.cumsum(allocation(present.sum(axis=0), first, folds), axis=1)
    begin = np.cumsum(present, axis=0) - present
    return [Turns(classes, row, ends) for row in begin]
