"""The reference: SciPy's HiGHS on the textbook linear program.

Two orientations of the same problem, chosen by shape:

by sample (n >= m)      minimize g.beta + c.u   s.t.  a_i.beta + u_i >= s,  d.beta >= separation,
                        lo <= beta <= hi,  u >= 0                                  (m + 1 rows)
by feature (m > n)      maximize s 1.alpha + sep t + lo.zl - hi.zu
                        s.t.  A'alpha + t d + zl - zu = g,  0 <= alpha <= c        (n rows)

The second is the dual of the first; beta is read from its row duals.  It is 10 to 25 times
faster when rows are many.  Sparse rows y_i (x_i - l) are kept sparse by one more variable l.beta.

HiGHS (Huangfu and Hall 2018) works to its own tolerances (about 1e-7), so its answer is carried to
the exact vertex of its active set and then certified like that of any other solver.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Certificate, Program, certify
from lincent.solvers.lp.vertex import vertex_of_active_set
from lincent.solvers.solution import Controls, Solution, Status

NAME = "highs"
MOST_PIVOTS = 20
"""For each row and column.  Most programs take one; on data of scales 1e8 apart some never end."""
_STATUS = (
    Status.OPTIMAL, Status.ITERATION_LIMIT, Status.INFEASIBLE, Status.FAILED, Status.FAILED,
)  # fmt: skip
"""By the numbers of ``linprog``."""


def solve(program: Program, controls: Controls) -> Solution:
    """Return the vertex that HiGHS finds, certified.

    Where features are nearly multiples of each other, presolve can lose the last digits: what falls
    short with it is tried without.
    """
    solution = _attempt(program, controls, presolve=True)
    if solution.status is not Status.STALLED or controls.out_of_time():
        return solution
    other = _attempt(program, controls, presolve=False)
    return other if other.certificate.gap < solution.certificate.gap else solution


def _attempt(program: Program, controls: Controls, *, presolve: bool) -> Solution:
    m, n = program.shape
    options: dict[str, Any] = {
        "dual_feasibility_tolerance": 1e-10,  # the least that HiGHS accepts
        "primal_feasibility_tolerance": 1e-10,
        "presolve": presolve,
        "maxiter": MOST_PIVOTS * (m + n),
    }
    if np.isfinite(controls.deadline):
        options["time_limit"] = max(controls.deadline - time.monotonic(), 0.01)
    by_sample = n >= m or program.hard or program.rows.sparse
    result = (_by_sample if by_sample else _by_feature)(program, options)
    status = _STATUS[result.status]
    # HiGHS reports no iteration where its presolve did the work; the solve counts as one.
    iterations = max(int(result.get("nit", 0)), 1)
    if result.x is None:
        if not by_sample and result.status == 3:  # an unbounded dual is an infeasible primal
            status = Status.INFEASIBLE
        nothing = certify(program, np.zeros(n), np.zeros(m), 0.0)
        return Solution(status, nothing, iterations, NAME, result.message)
    beta, weights = result.x[:n], result.x
    if by_sample:
        weights = -result.ineqlin.marginals
    else:
        beta = -result.eqlin.marginals
    answer = _sharpen(program, beta, weights[:m], float(weights[m]))
    if status is Status.OPTIMAL and answer.relative_gap > controls.tol:
        status = Status.STALLED
    return Solution(status, answer, iterations, NAME, result.message)


def _by_sample(program: Program, options: dict[str, Any]) -> Any:
    m = program.shape[0]
    matrix, sign, center = program.rows.factors()
    soft = np.flatnonzero(np.isfinite(program.costs))
    k = len(soft)
    slack = sp.csr_array((np.ones(k), (soft, np.arange(k))), shape=(m, k))
    above = sp.hstack([sp.csr_array(matrix), sp.csr_array(-sign[:, None]), slack])
    wide = sp.hstack([sp.csr_array(program.difference[None, :]), sp.csr_array((1, 1 + k))])
    link = sp.hstack([sp.csr_array(center[None, :]), sp.csr_array([[-1.0]]), sp.csr_array((1, k))])
    box = np.column_stack([program.lower, program.upper])
    return linprog(
        np.concatenate([program.linear, [0.0], program.costs[soft]]),
        A_ub=-sp.vstack([above, wide]),
        b_ub=-np.append(np.full(m, program.margin), program.separation),
        A_eq=link,
        b_eq=[0.0],
        bounds=np.vstack([box, [[-np.inf, np.inf]], np.tile([0.0, np.inf], (k, 1))]),
        method="highs",
        options=options,
    )


def _by_feature(program: Program, options: dict[str, Any]) -> Any:
    m, n = program.shape
    identity, d = sp.eye_array(n), sp.csc_array(program.difference[:, None])
    fixed = np.append(np.full(m, program.margin), program.separation)
    box = np.column_stack([np.zeros(m), program.costs])
    return linprog(
        np.concatenate([-fixed, -program.lower, program.upper]),
        A_eq=sp.hstack([sp.csc_array(program.rows.dense().T), d, identity, -identity]),
        b_eq=program.linear,
        bounds=np.vstack([box, np.tile([0.0, np.inf], (2 * n + 1, 1))]),
        method="highs",
        options=options,
    )


def _sharpen(program: Program, beta: Vector, alpha: Vector, t: float) -> Certificate:
    """Return the certificate of the point, or of the vertex next to it if that is better."""
    answer = certify(program, beta, alpha, t)
    # 150 degenerate programs (``tests/support``) are certified with any width from 1e-9 to 1e-5.
    vertex = vertex_of_active_set(program, program, answer, width=1e-7)
    return vertex if vertex is not None and vertex.gap < answer.gap else answer
