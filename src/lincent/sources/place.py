"""Where vectors live: in the memory of this process, or beside the rows on a device.

What is as long as the data stays with the data.  The code that handles it is written once, on the
array namespace ``xp`` of the place and the few verbs that namespaces do not agree on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from lincent.problems.arrays import Vector


class Place(Protocol):
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


class Memory:
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


HERE = Memory()
