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
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lincent.problems.arrays import Certificate, Vector
from lincent.problems.centralization import Program
from lincent.problems.evaluation import evaluated
from lincent.problems.exact_sums import UNIT
from lincent.problems.labeled_rows import LabeledRows

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


def estimated_rounding(program: Program, answer: Certificate, scale: Vector) -> float:
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


def proved(
    program: Program,
    answer: Certificate,
    tol: float,
    *,
    scale: Vector | None = None,
    data: LabeledRows | None = None,
) -> Certificate:
    """The certificate with its rounding, evaluated where an estimate of that is too coarse.

    ``scale`` is the size of the columns where it is known.  ``data`` are the rows of an LCC program
    whose centers are means of them; without it the rows, d and g of the program are taken as they
    are.
    """
    if not np.isfinite(answer.objective) or program.hard:
        return answer
    scale = program.rows.column_scale() if scale is None else scale
    estimate = estimated_rounding(program, answer, scale)
    asked = tol * max(1.0, abs(answer.objective))
    small = _entries(program) <= MOST_ENTRIES
    near = isinstance(answer.alpha, np.ndarray)
    gap = max(answer.objective - answer.dual_objective, 0.0)
    # A gap that no rounding explains is there whatever the digits.
    open_gap = gap > max(asked, EXPLAINED * estimate)
    if gap + estimate <= ENOUGH * asked or open_gap or not small or not near:
        return replace(answer, rounding=estimate)
    found = evaluated(program, answer, data, ENOUGH * asked)
    return replace(answer, rounding=estimate) if found is None else found
