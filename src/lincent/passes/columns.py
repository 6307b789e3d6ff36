"""Some columns of the signed rows as one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.passes.dense import DenseRows
from lincent.passes.source import (
    Index,
    SignedRows,
)
from lincent.programs.arrays import Rows


def columns(rows: Rows, index: Index) -> Rows:
    """The signed rows cut down to these columns; a sparse X gives dense columns."""
    if not isinstance(rows, SignedRows):
        return DenseRows(np.ascontiguousarray(rows.dense()[:, index]))
    source: Any = rows.source
    chosen = source.X[:, index]
    array = np.array(chosen.toarray() if source.sparse else chosen, dtype=np.float64, order="C")
    array -= rows.center[index]
    array *= rows.sign[:, None]
    return DenseRows(array)
