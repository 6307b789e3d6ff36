"""Newton's step of the native form where few pairs of row and class bend.

At a large C most rows are beyond the margins, and the curvature of all rows, by which conjugate
gradients are preconditioned, misleads.  The Hessian is the ridge and one rank for every pair p =
(i, k) between the margins,

    H = r I + sum_p d_p a_p a_p',      a_p = (x_i, 1) tensor (e_y - e_k),

with no ridge on the offsets b.  With w_p = d_p a_p'(move), eliminating the directions from
H (move) = g leaves one equation for each pair and one for each offset:

    M w - B b = (rows of g on the pairs) / r,     M_pq = [p = q] / d_p + (x_i.x_j) s_pq / r
    B' w = g_b,                                   s_pq = (e_y - e_k).(e_y' - e_k'),

B the rows e_y - e_k.  M is positive definite and as large as there are pairs, whatever the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lincent.problems.arrays import Matrix, Vector

PAIRS = 2500
"""Up to so many pairs their matrix, of 50 MB, is formed."""


def work(pairs: int) -> float:
    """Multiplications of a step: a factorization, and about ten reads of the matrix."""
    return pairs**3 / 6 + 10 * pairs**2


def pair_step(
    X: Matrix, codes: np.ndarray, curved: Matrix, ridge: float, wanted: Matrix
) -> Matrix | None:
    """The solution of H (move) = wanted, or None where rounding leaves M indefinite.

    In the precision of X: it gives a direction.  ``curved`` are the d_p, rows by rules, zero where
    nothing bends; ``wanted`` is columns, and the offset last, by rules.
    """
    rows, rules = np.nonzero(curved)
    own = codes[rows].astype(np.intp)
    kinds, place = np.unique(rows, return_inverse=True)
    some = X[kinds]
    inner = (some @ some.T)[np.ix_(place, place)]
    inner *= _couplings(own, rules, X.dtype) / X.dtype.type(ridge)
    inner.flat[:: len(rows) + 1] += 1.0 / curved[rows, rules]
    try:
        factor = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    n_rules = wanted.shape[1]
    ahead = (some @ wanted[:-1].astype(X.dtype, copy=False)).astype(np.float64)[place]
    ahead = _difference(ahead, own, rules) / ridge
    signs = np.eye(n_rules)[own] - np.eye(n_rules)[rules]
    by_offset = cho_solve(factor, signs.astype(X.dtype), check_finite=False).astype(np.float64)
    offset = np.linalg.lstsq(signs.T @ by_offset, wanted[-1] - by_offset.T @ ahead, rcond=1e-12)[0]
    w = cho_solve(factor, ahead.astype(X.dtype), check_finite=False) + by_offset @ offset
    amounts = np.zeros((len(kinds), n_rules))
    np.add.at(amounts, (place, own), w)
    np.add.at(amounts, (place, rules), -w)
    move = np.empty_like(wanted)
    move[:-1] = (wanted[:-1] - some.T @ amounts.astype(X.dtype, copy=False)) / ridge
    move[-1] = offset
    return move


def _couplings(own: np.ndarray, other: np.ndarray, kind: np.dtype[Any]) -> Matrix:
    """s_pq of all pairs."""
    s: Matrix = (own[:, None] == own).astype(kind)
    s += other[:, None] == other
    s -= own[:, None] == other
    s -= other[:, None] == own
    return s


def _difference(scores: Matrix, own: np.ndarray, other: np.ndarray) -> Vector:
    each = np.arange(len(own))
    return np.asarray(scores[each, own] - scores[each, other])
