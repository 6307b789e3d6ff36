"""SplineFeatures: curves per column as a transformer."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from lincent.features.splines import ColumnCurve, learn_curve
from lincent.features.transformer import RowMap, check_least
from lincent.sources.hashing import row_hashes
from lincent.sources.source import namespace_of
from lincent.tables.weighted import sample_by_key


class SplineFeatures(RowMap):
    """Natural cubic splines on quantile knots, column by column.

    Each column stays, in units of its standard deviation, and is joined by its bends: uncorrelated
    curves of unit variance, the slowest first, linear beyond the outer knots. Columns with at most
    eight values get an indicator per value instead, and so do categories; a column with missing
    values gets an indicator for them.

    Parameters
    ----------
    n_knots : int, default=6
        Knots per column, at equally spaced quantiles from 2 to 98 percent; at least 3.
    smoothing : float, default=0.0
        How much an L2 term on the features' coefficients penalizes the curvature of the curve,
        beside the curve itself.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    random_state : int, RandomState instance or None, default=0
        Draws the 10,000 rows on which knots are placed, if there are more.

    Attributes
    ----------
    curves_ : list
        The fitted curve of each encoded column.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    sklearn.preprocessing.SplineTransformer : B-splines, for numbers without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.features import SplineFeatures
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> SplineFeatures(n_knots=4).fit(X).get_feature_names_out()
    array(['x0', 'x0 bend 1', 'x0 bend 2'], dtype=object)
    """

    def __init__(
        self,
        n_knots: int = 6,
        smoothing: float = 0.0,
        *,
        categorical_features: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_knots = n_knots
        self.smoothing = smoothing
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _check_params(self) -> None:
        check_least("n_knots", self.n_knots, 3)
        if not np.isfinite(self.smoothing) or self.smoothing < 0:
            raise ValueError(
                f"smoothing={self.smoothing!r} is not usable: give a finite number of at least 0."
            )

    def learn(
        self, Z: np.ndarray, codes: np.ndarray | None, weight: np.ndarray, seed: int
    ) -> SplineFeatures:
        rows, counts = sample_by_key(row_hashes(Z, seed), weight)
        self.curves_: list[ColumnCurve] = [
            learn_curve(column, counts, self.n_knots) for column in Z[rows].T
        ]
        return self

    def apply(self, Z: Any) -> Any:
        """The features of encoded rows, column by column.

        Parameters
        ----------
        Z : ndarray
            Encoded rows.

        Returns
        -------
        ndarray
            The features of the rows.
        """
        out = namespace_of(Z).empty((len(Z), sum(curve.width for curve in self.curves_)))
        for curve, part, column in zip(self.curves_, self.parts, Z.T, strict=True):
            out[:, part] = curve.values(column, self.smoothing)
        return out

    @property
    def parts(self) -> list[slice]:
        """Which features belong to each encoded column."""
        ends = np.cumsum([0] + [curve.width for curve in self.curves_])
        return [slice(low, high) for low, high in itertools.pairwise(ends)]

    def _names(self, columns: list[str]) -> list[str]:
        pairs = zip(self.curves_, columns, strict=True)
        return [name for curve, column in pairs for name in curve.names(column)]
