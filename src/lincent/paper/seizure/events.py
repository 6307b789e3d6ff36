"""Seizures from latencies, and splits that keep a seizure on one side.

Ictal segments are in order of time, their latency rises by a second within a seizure and starts
again with the next one, so a new event begins where the latency does not rise. A segment without a
latency stays with the one before it: a split may then be coarser than it could be, never leak.

As in the paper, whole seizures go to one side, about 70 % of the ictal segments to training, and
interictal segments go one by one at random.  They come in stretches of neighboring seconds with no
mark between stretches, so nearly every test segment has a neighbor in training, and scores are too
good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, indexable


def find_events(latency: Any) -> np.ndarray:
    """Return the number of the event of each ictal segment, from 0, in order of the file numbers.

    Parameters
    ----------
    latency : array-like of shape (n_segments,)
        Seconds since onset; NaN where unknown.

    Returns
    -------
    ndarray of int
        The number of the event of each segment.

    Examples
    --------
    >>> from lincent.paper.seizure import find_events
    >>> find_events([0, 1, 2, 0, 1, 5, 6, 2]).tolist()
    [0, 0, 0, 1, 1, 1, 1, 2]
    """
    latency = np.asarray(latency, dtype=float)
    known = np.flatnonzero(~np.isnan(latency))
    starts = known[1:][np.diff(latency[known]) <= 0]
    return np.searchsorted(starts, np.arange(len(latency)), side="right")


def split_groups(events: Any) -> np.ndarray:
    """Return one group number per segment: what must stay on one side of a split.

    Parameters
    ----------
    events : array-like of int of shape (n_segments,)
        Event of each segment; one with a negative number is a group of its own.

    Returns
    -------
    ndarray of int of shape (n_segments,)
        One number per segment.
    """
    groups = np.array(events, dtype=int)
    alone = groups < 0
    groups[alone] = groups.max(initial=-1) + 1 + np.arange(alone.sum())
    return groups


@dataclass(eq=False, repr=False)
class EventShuffleSplit(BaseEstimator):
    """Random splits, 70 % for training, that keep each event on one side.

    Each class is split on its own: groups are taken in random order for training up to the number
    that brings its share of segments nearest to 70 %; at least one group of each class is on each
    side. With few and unequal events the share can be met only roughly; up to 50 orders are tried
    for one within 5 points.

    Parameters
    ----------
    n_splits : int, default=10
        How many splits.
    random_state : int, RandomState or None, default=None
        The seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.seizure import EventShuffleSplit
    >>> y = np.repeat(["ictal", "interictal"], [20, 80])
    >>> events = np.concatenate([np.arange(20) // 5, np.full(80, -1)])
    >>> train, test = next(EventShuffleSplit(1, random_state=0).split(y, y, events))
    >>> len(train), set(events[train]) & set(events[test])
    (71, {np.int64(-1)})
    """

    n_splits: int = 10
    _: KW_ONLY
    random_state: Any = None

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : object, default=None
            Ignored.
        groups : object, default=None
            Ignored.

        Returns
        -------
        int
            How many splits.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Hand on training and test rows.

        Parameters
        ----------
        X : array-like of shape (n_segments, ...)
            The rows.
        y : array-like of shape (n_segments,)
            The class of each row.
        groups : array-like of shape (n_segments,)
            Event of each segment; one with a negative number is a group of its own.

        Yields
        ------
        train, test : ndarray of int
            The rows of both sides.
        """
        if y is None or groups is None:
            raise ValueError("EventShuffleSplit needs y and the events as groups.")
        indexable(X, y, groups)
        y = np.asarray(y)
        units = split_groups(groups)
        classes = [_class_groups(y, units, label) for label in np.unique(y)]
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            training = np.zeros(len(y), dtype=bool)
            for rows, codes, sizes in classes:
                training[rows] = np.isin(codes, _draw_groups(sizes, rng))
            yield np.flatnonzero(training), np.flatnonzero(~training)


def _class_groups(y: np.ndarray, units: np.ndarray, label: Any) -> tuple[np.ndarray, ...]:
    """Return the rows of a class, the number of the group of each, and the size of each group."""
    rows = np.flatnonzero(y == label)
    names, codes, sizes = np.unique(units[rows], return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise ValueError(
            f"The class {str(label)!r} has {len(rows)} segments in one event, so no "
            "split can have it on both sides."
        )
    both = np.intersect1d(names, units[y != label])
    if len(both):
        raise ValueError(f"Group {both[0]} has segments of {str(label)!r} and of another class.")
    return rows, codes, sizes


def _draw_groups(sizes: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return the groups for training."""
    best, chosen = np.inf, sizes[:0]
    for _ in range(50):
        order = rng.permutation(len(sizes))
        reached = np.cumsum(sizes[order])[:-1] / sizes.sum()  # the last group never trains
        count = int(np.abs(reached - 0.7).argmin())
        distance = abs(float(reached[count]) - 0.7)
        if distance < best:
            best, chosen = distance, order[: count + 1]
        if best <= 0.05:
            break
    return chosen
