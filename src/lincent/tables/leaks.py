"""Columns that give the answer away, and rows that stand in a table twice.

A column is a leak where it alone tells the class of nearly every row: by its order (two classes),
by cutting it into as many pieces as there are classes, by its categories, or by where it is
missing.
A category that occurs once tells only itself and counts as wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TOLD = 0.999
LEAST_ROWS, LEAST_CLASS_ROWS = 30, 5
"""Below these a clean separation can be chance."""


def gives_away(values: Any, codes: np.ndarray, *, numeric: bool) -> bool:
    """Whether a column of the frame tells the classes (as codes from 0) alone."""
    counts = np.bincount(codes)
    if len(codes) < LEAST_ROWS or counts[counts > 0].min() < LEAST_CLASS_ROWS:
        return False
    if not numeric:
        return _told_by_groups(values, codes) >= TOLD
    values = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(values)
    if not known.all() and _told_by_groups(known, codes) >= TOLD:
        return True
    if known.sum() < TOLD * len(codes):
        return False
    return _told_by_order(values[known], codes[known]) >= TOLD


def _told_by_groups(values: Any, codes: np.ndarray) -> float:
    import pandas as pd

    groups, names = pd.factorize(np.asarray(values))
    known = groups >= 0
    n_classes = int(codes.max()) + 1
    pairs = np.bincount(groups[known] * n_classes + codes[known], minlength=len(names) * n_classes)
    table = pairs.reshape(len(names), n_classes)
    largest, total = table.max(axis=1, initial=0), table.sum(axis=1)
    return float(largest[total > 1].sum() / total.sum())


def _told_by_order(values: np.ndarray, codes: np.ndarray) -> float:
    classes = np.unique(codes)
    if len(classes) == 2:
        area = _area(values, codes == classes[1])
        return max(area, 1.0 - area)
    from sklearn.tree import DecisionTreeClassifier

    # A tree reads single precision, in which large values overflow and close ones are one: ranks.
    ranks = np.unique(values, return_inverse=True)[1][:, None]
    tree = DecisionTreeClassifier(max_leaf_nodes=len(classes), random_state=0)
    return float(tree.fit(ranks, codes).score(ranks, codes))


def _area(values: np.ndarray, positive: np.ndarray) -> float:
    """The area under the ROC curve, ties counting half, without the checks of scikit-learn's."""
    _, place = np.unique(values, return_inverse=True)
    up, down = (np.bincount(place, weights=side) for side in (positive, ~positive))
    below = np.cumsum(down) - down / 2
    return float(up @ below) / (float(up.sum()) * float(down.sum()))


def repeated_rows(frame: Any, labels: np.ndarray) -> int:
    """How many rows repeat an earlier one, class included."""
    import pandas as pd

    # A column more in place would be told off by pandas where there are a hundred.
    classes = pd.Series(labels, index=frame.index)
    return int(pd.concat([frame, classes], axis=1).duplicated().sum())
