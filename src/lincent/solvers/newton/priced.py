"""The regularized program with an L1 term where columns are too many to be held at once.

A solution has few columns.  So the program is solved on a choice of columns (see ``lasso``), and
the others are priced: with its multipliers alpha, column j can lower the objective only if

    |sum_i alpha_i a_ij| > 1.

The first choice is what a sample of rows and columns uses.  To be priced, columns are computed in
blocks, for the rows with a multiplier alone, and forgotten.  A round ends early once enough columns
above 1 were found, and the next one begins with the blocks that were left out; a round through all
blocks with one alpha gives the bound: alpha over its largest price meets every constraint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.passes.dense import DenseRows
from lincent.passes.kernel_columns import KernelColumns
from lincent.programs.arrays import Certificate, Index, Vector
from lincent.programs.regularized import RegularizedProgram
from lincent.solvers.newton import lasso
from lincent.solvers.newton.descent import Best
from lincent.solvers.newton.lasso import NAME, SparseReader, descend, spread_choice
from lincent.solvers.newton.start import even_at_zero
from lincent.solvers.solution import Controls, Solution, Status


@dataclass(frozen=True)
class Tuning:
    """Measured on RBF kernels of 5,000 to 50,000 rows."""

    sample: int = 2000
    """Rows, and columns, of the sample that gives the first choice: more are dearer, fewer leave
    more rounds (12,000 rows: half the time of 500 columns drawn at random)."""
    sample_tol: float = 1e-3
    joining: int = 200
    """Columns above 1 after which a round is cut short; so many join at most."""
    idle: float = 0.9
    """Chosen columns that are zero leave when their price falls below this."""
    part_tol: float = 0.1
    """A choice is solved to this share of the tolerance ..."""
    loose: float = 0.1
    """... or, while columns join, of the gap that their prices leave open."""
    rounds: int = 200


TUNING = Tuning()


def solve(
    program: RegularizedProgram,
    rows: KernelColumns,
    controls: Controls,
    rng: np.random.Generator,
    tuning: Tuning = TUNING,
) -> Solution:
    """The certified optimum over all columns of ``rows``, the rows of the program."""
    chosen, beta, t = _sampled(program, rows, controls, rng, tuning)
    best, block, steps = _Sides(rows.shape, program.unit), 0, 0
    open_gap, status = 1.0, Status.STALLED
    for number in range(tuning.rounds):
        reader = SparseReader(replace(program, rows=rows.columns(chosen), means=None))
        tol = max(tuning.part_tol * controls.tol, tuning.loose * open_gap)
        found, more, status = _solve_choice(reader, beta, t, replace(controls, tol=tol, watch=None))
        steps += more
        beta, t = found.low.beta, found.low.t
        best.point(found.low.objective, chosen, beta, t)
        alpha = reader.multipliers(found.high)
        priced = _price(rows, alpha, chosen, block, controls, tuning)
        block, open_gap = priced.next_block, 1.0 - 1.0 / priced.most
        if priced.whole:
            alpha = alpha / priced.most
            best.multipliers(program.dual_l1(alpha), alpha)
        answer = best.certificate()
        controls.reached(
            f"columns, round {number + 1}", answer.objective, answer.relative_gap,
            f"  {len(chosen)} columns, {len(priced.joining)} join",
        )  # fmt: skip
        if answer.relative_gap <= controls.tol:
            return Solution(Status.OPTIMAL, answer, max(steps, 1), NAME)
        limited = status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT)
        if limited or controls.out_of_time():
            break
        if not len(priced.joining) and tol <= tuning.part_tol * controls.tol:
            break
        kept = (beta != 0.0) | (np.abs(found.high.gradient) > tuning.idle)
        chosen, beta = _joined(chosen[kept], beta[kept], priced.joining)
    if controls.out_of_time():
        status = Status.TIME_LIMIT
    elif status is Status.OPTIMAL:
        status = Status.STALLED
    return Solution(status, best.certificate(), max(steps, 1), NAME)


def _sampled(
    program: RegularizedProgram,
    rows: KernelColumns,
    controls: Controls,
    rng: np.random.Generator,
    tuning: Tuning,
) -> tuple[Index, Vector, float | None]:
    """The columns that a sample of rows and columns uses, with their coefficients and t."""
    m, n = rows.shape
    some, columns = (np.sort(rng.permutation(size)[: tuning.sample]) for size in (m, n))
    sign, costs = program.sign[some], program.costs[some]
    if abs(float(sign.sum())) < len(sign):
        costs = costs * float(program.costs.sum() / costs.sum())
        part = DenseRows(rows.between(some, columns) * sign[:, None])
        small = replace(program, rows=part, sign=sign, costs=costs, means=None)
        loose = replace(controls, tol=max(tuning.sample_tol, controls.tol), watch=None)
        point = lasso.solve_path(small, (1.0,), loose, rng)[0].certificate
        used = np.flatnonzero(point.beta)
        if len(used):
            return columns[used], point.beta[used], point.t
    return columns, np.zeros(len(columns)), None


class _Sides:
    """The lowest point and the highest bound so far; zero bounds the objective from below."""

    def __init__(self, shape: tuple[int, int], unit: float) -> None:
        self.unit = unit
        self.beta, self.t, self.objective = np.zeros(shape[1]), 0.0, np.inf
        self.alpha, self.bound = np.zeros(shape[0]), 0.0

    def point(self, objective: float, chosen: Index, beta: Vector, t: float) -> None:
        if objective < self.objective:
            self.objective, self.t = objective, t
            self.beta = np.zeros_like(self.beta)
            self.beta[chosen] = beta

    def multipliers(self, bound: float, alpha: Vector) -> None:
        if bound > self.bound:
            self.bound, self.alpha = bound, alpha

    def certificate(self) -> Certificate:
        return Certificate(
            self.beta, self.alpha, self.t, self.objective, self.bound, unit=self.unit
        )


def _solve_choice(
    reader: SparseReader, beta: Vector, t: float | None, controls: Controls
) -> tuple[Best, int, Status]:
    if t is None:
        point = reader.at_zero(even_at_zero(reader))
    else:
        point = reader.at(beta, t)
    status, best, steps = descend(reader, point, controls)
    return best, steps, status


@dataclass(frozen=True)
class _Priced:
    """The largest price (at least 1), columns to join, where to go on, whether all were seen."""

    most: float
    joining: Index
    next_block: int
    whole: bool


def _price(
    rows: KernelColumns,
    alpha: Vector,
    chosen: Index,
    first: int,
    controls: Controls,
    tuning: Tuning,
) -> _Priced:
    most, next_block, whole, above = 1.0, first, True, 0
    index: list[Index] = []
    prices: list[Vector] = []
    for count, part in enumerate(rows.blocks(first)):
        if above >= tuning.joining or controls.out_of_time():
            next_block, whole = first + count, False
            break
        price = np.abs(rows.tdot_of(alpha, part))
        most = max(most, float(price.max(initial=0.0)))
        new = (price > 1.0) & ~np.isin(part, chosen)
        index.append(part[new])
        prices.append(price[new])
        above += int(np.count_nonzero(new))
    if not index:
        return _Priced(most, np.empty(0, dtype=np.intp), next_block, whole)
    above_one = np.concatenate(prices)
    if not len(above_one):
        return _Priced(most, np.empty(0, dtype=np.intp), next_block, whole)
    joining = np.concatenate(index)[spread_choice(above_one, tuning.joining)]
    return _Priced(most, joining, next_block, whole)


def _joined(chosen: Index, beta: Vector, joining: Index) -> tuple[Index, Vector]:
    """The larger choice in order, with zeros for the new columns."""
    index = np.concatenate([chosen, joining])
    values = np.concatenate([beta, np.zeros(len(joining))])
    order = np.argsort(index)
    return index[order], values[order]
