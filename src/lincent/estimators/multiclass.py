"""From two classes to many: one-vs-rest, one-vs-one, and all classes in one program.

A task is one two-class problem: which rows take part, which of them are positive, and how much
each original class matters in it.  One-vs-rest has a task per class, over all rows; one-vs-one has
a task per pair, over the rows of that pair.  With two classes both are the same single task.
The native form (``estimators.native``) has one rule for each class, read as those of one-vs-rest.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

STRATEGIES = ("ovr", "ovo", "native")
LARGEST = 1e300
"""Beyond this a score breaks ties like any other that large: sums of scores must not overflow."""


def combine_scores(scores: np.ndarray, n_classes: int, strategy: str) -> np.ndarray:
    """Per-task scores (one column each) to what ``decision_function`` returns."""
    if n_classes == 2:
        return scores[:, 0]
    if strategy != "ovo":
        return scores
    # Votes decide; the summed scores, squeezed below half a vote, break ties.
    votes = np.zeros((scores.shape[0], n_classes))
    sums = np.zeros_like(votes)
    scores = np.clip(scores, -LARGEST, LARGEST)
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
