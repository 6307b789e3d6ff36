"""Which of several settings is clearly better: paired differences beside their standard error.

v_ij is what unseen row i says of setting j, the larger the better.  All n classes count the same,

    mean_j = 1/n sum_k 1/W_k sum over rows i of class k of w_i v_ij,      W_k the weight of class k.

A difference d of two settings has, over other rows of the same kind, the squared standard error

    1/n^2 sum_k Var_k(d) / W_k,     Var_k(d) = sum over rows of k of w_i (d_i - mean)^2 / (W_k - 1),

which is the same for a weight of two and a repeated row, and infinite where a class has no more
than one: then nothing is clear.  Settings are compared on the same rows, so what rows have in
common drops out.  "Clearly" is by more than one standard error.
"""

from __future__ import annotations

import numpy as np


def mean_and_error(
    values: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of each line of ``values`` (settings by rows), all classes counting the same."""
    present = [k for k in np.unique(codes) if weight[codes == k].any()]
    mean, square = np.zeros(len(values)), np.zeros(len(values))
    for k in present:
        rows = codes == k
        total = weight[rows].sum()
        share = weight[rows] / total
        own = values[:, rows] @ share
        mean += own / len(present)
        spread = (values[:, rows] - own[:, None]) ** 2 @ share
        square += spread / (total - 1.0) if total > 1.0 else np.inf
    return mean, np.sqrt(square) / len(present)


def not_behind(values: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The settings that are behind the best one by no more than a standard error."""
    best = values[mean_and_error(values, codes, weight)[0].argmax()]
    behind, error = mean_and_error(best - values, codes, weight)
    return np.asarray(behind <= error)


def is_better(
    value: np.ndarray, reference: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> bool:
    """Whether a setting is ahead of another by more than the standard error of its lead."""
    ahead, error = mean_and_error((value - reference)[None], codes, weight)
    return bool(ahead[0] > error[0])
