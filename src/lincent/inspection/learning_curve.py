"""How the held-out score grows with the rows: ``lincent fit --learning-curve``.

In each split of ``held_out``, growing parts of the training rows, each within the next, are fitted
with the whole pipeline, preparation included, and judged on the same held-out rows:

    s(n) = mean over splits k of s_k(n),  the balanced accuracy on the rows held out in k
           of the fit to n of the others

A part has the share of every class that the whole has; where rows belong together, groups are taken
whole.  Whether more rows would help is read from the last doubling, split by split.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

from lincent._console import Stage
from lincent.inspection.held_out import make_splits
from lincent.tables.infer import PreparedTable

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
LEAST = 5
"""Rows of every class that a part has, or it is not fitted."""


def measure_growth(
    pipeline: Any, known: PreparedTable, seed: int, stage: Stage
) -> dict[str, Any] | None:
    """Points of the curve and its last doubling; None where the rows are too few for two points."""
    splits = make_splits(known, seed)
    parts = [list(growing_parts(known, train, seed)) for train, _ in splits]
    sizes = min(map(len, parts), default=0)
    if sizes < 2:
        return None
    scores = np.full((len(splits), sizes), np.nan)
    for k, (grown, (_, test)) in enumerate(zip(parts, splits, strict=True)):
        for j, rows in enumerate(grown[-sizes:]):
            stage("learning curve, fit", k * sizes + j, scores.size, f"{len(rows)} rows")
            scores[k, j] = _score(pipeline, known, rows, test)
    counts = [round(np.mean([len(grown[j - sizes]) for grown in parts])) for j in range(sizes)]
    return described(counts, scores)


def growing_parts(known: PreparedTable, train: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """Parts of the training rows, each within the next, with ``LEAST`` rows of every class."""
    rng = np.random.default_rng(seed)
    labels = np.unique(known.labels, return_inverse=True)[1]
    if known.groups is None:
        place = np.empty(len(train))  # of a row among those of its class, from 0 to 1
        for code in np.unique(labels):
            own = np.flatnonzero(labels[train] == code)
            place[own] = (rng.permutation(len(own)) + 0.5) / len(own)
    else:
        group = np.unique(known.groups[train], return_inverse=True)[1]
        count = int(group.max()) + 1
        place = ((rng.permutation(count) + 0.5) / count)[group]
    for share in SHARES:
        rows = train[place < share]
        if np.bincount(labels[rows], minlength=labels.max() + 1).min() >= LEAST:
            yield rows


def described(counts: list[int], scores: np.ndarray) -> dict[str, Any] | None:
    """The curve in plain data, without the sizes at which a split could not be fitted."""
    there = np.flatnonzero(np.isfinite(scores).all(axis=0))
    if len(there) < 2:
        return None
    points = [
        {
            "rows": counts[j],
            "score": float(scores[:, j].mean()),
            "low": float(scores[:, j].min()),
            "high": float(scores[:, j].max()),
        }
        for j in there
    ]
    last = scores[:, there[-1]] - scores[:, there[-2]]
    change = {
        "from": counts[there[-2]],
        "to": counts[there[-1]],
        "change": float(last.mean()),
        "up": int((last > 0).sum()),
    }
    return {"splits": len(scores), "points": points, "last": change}


def curve_text(curve: dict[str, Any]) -> str:
    """Whether more rows would help, in a sentence."""
    last = curve["last"]
    return (
        f"From {last['from']} to {last['to']} rows the held-out balanced accuracy changes by "
        f"{100 * last['change']:+.1f} points, up in {last['up']} of {curve['splits']} splits."
    )


def _score(pipeline: Any, known: PreparedTable, rows: np.ndarray, test: np.ndarray) -> float:
    """Balanced accuracy on the rows ``test``; NaN where the part cannot be fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a part; the fit to all rows has said its own
        try:
            made = clone(pipeline).fit(known.frame.iloc[rows], known.labels[rows])
        except ValueError:
            return float("nan")
        predicted = made.predict(known.frame.iloc[test])
        return float(balanced_accuracy_score(known.labels[test], predicted))
