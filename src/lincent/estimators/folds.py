"""Folds for cross-validation inside ``fit``.

Folds are dealt by row values (see ``passes.dealing``), as the calibration does: repetitions of a
row stay together, and no permutation of the data changes the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from lincent.estimators.validation import check_count
from lincent.sources.dealing import Dealing, smallest_keys
from lincent.sources.row_hash import row_keys
from lincent.sources.source import Kind, kind_of

FOLDS = 5
Split = tuple[np.ndarray, np.ndarray]
_NO_PLACES = (
    "cv={cv!r} is not usable on a Dask collection or on batches, whose rows have no places to "
    "index: give a number of folds, or one fold number per row (an array, a Dask array or "
    "PredefinedSplit)."
)


def make_folds(
    cv: Any, X: Any, codes: np.ndarray, weight: np.ndarray, repeats: int, seed: int
) -> list[Split]:
    """(training rows, held-out rows) for each fold of each repeat.

    ``cv`` is None (5 folds), a number of folds, one fold number per row, a splitter or an iterable
    of index pairs.
    """
    if cv is None or isinstance(cv, int | np.integer):
        folds = number_of_folds(cv)
        return [
            split
            for repeat in range(repeats)
            for split in _deal(X, codes, weight, folds, seed + repeat)
        ]
    numbers = fold_numbers(cv, len(codes))
    if numbers is not None:
        used = [number for number in np.unique(numbers) if number >= 0]
        cv = [(numbers != number, numbers == number) for number in used]
    pairs: Iterable[Any] = cv.split(X, codes) if hasattr(cv, "split") else cv
    counted = weight > 0
    splits = []
    for train, held in pairs:
        train, held = (_positions(rows, len(codes)) for rows in (train, held))
        splits.append((train[counted[train]], held[counted[held]]))
    if not splits:
        raise ValueError(
            "cv gives no folds; give a number of folds or at least one pair of indices."
        )
    for train, _ in splits:
        _check_classes(train, codes)
    return splits


def number_of_folds(cv: Any, *, elsewhere: bool = False) -> int:
    """What ``cv`` says: None is 5; ``elsewhere`` says that rows have no places to index."""
    if cv is None:
        return FOLDS
    if elsewhere and not isinstance(cv, int | np.integer):
        raise ValueError(_NO_PLACES.format(cv=cv))
    if check_count("cv", int(cv)) < 2:
        raise ValueError(f"cv={cv!r} is not usable: give at least 2 folds.")
    return int(cv)


def stratified_folds(cv: Any, counts: np.ndarray) -> int:
    """The number of stratified folds of ``LCCCV``: what ``cv`` says, for rows of these classes.

    Every fold must test every class, so without ``cv`` a small class has as many folds as rows.
    """
    smallest = int(counts.min())
    if cv is None:
        return max(2, min(FOLDS, smallest))
    if type(cv).__name__ == "StratifiedKFold" and not cv.shuffle:
        cv = cv.n_splits
    if not isinstance(cv, int | np.integer) or isinstance(cv, bool):
        raise ValueError(_NO_PLACES.format(cv=cv))
    if cv < 2:
        raise ValueError(f"cv={cv!r} is not usable: give at least 2 folds.")
    if cv > counts.max():
        raise ValueError(
            f"cv={cv!r} is not usable: no class has so many rows (the largest has "
            f"{int(counts.max())}); give fewer folds."
        )
    if cv > smallest:
        warnings.warn(
            f"The smallest class has {smallest} rows, fewer than cv={cv!r} folds: some folds do "
            "not test it.",
            UserWarning,
            stacklevel=2,
        )
    return int(cv)


def fold_numbers(cv: Any, n_samples: int) -> Any:
    """One fold number per row, where that is what ``cv`` is; else None."""
    if type(cv).__name__ == "PredefinedSplit":
        cv = cv.test_fold
    if not (isinstance(cv, np.ndarray) or kind_of(cv) is Kind.DASK):
        return None
    if cv.ndim != 1 or cv.dtype.kind not in "iu":
        raise ValueError(
            f"cv is an array of {cv.ndim} dimension(s) and type {cv.dtype}: give one whole number "
            "per row, the number of the fold in which it is held out (-1: never)."
        )
    if kind_of(cv) is not Kind.DASK and len(cv) != n_samples:
        raise ValueError(f"X has {n_samples} rows and cv has {len(cv)}: give one number per row.")
    return cv


def _positions(rows: Any, n_samples: int) -> np.ndarray:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)


def _check_classes(train: np.ndarray, codes: np.ndarray) -> None:
    missing = np.setdiff1d(codes, codes[train])
    if missing.size:
        raise ValueError(
            f"A training part of cv has no row of class number {int(missing[0])}; give folds in "
            "which every class is present, or fewer folds."
        )


def _deal(X: Any, codes: np.ndarray, weight: np.ndarray, folds: int, seed: int) -> list[Split]:
    keys = row_keys(X, seed)
    dealing = dealing_of(keys, codes, weight, folds, seed)
    dealing.check()
    # A class with fewer rows than folds is missing from some held-out parts, never from training.
    fold = np.where(weight > 0, dealing.numbers(keys, codes), -1)
    index = np.arange(len(codes))
    return [(index[(fold != k) & (fold >= 0)], index[fold == k]) for k in dealing.used]


def dealing_of(
    keys: np.ndarray, codes: np.ndarray, weight: np.ndarray, folds: int, seed: int
) -> Dealing:
    """How the rows that count find their folds."""
    counted = weight > 0
    smallest = [
        smallest_keys(keys[counted & (codes == code)]) for code in range(int(codes.max()) + 1)
    ]
    return Dealing.of(smallest, folds, seed)
