"""Folds of a Dask table: what to train on, and what the rows held out say.

No row moves: the blocks of a fold are those of the table with other weights.  Held-out rows answer
where they are, with the counts of who is taken for whom; only a score that needs every row's own
value brings one number per row and model to the client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.passes import is_dask
from lincent.passes.dask import dealing
from lincent.passes.dask.block import (
    add,
    apart,
    chained,
    sliced,
    tidy,
)
from lincent.passes.dask.dealing import Dealt
from lincent.passes.dask.table import (
    DaskTable,
    pieces,
)
from lincent.programs.arrays import (
    Matrix,
    Vector,
)

Decide = Callable[[Any], NDArray[Any]]
"""From rows to what ``decision_function`` says of them."""
Choose = Callable[[NDArray[Any]], NDArray[np.intp]]
"""From there to the index of the class."""


class DaskFolds:
    """A table whose rows have fold numbers."""

    def __init__(self, table: DaskTable, numbers: list[Any], folds: Sequence[int]) -> None:
        self.table, self.numbers, self.folds = table, numbers, list(folds)

    @classmethod
    def stratified(cls, table: DaskTable, folds: int) -> DaskFolds:
        """As scikit-learn's ``StratifiedKFold`` without shuffling; nothing is read."""
        survey = table.survey
        rules = dealing.turns(survey.classes, survey.present, survey.first, folds)
        return cls(table, list(rules), range(folds))

    @classmethod
    def given(cls, table: DaskTable, numbers: Any) -> DaskFolds:
        """By one number per row, as ``PredefinedSplit`` has them: -1 is in no fold."""
        lengths = table.survey.lengths
        parts = pieces("cv", numbers, len(lengths), lengths)
        if is_dask(numbers):
            run = table.cut([(part,) for part in parts]).run
            known = np.unique(np.concatenate(run("folds", _distinct, merge=chained)))
        else:
            known = np.unique(np.asarray(numbers))
        return cls(table, parts, [int(k) for k in known if k != -1])

    def without(self, fold: int) -> DaskTable:
        """The rows of all folds but one, surveyed."""
        blocks = self._blocks(fold, held=False, plain=False)
        return DaskTable(self.table.cut(blocks, f"without fold {fold}"), self.table.n)

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

    def _held(self, fold: int, plain: bool) -> Any:
        return self.table.cut(self._blocks(fold, held=True, plain=plain), f"fold {fold}")

    def _blocks(self, fold: int, *, held: bool, plain: bool) -> list[tuple[Any, Any, Any]]:
        return [
            (x, y, Dealt(weight, numbers, fold, held, plain))
            for (x, y, weight), numbers in zip(
                self.table.schedule.blocks, self.numbers, strict=True
            )
        ]


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
