"""What a certificate proves, its own rounding included.

A certificate is two numbers, objective and bound, each a sum over all rows.  Their difference
proves something only together with what rounding can have done to both, and to the class centers
from which the program was made.

A sum of k terms with partial sums S_1, ..., S_k is off by about u sqrt(S_1^2 + ... + S_k^2), since
roundings have no preferred sign (Higham and Mary 2019; a multiple of 8 is exceeded with a
probability of 1e-14).  Rows come in no particular order, so partial sums of alpha_i a_ij grow like
a random walk, up to |alpha| sqrt(m) scale_j, beside a drift along d_j.  This estimate costs
nothing, and for data of ordinary scale it is far below ``tol``.  Where it is not, objective and
bound are evaluated once more with twice the digits (``evaluation``).


---

The rows from which a program was made, with labels and weights, as a proof reads them.

Sums over them are pairs of doubles.  Dense rows come in parts that stay in the cache; sparse ones
in parts whose entries are summed along rows or columns, so that a proof costs what is stored.


---

A certificate evaluated in pairs of doubles, from the data, class centers included.

For classes with weights w, labels y and the point (beta, alpha, t)

    C+- = sum w_i x_i / sum w_i over each class,   d = C+ - C-,   l = (C- + C+)/2
    r   = g - sum_i alpha_i y_i x_i + (sum_i alpha_i y_i) l - t d
    z_i = y_i (x_i.beta - l.beta)

and then the objective and (D) as in ``centralization``.  r_j is known up to an error e_j, which
takes e_j max(|lo_j|, |hi_j|) from the bound.  Two reads of the rows, and a bound that holds for
sure, whatever the scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.problems.centralization import Program
from lincent.problems.double_double import (
    LARGEST,
    UNIT,
    Pair,
    pair,
    product_sums,
    sums,
    sums_of_runs,
    total,
)

SURE = 16.0
"""Standard deviations of a sum of roundings, doubled for what the model leaves out."""
DEPTH = 16_384
"""Longer sums are made of blocks, whose partial sums start anew."""
ENOUGH = 0.99
"""Gap and estimate may be this share of ``tol``; beyond it the certificate is evaluated."""
EXPLAINED = 1000.0
"""Multipliers in doubles leave a gap of the size of their rounding, seldom more than this."""
MOST_ENTRIES = 100_000_000
"""Evaluating more would take longer than solving."""


def estimate_rounding(program: Program, answer: Certificate, scale: Vector) -> float:
    """What the sums of a certificate are off by, at the usual size of roundings."""
    m, n = program.shape
    beta, t = np.abs(answer.beta), abs(answer.t)
    d, g = np.abs(program.difference), np.abs(program.linear)
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    length, total, near = _size_of_multipliers(program, answer)
    walk = length * np.sqrt(m) * scale
    # Losses are all positive: their partial sums grow with the number of rows.
    growth = float(np.sqrt(min(m, DEPTH)))
    # Rows in order of class drift along d, and back; blocks of far rows have both classes.
    drift = growth * (total * d / 2 if near else g + t * d)
    dual = float(reach @ (walk + drift + g + t * d)) + program.margin * total
    values = abs(answer.objective) + abs(program.offset)
    # A row at the kink has no multiplier to speak of, and yet costs what its rounding costs.
    most = float(np.sqrt(program.costs.sum() * program.costs.max(initial=0.0)))
    entries = _entries(program)
    line = most * np.sqrt(entries) * scale
    primal = float(beta @ (line + g)) + growth * values
    if entries < m * n:
        filled = entries / (m * n)
        # Sparse rows share one sum over all columns, l.beta; |l_j| is about sqrt(filled) scale_j.
        shared = float(program.costs.sum()) * np.sqrt(min(n, DEPTH) * filled)
        primal += shared * float(beta @ scale)
    # The centers are off by u times the size of the rows, which moves d and every row.
    centers = float((reach + beta) @ scale) * (1 + t + total)
    return SURE * UNIT * (dual + primal + centers)


def _entries(program: Program) -> int:
    """How many numbers the rows have: all of a dense matrix, those that a sparse one stores."""
    m, n = program.shape
    return program.rows.entries if program.rows.sparse else m * n


def _size_of_multipliers(program: Program, answer: Certificate) -> tuple[float, float, bool]:
    """The length (or a bound of it) and the sum of alpha, and whether it is here."""
    alpha: Any = answer.alpha
    if isinstance(alpha, np.ndarray):
        return float(np.linalg.norm(alpha)), float(alpha.sum()), True
    total = float(alpha.total)
    return float(np.sqrt(total * program.costs.max(initial=0.0))), total, False


def certify_with_rounding(
    program: Program,
    answer: Certificate,
    tol: float,
    *,
    scale: Vector | None = None,
    data: CertificateData | None = None,
) -> Certificate:
    """The certificate with its rounding, evaluated where an estimate of that is too coarse.

    ``scale`` is the size of the columns where it is known.  ``data`` are the rows of an LCC program
    whose centers are means of them; without it the rows, d and g of the program are taken as they
    are.
    """
    if not np.isfinite(answer.objective) or program.hard:
        return answer
    scale = program.rows.column_scale() if scale is None else scale
    estimate = estimate_rounding(program, answer, scale)
    asked = tol * max(1.0, abs(answer.objective))
    small = _entries(program) <= MOST_ENTRIES
    near = isinstance(answer.alpha, np.ndarray)
    gap = max(answer.objective - answer.dual_objective, 0.0)
    # A gap that no rounding explains is there whatever the digits.
    open_gap = gap > max(asked, EXPLAINED * estimate)
    if gap + estimate <= ENOUGH * asked or open_gap or not small or not near:
        return replace(answer, rounding=estimate)
    found = evaluate_in_pairs(program, answer, data, ENOUGH * asked)
    return replace(answer, rounding=estimate) if found is None else found


BLOCK_ENTRIES = 1 << 15
"""Entries evaluated at a time: the dozen arrays of this size stay in the cache."""

ReadRows = Callable[[slice | Index], Any]


@dataclass(frozen=True)
class CertificateData:
    """The rows x_i of a program in memory, with the weights and labels its centers are made of.

    What ``read`` gives is handed back to the methods below, which know its form.
    """

    read: ReadRows
    sign: Vector
    weight: Vector
    shape: tuple[int, int]

    def parts(self) -> Iterator[slice]:
        """All rows, some at a time."""
        m, step = self.shape[0], max(1, self._rows_at_a_time())
        for start in range(0, m, step):
            yield slice(start, min(start + step, m))

    def _rows_at_a_time(self) -> int:
        return BLOCK_ENTRIES // max(1, self.shape[1])

    def largest(self, X: Any) -> float:
        """The largest size of an entry."""
        return float(np.abs(X).max(initial=0.0))

    def combined(self, X: Any, weight: Vector) -> Pair:
        """sum_i weight_i x_i."""
        if np.all(weight == 1.0):
            return sums(X, axis=0)
        return product_sums(X, weight[:, None], axis=0)

    def projected(self, X: Any, v: Vector) -> Pair:
        """x_i.v of each row."""
        return product_sums(X, v, axis=1)

    def columns(self, X: Any, index: Index) -> Matrix:
        """Some columns, as an array."""
        return np.asarray(X[:, index])


@dataclass(frozen=True)
class SparseCertificateData(CertificateData):
    """The same in a sparse matrix, its rows compressed."""

    entries: int

    def _rows_at_a_time(self) -> int:
        # Each part adds to all columns: it has about as many entries, at least.
        m, n = self.shape
        return max(BLOCK_ENTRIES, n) * m // max(1, self.entries)

    def largest(self, X: Any) -> float:
        return float(np.abs(X.data).max(initial=0.0))

    def combined(self, X: Any, weight: Vector) -> Pair:
        X = X.tocsc()
        return sums_of_runs(X.data, weight[X.indices], X.indptr)

    def projected(self, X: Any, v: Vector) -> Pair:
        return sums_of_runs(X.data, v[X.indices], X.indptr)

    def columns(self, X: Any, index: Index) -> Matrix:
        return np.asarray(X[:, index].toarray())


MOST_KINKS = 40
"""Rows per column whose multipliers are corrected: more would make the least squares dear."""
MOST_REFINED = 4_000_000
"""Entries of the system that corrects multipliers: its least squares take seconds beyond."""
REFINEMENTS = 3
SAFE = 16.0
"""Times n u the size of its terms: more than a product of n terms in doubles can be off by."""

Mask = NDArray[np.bool_]


def evaluate_in_pairs(
    program: Program, answer: Certificate, data: CertificateData | None, enough: float = 0.0
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


def _from_data(program: Program, data: CertificateData) -> _Given:
    d, middle = _centers(data)
    offset = product_sums(np.asarray(program.costs), np.full(1, -program.margin), axis=0)
    return _Given(d.times(-1.0), d, middle, offset)


def _rows_as_data(program: Program) -> CertificateData:
    m = program.shape[0]
    if program.rows.sparse:
        S, sign, _ = program.rows.factors()  # a_i = s_i - y_i l = y_i (y_i s_i - l)
        X = sp.csr_array(sp.diags_array(sign) @ S)
        return SparseCertificateData(X.__getitem__, sign, np.ones(m), program.shape, X.nnz)
    rows = program.rows.materialize()
    return CertificateData(
        lambda part: rows.take(np.arange(m)[part]).dense(), np.ones(m), np.ones(m), program.shape
    )


def _centers(data: CertificateData) -> tuple[Pair, Pair]:
    """d and l as pairs."""
    means = []
    for side in (-1.0, 1.0):
        members = data.sign == side
        weight = sums(data.weight[members], axis=0)
        mean = total(_sums_of(data, members)).over(float(weight.high))
        means.append(mean + mean.times(-float(weight.low) / float(weight.high)))
    low, high = means
    return high + low.times(-1.0), (high + low).times(0.5)


def _sums_of(data: CertificateData, members: Mask) -> Iterator[Pair]:
    """The weighted sums of some rows, part by part."""
    for part in data.parts():
        index = part.start + np.flatnonzero(members[part])
        if index.size:
            yield data.combined(data.read(index), data.weight[index])


def _evaluate(
    program: Program, answer: Certificate, data: CertificateData, given: _Given, enough: float
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
    program: Program, answer: Certificate, data: CertificateData, given: _Given
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
    program: Program, answer: Certificate, data: CertificateData, given: _Given, dual: _Dual
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
