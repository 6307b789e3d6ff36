"""Array namespaces: NumPy on the host, torch or CuPy on a device.

Vectors as long as the data stay with the data.  The code that handles them is written once, on the
namespace ``xp`` and the few operations on which libraries differ.

A row-major X of many rows and few columns is an awkward shape for X'w: the sum runs over the long
side, and libraries of devices give it to a handful of threads.  There it is split into pieces along
the long side, multiplied as one batch, and the pieces are added; so are sums of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent.problems.arrays import Vector

PIECES, LONG = 1024, 2**12
"""A sum over rows on a device is split into at most so many pieces, of at least so many rows."""


class ArrayNamespace:
    """NumPy arrays on the host; the base class of other namespaces."""

    xp: Any = np
    fast_reads = False
    """Whether a pass over all rows is cheap beside an exact solve of a few of them."""

    def send(self, values: Any) -> Any:
        """Transfer NumPy values to the namespace."""
        return np.asarray(values)

    def doubles(self, values: Any) -> Any:
        """Convert values to float64; on the host products with doubles do so anyway."""
        return values

    def fetch(self, values: Any) -> Any:
        """Transfer values to NumPy."""
        return np.asarray(values)

    def empty(self, shape: tuple[int, ...]) -> Any:
        """Return an array without initializing entries."""
        return np.empty(shape)

    def tdot(self, X: Any, w: Any) -> Any:
        """Return X' w; w is one vector or a few columns."""
        return X.T @ w

    def square_sums(self, X: Any) -> Any:
        """Return the sum of squares of each column."""
        return np.einsum("ij,ij->j", X, X)

    def down(self, values: Any, reduce: str) -> Any:
        """Return a reduction of each column (sum, min, max, all)."""
        return getattr(self.xp, reduce)(values, axis=0)

    def beside(self, parts: Sequence[Any]) -> Any:
        """Join the columns of several arrays."""
        return np.concatenate(parts, axis=1)

    def nonzero(self, mask: Any) -> Any:
        """Return the indices where the mask is set."""
        return np.flatnonzero(mask)

    def count(self, mask: Any) -> int:
        """Return how many entries of the mask are set."""
        return int(np.count_nonzero(mask))

    def distinct(self, chosen: Any) -> tuple[Any, Vector]:
        """Return the unique numbers in the namespace, and their counts on the host."""
        index, count = np.unique(chosen, return_counts=True)
        return index, count.astype(np.float64)

    def where(self, mask: Any, values: Any) -> Any:
        """Return the values (one number, or one per row) where the mask is set, else zero."""
        return np.where(mask, values, 0.0)


HOST = ArrayNamespace()


class DeviceNamespace(ArrayNamespace):
    """Arrays of torch or CuPy on the device of an array."""

    fast_reads = True

    def __init__(self, like: Any) -> None:
        self.xp = namespace(like)
        from array_api_compat import device

        self.device, self._type = device(like), type(like)

    def send(self, values: Any) -> Any:
        if isinstance(values, self._type):
            return values
        values = np.ascontiguousarray(values)
        if not values.flags.writeable:  # torch warns about read-only memory
            values = values.copy()
        return self.xp.asarray(values, device=self.device)

    def doubles(self, values: Any) -> Any:
        return self.xp.astype(self.send(values), self.xp.float64, copy=False)

    def fetch(self, values: Any) -> Any:
        return to_host(values)

    def empty(self, shape: tuple[int, ...]) -> Any:
        return self.xp.empty(shape, dtype=self.xp.float64, device=self.device)

    def tdot(self, X: Any, w: Any) -> Any:
        m, columns = X.shape[0], w if w.ndim == 2 else w[:, None]
        pieces = min(PIECES, m // LONG)
        if pieces < 2:
            return X.T @ w
        head, xp = m // pieces * pieces, self.xp
        batch = xp.reshape(X[:head], (pieces, head // pieces, X.shape[1]))
        weights = xp.reshape(columns[:head], (pieces, head // pieces, columns.shape[1]))
        total = xp.sum(xp.matmul(xp.permute_dims(weights, (0, 2, 1)), batch), axis=0).T
        total = total + X[head:].T @ columns[head:]
        return total if w.ndim == 2 else total[:, 0]

    def square_sums(self, X: Any) -> Any:
        return self.down(X * X, "sum")

    def down(self, values: Any, reduce: str) -> Any:
        m, n = (int(k) for k in values.shape)
        pieces, apply = min(PIECES, m // LONG), getattr(self.xp, reduce)
        if pieces < 2:
            return apply(values, axis=0)
        head = m // pieces * pieces
        parts = apply(self.xp.reshape(values[:head], (pieces, head // pieces, n)), axis=1)
        return apply(self.xp.concat([parts, values[head:]], axis=0), axis=0)

    def beside(self, parts: Sequence[Any]) -> Any:
        return self.xp.concat(list(parts), axis=1)

    def nonzero(self, mask: Any) -> Any:
        return self.xp.nonzero(mask)[0]

    def count(self, mask: Any) -> int:
        # As a sum of doubles: CuPy has a fast sum, and counts or compares with a single block.
        return int(self.xp.sum(self.xp.astype(mask, self.xp.float64)))

    def distinct(self, chosen: Any) -> tuple[Any, Vector]:
        index, count = self.xp.unique_counts(self.send(chosen))
        return index, to_host(count).astype(np.float64)

    def where(self, mask: Any, values: Any) -> Any:
        return self.xp.astype(mask, self.xp.float64) * values


def namespace(X: Any) -> Any:
    """Return the array API of X, or raise an error with the package to install."""
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        raise ImportError(
            'Arrays on a device are read through array-api-compat: pip install "lincent[gpu]".'
        ) from error
    return array_namespace(X)


def to_host(values: Any) -> Any:
    """Return values of torch or CuPy as a NumPy array."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach"):  # torch
        return values.detach().cpu().numpy()
    if hasattr(values, "get"):  # CuPy
        return values.get()
    return np.asarray(values)
