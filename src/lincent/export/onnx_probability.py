"""Calibrated probabilities as an ONNX sub-graph (see ``estimators.calibration``).

Pairs of classes are coupled there by a linear system.  With Q_ij = -r_ji r_ij and
Q_ii = sum_j r_ji^2 its solution is proportional to that of

    (Q + 1 1') x = 1

whose matrix is positive definite, so elimination needs no pivoting: one step per class, for all
rows at once, in double precision.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from lincent.estimators.calibration import PAIR_FLOOR, Sigmoid, Steps
from lincent.estimators.probabilities import SeparateCalibration
from lincent.export.onnx_graph import Graph


def probabilities(g: Graph, chances: SeparateCalibration, raw: str, name: str) -> None:
    """Write the output ``name`` from the scores of the two-class problems."""
    columns = [
        _calibrated(g, calibrator, g.column(raw, k)) for k, calibrator in enumerate(chances.parts)
    ]
    if len(columns) == 1:
        other = g.node("Sub", g.constant(1.0), columns[0])
        g.node("Concat", other, columns[0], output=name, axis=1)
        return
    together = g.node("Concat", *columns, axis=1)
    if chances.strategy == "ovo":
        _coupled(g, together, chances.n_classes, name)
        return
    total = g.total(together, 1)
    nothing = g.node("Greater", total, g.constant(0.0))
    even = g.constant(np.full((1, len(columns)), 1.0 / len(columns)))
    total = g.node("Max", total, g.constant(1e-38))
    g.node("Where", nothing, g.node("Div", together, total), even, output=name)


def _calibrated(g: Graph, calibrator: Any, score: str) -> str:
    if isinstance(calibrator, Sigmoid):
        slope = g.constant(calibrator.slope / calibrator.unit)
        inner = g.node("Add", g.node("Mul", score, slope), g.constant(calibrator.offset))
        return g.node("Sigmoid", inner)
    return _ramps(g, calibrator, score)


def _ramps(g: Graph, steps: Steps, score: str) -> str:
    """Straight lines between points, as the first height and a clipped ramp per interval."""
    u = g.node("Mul", score, g.constant(1.0 / steps.unit))
    if len(steps.at) == 1:
        nothing = g.node("Mul", u, g.constant(0.0))
        return g.node("Add", nothing, g.constant(steps.height[0]))
    width = np.diff(steps.at)
    along = g.node("Sub", u, g.constant(steps.at[:-1]))
    along = g.node("Mul", along, g.constant(1.0 / width))
    along = g.node("Min", g.node("Max", along, g.constant(0.0)), g.constant(1.0))
    risen = g.node("MatMul", along, g.constant(np.diff(steps.height)[:, None]))
    return g.node("Add", risen, g.constant(steps.height[0]))


def _coupled(g: Graph, pairs: str, classes: int, name: str) -> None:
    wide = g.wide()
    p = wide.real_numbers(pairs)
    p = wide.node("Max", p, wide.constant(PAIR_FLOOR))
    p = wide.node("Min", p, wide.constant(1.0 - PAIR_FLOOR))
    # r as a flat matrix is affine in p: r_ji = p and r_ij = 1 - p for the pair (i, j).
    places = np.zeros((classes, classes, classes * (classes - 1) // 2))
    ones = np.zeros((classes, classes))
    for column, (i, j) in enumerate(combinations(range(classes), 2)):
        places[j, i, column], places[i, j, column] = 1.0, -1.0
        ones[i, j] = 1.0
    flat = wide.affine(p, places.reshape(classes**2, -1), ones.reshape(-1))
    r = wide.node("Reshape", flat, wide.whole([-1, classes, classes]))
    mixed = wide.node("Mul", r, wide.node("Transpose", r, perm=[0, 2, 1]))
    squares = wide.total(wide.node("Mul", r, r), 1)
    diagonal = wide.node("Mul", squares, wide.constant(np.eye(classes)[None]))
    system = wide.node("Add", wide.node("Sub", diagonal, mixed), wide.constant(1.0))
    x = wide.node("Max", _solved(wide, system, classes), wide.constant(0.0))
    g.node("Identity", g.real_numbers(wide.node("Div", x, wide.total(x, 1))), output=name)


def _solved(g: Graph, system: str, size: int) -> str:
    """The solution of system x = 1 for every row, by elimination."""
    right = g.column(g.node("Mul", system, g.constant(0.0)), 0, axis=2)
    table = g.node("Concat", system, g.node("Add", right, g.constant(1.0)), axis=2)
    for k in range(size):
        pivot_row = g.column(table, k)
        row = g.node("Div", pivot_row, g.column(pivot_row, k, axis=2))
        unit = g.constant(np.eye(size)[k][None, :, None])
        below = g.node("Sub", g.column(table, k, axis=2), unit)
        table = g.node("Sub", table, g.node("Mul", below, row))
    return g.node("Squeeze", g.column(table, size, axis=2), g.whole([2]))
