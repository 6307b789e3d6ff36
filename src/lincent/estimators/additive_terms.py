"""The terms of an additive model: one for each column of the table, and one for each pair.

A term is a group of features.  That of a column has the features of all its encoded columns (a
number and its indicator of missing values; the indicators of categories).  That of a pair has the
products of the first few features of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.features.splines import ColumnCurve, IncreasingCurve, learn_curve, learn_increasing
from lincent.sources.source import namespace_of
from lincent.tables.weighted import sample_by_key

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

    @property
    def factors(self) -> np.ndarray:
        """What smoothing multiplies each feature of a column by; of pairs it knows nothing."""
        alone = [curve.factors(self.smoothing) for curve in self.curves]
        return np.concatenate([*alone, np.ones(sum(self._pair_widths()))])

    def apply(self, Z: Any) -> Any:
        """The features of encoded rows, where the rows are."""
        out, end = namespace_of(Z).empty((len(Z), len(self.owners))), 0
        for curve, z in zip(self.curves, Z.T, strict=True):
            out[:, end : end + curve.width] = curve.values(z, self.smoothing)
            end += curve.width
        for (first, second), width in zip(self.pairs, self._pair_widths(), strict=True):
            found = products(self._leading(out, first), self._leading(out, second))
            out[:, end : end + width] = found
            end += width
        return out

    def _leading(self, features: Any, column: int) -> Any:
        """The first few features of a column of the table."""
        first = int(np.searchsorted(self.owners, column))
        return features[:, first : first + self._lead_width(column)]

    def _lead_width(self, column: int) -> int:
        mine = np.flatnonzero(self.sources == column)
        return min(PAIR_TERMS, sum(self.curves[j].width for j in mine))

    def _pair_widths(self) -> list[int]:
        return [self._lead_width(a) * self._lead_width(b) for a, b in self.pairs]

    def best_pairs(
        self, features: np.ndarray, push: np.ndarray, count: int
    ) -> list[tuple[int, int]]:
        """The pairs whose products go most with ``push``, what the rows still ask for.

        That is sum_k |(a b)' push_k|^2 / mean |a b|^2 over all products a b of a pair; all pairs
        come from a few products of matrices.
        """
        columns = range(int(self.sources[-1]) + 1)
        leads = bounded(np.concatenate([self._leading(features, k) for k in columns], axis=1))
        starts = np.cumsum([0, *(self._lead_width(k) for k in columns)])[:-1]

        def by_pair(matrix: np.ndarray) -> np.ndarray:
            return np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)

        pushes = push.reshape(len(leads), -1).T
        asked = sum((leads.T @ (leads * one[:, None])) ** 2 for one in pushes)
        squares = leads**2
        spread = np.maximum(by_pair(squares.T @ squares) / len(leads), 1e-12)
        first, second = np.triu_indices(len(starts), 1)
        value = (by_pair(np.asarray(asked)) / spread)[first, second]
        best = np.argsort(-value, kind="stable")[:count]
        return [(int(first[k]), int(second[k])) for k in best]


def bounded(features: Any) -> Any:
    """Far out features are linear, and so products of two would be large: they are held."""
    return features.clip(-3.0, 3.0)


def products(A: Any, B: Any) -> Any:
    """All products of a feature of one column and one of the other, kept within bounds."""
    A, B = bounded(A), bounded(B)
    return (A[:, :, None] * B[:, None, :]).reshape(len(A), -1)
