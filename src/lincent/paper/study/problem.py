"""A data set ready to be split: rows, labels, groups, and how rows become numbers.

Everything that is learned from data (fill-in values, categories, scale) is learned inside the
training part, so `preparation` returns a transformer that is not fitted.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent.tables import AS_FOUND, Reading, Schema, preparation


@dataclass(frozen=True)
class Problem:
    """One classification problem.

    Parameters
    ----------
    name : str
        The name.
    X : object
        The rows.
    y : ndarray
        The class of each row.
    title : str, default=''
        A name for pages.
    groups : ndarray, default=None
        What must stay on one side of a split; None lets every row be drawn alone.
    schema : Schema, default=None
        The columns as they were understood.
    notes : tuple of str, default=()
        Sentences for the report.
    left_out : tuple of str, default=()
        Columns that are not used, and why.
    roles : dict[str, str]
        How each column is used.
    reading : Reading, default=AS_FOUND
        How the file was read.
    origin : str, default=''
        Where it came from.
    licence : str, default=''
        Its licence.
    digest : str
        A digest of its values.
    splitter : object
        How it is split; None is stratified.

    Attributes
    ----------
    name, title : str
    X : ndarray or DataFrame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Class names as text.
    groups : ndarray or None
        Rows of one group stay on one side of every split.
    schema : Schema or None
        What the columns of a table are; an array has none.
    notes : tuple of str
        What was noticed on the way in: dropped columns, possible leaks.
    left_out : tuple of str
        Columns of the table that are not used, the target excepted.
    roles : dict
        What each column of the table is.
    reading : Reading
        How the file is written.
    origin, licence : str
    splitter : splitter or None
        Makes the random splits in place of the usual ones, by ``split(X, y, groups)``; it has the
        parameters ``n_splits`` and ``random_state``.
    """

    name: str
    X: Any
    y: np.ndarray
    title: str = ""
    groups: np.ndarray | None = None
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    roles: dict[str, str] = field(default_factory=dict, compare=False)
    reading: Reading = AS_FOUND
    origin: str = ""
    licence: str = ""
    digest: str = field(default="", compare=False)
    splitter: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.schema is None and hasattr(self.X, "columns"):
            raise TypeError(
                "X is an array; a DataFrame becomes a problem by make_problem(frame, y)."
            )
        if not self.digest:
            object.__setattr__(self, "digest", _digest(self.X, self.y, self.groups))

    @property
    def categories(self) -> tuple[str, ...]:
        """Columns of a table that are categories."""
        return () if self.schema is None else tuple(self.schema.categorical)

    @property
    def class_counts(self) -> dict[str, int]:
        """Rows of each class, by name."""
        labels, counts = np.unique(self.y, return_counts=True)
        return {str(label): int(count) for label, count in zip(labels, counts, strict=True)}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (int(self.X.shape[0]), int(self.X.shape[1]))

    def preparation(self) -> Any:
        """Return the transformer from raw rows to numbers, not fitted.

        A table is prepared as its schema says; an array loses the columns that are constant in the
        training part, and is z-scored.

        Returns
        -------
        object
            The steps before a classifier.
        """
        if self.schema is not None:
            return preparation()
        steps = [VarianceThreshold(), StandardScaler()]
        if np.isnan(self.X).any():
            from sklearn.impute import SimpleImputer

            steps.insert(0, SimpleImputer(strategy="median", keep_empty_features=True))
        return make_pipeline(*steps)

    def rows(self, index: np.ndarray) -> Any:
        """Return the chosen rows of X.

        Parameters
        ----------
        index : ndarray
            Which rows.

        Returns
        -------
        object
            The rows of X.
        """
        return self.X.iloc[index] if hasattr(self.X, "iloc") else self.X[index]


def _digest(X: Any, y: np.ndarray, groups: np.ndarray | None) -> str:
    state = hashlib.sha256()
    if hasattr(X, "columns"):
        from pandas.util import hash_pandas_object

        state.update("\x1f".join(map(str, X.columns)).encode())
        state.update(np.ascontiguousarray(hash_pandas_object(X, index=False)).tobytes())
    else:
        state.update(str(X.shape).encode())
        state.update(np.ascontiguousarray(X, dtype=float).tobytes())
    for part in (y, groups):
        state.update("\x1f".join(map(str, part)).encode() if part is not None else b"-")
    return state.hexdigest()[:16]


def load_problem(name: str, *, download_if_missing: bool = False) -> Problem:
    """Return a data set of `lincent.paper.datasets` as a problem.

    Parameters
    ----------
    name : str
        A code of the paper or a name of `load_dataset`.
    download_if_missing : bool, default=False
        Whether to use the network.

    Returns
    -------
    Problem
        The data set as a problem.

    Examples
    --------
    >>> from lincent.paper.study.problem import load_problem
    >>> load_problem("circles").class_counts
    {'inner': 200, 'outer': 200}
    """
    from lincent.paper.datasets import load_dataset
    from lincent.paper.seizure.catalog import is_eeg
    from lincent.paper.seizure.events import EventShuffleSplit

    data = load_dataset(name, download_if_missing=download_if_missing)
    # The paper splits the speakers' recordings at random, but never a seizure.
    eeg = is_eeg(data.name)
    return Problem(
        name=data.code or data.name,
        title=data.DESCR.splitlines()[0],
        X=np.asarray(data.data, dtype=float),
        y=np.asarray(data.target).astype(str),
        groups=data.groups if eeg else None,
        origin=str(data.origin),
        licence=str(data.licence),
        splitter=EventShuffleSplit() if eeg else None,
    )
