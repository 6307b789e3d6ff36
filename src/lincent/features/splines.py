"""Splines of single features, as a basis for linear models.

A feature x, normalized by its standard deviation, with knots k_1 < .. < k_q at quantiles, is given
the natural cubic splines on these knots: cubic between them, linear beyond the outer ones.  Of
their q dimensions one is constant, one is x itself, and q - 2 are curved.  The curved ones are made
uncorrelated with 1 and x, and among themselves such that, over the training samples,

    mean psi_j psi_l = [j = l],      integral psi_j'' psi_l'' = [j = l] roughness_j * unit

(Demmler and Reinsch, 1975): psi_1 is the slowest term, psi_2 the next.  Roughness is relative
to that of the slowest term, whatever the scale and the skew of the feature.  A feature is

    psi_j / sqrt(1 + smoothing * roughness_j)

so that an L2 term on the coefficients of these features is an L2 term on the curve plus
``smoothing`` times its squared curvature: the solver needs no change.

A column with few values gets an indicator for each value beside itself instead; one with two values
is left alone.

In an additive model a column is moved towards its ranks first, by histogram equalization:

    (1 - RANKED) x + RANKED r(x),      r piecewise linear through the ranks of quantiles,

with r of the standard deviation of x.  The curves of skewed columns, and of those with many equal
values, then bend where the samples are.

Increasing curves of one column are combinations with coefficients of at least zero.  The slope is
linear between the knots and constant beyond them,

    f'(x) = sum_j c_j hat_j(x),      f(x) = sum_j c_j g_j(x),      g_j(x) = integral of hat_j to x,

so f is increasing exactly if every c_j >= 0, smooth (its slope is continuous), and linear beyond
the outer knots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from sklearn.utils._param_validation import Interval

from lincent.features.transformer import EncodedSamples, FeatureMap
from lincent.sources.hashing import smallest_distinct
from lincent.sources.source import namespace_of
from lincent.tables.weighted import SAMPLE_ROWS, quantiles

LEAST_SPREAD = 0.05
"""Indicators are centered, and scaled as if their value had at least this frequency."""
RANKED, RANK_EDGES = 0.7, 17
"""The fraction of ranks in an equalized column, and the number of quantiles through which they go:
of 0.5, 0.7 and 0.85 the best on development tables; 33 quantiles are no better."""
OUTER = 0.02
"""The outer knots are at this quantile and at one minus it: outliers are on the linear part."""


@dataclass(frozen=True)
class ColumnCurve:
    """The basis of one feature: itself, then curved terms or indicators."""

    mean: float
    deviation: float
    knots: np.ndarray = field(default_factory=partial(np.empty, 0))
    basis: np.ndarray = field(default_factory=partial(np.empty, (0, 0)))
    """(2 + knots, terms): coefficients of the curved terms on 1, x and the truncated cubes."""
    roughness: np.ndarray = field(default_factory=partial(np.empty, 0))
    levels: np.ndarray = field(default_factory=partial(np.empty, 0))
    shares: np.ndarray = field(default_factory=partial(np.empty, 0))
    ranks: np.ndarray = field(default_factory=partial(np.empty, (3, 0)))
    """Of an equalized column: by how much ranks rise from one value to another, in columns."""

    @property
    def width(self) -> int:
        return 1 + self.basis.shape[1] + len(self.levels)

    @property
    def level_distance(self) -> float:
        """The largest distance at which a value counts as a level."""
        return 1e-5 * float(np.diff(self.levels).min())  # columns may have been single precision

    def names(self, name: str) -> list[str]:
        bends = [f"{name} bend {j + 1}" for j in range(self.basis.shape[1])]
        return [name, *bends, *(f"{name}={level:g}" for level in self.levels)]

    def factors(self, smoothing: float) -> np.ndarray:
        """Return the factor of each term for a smoothing parameter."""
        if not len(self.roughness):  # thousands of columns are lines
            return np.ones(self.width)
        bends = 1.0 / np.sqrt(1.0 + smoothing * self.roughness)
        return np.concatenate([[1.0], bends, np.ones(len(self.levels))])

    def equalized(self, column: Any) -> Any:
        """Return the values, moved towards their ranks if the column is equalized."""
        if not self.ranks.size:
            return column
        out = (1.0 - RANKED) * column
        for low, high, rise in self.ranks.T.tolist():
            out += rise * ((column - low) / (high - low)).clip(0.0, 1.0)
        return out

    def values(self, column: Any, smoothing: float) -> Any:
        """Return the terms of these values, in their array namespace."""
        place, column = namespace_of(column), self.equalized(column)
        out = place.empty((len(column), self.width))
        x = (column - self.mean) / self.deviation
        out[:, 0] = x
        if len(self.levels):
            spread = np.sqrt(np.maximum(self.shares, LEAST_SPREAD))
            distance = abs(column[:, None] - place.send(self.levels))
            there = place.where(distance <= self.level_distance, 1.0)
            out[:, 1:] = (there - place.send(self.shares)) / place.send(spread)
        elif self.basis.shape[1]:
            bends = self.basis * self.factors(smoothing)[1:]
            powers, matrix = truncated_powers(x, self.knots)
            out[:, 1:] = powers.T @ place.send(matrix @ bends)
        return out


def natural(x: Any, knots: np.ndarray) -> Any:
    """Return 1, x and the q - 2 natural cubic splines on the knots (Hastie et al., 2009, 5.4)."""
    powers, matrix = truncated_powers(x, knots)
    return powers.T @ namespace_of(x).send(matrix)


def truncated_powers(x: Any, knots: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return functions of x, one in each row, and the matrix from them to ``natural``.

    Beyond the last knot splines are continued by their slope: far out the cubes would cancel.  Each
    function is made for all values at once: few knots make short rows, which are slow to go along.
    """
    q, place, reach = len(knots), namespace_of(x), knots[-1] - knots[0]
    t, places = (x - knots[0]) / reach, (knots[:-1] - knots[0]) / reach
    powers = place.empty((q + 2, len(x)))
    powers[0], powers[1] = 1.0, x
    bends = (t.clip(None, 1.0) - place.send(places[:, None])).clip(0.0, None)
    powers[2:-1] = bends * bends * bends
    powers[-1] = (t - 1.0).clip(0.0, None)
    top, matrix, curved = 1.0 - places, np.zeros((q + 2, q)), np.arange(2, q)
    matrix[0, 0] = matrix[1, 1] = 1.0
    matrix[curved, curved] = 1.0 / top[:-1]
    matrix[-2, 2:], matrix[-1, 2:] = -1.0 / top[-1], 3.0 * (top[:-1] - top[-1])
    return powers, matrix


