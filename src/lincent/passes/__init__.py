"""How rows are read: the only room that knows where X lives."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from lincent.passes.base import Pass, SignedRows, class_centers
from lincent.passes.dense import DensePass, DenseRows
from lincent.passes.sparse import SparsePass

__all__ = ["DensePass", "DenseRows", "Pass", "SignedRows", "SparsePass", "class_centers", "open_pass"]


def open_pass(X: Any) -> Pass:
    """The pass that fits the type of X.  X is not copied."""
    if sp.issparse(X):
        return SparsePass(X)
    return DensePass(X)
