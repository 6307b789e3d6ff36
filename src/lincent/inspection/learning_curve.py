"""Learning curve: the held-out score along the number of training rows.

In each split, growing nested subsets of the training rows are fitted with the whole pipeline,
encoder included, and scored on the same held-out rows:

    s(n) = mean over splits k of s_k(n),  the balanced accuracy on the rows held out in k
           of the fit to n of the others

A subset has the class proportions of all rows; grouped rows are kept together.  Whether more rows
would help is read from the last doubling, split by split.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from lincent._console import Progress
from lincent.tables.infer import PreparedTable

FRACTIONS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
MIN_ROWS = 5  # of every class in a subset


def learning_curve(
    pipeline: Any,
    table: PreparedTable,
    splits: list[tuple[np.ndarray, np.ndarray]],
    random_state: int,
    progress: Progress,
) -> dict[str, Any] | None:
    """Return the points of the curve and its last doubling; None for too few rows."""
    subsets = [list(growing_subsets(table, train, random_state)) for train, _ in splits]
    sizes = min(map(len, subsets), default=0)
    if sizes < 2:
        return None
    scores = np.full((len(splits), sizes), np.nan)
    for k, (growing, (_, test)) in enumerate(zip(subsets, splits, strict=True)):
        for j, rows in enumerate(growing[-sizes:]):
            progress("learning curve, fit", k * sizes + j, scores.size, f"{len(rows)} rows")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about a subset; the fit to all rows had its own
                try:
                    model = clone(pipeline).fit(table.frame.iloc[rows], table.labels[rows])
                except ValueError:
                    continue  # the subset cannot be fitted
                predicted = model.predict(table.frame.iloc[test])
                scores[k, j] = balanced_accuracy_score(table.labels[test], predicted)
    lengths = [[len(rows) for rows in growing[-sizes:]] for growing in subsets]
    return describe([round(mean) for mean in np.mean(lengths, axis=0)], scores)


def growing_subsets(
    table: PreparedTable, train: np.ndarray, random_state: int
) -> Iterator[np.ndarray]:
    """Yield nested subsets of the training rows with ``MIN_ROWS`` rows of every class."""
    rng = np.random.default_rng(random_state)
    codes = np.unique(table.labels, return_inverse=True)[1]
    if table.groups is None:
        rank = np.empty(len(train))  # of a row among those of its class, from 0 to 1
        for code in np.unique(codes):
            own = np.flatnonzero(codes[train] == code)
            rank[own] = (rng.permutation(len(own)) + 0.5) / len(own)
    else:
        group = np.unique(table.groups[train], return_inverse=True)[1]
        count = int(group.max()) + 1
        rank = ((rng.permutation(count) + 0.5) / count)[group]
    for fraction in FRACTIONS:
        rows = train[rank < fraction]
        if np.bincount(codes[rows], minlength=codes.max() + 1).min() >= MIN_ROWS:
            yield rows


def describe(counts: list[int], scores: np.ndarray) -> dict[str, Any] | None:
    """Return the curve as plain data, without the sizes at which a split could not be fitted."""
    fitted = np.flatnonzero(np.isfinite(scores).all(axis=0))
    if len(fitted) < 2:
        return None
    points = []
    for j in fitted:
        mean, low, high = (float(of(scores[:, j])) for of in (np.mean, np.min, np.max))
        points.append({"rows": counts[j], "score": mean, "low": low, "high": high})
    change = scores[:, fitted[-1]] - scores[:, fitted[-2]]
    last = {"from": counts[fitted[-2]], "to": counts[fitted[-1]]}
    last |= {"change": float(change.mean()), "up": int((change > 0).sum())}
    return {"splits": len(scores), "points": points, "last": last}
