"""A row of the data as the origin, so that a large offset costs no digits.

With values around o and a spread of s, a product with X has an error of about eps o, where s is
what counts: it loses log10(o / s) of its sixteen digits, and so do class centers, which are such
products.  But x - o is exact for doubles that are this close.  So rows are read as x - o wherever
the offset is large; a constant column becomes zero exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.programs.arrays import Vector

LOOK_ROWS = 64
"""Rows, evenly along the data, that tell its offsets and spreads."""
HARMLESS = 1000.0
"""An offset of up to so many spreads costs three digits of sixteen, and tol needs nine."""


def some_rows(m: int) -> slice:
    """The rows to look at among m."""
    return slice(0, None, max(1, m // LOOK_ROWS))


def origin_of(some: np.ndarray[Any, Any]) -> Vector | None:
    """The offsets to take out of the columns, or None where all are harmless."""
    if len(some) < 2:  # a single row tells no spread
        return None
    first = np.asarray(some[0], dtype=np.float64)
    spread = np.asarray(some.max(axis=0) - some.min(axis=0), dtype=np.float64)
    moving = spread > 0
    # A column that seems constant is compared with what the others amount to.
    spread[~moving] = np.median(spread[moving]) if moving.any() else 0.0
    far = np.abs(first) > HARMLESS * spread
    return np.where(far, first, 0.0) if far.any() else None
