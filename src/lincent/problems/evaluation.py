"""A certificate evaluated in pairs of doubles, from the data, class centers included.

For classes with weights w, labels y and the point (beta, alpha, t)

    C+- = sum w_i x_i / sum w_i over each class,   d = C+ - C-,   l = (C- + C+)/2
    r   = g - sum_i alpha_i y_i x_i + (sum_i alpha_i y_i) l - t d
    z_i = y_i (x_i.beta - l.beta)

and then the objective and (D) as in ``centralization``.  r_j is known up to an error e_j, which
takes e_j max(|lo_j|, |hi_j|) from the bound.  Two reads of the rows, and a bound that holds for
sure, whatever the scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.problems.arrays import Certificate, Vector
from lincent.problems.centralization import Program
from lincent.problems.exact_sums import LARGEST, UNIT, Pair, pair, product_sums, sums, total
from lincent.problems.labeled_rows import LabeledRows, SparseLabeledRows

MOST_KINKS = 40
"""Rows per column whose multipliers are corrected: more would make the least squares dear."""
MOST_REFINED = 4_000_000
"""Entries of the system that corrects multipliers: its least squares take seconds beyond."""
REFINEMENTS = 3
SAFE = 16.0
"""Times n u the size of its terms: more than a product of n terms in doubles can be off by."""

Mask = NDArray[np.bool_]


def evaluated(
    program: Program, answer: Certificate, data: LabeledRows | None, enough: float = 0.0
) -> Certificate | None:
    """The certificate with twice the digits, or None for numbers beyond their range.

    Multipliers get more digits than a double has where their own rounding leaves a gap that is more
    than ``enough``.
    """
    given = _taken(program) if data is None else _from_data(program, data)
    return _evaluate(program, answer, data or _rows_as_data(program), given, enough)


class _Given(NamedTuple):
    """g, d, l and the constant of a program, as pairs."""

    linear: Pair
    difference: Pair
    center: Pair
    offset: Pair


def _taken(program: Program) -> _Given:
    d = program.difference
    center = program.rows.factors()[2] if program.rows.sparse else 0 * d
    return _Given(pair(program.linear), pair(d), pair(center), pair(program.offset))


def _from_data(program: Program, data: LabeledRows) -> _Given:
    d, middle = _centers(data)
    offset = product_sums(np.asarray(program.costs), np.full(1, -program.margin), axis=0)
    return _Given(d.times(-1.0), d, middle, offset)


def _rows_as_data(program: Program) -> LabeledRows:
    m = program.shape[0]
    if program.rows.sparse:
        S, sign, _ = program.rows.factors()  # a_i = s_i - y_i l = y_i (y_i s_i - l)
        X = sp.csr_array(sp.diags_array(sign) @ S)
        return SparseLabeledRows(X.__getitem__, sign, np.ones(m), program.shape, X.nnz)
    rows = program.rows.materialize()
    return LabeledRows(
        lambda part: rows.take(np.arange(m)[part]).dense(), np.ones(m), np.ones(m), program.shape
    )


def _centers(data: LabeledRows) -> tuple[Pair, Pair]:
    """d and l as pairs."""
    means = []
    for side in (-1.0, 1.0):
        members = data.sign == side
        weight = sums(data.weight[members], axis=0)
        mean = total(_sums_of(data, members)).over(float(weight.high))
        means.append(mean + mean.times(-float(weight.low) / float(weight.high)))
    low, high = means
    return high + low.times(-1.0), (high + low).times(0.5)


def _sums_of(data: LabeledRows, members: Mask) -> Iterator[Pair]:
    """The weighted sums of some rows, part by part."""
    for part in data.parts():
        index = part.start + np.flatnonzero(members[part])
        if index.size:
            yield data.combined(data.read(index), data.weight[index])


def _evaluate(
    program: Program, answer: Certificate, data: LabeledRows, given: _Given, enough: float
) -> Certificate | None:
    """Objective and bound in pairs; None for numbers beyond their range."""
    read = _read_once(program, answer, data, given)
    if read is None:
        return None
    away, loss = read
    alone = sums(np.asarray(answer.alpha), axis=0)
    rest = given.linear + away.times(-1.0) + given.difference.times(-answer.t)
    dual = _Dual(rest, alone, pair(float(answer.t)))
    objective = given.offset + _dot(given.linear, answer.beta) + loss
    found = _judged(program, answer, given, objective, dual)
    if found.gap <= enough:
        return found
    return _judged(program, answer, given, objective, _refined(program, answer, data, given, dual))


def _judged(
    program: Program, answer: Certificate, given: _Given, objective: Pair, dual: _Dual
) -> Certificate:
    """The certificate with this objective and this dual point."""
    bound = given.offset + dual.bound(program)
    reach = _dot(given.difference, answer.beta)
    short = max(float((pair(program.separation) + reach.times(-1.0)).value), 0.0)
    error = float(objective.error + bound.error) + float(dual.t.value) * short
    error += 2 * UNIT * (abs(float(objective.value)) + abs(float(bound.value)))
    return replace(
        answer,
        t=float(dual.t.value),
        objective=float(objective.value),
        dual_objective=float(bound.value),
        rounding=error,
    )


def _read_once(
    program: Program, answer: Certificate, data: LabeledRows, given: _Given
) -> tuple[Pair, Pair] | None:
    """sum_i alpha_i a_i and the loss.

    A row without a multiplier that is beyond the margin by more than rounding adds to neither.
    """
    costs = np.asarray(program.costs)
    signed = np.asarray(answer.alpha) * data.sign
    cut = _dot(given.center, answer.beta).times(-1.0)
    combined, loss = [], []
    for part in data.parts():
        X = data.read(part)
        largest = data.largest(X)
        if not largest <= LARGEST:
            return None
        beyond = data.sign[part] * (X @ answer.beta + float(cut.value)) - program.margin
        size = (largest + np.abs(given.center.high).max()) * float(np.abs(answer.beta).sum())
        sure = beyond > SAFE * X.shape[1] * UNIT * (size + program.margin)
        rows = np.flatnonzero(~sure | (signed[part] != 0.0))
        X, rows = X[rows], part.start + rows
        combined.append(data.combined(X, signed[rows]))
        line = data.projected(X, answer.beta) + _spread(cut, X.shape[0])
        missed = pair(np.full(X.shape[0], program.margin)) + line.times(-data.sign[rows])
        counts = missed.value > 0
        high, low = (np.where(counts, entry, 0.0) for entry in (missed.high, missed.low))
        loss.append(_dot(Pair(high, low, missed.error), costs[rows]))
    return _around(total(combined), signed, given.center), total(loss)


def _around(combined: Pair, signed: Vector, center: Pair) -> Pair:
    """sum_i alpha_i y_i (x_i - l) from sum_i alpha_i y_i x_i."""
    excess = sums(signed, axis=0)
    return combined + center.times(-excess.high) + center.times(-excess.low)


class _Dual(NamedTuple):
    """A dual point by what (D) needs of it: r, sum_i alpha_i and t."""

    rest: Pair
    total: Pair
    t: Pair

    def bound(self, program: Program) -> Pair:
        """(D) without its constant, less what is not known of r."""
        lowest = np.where(self.rest.value > 0, program.lower, program.upper)
        found = self.total.times(program.margin) + self.t.times(program.separation)
        found = found + _dot(self.rest, lowest)
        reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
        return Pair(found.high, found.low, found.error + reach @ self.rest.error)


def _refined(
    program: Program, answer: Certificate, data: LabeledRows, given: _Given, dual: _Dual
) -> _Dual:
    """Multipliers with more digits than a double has, where r should vanish and does not.

    r_j is zero at the optimum where beta_j is inside the box.  alpha in doubles leaves r_j at
    u |alpha| |a_j|, and columns of large scale make that a gap.  The rows on the kink have room on
    both sides, be it little: a correction of their alpha, each in units of its room, and of t takes
    r_j to the square of u.

    Every column counts in its own scale at first.  Where more columns are inside than a vertex has
    (an optimum that is not unique), not all r_j can vanish: then they count as they do in (D).
    """
    beta, alpha, costs = answer.beta, np.asarray(answer.alpha), np.asarray(program.costs)
    inside = np.flatnonzero((beta > program.lower) & (beta < program.upper))
    kink = np.flatnonzero((alpha > 0.0) & (alpha < costs))
    room = np.minimum(alpha[kink], costs[kink] - alpha[kink])
    if kink.size > MOST_KINKS * beta.size:
        most = room.argsort()[-MOST_KINKS * beta.size :]
        kink, room = kink[most], room[most]
    if not inside.size or not (kink.size or answer.t > 0):
        return dual
    if inside.size * kink.size > MOST_REFINED:
        return dual
    X = data.read(kink)
    rows = data.columns(X, inside) - given.center.high[inside]
    rows *= data.sign[kink, None]
    system = np.column_stack([rows.T, given.difference.high[inside]])
    unit = np.abs(system).max(axis=1)
    # A column that is rounding beside the largest has an r that is nothing beside it.
    kept = unit > UNIT * unit.max()
    if not kept.any():
        return dual
    free = np.append(room, float(answer.t))
    inside, unit = inside[kept], unit[kept]
    system = system[kept] * free
    bound = dual.bound(program).value
    for scale in (unit, np.full_like(unit, unit.max())):
        for _ in range(REFINEMENTS):
            rest = dual.rest.value[inside] / scale
            step = np.linalg.lstsq(system / scale[:, None], rest, rcond=None)[0]
            if not np.all(np.abs(step) < 1.0):  # of the room on either side
                break
            step = step * free
            moved = data.combined(X, step[:-1] * data.sign[kink])
            moved = _around(moved, step[:-1] * data.sign[kink], given.center)
            better = _Dual(
                dual.rest + moved.times(-1.0) + given.difference.times(-float(step[-1])),
                dual.total + sums(step[:-1], axis=0),
                dual.t + pair(step[-1]),
            )
            higher = better.bound(program).value
            if higher <= bound:
                break
            dual, bound = better, higher
    return dual


def _spread(one: Pair, count: int) -> Pair:
    return Pair(*(np.full(count, entry) for entry in one))


def _dot(vector: Pair, weights: Vector) -> Pair:
    """sum of vector_i weights_i."""
    parts = np.concatenate([vector.high, vector.low])
    found = product_sums(parts, np.concatenate([weights, weights]), axis=0)
    return Pair(found.high, found.low, found.error + np.abs(weights) @ vector.error)
