"""Which rows train and which rows test, from a seed and the number of the split alone.

The split does not depend on the method or on how many runs are asked for, so all methods see the
same rows, and a study can be made longer or taken up again.

    holdout    a stratified share of each class for testing (procedure 1 of the paper: 30 %)
    folds      stratified k-fold (procedure 2: 10 folds)

With groups, the rows of one group stay together in both.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit

Indices = tuple[np.ndarray, np.ndarray]
TEST_SHARE = 0.3
GROUP_PARTS = 10
ATTEMPTS = 50


def seed_of(seed: int, number: int) -> int:
    """Return the seed of one numbered run."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0] % (2**31))


def holdout(
    y: np.ndarray,
    number: int,
    *,
    seed: int = 0,
    test_share: float = TEST_SHARE,
    groups: np.ndarray | None = None,
) -> Indices:
    """Return training and test rows of one stratified split.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.study.splits import holdout
    >>> train, test = holdout(np.repeat([0, 1], 10), 0)
    >>> len(train), len(test)
    (14, 6)
    """
    state = seed_of(seed, number)
    if groups is not None:
        return _grouped_holdout(y, groups, state, test_share)
    splitter = StratifiedShuffleSplit(1, test_size=test_share, random_state=state)
    train, test = next(splitter.split(np.zeros((len(y), 1)), y))
    return np.sort(train), np.sort(test)


def folds(
    y: np.ndarray,
    number: int,
    *,
    n_splits: int = 10,
    seed: int = 0,
    groups: np.ndarray | None = None,
) -> Indices:
    """Return training and test rows of one of the stratified folds."""
    rows = np.zeros((len(y), 1))
    state = seed_of(seed, 0)
    if groups is not None:
        splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=state)
    else:
        splitter = StratifiedKFold(n_splits, shuffle=True, random_state=state)
    train, test = list(splitter.split(rows, y, groups))[number]
    return train, test


def drawn(
    splitter: Any, y: np.ndarray, number: int, *, seed: int = 0, groups: np.ndarray | None = None
) -> Indices:
    """Return training and test rows of one split of a splitter that a problem brings along."""
    one = clone(splitter).set_params(n_splits=1, random_state=seed_of(seed, number))
    train, test = next(one.split(np.zeros((len(y), 1)), y, groups))
    return train, test


def _grouped_holdout(y: np.ndarray, groups: np.ndarray, state: int, test_share: float) -> Indices:
    # Stratified group folds, some of them joined to the test part; every class on both sides.
    parts = min(GROUP_PARTS, len(np.unique(groups)))
    tests = max(1, round(test_share * parts))
    classes = len(np.unique(y))
    for attempt in range(ATTEMPTS):
        splitter = StratifiedGroupKFold(parts, shuffle=True, random_state=state + attempt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a rare class is looked at below
            every = [test for _, test in splitter.split(np.zeros((len(y), 1)), y, groups)]
        in_test = np.zeros(len(y), dtype=bool)
        in_test[np.concatenate(every[:tests])] = True
        if len(np.unique(y[in_test])) == len(np.unique(y[~in_test])) == classes:
            return np.flatnonzero(~in_test), np.flatnonzero(in_test)
    raise ValueError(
        f"No split by group has every class on both sides, in {ATTEMPTS} attempts: too few groups "
        "hold the rarest class."
    )
