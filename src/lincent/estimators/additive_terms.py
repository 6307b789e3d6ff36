"""The terms of an additive model: one for each column of the table, and one for each pair.

A term is a group of features.  That of a column has the features of all its encoded columns (a
number and its indicator of missing values; the indicators of categories).  That of a pair has the
products of the first few features of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lincent.features.monotone import IncreasingCurve, learn_increasing
from lincent.features.splines import ColumnCurve, learn_curve
from lincent.features.weighted import sample_by_key

PAIR_TERMS = 3
"""Products of so many features of each column: the column itself and its slowest bends."""

Curve = ColumnCurve | IncreasingCurve


@dataclass(frozen=True)
class Terms:
    """Curves of the encoded columns; ``sources`` says which column of the table each belongs to."""

    curves: list[Curve]
    sources: np.ndarray
    smoothing: float
    pairs: list[tuple[int, int]]

    @classmethod
    def learn(
        cls,
        Z: np.ndarray,
        keys: np.ndarray,
        weight: np.ndarray,
        sources: np.ndarray,
        n_knots: int,
        ways: np.ndarray,
    ) -> Terms:
        """Knots from a sample; ``ways`` has 1 or -1 for columns of the table that are monotone."""
        rows, counts = sample_by_key(keys, weight)
        curves: list[Curve] = []
        first = np.flatnonzero(np.diff(sources, prepend=-1))
        for j, column in enumerate(Z[rows].T):
            way = ways[sources[j]] if j in first else 0
            if way:
                curves.append(learn_increasing(column, counts, n_knots, float(way)))
            else:
                curves.append(learn_curve(column, counts, n_knots))
        return cls(curves, sources, 0.0, [])

    @property
    def count(self) -> int:
        return int(self.sources[-1]) + 1 + len(self.pairs)

    @property
    def held(self) -> np.ndarray:
        """Which features must have a coefficient of at least zero."""
        alone = [np.full(c.width, isinstance(c, IncreasingCurve)) for c in self.curves]
        return np.concatenate([*alone, np.zeros(sum(self._pair_widths()), dtype=bool)])

    @property
    def owners(self) -> np.ndarray:
        """The term of each feature."""
        widths = [curve.width for curve in self.curves]
        alone = np.repeat(self.sources, widths)
        extra = np.repeat(
            int(self.sources[-1]) + 1 + np.arange(len(self.pairs)), self._pair_widths()
        )
        return np.concatenate([alone, extra])

    def apply(self, Z: np.ndarray) -> np.ndarray:
        """The features of encoded rows."""
        parts = [c.values(z, self.smoothing) for c, z in zip(self.curves, Z.T, strict=True)]
        for first, second in self.pairs:
            parts.append(products(self._leading(parts, first), self._leading(parts, second)))
        return np.concatenate(parts, axis=1)

    def _leading(self, parts: Sequence[np.ndarray], column: int) -> np.ndarray:
        mine = [parts[int(j)] for j in np.flatnonzero(self.sources == column)]
        return np.concatenate(mine, axis=1)[:, :PAIR_TERMS]

    def _lead_width(self, column: int) -> int:
        mine = np.flatnonzero(self.sources == column)
        return min(PAIR_TERMS, sum(self.curves[j].width for j in mine))

    def _pair_widths(self) -> list[int]:
        return [self._lead_width(a) * self._lead_width(b) for a, b in self.pairs]

    def best_pairs(self, Z: np.ndarray, push: np.ndarray, count: int) -> list[tuple[int, int]]:
        """The pairs whose products go most with ``push``, what the rows still ask for."""
        parts = [c.values(z, self.smoothing) for c, z in zip(self.curves, Z.T, strict=True)]
        leads = [self._leading(parts, k) for k in range(int(self.sources[-1]) + 1)]
        found = []
        for first in range(len(leads)):
            for second in range(first + 1, len(leads)):
                features = products(leads[first], leads[second])
                spread = np.sqrt(np.mean(features**2)) * np.sqrt(features.shape[1])
                asked = features.T @ push
                found.append((float((asked**2).sum()) / max(spread**2, 1e-12), first, second))
        found.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
        return [(first, second) for _, first, second in found[:count]]


def products(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """All products of a feature of one column and one of the other, kept within bounds."""
    # Far out both factors are linear, and so their product is large: it is held.
    A, B = np.clip(A, -3.0, 3.0), np.clip(B, -3.0, 3.0)
    return (A[:, :, None] * B[:, None, :]).reshape(len(A), -1)
