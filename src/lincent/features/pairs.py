"""Products of the features of two columns, for the pairs that matter together.

Every column has its splines (``features.splines``).  Where the class depends on two columns
jointly, the residuals r of a sum of one function for each column correlate with products a b of a
feature of one column and a feature of the other.  Pairs are ranked by

    sum over products a b of the pair, and classes k, of (sum_i w_i a_i b_i r_ik)^2 / mean (a b)^2

(as in GA2M: Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise
interactions", KDD 2013), and the products of the first few are features.  The sum of one function
for each column is a ridge regression of the class indicators, all classes weighted equally.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent.features.splines import ColumnCurve, SplineFeatures
from lincent.features.transformer import EncodedSamples, FeatureMap
from lincent.sources.source import namespace_of

LEADING = 3
"""Features of each column in the products of a pair: the smoothest ones."""
BOUND = 3.0
"""Features are linear far out, and products of two would be large: they are clipped."""
RIDGE = 1e-3


def pair_values(
    leading: np.ndarray, widths: Sequence[int], residuals: Any, share: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all pairs of columns, first and second, and their values.

    ``leading`` are the clipped features, ``widths`` their number for each column; ``residuals`` are
    weighted residuals, one row each, and ``share`` the weights in mean (a b)^2.
    """
    starts = np.cumsum([0, *widths])[:-1]

    def by_pair(matrix: np.ndarray) -> np.ndarray:
        return np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)

    gains = sum((leading.T @ (leading * own[:, None])) ** 2 for own in residuals)
    squares = leading**2
    variance = np.maximum(by_pair(squares.T @ (squares * share)), 1e-12)
    first, second = np.triu_indices(len(starts), 1)
    return first, second, (by_pair(np.asarray(gains)) / variance)[first, second]


def products(A: Any, B: Any) -> Any:
    """Return all products of a feature of one column and one of the other."""
    return (A[:, :, None] * B[:, None, :]).reshape(len(A), -1)


class PairProducts(FeatureMap):
    """Products of spline features for the pairs of columns that explain what splines do not.

    Encoded columns in, at most nine products for each pair out.
    """

    def __init__(self, n_pairs: int = 10, n_knots: int = 5, smoothing: float = 0.05) -> None:
        self.n_pairs = n_pairs
        self.n_knots = n_knots
        self.smoothing = smoothing

    def _fit(self, samples: EncodedSamples) -> PairProducts:
        codes, weight = samples.codes, samples.weight
        splines = SplineFeatures(self.n_knots, self.smoothing)._fit(samples)
        features = splines._transform(samples.Z)
        share = weight / np.maximum(np.bincount(codes, weight), 1e-300)[codes]
        share /= share.sum()
        centered = features - share @ features
        targets = np.eye(int(codes.max()) + 1)[codes][:, 1:]
        targets = targets - share @ targets
        weighted = centered * share[:, None]
        gram = weighted.T @ centered
        gram.flat[:: len(gram) + 1] += RIDGE
        residual = targets - centered @ np.linalg.solve(gram, weighted.T @ targets)
        parts = [features[:, part][:, :LEADING] for part in splines.parts]
        leading = np.concatenate(parts, axis=1).clip(-BOUND, BOUND)
        widths = [part.shape[1] for part in parts]
        residuals = (share * own for own in residual.T)
        first, second, value = pair_values(leading, widths, residuals, share[:, None])
        best = np.argsort(-np.round(value, 9), kind="stable")[: self.n_pairs]
        self.pairs_ = np.stack([first[best], second[best]], axis=1)
        self.columns_ = np.unique(self.pairs_)
        self.curves_: list[ColumnCurve] = [splines.curves_[j] for j in self.columns_]
        return self

    def _transform(self, Z: Any) -> Any:
        leading = {
            int(j): curve.values(Z[:, int(j)], self.smoothing)[:, :LEADING].clip(-BOUND, BOUND)
            for j, curve in zip(self.columns_, self.curves_, strict=True)
        }
        return namespace_of(Z).beside(
            [products(leading[j], leading[k]) for j, k in self.pairs_.tolist()]
        )
