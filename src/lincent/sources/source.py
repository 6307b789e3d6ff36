"""Opening X: the one place of the package that asks where it lives."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.sources.array_namespace import HOST, ArrayNamespace
from lincent.sources.batches import Batches
from lincent.sources.dense import DenseSource
from lincent.sources.rows import Source
from lincent.sources.sparse import SparseSource


class Kind(enum.Enum):
    """Where X lives, and in what form."""

    DENSE = "dense"
    SPARSE = "sparse"
    DASK = "dask"
    DEVICE = "device"
    BATCHES = "batches"
    OPENED = "opened"


def kind_of(X: Any) -> Kind:
    """What X is; no package is imported to find out."""
    if isinstance(X, np.ndarray):
        return Kind.DENSE
    if sp.issparse(X):
        return Kind.SPARSE
    package = package_of(X)
    if package in ("torch", "cupy"):
        return Kind.DEVICE
    if package in ("dask", "dask_expr") and hasattr(X, "dask"):
        return Kind.DASK
    if isinstance(X, Batches):
        return Kind.BATCHES
    return Kind.OPENED if hasattr(X, "project") else Kind.DENSE


def package_of(X: Any) -> str:
    """The package whose type X is of, which is loaded if X is there at all."""
    return type(X).__module__.partition(".")[0]


def namespace_of(X: Any) -> ArrayNamespace:
    """Where the vectors that go with X live."""
    if kind_of(X) is not Kind.DEVICE:
        return HOST
    from lincent.sources.array_namespace import DeviceNamespace

    return DeviceNamespace(X)


def to_numpy(values: Any) -> Any:
    """Values on a device as a NumPy array; all others as they are."""
    return namespace_of(values).fetch(values) if kind_of(values) is Kind.DEVICE else values


def dense_rows(X: Any) -> Any:
    """Rows as an array with all their zeros, where they are."""
    return X if kind_of(X) is Kind.DEVICE else open_source(X).array()


def open_source(X: Any, *, centered: bool = False) -> Source:
    """X as a source of rows (a source is its own); X is not copied.

    ``centered`` says that only differences of rows matter, so that an origin may be taken off.
    """
    kind = kind_of(X)
    if kind is Kind.OPENED:
        opened: Source = X
        return opened
    if kind is Kind.SPARSE:
        return SparseSource(X, centered=centered)
    if kind is Kind.DEVICE:
        from lincent.sources.device import DeviceSource

        return DeviceSource(X, centered=centered)
    return DenseSource(X, centered=centered)
