"""Certificates with a bound of their floating-point error.

A certificate is two numbers, objective and bound, each a sum over all rows.  Their difference is a
gap only together with the rounding of both, and of the class centers from which the problem was
made.

Estimate.  A sum of k terms with partial sums S_1, ..., S_k is off by about
u sqrt(S_1^2 + ... + S_k^2), since roundings have no preferred sign (Higham and Mary 2019; a
multiple of 8 is exceeded with a probability of 1e-14).  Rows come in no particular order, so
partial sums of alpha_i a_ij grow like a random walk, up to |alpha| sqrt(m) scale_j, beside a drift
along d_j.  This estimate costs nothing, and for data of ordinary scale it is far below ``tol``.

Evaluation.  Where the estimate is too coarse, objective and bound are evaluated once more in pairs
of doubles (``double_double``), from the data, class centers included.  For classes with weights w,
labels y and the point (beta, alpha, t)

    C+- = sum w_i x_i / sum w_i over each class,   d = C+ - C-,   l = (C- + C+)/2
    r   = g - sum_i alpha_i y_i x_i + (sum_i alpha_i y_i) l - t d
    z_i = y_i (x_i.beta - l.beta)

and then the objective and (D) as in ``centralization``.  r_j is known up to an error e_j, which
takes e_j max(|lo_j|, |hi_j|) from the bound.  Two passes over the rows, and a bound that holds for
sure, whatever the scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from lincent.problems.arrays import Index, Mask, Matrix, Vector
from lincent.problems.centralization import Certificate, Program
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

DEPTH = 16_384
"""Longer sums are made of blocks, whose partial sums start from zero."""
ENOUGH = 0.99
"""Gap and estimate may be this fraction of ``tol``; beyond it the certificate is evaluated."""
BLOCK_ENTRIES = 1 << 15
"""Entries evaluated at a time: the dozen arrays of this size stay in the cache."""
MOST_ACTIVE = 40
"""Rows per column whose multipliers are corrected: more would make the least squares slow."""
REFINEMENTS = 3


@dataclass(frozen=True)
class CertificateData:
    """The rows x_i of a problem in memory, with the weights and labels its centers are made of.

    The result of ``read`` (of a slice or an index) is given back to the methods below.
    """

    read: Callable[[slice | Index], Any]
    sign: Vector
    weight: Vector
    shape: tuple[int, int]

    def parts(self) -> Iterator[slice]:
        """Yield all rows, some at a time."""
        m, step = self.shape[0], max(1, self._rows_at_a_time())
        for start in range(0, m, step):
            yield slice(start, min(start + step, m))

    def _rows_at_a_time(self) -> int:
        return BLOCK_ENTRIES // max(1, self.shape[1])

    def largest(self, X: Any) -> float:
        """Return the largest absolute value of an entry."""
        return float(np.abs(X).max(initial=0.0))

    def combined(self, X: Any, weight: Vector) -> Pair:
        """Compute sum_i weight_i x_i."""
        if np.all(weight == 1.0):
            return sums(X, axis=0)
        return product_sums(X, weight[:, None], axis=0)

    def projected(self, X: Any, v: Vector) -> Pair:
        """Compute x_i.v of each row."""
        return product_sums(X, v, axis=1)

    def columns(self, X: Any, index: Index) -> Matrix:
        """Return some columns, as an array."""
        return np.asarray(X[:, index])


@dataclass(frozen=True)
class SparseCertificateData(CertificateData):
    """The same for a sparse matrix, its rows compressed: the cost is that of stored entries."""

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


def certify_with_rounding(
    program: Program,
    answer: Certificate,
    tol: float,
    *,
    scale: Vector | None = None,
    data: CertificateData | None = None,
) -> Certificate:
    """Return the certificate with its rounding, evaluated where an estimate is too coarse.

    ``scale`` is the size of the columns, if known.  ``data`` are the rows of an LCC problem whose
    centers are means of them; without it the rows, d and g of the problem are taken as exact.
    """
    if not np.isfinite(answer.objective) or program.hard:
        return answer
    scale = program.rows.column_scale() if scale is None else scale
    estimate = estimate_rounding(program, answer, scale)
    allowed = tol * max(1.0, abs(answer.objective))
    gap = max(answer.objective - answer.dual_objective, 0.0)
    # A gap that no rounding explains is there whatever the digits: multipliers in doubles leave one
    # of the size of their rounding, seldom more than a thousand times that.
    open_gap = gap > max(allowed, 1000.0 * estimate)
    small = _entries(program) <= 100_000_000  # evaluating more would take longer than solving
    in_memory = isinstance(answer.alpha, np.ndarray)
    if gap + estimate <= ENOUGH * allowed or open_gap or not small or not in_memory:
        return replace(answer, rounding=estimate)
    exact = evaluate_in_pairs(program, answer, data, ENOUGH * allowed)
    return replace(answer, rounding=estimate) if exact is None else exact


def estimate_rounding(program: Program, answer: Certificate, scale: Vector) -> float:
    """Estimate the rounding of the sums of a certificate, at the usual size of roundings."""
    m, n = program.shape
    beta, t = np.abs(answer.beta), abs(answer.t)
    d, g = np.abs(program.difference), np.abs(program.linear)
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    alpha: Any = answer.alpha
    in_memory = isinstance(alpha, np.ndarray)
    amount = float(alpha.sum() if in_memory else alpha.total)
    most_cost = float(program.costs.max(initial=0.0))
    length = float(np.linalg.norm(alpha)) if in_memory else float(np.sqrt(amount * most_cost))
    walk = length * np.sqrt(m) * scale
    # Losses are all positive: their partial sums grow with the number of rows.
    growth = float(np.sqrt(min(m, DEPTH)))
    # Rows in order of class drift along d, and back; remote blocks have both classes.
    drift = growth * (amount * d / 2 if in_memory else g + t * d)
    dual = float(reach @ (walk + drift + g + t * d)) + program.margin * amount
    values = abs(answer.objective) + abs(program.offset)
    # A row at the margin has a multiplier of about zero, and yet costs what its rounding costs.
    most = float(np.sqrt(program.costs.sum() * most_cost))
    entries = _entries(program)
    line = most * np.sqrt(entries) * scale
    primal = float(beta @ (line + g)) + growth * values
    if entries < m * n:
        filled = entries / (m * n)
        # Sparse rows share one sum over all columns, l.beta; |l_j| is about sqrt(filled) scale_j.
        shared = float(program.costs.sum()) * np.sqrt(min(n, DEPTH) * filled)
        primal += shared * float(beta @ scale)
    # The centers are off by u times the size of the rows, which moves d and every row.
    centers = float((reach + beta) @ scale) * (1 + t + amount)
    # Eight standard deviations of a sum of roundings, doubled for what the model leaves out.
    return 16.0 * UNIT * (dual + primal + centers)


def _entries(program: Program) -> int:
    """Return the numbers of the rows: all of a dense matrix, those that a sparse one stores."""
    m, n = program.shape
    return program.rows.entries if program.rows.sparse else m * n


class _Terms(NamedTuple):
    """The terms g, d, l and the constant of a problem, as pairs."""

    linear: Pair
    difference: Pair
    center: Pair
    offset: Pair


class _Dual(NamedTuple):
    """A dual point by the terms of (D): r, sum_i alpha_i and t."""

    rest: Pair
    total: Pair
    t: Pair

    def bound(self, program: Program) -> Pair:
        """Return (D) without its constant, less the error of r."""
        lowest = np.where(self.rest.value > 0, program.lower, program.upper)
        value = self.total.times(program.margin) + self.t.times(program.separation)
        value = value + _dot(self.rest, lowest)
        reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
        return Pair(value.high, value.low, value.error + reach @ self.rest.error)


def evaluate_in_pairs(
    program: Program, answer: Certificate, data: CertificateData | None, enough: float = 0.0
) -> Certificate | None:
    """Evaluate a certificate with twice the digits; None for numbers beyond their range.

    Multipliers get more digits than a double has where their own rounding leaves a gap that is more
    than ``enough``.
    """
    if data is None:
        terms, data = _stored_terms(program), _rows_as_data(program)
    else:
        difference, middle = _centers(data)
        offset = product_sums(np.asarray(program.costs), np.full(1, -program.margin), axis=0)
        terms = _Terms(difference.times(-1.0), difference, middle, offset)
    sums_of_rows = _combined_and_loss(program, answer, data, terms)
    if sums_of_rows is None:
        return None
    combined, loss = sums_of_rows
    rest = terms.linear + combined.times(-1.0) + terms.difference.times(-answer.t)
    dual = _Dual(rest, sums(np.asarray(answer.alpha), axis=0), pair(float(answer.t)))
    objective = terms.offset + _dot(terms.linear, answer.beta) + loss
    exact = _certificate(program, answer, terms, objective, dual)
    if exact.gap <= enough:
        return exact
    dual = _refined(program, answer, data, terms, dual)
    return _certificate(program, answer, terms, objective, dual)


def _stored_terms(program: Program) -> _Terms:
    d = program.difference
    center = program.rows.factors()[2] if program.rows.sparse else 0 * d
    return _Terms(pair(program.linear), pair(d), pair(center), pair(program.offset))


def _rows_as_data(program: Program) -> CertificateData:
    m = program.shape[0]
    if program.rows.sparse:
        S, sign, _ = program.rows.factors()  # a_i = s_i - y_i l = y_i (y_i s_i - l)
        X = sp.csr_array(sp.diags_array(sign) @ S)
        return SparseCertificateData(X.__getitem__, sign, np.ones(m), program.shape, X.nnz)
    rows, ones = program.rows.materialize(), np.ones(m)
    return CertificateData(
        lambda part: rows.take(np.arange(m)[part]).dense(), ones, ones, program.shape
    )


def _centers(data: CertificateData) -> tuple[Pair, Pair]:
    """Compute d and l as pairs."""

    def class_sums(members: Mask) -> Iterator[Pair]:
        for part in data.parts():
            index = part.start + np.flatnonzero(members[part])
            if index.size:
                yield data.combined(data.read(index), data.weight[index])

    means = []
    for side in (-1.0, 1.0):
        members = data.sign == side
        weight = sums(data.weight[members], axis=0)
        mean = total(class_sums(members)).over(float(weight.high))
        means.append(mean + mean.times(-float(weight.low) / float(weight.high)))
    low, high = means
    return high + low.times(-1.0), (high + low).times(0.5)


def _certificate(
    program: Program, answer: Certificate, terms: _Terms, objective: Pair, dual: _Dual
) -> Certificate:
    """Return the certificate with this objective and this dual point."""
    bound = terms.offset + dual.bound(program)
    reach = _dot(terms.difference, answer.beta)
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


def _combined_and_loss(
    program: Program, answer: Certificate, data: CertificateData, terms: _Terms
) -> tuple[Pair, Pair] | None:
    """Compute sum_i alpha_i a_i and the loss.

    A row without a multiplier that is beyond the margin by more than rounding adds to neither.
    """
    costs = np.asarray(program.costs)
    signed = np.asarray(answer.alpha) * data.sign
    threshold = _dot(terms.center, answer.beta).times(-1.0)
    combined, loss = [], []
    for part in data.parts():
        X = data.read(part)
        largest = data.largest(X)
        if not largest <= LARGEST:
            return None
        beyond = data.sign[part] * (X @ answer.beta + float(threshold.value)) - program.margin
        size = (largest + np.abs(terms.center.high).max()) * float(np.abs(answer.beta).sum())
        # More than a product of n terms in doubles can be off by.
        sure = beyond > 16.0 * X.shape[1] * UNIT * (size + program.margin)
        rows = np.flatnonzero(~sure | (signed[part] != 0.0))
        X, rows = X[rows], part.start + rows
        combined.append(data.combined(X, signed[rows]))
        shift = Pair(*(np.full(X.shape[0], entry) for entry in threshold))
        line = data.projected(X, answer.beta) + shift
        missed = pair(np.full(X.shape[0], program.margin)) + line.times(-data.sign[rows])
        counts = missed.value > 0
        high, low = (np.where(counts, entry, 0.0) for entry in (missed.high, missed.low))
        loss.append(_dot(Pair(high, low, missed.error), costs[rows]))
    return _centered(total(combined), signed, terms.center), total(loss)


def _centered(combined: Pair, signed: Vector, center: Pair) -> Pair:
    """Return sum_i alpha_i y_i (x_i - l) from sum_i alpha_i y_i x_i."""
    excess = sums(signed, axis=0)
    return combined + center.times(-excess.high) + center.times(-excess.low)


def _refined(
    program: Program, answer: Certificate, data: CertificateData, terms: _Terms, dual: _Dual
) -> _Dual:
    """Give multipliers more digits than a double has, where r should vanish and does not.

    r_j is zero at the optimum where beta_j is inside the box.  alpha in doubles leaves r_j at
    u |alpha| |a_j|, and columns of large scale make that a gap.  Multipliers of active rows can
    move to both sides: a correction of them, each normalized by its distance from the nearer bound,
    and of t takes r_j to the square of u.

    Every column counts in its own scale at first.  Where more columns are inside than a vertex has
    (an optimum that is not unique), not all r_j can vanish: then they count as they do in (D).
    """
    beta, alpha, costs = answer.beta, np.asarray(answer.alpha), np.asarray(program.costs)
    inside = np.flatnonzero((beta > program.lower) & (beta < program.upper))
    active = np.flatnonzero((alpha > 0.0) & (alpha < costs))
    slack = np.minimum(alpha[active], costs[active] - alpha[active])
    if active.size > MOST_ACTIVE * beta.size:
        most = slack.argsort()[-MOST_ACTIVE * beta.size :]
        active, slack = active[most], slack[most]
    if not inside.size or not (active.size or answer.t > 0):
        return dual
    if inside.size * active.size > 4_000_000:  # its least squares would take seconds
        return dual
    X, sign = data.read(active), data.sign[active]
    rows = (data.columns(X, inside) - terms.center.high[inside]) * sign[:, None]
    system = np.column_stack([rows.T, terms.difference.high[inside]])
    unit = np.abs(system).max(axis=1)
    # A column that is rounding beside the largest has an r that is nothing beside it.
    kept = unit > UNIT * unit.max()
    if not kept.any():
        return dual
    free = np.append(slack, float(answer.t))
    inside, unit = inside[kept], unit[kept]
    system = system[kept] * free
    bound = dual.bound(program).value
    for scale in (unit, np.full_like(unit, unit.max())):
        for _ in range(REFINEMENTS):
            rest = dual.rest.value[inside] / scale
            step = np.linalg.lstsq(system / scale[:, None], rest, rcond=None)[0]
            if not np.all(np.abs(step) < 1.0):  # of the distance to either bound
                break
            step = step * free
            moved = _centered(data.combined(X, step[:-1] * sign), step[:-1] * sign, terms.center)
            better = _Dual(
                dual.rest + moved.times(-1.0) + terms.difference.times(-float(step[-1])),
                dual.total + sums(step[:-1], axis=0),
                dual.t + pair(step[-1]),
            )
            higher = better.bound(program).value
            if higher <= bound:
                break
            dual, bound = better, higher
    return dual


def _dot(vector: Pair, weights: Vector) -> Pair:
    """Compute sum of vector_i weights_i."""
    parts = np.concatenate([vector.high, vector.low])
    product = product_sums(parts, np.concatenate([weights, weights]), axis=0)
    return Pair(product.high, product.low, product.error + np.abs(weights) @ vector.error)
