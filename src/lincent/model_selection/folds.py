"""Cross-validation splits used inside ``fit``.

Hash-based folds assign samples by a hash of their feature values instead of their position: the
split is invariant to the order of the samples and to chunking, duplicated samples share a fold, and
sample weights are frequency weights (``sources.hashing`` has the rule, which Dask blocks and
batches use as well).  Any scikit-learn splitter, an array with the test fold of each sample or an
iterable of (train, test) pairs can be given instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lincent.sources.hashing import HashKFold, row_hashes, smallest_hashes
from lincent.sources.source import Kind, kind_of

N_SPLITS = 5
Split = tuple[np.ndarray, np.ndarray]


def make_folds(
    cv: Any,
    X: Any,
    codes: np.ndarray,
    weight: np.ndarray,
    n_repeats: int = 1,
    seed: int = 0,
    hashes: np.ndarray | None = None,
    *,
    every_class: bool = False,
) -> list[Split]:
    """Return (train, test) indices; samples of weight zero are in neither.

    Parameters
    ----------
    cv : None, int, array of shape (n_samples,), splitter or iterable of (train, test)
        None is 5 hash-based stratified folds, an int that many; an array holds the test fold of
        each sample (-1: never tested).
    X, codes, weight : arrays
        Feature values, class codes and sample weights.
    n_repeats : int, default=1
        Number of repetitions of hash-based folds, each with another hash.
    seed : int, default=0
        Seed of the first hash.
    hashes : ndarray of shape (n_samples,), default=None
        Hashes of the samples for ``seed``, where they are computed already.
    every_class : bool, default=False
        Make fewer hash-based folds where a class has fewer distinct samples than folds, so that
        each tests each class. Otherwise such a class is missing from some tests, never from
        training.
    """
    if cv is None or isinstance(cv, int | np.integer):
        n_splits, splits = number_of_folds(cv), []
        for repeat in range(n_repeats):
            if repeat or hashes is None:
                hashes = row_hashes(X, seed + repeat)
            assignment = hash_assignment(
                hashes, codes, weight, n_splits, seed + repeat, every_class=every_class
            )
            assignment.check()
            fold = np.where(weight > 0, assignment.numbers(hashes, codes), -1)
            splits += [
                (np.flatnonzero((fold != k) & (fold >= 0)), np.flatnonzero(fold == k))
                for k in assignment.used
            ]
        return splits
    fold = fold_numbers(cv, len(codes))
    if fold is not None:
        cv = [(fold != k, fold == k) for k in np.unique(fold) if k >= 0]
    pairs: Iterable[Any] = cv.split(X, codes) if hasattr(cv, "split") else cv
    splits = []
    for pair in pairs:
        given = (np.asarray(index) for index in pair)
        rows = (np.flatnonzero(k) if k.dtype == bool else k.astype(np.intp) for k in given)
        train, test = (k[weight[k] > 0] for k in rows)
        missing = np.setdiff1d(codes, codes[train])
        if missing.size:
            raise ValueError(
                f"A training part of cv has no row of class number {int(missing[0])}; give folds "
                "in which every class is present, or fewer folds."
            )
        splits.append((train, test))
    if not splits:
        raise ValueError(
            "cv gives no folds; give a number of folds or at least one pair of indices."
        )
    return splits


def group_folds(cv: Any, X: Any, y: Any, groups: Any) -> list[Split]:
    """Return (train, test) indices of folds that split no group."""
    # Imported here: it takes longer to import than the rest of this package.
    from sklearn.model_selection import StratifiedGroupKFold

    if kind_of(X) in (Kind.DASK, Kind.BATCHES):
        raise ValueError(
            "groups needs X in memory; give cv one fold number per row (a Dask array) instead."
        )
    if cv is None or isinstance(cv, int | np.integer):
        cv = StratifiedGroupKFold(number_of_folds(cv))
    if not hasattr(cv, "split"):
        raise ValueError(
            f"groups needs a splitter or a number of folds, and cv is {cv!r}: give cv=GroupKFold()."
        )
    y, groups = np.asarray(y), np.asarray(groups)
    if groups.shape != (len(y),):
        raise ValueError(f"groups has shape {groups.shape}: give one for each of {len(y)} rows.")
    return list(cv.split(np.zeros((len(y), 1)), y, groups))


def hash_assignment(
    hashes: np.ndarray,
    codes: np.ndarray,
    weight: np.ndarray,
    n_splits: int,
    seed: int,
    *,
    every_class: bool = False,
) -> HashKFold:
    """Return the rule that assigns the samples of positive weight to folds by their hashes."""
    used = weight > 0
    smallest = [smallest_hashes(hashes[used & (codes == code)]) for code in range(codes.max() + 1)]
    return HashKFold.of(smallest, n_splits, seed, every_class=every_class)


def calibration_folds(X: Any, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the test fold of each sample, for out-of-fold scores of a single estimator.

    -1 for samples of weight zero and for classes with a single unique sample, which are in every
    training part.
    """
    hashes = row_hashes(X)
    fold = np.full(len(codes), -1)
    n_splits = N_SPLITS
    for code in np.unique(codes):
        members = np.flatnonzero((codes == code) & (weight > 0))
        unique, rank = np.unique(hashes[members], return_inverse=True)
        if len(unique) > 1:
            fold[members] = rank.reshape(-1)
            n_splits = min(n_splits, len(unique))
    fold[fold >= 0] %= n_splits
    return fold


def number_of_folds(cv: Any, *, remote: bool = False) -> int:
    """Return the number of hash-based folds; ``remote`` samples have no positions to index."""
    if cv is None:
        return N_SPLITS
    if remote and (not isinstance(cv, int | np.integer) or isinstance(cv, bool)):
        raise ValueError(
            f"cv={cv!r} is not usable on a Dask collection or on batches, whose rows have no "
            "positions to index: give a number of folds, or one fold number per row (an array, a "
            "Dask array or PredefinedSplit)."
        )
    if int(cv) < 2:
        raise ValueError(f"cv={cv!r} is not usable: give at least 2 folds.")
    return int(cv)


def fold_numbers(cv: Any, n_samples: int) -> Any:
    """Return the test fold of each sample where ``cv`` holds that; else None."""
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
