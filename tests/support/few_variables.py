"""Random programs in few variables, and what HiGHS says of them."""

import numpy as np
from scipy.optimize import linprog


def random_program(seed, rows=40, k=6):
    """N, bounds around a feasible zero with some infinite ones, and prices of the rows."""
    rng = np.random.default_rng(seed)
    N = np.linalg.qr(rng.standard_normal((rows, k)))[0]
    value = rng.uniform(0.0, 1.0, rows)
    high = value + rng.uniform(0.0, 1.0, rows)
    high[rng.random(rows) < 0.2] = np.inf
    return N, value, high, rng.standard_normal(rows)


def reference(N, value, high, gain):
    found = linprog(
        -(N.T @ gain),
        A_ub=np.vstack([-N, N[np.isfinite(high)]]),
        b_ub=np.concatenate([value, (high - value)[np.isfinite(high)]]),
        bounds=[(None, None)] * N.shape[1],
        method="highs",
    )
    return None if found.status == 3 else -found.fun
