"""Folds dealt by the values of rows: the same wherever the rows are and however they are cut.

The different rows of a class, in the random order of their keys, go to the folds in turn.  So
classes are spread evenly, repetitions of a row stay together, a weight of two is the same as a
repeated row, and no permutation of the data changes a fold.  A rank needs all keys of the class; of
a class with more than ``RANKED`` different rows a row goes to the fold that its own key names,

    key modulo folds,

which deals as evenly as coins fall.  Of such a class only some rows, those with the smallest keys,
are asked when models are compared: with r the ``RANKED``-th smallest key, about ``JUDGED``
different rows have a key below r JUDGED / RANKED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lincent.sources.row_hash import Keys, near_the_least

RANKED = 10_000
JUDGED = 100_000
_EVERY = 2**64 - 1

Numbers = NDArray[np.intp]


def smallest_keys(keys: Keys) -> Keys:
    """What dealing has to know of a class: its smallest different keys, in order."""
    return np.unique(keys[near_the_least(keys, RANKED + 1)])[: RANKED + 1]


@dataclass(frozen=True)
class ClassRule:
    """What is to be known of one class: its keys in order, or None where they are too many."""

    keys: Keys | None
    below: int
    """Rows with a key up to this are asked when models are compared."""
    first: int = 0
    """The fold of its first row."""

    @classmethod
    def of(cls, smallest: Keys) -> ClassRule:
        if len(smallest) <= RANKED:
            return cls(smallest, _EVERY)
        return cls(None, min(_EVERY, int(smallest[RANKED - 1]) * JUDGED // RANKED))

    def folds(self, keys: Keys, folds: int) -> Numbers:
        if self.keys is None:
            return (keys % np.uint64(folds)).astype(np.intp)
        return np.asarray((np.searchsorted(self.keys, keys) + self.first) % folds)


@dataclass(frozen=True)
class Dealing:
    """The rule by which rows of each class find their folds; keys come from ``seed``."""

    seed: int
    folds: int
    rules: list[ClassRule]

    @classmethod
    def of(cls, smallest: Sequence[Keys], folds: int, seed: int) -> Dealing:
        """From ``smallest_keys`` of each class; each goes on where the one before ended."""
        rules, passed = [], 0
        for keys in smallest:
            rules.append(replace(ClassRule.of(keys), first=passed % folds))
            passed += len(keys)
        return cls(seed, folds, rules)

    def check(self) -> None:
        """Every class must be in the training part of every fold."""
        for code, rule in enumerate(self.rules):
            if rule.keys is not None and len(rule.keys) < 2:
                raise ValueError(
                    f"Class number {code} has fewer than 2 different rows, too few for "
                    "cross-validation; give more rows, or use the estimator without CV."
                )

    @property
    def used(self) -> list[int]:
        """The folds that hold rows."""
        most = [RANKED if rule.keys is None else len(rule.keys) for rule in self.rules]
        places = [
            (np.arange(count) + rule.first) % self.folds
            for count, rule in zip(most, self.rules, strict=True)
        ]
        return [int(fold) for fold in np.unique(np.concatenate(places))]

    def numbers(self, keys: Keys, codes: NDArray[np.integer]) -> Numbers:
        """The fold of each row, from its key and its class."""
        fold = np.empty(len(codes), dtype=np.intp)
        for code, rule in enumerate(self.rules):
            rows = np.flatnonzero(codes == code)
            fold[rows] = rule.folds(keys[rows], self.folds)
        return fold

    def judged(self, keys: Keys, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which rows are asked when models are compared."""
        below = np.array([rule.below for rule in self.rules], dtype=np.uint64)
        asked: NDArray[np.bool_] = keys <= below[codes]
        return asked
