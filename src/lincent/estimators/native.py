"""All classes in one program: ``multi_class="native"``.

Every row is to be nearer to its own class y than to any other class k, by the margins:

    minimize    sum_k |beta_k|^2 + (2 C / K) sum_i sum_{k != y_i} c_i phi(f_iy - f_ik)

over one direction and one offset for each of K classes (program, dual and certificate are those of
``problems.joint``).  Since sum_{y<k} |beta_y - beta_k|^2 = K sum_k |beta_k|^2 where the directions
add up to zero, as they do at the optimum, this is K/2 times less than one-vs-one with

    beta_yk = beta_y - beta_k

tied in this way: C means the same, and with two classes both are the same problem.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from lincent.estimators.direction import Direction
from lincent.estimators.discriminators import Cut
from lincent.estimators.joint_fit import fit_path
from lincent.estimators.problem import HostTraining
from lincent.estimators.validation import ClassCosts, check_finite
from lincent.problems.arrays import Certificate
from lincent.problems.joint import JointLoss
from lincent.solvers.newton.joint import JointSolution
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.source import Kind, kind_of, open_source

ALL_CLASSES: Any = SimpleNamespace(name="all classes at once")
"""What messages call the problem."""
LARGEST = 5_000
"""Columns or rows, the fewer of them: a matrix of this size is factored."""
NEAR = 2.0**20
"""Rows of sizes up to this, and down to one over it, are taken as they are."""
MOST_ENTRIES = 10**8
"""Of sparse rows, 800 MB once they are dense."""


def check_native(training: Any) -> HostTraining:
    """Rows in memory, sparse ones as dense, or a sentence."""
    if not isinstance(training, HostTraining):
        raise ValueError(
            "multi_class='native' needs X in memory; use 'ovo' or 'ovr' for Dask and device arrays."
        )
    m, n = training.shape
    if min(m, n) > LARGEST or (kind_of(training.X) is Kind.SPARSE and m * n > MOST_ENTRIES):
        raise ValueError(
            "multi_class='native' makes sparse rows dense and factors a matrix of the smaller side "
            f"of X: {m} x {n} is too large for it (at most {LARGEST} and, sparse, {MOST_ENTRIES} "
            "entries); use 'ovo' or 'ovr'."
        )
    return training.seen_as(open_source(training.X).array())


def fit_native(
    training: HostTraining,
    costs: ClassCosts,
    C: float,
    margins: tuple[float, float],
    limits: Controls,
) -> list[Direction]:
    """One direction for each class, from rows seen from their mean; all share the certificate."""
    n = len(training.classes)
    share = training.weight / training.weight.sum()
    with np.errstate(invalid="ignore", over="ignore"):
        origin = np.asarray(share @ training.X, dtype=np.float64)
    check_finite(training.X, origin[None], "multi_class='native'")
    rows = training.X - origin
    size = _far_size(rows)
    if size != 1.0:
        rows /= size  # then directions grow by it, and C and the objective by its square
    pairs = np.tile(2.0 / n * costs.factor[:, None], (1, n))
    coupling = JointLoss(training.codes, np.array(training.weight), pairs, *margins)
    near = [C * size**2]
    found = fit_path(rows, coupling, near, limits.tol, limits.max_iter, limits.out_of_time)[0]
    found.rules[:-1] /= size
    solution = _solution(found, limits, size**-2)
    sums = size * np.stack([share * (training.codes == k) @ rows for k in range(n)])
    totals = np.bincount(training.codes, share, n)
    return [_direction(k, found, sums, totals, origin, solution) for k in range(n)]


def _far_size(rows: np.ndarray) -> float:
    """The size of rows as a power of two, by which they come near one; one where they are near."""
    largest = max(float(rows.max()), -float(rows.min()))
    if largest == 0.0 or 1 / NEAR < largest < NEAR:
        return 1.0
    return float(2.0 ** np.frexp(largest)[1])


def native_losses(
    scores: np.ndarray, codes: np.ndarray, loss: Callable[[np.ndarray, int], np.ndarray]
) -> np.ndarray:
    """(2 / K) sum over the other classes of the loss at f_y - f_k."""
    n = scores.shape[1]
    ahead = scores[np.arange(len(codes)), codes][:, None] - scores
    losses = [np.where(codes == k, 0.0, loss(ahead[:, k], k)) for k in range(n)]
    return np.asarray(2.0 / n * np.sum(losses, axis=0))


def _solution(found: JointSolution, limits: Controls, unit: float) -> Solution:
    """The objective and its bound in ``unit``."""
    beta, objective, bound = found.rules[:-1].ravel(), found.objective[0], found.bound[0]
    certificate = Certificate(
        beta, np.empty(0), 0.0, float(objective) * unit, float(bound) * unit, unit=unit
    )
    status = Status.STALLED
    if certificate.relative_gap <= limits.tol:
        status = Status.OPTIMAL
    elif limits.out_of_time():
        status = Status.TIME_LIMIT
    elif found.iterations >= limits.max_iter:
        status = Status.ITERATION_LIMIT
    return Solution(status, certificate, found.iterations, "newton, all classes")


def _direction(
    k: int,
    found: JointSolution,
    sums: np.ndarray,
    totals: np.ndarray,
    origin: np.ndarray,
    solution: Solution,
) -> Direction:
    """The rule of a class: its center, that of the others, and where its score is zero."""
    beta = found.rules[:-1, k]
    own = sums[k] / totals[k]
    rest = (sums.sum(axis=0) - sums[k]) / (1.0 - totals[k])
    centers = np.stack([rest, own]) + origin
    low, high = (float(value) for value in centers @ beta)
    cut = Cut(float(origin @ beta - found.rules[-1, k]))
    return Direction(beta, centers, (low + high) / 2, high - low, cut, solution)
