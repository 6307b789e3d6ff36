"""Where vectors live: in the memory of this process, or beside the rows on a device.

What is as long as the data stays with the data.  The code that handles it is written once, on the
array namespace ``xp`` of the place and the few verbs that namespaces do not agree on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from lincent.problems.arrays import Vector


class ArrayNamespace(Protocol):
    """Where the vectors of a data set live."""

    xp: Any
    fast_reads: bool
    """Whether a read of all rows is cheap beside an exact solve of a few of them."""

    def send(self, values: Any) -> Any:
        """NumPy values, there."""

    def doubles(self, values: Any) -> Any:
        """Values that are there, in float64; here as they are."""

    def fetch(self, values: Any) -> Any:
        """Values from there, in NumPy."""

    def empty(self, shape: tuple[int, ...]) -> Any:
        """An array there that is still to be filled."""

    def beside(self, parts: Sequence[Any]) -> Any:
        """The columns of several arrays as those of one."""

    def nonzero(self, mask: Any) -> Any:
        """The indices where the mask is set."""

    def count(self, mask: Any) -> int:
        """How often it is."""

    def distinct(self, chosen: Any) -> tuple[Any, Vector]:
        """Different numbers among those chosen (there), and how often each was (here)."""

    def where(self, mask: Any, values: Any) -> Any:
        """The values (one number, or one per row) where the mask is set, zero elsewhere."""


class HostNamespace:
    """NumPy arrays in this process."""

    xp: Any = np
    fast_reads = False

    def send(self, values: Any) -> Any:
        return np.asarray(values)

    def doubles(self, values: Any) -> Any:
        return values  # products with doubles are doubles

    def fetch(self, values: Any) -> Any:
        return np.asarray(values)

    def empty(self, shape: tuple[int, ...]) -> Any:
        return np.empty(shape)

    def beside(self, parts: Sequence[Any]) -> Any:
        return np.concatenate(parts, axis=1)

    def nonzero(self, mask: Any) -> Any:
        return np.flatnonzero(mask)

    def count(self, mask: Any) -> int:
        return int(np.count_nonzero(mask))

    def distinct(self, chosen: Any) -> tuple[Any, Vector]:
        index, count = np.unique(chosen, return_counts=True)
        return index, count.astype(np.float64)

    def where(self, mask: Any, values: Any) -> Any:
        return np.where(mask, values, 0.0)


HOST = HostNamespace()


def namespace(X: Any) -> Any:
    """The array API of X, or a sentence about what to install."""
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        raise ImportError(
            'Arrays on a device are read through array-api-compat: pip install "lincent[gpu]".'
        ) from error
    return array_namespace(X)


def to_host(values: Any) -> Any:
    """The same values as a NumPy array."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach"):  # torch
        return values.detach().cpu().numpy()
    if hasattr(values, "get"):  # CuPy
        return values.get()
    return np.asarray(values)


class DeviceNamespace:
    """Where an array lives: the ``Place`` of its vectors."""

    fast_reads = True

    def __init__(self, like: Any) -> None:
        self.xp = namespace(like)
        from array_api_compat import device

        self.place = device(like)
        self._native = type(like)

    def send(self, values: Any) -> Any:
        if isinstance(values, self._native):
            return values
        values = np.ascontiguousarray(values)
        if not values.flags.writeable:  # torch wants to be able to write
            values = values.copy()
        return self.xp.asarray(values, device=self.place)

    def doubles(self, values: Any) -> Any:
        return self.xp.astype(self.send(values), self.xp.float64, copy=False)

    def fetch(self, values: Any) -> Any:
        return to_host(values)

    def empty(self, shape: tuple[int, ...]) -> Any:
        return self.xp.empty(shape, dtype=self.xp.float64, device=self.place)

    def beside(self, parts: Sequence[Any]) -> Any:
        return self.xp.concat(list(parts), axis=1)

    def nonzero(self, mask: Any) -> Any:
        return self.xp.nonzero(mask)[0]

    def count(self, mask: Any) -> int:
        # As a sum of doubles: CuPy has a fast sum, and counts or compares with a single block.
        return int(self.xp.sum(self.xp.astype(mask, self.xp.float64)))

    def distinct(self, chosen: Any) -> tuple[Any, Vector]:
        rows, count = self.xp.unique_counts(self.send(chosen))
        return rows, to_host(count).astype(np.float64)

    def where(self, mask: Any, values: Any) -> Any:
        return self.xp.astype(mask, self.xp.float64) * values
