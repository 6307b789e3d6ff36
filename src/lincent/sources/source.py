"""Where X is stored (``kind_of``), and opening it as a ``Source`` (``open_source``).

Dask collections and batches are opened with their labels and weights, by ``open_remote`` of
``estimators``, as tables (``dask.table``); their problems are sources again.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.sources.array_namespace import HOST, ArrayNamespace, DeviceNamespace
from lincent.sources.batches import Batches
from lincent.sources.dense import DenseSource
from lincent.sources.rows import Source
from lincent.sources.sparse import SparseSource


class Kind(enum.Enum):
    """Where X is stored, and in what form."""

    DENSE = "dense"
    SPARSE = "sparse"
    DASK = "dask"
    DEVICE = "device"
    BATCHES = "batches"
    OPENED = "opened"


def kind_of(X: Any) -> Kind:
    """Return the kind of X; no package is imported for it."""
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
    """Return the package of the type of X."""
    return type(X).__module__.partition(".")[0]


def in_memory(X: Any) -> Any:
    """Return lazy frames, Arrow tables and frames of narwhals as frames of polars or pandas.

    Masked entries become NaN.  Everything else is returned unchanged.
    """
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, X.data) if np.ma.is_masked(X) else X.data
    if package_of(X) == "narwhals" and hasattr(X, "to_native"):
        X = X.to_native()
    if package_of(X) == "polars" and hasattr(X, "collect"):
        return X.collect()
    if package_of(X) == "pyarrow" and hasattr(X, "column_names") and hasattr(X, "to_pandas"):
        return X.to_pandas()
    return X


def namespace_of(X: Any) -> ArrayNamespace:
    """Return the namespace of the vectors that go with X."""
    return DeviceNamespace(X) if kind_of(X) is Kind.DEVICE else HOST


def is_foreign(values: Any) -> bool:
    """Return whether this is an array of another library than NumPy."""
    if isinstance(values, np.ndarray | np.generic):
        return False
    return kind_of(values) is Kind.DEVICE or hasattr(values, "__array_namespace__")


def to_numpy(values: Any) -> Any:
    """Return an array of any library as a NumPy array; other values are returned unchanged."""
    if not is_foreign(values):
        return values
    if kind_of(values) is Kind.DEVICE:
        return namespace_of(values).fetch(values)
    library = values.__array_namespace__()
    device = library.__array_namespace_info__().default_device()
    return np.asarray(library.asarray(values, device=device))


def is_streamed(X: Any) -> bool:
    """Return whether X is read in place: in Dask blocks, in batches or on a device."""
    return kind_of(X) in (Kind.DASK, Kind.BATCHES, Kind.DEVICE)


def dense_rows(X: Any) -> Any:
    """Return rows as an array with all their zeros, in their namespace."""
    return X if kind_of(X) is Kind.DEVICE else open_source(X).array()


def open_source(X: Any, *, centered: bool = False, weight: Any = None) -> Source:
    """Return X as a source of rows (a source unchanged); X is not copied.

    ``centered``: only differences of rows matter, so that an origin may be subtracted.
    ``weight``: of each row; offsets and ranges of an array are those of rows with a positive one.
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
    return DenseSource(X, centered=centered, weight=weight)