def curvature(knots: np.ndarray) -> np.ndarray:
    """Return the integrals of products of second derivatives of the curved splines."""
    reach = knots[-1] - knots[0]
    # Second derivatives are linear between knots, and zero at the outer two.
    ramps = 6.0 * np.maximum(knots[:, None] - knots, 0.0) / reach**3
    bends = (ramps[:, :-1] - ramps[:, -1:]) / ((knots[-1] - knots[:-1]) / reach)
    second = bends[:, :-1] - bends[:, -1:]
    left, right, step = second[:-1], second[1:], np.diff(knots)[:, None] / 6
    total = (step * left).T @ (2 * left + right) + (step * right).T @ (left + 2 * right)
    return (total + total.T) / 2


def _moments(column: np.ndarray, share: np.ndarray) -> tuple[float, float]:
    """Return mean and standard deviation."""
    mean = float(share @ column)
    return mean, float(np.sqrt(share @ (column - mean) ** 2))


def learn_curve(
    column: np.ndarray, weight: np.ndarray, n_knots: int, *, equalize: bool = False
) -> ColumnCurve:
    """Fit knots and terms to the values of a sample; fewer than three knots are a line."""
    share = weight / weight.sum()
    mean, deviation = _moments(column, share)
    if deviation <= 1e-12 * max(abs(mean), 1e-300):
        return ColumnCurve(mean, 1.0)
    line = ColumnCurve(mean, deviation)
    levels, place = np.unique(column, return_inverse=True)
    if n_knots < 3 or len(levels) == 2:
        return line
    if len(levels) <= 8:  # indicators: a curve through so few values has no more terms
        shares = np.bincount(place.reshape(-1), weights=share)
        return replace(line, levels=levels, shares=shares)
    if equalize:
        masses = np.bincount(place.reshape(-1), weights=share)
        edges = np.unique(quantiles(column, weight, np.linspace(0, 1, RANK_EDGES)))
        ranks = (np.cumsum(masses) - masses / 2)[np.searchsorted(levels, edges)]
        scale = RANKED * deviation / _moments(np.interp(column, edges, ranks), share)[1]
        line = replace(line, ranks=np.stack([edges[:-1], edges[1:], scale * np.diff(ranks)]))
        column = line.equalized(column)
        mean, deviation = _moments(column, share)
        line = replace(line, mean=mean, deviation=deviation)
    x = (column - mean) / deviation
    knots = np.unique(quantiles(x, weight, np.linspace(OUTER, 1 - OUTER, n_knots)))
    # Knots that all but coincide carry the same curve, and spoil the basis.
    apart = np.diff(knots, prepend=-np.inf) > 1e-3 * (knots[-1] - knots[0])
    knots = knots[apart]
    if len(knots) < 3:
        return line
    basis, roughness = _slow_to_fast(x, share, knots)
    return replace(line, knots=knots, basis=basis, roughness=roughness)


