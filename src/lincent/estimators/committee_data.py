"""The folds of a committee, wherever the rows are: parts to train on, held-out rows that answer.

In memory a part is some rows of X.  Rows in blocks stay where they are: those of another fold have
the weight zero, and held-out rows answer in one read for all rules of a fold.  Either way a fold is
dealt by the values of its rows, and of a large class as many rows are asked as it takes to compare
settings (see ``passes.dealing``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from lincent.estimators.problem import DaskTraining, DeviceTraining, HostTraining, Training
from lincent.model_selection.folds import (
    N_SPLITS,
    fold_numbers,
    hash_assignment,
    make_folds,
    number_of_folds,
)
from lincent.sources.hashing import row_hashes
from lincent.sources.landmarks import RowMapping
from lincent.sources.source import namespace_of

BLOCK_ROWS = 8192


@dataclass(frozen=True)
class LinearScores:
    """Scores of some rules on the same features, one column each."""

    mapping: RowMapping | None
    directions: np.ndarray
    cuts: np.ndarray

    @property
    def width(self) -> int:
        return len(self.cuts)

    def __call__(self, X: Any) -> np.ndarray:
        scores, place = np.empty((X.shape[0], self.width)), namespace_of(X)
        directions = place.send(self.directions)
        for start in range(0, X.shape[0], BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            rows = place.doubles(X[part])
            features = rows if self.mapping is None else self.mapping(rows)
            scores[part] = np.asarray(place.fetch(features @ directions)) + self.cuts
        return scores


@dataclass(frozen=True)
class Held:
    """Rows held out: their numbers in the data, classes, weights, and scores by rule."""

    rows: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    scores: np.ndarray


class Parts(Protocol):
    """Training data with folds."""

    training: Any
    n_splits: int

    def part(self, split: int) -> Training:
        """The rows to train on."""

    def held(self, split: int, models: Sequence[LinearScores]) -> Held:
        """What the models say of the rows held out."""


def open_parts(training: Training, cv: Any, repeats: int, seed: int) -> Parts:
    """The folds that ``cv`` deals, each repeat anew."""
    if isinstance(training, DaskTraining):
        return BlockParts(training, cv, repeats, seed)
    assert isinstance(training, HostTraining | DeviceTraining)
    return HostParts(training, cv, repeats, seed)


class HostParts:
    """Data in memory or on a device."""

    def __init__(
        self, training: HostTraining | DeviceTraining, cv: Any, repeats: int, seed: int
    ) -> None:
        self.training = training
        X, codes, weight = training.X, training.codes_here, training.weight
        self.splits = make_folds(cv, X, codes, weight, repeats, seed)
        self.n_splits = len(self.splits)
        keys = row_hashes(X, seed)
        self._asked = hash_assignment(keys, codes, weight, N_SPLITS, seed).judged(keys, codes)

    def part(self, split: int) -> HostTraining | DeviceTraining:
        return self.training.fold(self.splits[split][0])

    def held(self, split: int, models: Sequence[LinearScores]) -> Held:
        rows = self.splits[split][1]
        rows = rows[self._asked[rows]]
        X = self.training.rows(rows)
        scores = np.concatenate([model(X) for model in models], axis=1)
        return Held(rows, self.training.codes_here[rows], self.training.weight[rows], scores)


class BlockParts:
    """Data in blocks."""

    def __init__(self, training: DaskTraining, cv: Any, repeats: int, seed: int) -> None:
        from lincent.sources.dask.folds import TableFolds, hash_folds

        self.training = training
        table, numbers = training.table, fold_numbers(cv, training.shape[0])
        count = N_SPLITS if numbers is not None else number_of_folds(cv, remote=True)
        jobs: list[Callable[[], Any]] = [
            partial(hash_folds, table, count, seed + repeat)
            for repeat in range(1 if numbers is not None else repeats)
        ]
        dealings = training.each(jobs, None)
        self._dealing = dealings[0]
        if numbers is not None:
            folds = [TableFolds.given(table, numbers)]
        else:
            folds = [TableFolds.dealt(table, dealing) for dealing in dealings]
        self._splits = [(part, fold) for part in folds for fold in part.folds]
        self.n_splits = len(self._splits)

    def part(self, split: int) -> DaskTraining:
        folds, fold = self._splits[split]
        part = self.training.seen_as(folds.without(fold))
        if len(missing := part.missing()):
            raise ValueError(
                f"A training part of cv has no row of class number {int(missing[0])}; give folds "
                "in which every class is present, or fewer folds."
            )
        return part

    def held(self, split: int, models: Sequence[LinearScores]) -> Held:
        folds, fold = self._splits[split]
        found = folds.judged(fold, models, self._dealing)
        return Held(found.rows, found.codes, found.weight, found.scores)
