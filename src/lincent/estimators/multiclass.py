"""From two classes to many: one-vs-rest and one-vs-one.

A task is one two-class problem: which rows take part, which of them are positive, and how much
each original class matters in it.  One-vs-rest has a task per class, over all rows; one-vs-one has
a task per pair, over the rows of that pair.  With two classes both are the same single task.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

STRATEGIES = ("ovr", "ovo")


@dataclass(frozen=True)
class Task:
    """One two-class problem cut out of a many-class one."""

    negative: tuple[int, ...]
    positive: tuple[int, ...]
    whole: bool

    def rows(self, codes: np.ndarray) -> np.ndarray:
        """The rows that take part."""
        return np.flatnonzero(np.isin(codes, self.negative + self.positive))

    def sign(self, codes: np.ndarray) -> np.ndarray:
        """+1 for rows of the positive side, -1 for the others."""
        if len(self.positive) == 1:
            return np.where(codes == self.positive[0], 1.0, -1.0)
        return np.where(np.isin(codes, self.positive), 1.0, -1.0)

    def importance(self, importance: np.ndarray, totals: np.ndarray) -> tuple[float, float]:
        """How much each side matters: the mean importance of its classes, by their weight."""
        sides = (list(self.negative), list(self.positive))
        low, high = (float(np.average(importance[s], weights=totals[s])) for s in sides)
        return low, high


def tasks(n_classes: int, strategy: str) -> list[Task]:
    """The two-class problems for this many classes."""
    if n_classes == 2:
        return [Task((0,), (1,), whole=True)]
    everyone = range(n_classes)
    if strategy == "ovr":
        return [Task(tuple(j for j in everyone if j != k), (k,), whole=True) for k in everyone]
    return [Task((i,), (j,), whole=False) for i, j in combinations(everyone, 2)]


def combine_scores(scores: np.ndarray, n_classes: int, strategy: str) -> np.ndarray:
    """Per-task scores (one column each) to what ``decision_function`` returns."""
    if n_classes == 2:
        return scores[:, 0]
    if strategy == "ovr":
        return scores
    # Votes decide; the summed scores, squeezed below half a vote, break ties.
    votes = np.zeros((scores.shape[0], n_classes))
    sums = np.zeros_like(votes)
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        score = scores[:, column]
        votes[:, j] += score > 0
        votes[:, i] += score <= 0
        sums[:, j] += score
        sums[:, i] -= score
    return votes + sums / (3 * (np.abs(sums) + 1))


def pick(scores: np.ndarray) -> np.ndarray:
    """The class index for each row of ``decision_function``'s result."""
    if scores.ndim == 1:
        return (scores > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))