def _slow_to_fast(
    x: np.ndarray, share: np.ndarray, knots: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the curved terms by increasing roughness, as coefficients on ``natural``."""
    design = natural(x, knots)
    root = np.sqrt(share)[:, None]
    straight, bent = design[:, :2] * root, design[:, 2:] * root
    line = np.linalg.lstsq(straight, bent, rcond=None)[0]
    rest = bent - straight @ line
    spread, rough = rest.T @ rest, curvature(knots)
    unit = 1.0 / np.sqrt(np.diag(rough))
    rough, spread = rough * unit * unit[:, None], spread * unit * unit[:, None]
    # rough is positive definite; spread may be singular where the rows miss a bend.
    values, vectors = eigh(spread, rough)
    kept = values > 1e-9 * values[-1]
    values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
    terms = unit[:, None] * vectors / np.sqrt(values)
    terms *= np.where(terms[0] < 0, -1.0, 1.0)
    return np.concatenate([-line @ terms, terms]), values[0] / values


# Increasing curves.


@dataclass(frozen=True)
class IncreasingCurve:
    """The g_j of one column, each of mean zero and a common scale; ``way`` -1 turns them round."""

    knots: np.ndarray
    centers: np.ndarray
    scale: float
    way: float

    @property
    def width(self) -> int:
        return len(self.knots)

    def names(self, name: str) -> list[str]:
        return [f"{name} slope {j + 1}" for j in range(self.width)]

    def factors(self, smoothing: float) -> np.ndarray:
        """Return factors of one: smoothing has no effect on increasing terms."""
        return np.ones(self.width)

    def values(self, column: Any, smoothing: float) -> Any:
        """Return the terms of these values, in their array namespace."""
        centers = namespace_of(column).send(self.centers)
        return self.way * (integrated_hats(column, self.knots) - centers) / self.scale


def integrated_hats(x: Any, knots: np.ndarray) -> Any:
    """Return all g_j at all x."""
    place = namespace_of(x)
    if len(knots) == 1:
        return x[:, None] - place.send(knots)
    steps = np.diff(knots)
    # The share of each interval that x has passed; both ends go on beyond the outer knots.
    lengths = place.send(steps)
    inside = ((x[:, None] - place.send(knots[:-1])) / lengths).clip(0.0, 1.0)
    rising = lengths * inside**2 / 2
    falling = lengths * inside - rising
    out = place.empty((len(x), len(knots)))
    out[:, 1:] = rising
    out[:, 0] = (x - float(knots[0])).clip(None, 0.0)
    out[:, :-1] += falling
    out[:, -1] += (x - float(knots[-1])).clip(0.0, None)
    return out


def learn_increasing(
    column: np.ndarray, weight: np.ndarray, n_knots: int, way: float
) -> IncreasingCurve:
    """Fit knots at quantiles of a sample."""
    knots = np.unique(quantiles(column, weight, np.linspace(OUTER, 1 - OUTER, n_knots)))
    values = integrated_hats(column, knots)
    share = weight / weight.sum()
    centers = share @ values
    spread = float(np.sqrt((share @ (values - centers) ** 2).sum()))
    return IncreasingCurve(knots, centers, spread if spread > 1e-12 else 1.0, way)


def write_curves(
    out: Any, curves: Sequence[ColumnCurve | IncreasingCurve], Z: Any, smoothing: float
) -> int:
    """Write the terms of all columns to ``out``, side by side; return their number."""
    end = 0
    for curve, column in zip(curves, Z.T, strict=True):
        out[:, end : end + curve.width] = curve.values(column, smoothing)
        end += curve.width
    return end


# The transformer.


@dataclass(eq=False, repr=False)
class SplineFeatures(FeatureMap):
    """Natural cubic splines on quantile knots, column by column.

    Each column stays, normalized by its standard deviation, and is joined by curved terms:
    uncorrelated, of unit variance, the slowest first, linear beyond the outer knots. Columns
    with at most eight values get an indicator per value instead, and so do categories; a column
    with missing values gets an indicator for them.

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
        Seeds the draw of 10,000 samples on which knots are placed, if there are more.

    Attributes
    ----------
    curves_ : list
        The fitted curve of each encoded column.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    sklearn.preprocessing.SplineTransformer : B-splines, without missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.features import SplineFeatures
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> SplineFeatures(n_knots=4).fit(X).get_feature_names_out()
    array(['x0', 'x0 bend 1', 'x0 bend 2'], dtype=object)
    """

    n_knots: int = 6
    smoothing: float = 0.0
    _: KW_ONLY
    categorical_features: Any = None
    random_state: Any = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureMap._parameter_constraints,
        "n_knots": [Interval(Integral, 3, None, closed="left")],
        "smoothing": [Interval(Real, 0, np.inf, closed="left")],
    }

    def _fit(self, samples: EncodedSamples) -> SplineFeatures:
        rows, counts = smallest_distinct(samples.hashes, samples.weight, SAMPLE_ROWS)
        columns = samples.Z[rows].T
        self.curves_ = [learn_curve(column, counts, self.n_knots) for column in columns]
        return self

    def _transform(self, Z: Any) -> Any:
        out = namespace_of(Z).empty((len(Z), sum(curve.width for curve in self.curves_)))
        write_curves(out, self.curves_, Z, self.smoothing)
        return out

    def _names(self, columns: list[str]) -> list[str]:
        pairs = zip(self.curves_, columns, strict=True)
        return [name for curve, column in pairs for name in curve.names(column)]
