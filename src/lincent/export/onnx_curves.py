"""Curves of columns as an ONNX sub-graph: a few pieces per column, added up.

Every curve of ``features.splines`` is a sum of pieces

    clip((z - at) * unit, low, high) ^ power,      power 1, 2 or 3

and, where a column has few values, of indicators [z = level].  So a linear rule on all features of
all curves is one matrix product on the pieces.  A natural spline is cubic up to its last knot and
goes on with its slope there: clipped cubes never grow, and so nothing cancels far out.  With
w_i = (k_q - k_i) / reach and c_i = clip((x - k_i) / reach, 0, w_i)^3 its m-th basis function is

    c_m / w_m - c_(q-1) / w_(q-1) + 3 (w_m - w_(q-1)) / reach * max(x - k_q, 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lincent.estimators.additive_terms import PAIR_TERMS, Curve, Terms
from lincent.export.onnx_graph import Graph
from lincent.features.splines import LEAST_SPREAD, ColumnCurve, IncreasingCurve

NEAR = 1e-3
"""A value is a level if it is nearer than this share of the levels' smallest distance: the columns
of a graph are scaled in single precision, and then seldom meet a level exactly."""


@dataclass
class Pieces:
    """Pieces of curves, and what each adds to ``width`` features."""

    width: int
    shapes: list[tuple[int, float, float, float, float, int]] = field(default_factory=list)
    """Column, at, unit, low, high and power of each piece."""
    rows: list[np.ndarray] = field(default_factory=list)
    levels: list[tuple[int, float, float]] = field(default_factory=list)
    """Column, level and how near a value must be."""
    level_rows: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.constant = np.zeros(self.width)

    def add(
        self, column: int, at: float, unit: float, low: float, high: float, power: int,
        features: slice, weight: np.ndarray,
    ) -> None:  # fmt: skip
        self.shapes.append((column, at, unit, low, high, power))
        self.rows.append(self._row(features, weight))

    def add_level(
        self, column: int, level: float, near: float, features: slice, weight: np.ndarray
    ) -> None:
        self.levels.append((column, level, near))
        self.level_rows.append(self._row(features, weight))

    def _row(self, features: slice, weight: np.ndarray) -> np.ndarray:
        row = np.zeros(self.width)
        row[features] = weight
        return row


def curve_scores(
    g: Graph, curves: Sequence[Curve], smoothing: float, Z: str, coef: np.ndarray
) -> str:
    """features(Z) coef, for coefficients of (features, rules)."""
    ends = np.cumsum([0, *(curve.width for curve in curves)])
    used = np.any(coef != 0, axis=1)
    out = Pieces(coef.shape[1])
    for column, curve in enumerate(curves):
        mine = slice(ends[column], ends[column + 1])
        # The first column stays whatever its weight: it gives the answer its rows.
        if column == 0 or used[mine].any():
            own = Pieces(curve.width)
            if isinstance(curve, IncreasingCurve):
                _increasing(own, column, curve)
            else:
                _natural(own, column, curve, smoothing)
            out.shapes += own.shapes
            out.levels += own.levels
            out.rows += [row @ coef[mine] for row in own.rows]
            out.level_rows += [row @ coef[mine] for row in own.level_rows]
            out.constant += own.constant @ coef[mine]
    return _written(g, out, Z)


def _written(g: Graph, pieces: Pieces, Z: str) -> str:
    parts = []
    powers = np.array([shape[5] for shape in pieces.shapes], dtype=int)
    for power in np.unique(powers):
        mine = np.flatnonzero(powers == power)
        columns, at, unit, low, high, _ = np.array([pieces.shapes[k] for k in mine]).T
        along = g.node("Sub", g.node("Gather", Z, g.whole(columns), axis=1), g.constant(at))
        along = g.node("Mul", along, g.constant(unit))
        along = g.node("Min", g.node("Max", along, g.constant(low)), g.constant(high))
        raised = along
        for _ in range(power - 1):
            raised = g.node("Mul", raised, along)
        weights = np.array([pieces.rows[k] for k in mine])
        parts.append(g.node("MatMul", raised, g.constant(weights)))
    if pieces.levels:
        columns, level, near = np.array(pieces.levels).T
        away = g.node("Sub", g.node("Gather", Z, g.whole(columns), axis=1), g.constant(level))
        there = g.real_numbers(g.node("Less", g.node("Abs", away), g.constant(near)))
        parts.append(g.node("MatMul", there, g.constant(np.array(pieces.level_rows))))
    total = g.constant(pieces.constant)
    for part in parts:
        total = g.node("Add", part, total)
    return total


def _natural(out: Pieces, column: int, curve: ColumnCurve, smoothing: float) -> None:
    first, rest = slice(0, 1), slice(1, curve.width)
    mean, deviation = curve.mean, curve.deviation
    line = (column, mean, 1.0 / deviation, -np.inf, np.inf, 1)
    out.add(*line, first, np.ones(1))
    if len(curve.levels):
        spread = np.sqrt(np.maximum(curve.shares, LEAST_SPREAD))
        near = NEAR * float(np.diff(curve.levels).min())
        out.constant[rest] = -curve.shares / spread
        for level, row in zip(curve.levels, np.diag(1.0 / spread), strict=True):
            out.add_level(column, float(level), near, rest, row)
    elif curve.basis.shape[1]:
        knots, reach = curve.knots, curve.knots[-1] - curve.knots[0]
        basis = curve.basis / np.sqrt(1.0 + smoothing * curve.roughness)
        out.constant[rest] = basis[0]
        out.add(*line, rest, basis[1])
        top = (knots[-1] - knots[:-1]) / reach
        cubes = np.concatenate([basis[2:], -basis[2:].sum(axis=0)[None]]) / top[:, None]
        for knot, high, row in zip(knots, top, cubes, strict=False):
            unit = 1.0 / (deviation * reach)
            out.add(column, mean + deviation * knot, unit, 0.0, high, 3, rest, row)
        last = mean + deviation * knots[-1]
        slope = 3.0 * (top[:-1] - top[-1]) / reach
        out.add(column, last, 1.0 / deviation, 0.0, np.inf, 1, rest, slope @ basis[2:])


def _increasing(out: Pieces, column: int, curve: IncreasingCurve) -> None:
    """The hats' integrals.

    Over an interval of length s one rises by s u^2/2, the other by the rest of s u, where u is the
    share that was passed.
    """
    every, knots = slice(0, curve.width), curve.knots
    size = curve.way / curve.scale * np.eye(curve.width)
    out.constant[every] = -curve.centers @ size
    out.add(column, knots[0], 1.0, -np.inf, 0.0, 1, every, size[0])
    out.add(column, knots[-1], 1.0, 0.0, np.inf, 1, every, size[-1])
    for j, step in enumerate(np.diff(knots)):
        inside = (column, knots[j], 1.0 / step, 0.0, 1.0)
        out.add(*inside, 1, every, step * size[j])
        out.add(*inside, 2, every, step / 2 * (size[j + 1] - size[j]))


def term_scores(g: Graph, terms: Terms, Z: str, coef: np.ndarray) -> str:
    """terms.apply(Z) coef: the curves, and the products of pairs."""
    alone = sum(curve.width for curve in terms.curves)
    total = curve_scores(g, terms.curves, terms.smoothing, Z, coef[:alone])
    leads = {k: _leading(g, terms, k, Z) for k in {k for pair in terms.pairs for k in pair}}
    start = alone
    for first, second in terms.pairs:
        (left, width), (right, other) = leads[first], leads[second]
        weights = coef[start : start + width * other].reshape(width, other, -1)
        start += width * other
        # sum_ab left_a right_b w_ab = sum_a left_a (right w_a), for every rule.
        for a, block in enumerate(weights):
            inner = g.node("MatMul", right, g.constant(block))
            total = g.node("Add", total, g.node("Mul", g.column(left, a), inner))
    return total


def _leading(g: Graph, terms: Terms, column: int, Z: str) -> tuple[str, int]:
    """The first features of a column of the table, held as ``additive_terms.products`` does."""
    owner = np.repeat(terms.sources, [curve.width for curve in terms.curves])
    mine = np.flatnonzero(owner == column)[:PAIR_TERMS]
    chosen = np.zeros((len(owner), len(mine)))
    chosen[mine, np.arange(len(mine))] = 1.0
    features = curve_scores(g, terms.curves, terms.smoothing, Z, chosen)
    held = g.node("Min", g.node("Max", features, g.constant(-3.0)), g.constant(3.0))
    return held, len(mine)
