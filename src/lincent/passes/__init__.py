"""How rows are read: the only room that knows where X lives."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lincent.passes.dense import DensePass, DenseRows
from lincent.passes.device import DevicePass, DeviceTable, is_device_array
from lincent.passes.source import (
    Pass,
    SignedRows,
    class_centers,
    signed_rows,
)
from lincent.passes.sparse import SparsePass

__all__ = [
    "DensePass",
    "DenseRows",
    "Pass",
    "SignedRows",
    "SparsePass",
    "class_centers",
    "is_dask",
    "is_device_array",
    "open_pass",
    "signed_rows",
]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; Dask is not imported to find out."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def open_pass(X: Any) -> Any:
    """The pass that fits the type of X (a pass fits itself).  X is not copied."""
    if hasattr(X, "project"):
        return X
    if isinstance(X, DeviceTable):
        return DevicePass(X.X, None, np.broadcast_to(1.0, X.shape[0]))
    if sp.issparse(X):
        return SparsePass(X)
    return DensePass(X)
