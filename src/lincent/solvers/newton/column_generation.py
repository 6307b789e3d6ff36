"""Column generation for the regularized problem with an L1 penalty: kernels too large to be held.

A solution has few columns.  So the problem is solved on a choice of columns (``lasso``), and the
others are priced (Gilmore and Gomory 1961): with its dual weights alpha, column j can lower the
objective only if

    |sum_i alpha_i a_ij| > 1.

Only samples with a dual weight have a part in that, and these are few where classes are separable.
Prices of all columns for one alpha give the bound: alpha over the largest meets every constraint.
The first choice is what a sample of rows and columns uses, found in the same way.  Where most
samples have a dual weight and the matrix is not large, it is formed after all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram, certify_l1
from lincent.solvers.bounds import Bounds
from lincent.solvers.newton import lasso
from lincent.solvers.newton.lasso import NAME, Model, SparseEvaluator, descend, spread_choice
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.dense import DenseRows
from lincent.sources.kernel import KernelColumns, SelectedColumns


@dataclass(frozen=True)
class Tuning:
    """Measured on RBF kernels of 1,000 to 50,000 samples."""

    thinner: int = 16
    """A sample has so many times fewer rows and columns ..."""
    least: int = 300
    """... but no fewer than this."""
    least_priced: int = 700
    """Samples of up to so many rows have their matrix formed."""
    busy: float = 0.6
    """With a larger share of dual weights above zero the matrix is formed, up to order 5,000: the
    same entries would be computed again and again."""
    joining: int = 200
    """Columns that join at most."""
    enough: int = 600
    """A round ends when so many are above 1 ..."""
    few: int = 60
    """... or a few are, and all that had a price above 0.8 were seen."""
    idle: float = 0.9
    """Chosen columns that are zero leave when their price falls below this."""


TUNING = Tuning()


def solve(
    program: RegularizedProgram,
    rows: KernelColumns,
    controls: Controls,
    rng: np.random.Generator,
    tuning: Tuning = TUNING,
) -> Solution:
    """Return the certified optimum over all columns of ``rows``, the rows of the program."""
    first, beta, t = _from_sample(program, rows, controls, rng, tuning)
    m, n = program.shape
    bounds, chosen = Bounds(program.unit), _ChosenColumns(program, rows)
    bounds.offer_dual(0.0, np.zeros(m))  # zero bounds the objective from below
    prices = _Prices(rows, controls, rng, tuning)
    chosen.join(first, np.empty(0, dtype=np.intp), np.empty(0))
    open_gap, steps, status = 1.0, 0, Status.STALLED

    def best() -> Certificate:
        (columns, part, threshold), whole = bounds.primal, np.zeros(n)
        whole[columns] = part
        return bounds.certificate(whole, bounds.dual, threshold)

    for number in range(200):
        evaluator = SparseEvaluator(chosen.program)
        # A tenth of the tolerance or, while columns join, of the gap that their prices leave open.
        tol = 0.1 * max(controls.tol, open_gap)
        last = open_gap <= controls.tol
        point = evaluator.at_zero() if t is None else evaluator.at(beta, t)
        limits = replace(controls, tol=tol, max_iter=controls.max_iter - steps, watch=None)
        walk = descend(evaluator, point, limits, chosen.model)
        status, low = walk.status, walk.bounds.primal
        steps += walk.steps
        beta, t = low.beta, low.t
        bounds.offer_primal(low.objective, (chosen.index.copy(), beta, t))
        alpha = program.balanced(program.costs * walk.bounds.dual.u)
        busy = np.count_nonzero(alpha) > tuning.busy * len(alpha)
        # With the columns of the sample alone most samples of any data may have a dual weight.
        if number == 1 and busy and max(rows.shape) <= 5000:
            formed = replace(program, rows=DenseRows(rows.dense()), means=None)
            start = best()
            controls = replace(controls, start=(start.beta, start.t))
            return lasso.solve_path(formed, (1.0,), controls, rng)[0]
        # With these the constraints hold in the columns of the choice.
        own = np.abs(chosen.program.rows.tdot(alpha))
        alpha /= max(1.0, float(own.max(initial=0.0)))
        complete, largest, above = prices.update(alpha, chosen.index)
        if complete:
            feasible = alpha / largest
            bounds.offer_dual(program.dual_l1(feasible), feasible)
        controls.reached(
            f"columns, round {number + 1}", bounds.objective, bounds.relative_gap,
            f"  {len(beta)} columns, {len(above)} more above 1",
        )  # fmt: skip
        if bounds.relative_gap <= controls.tol:
            # Columns come and go here, and prices are of many rounds: certify once more.
            answer = best()
            answer = certify_l1(program, answer.beta, answer.t, answer.alpha)
            status = Status.OPTIMAL if answer.relative_gap <= controls.tol else Status.STALLED
            return Solution(status, answer, max(steps, 1), NAME)
        limited = status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT)
        if limited or controls.out_of_time() or (last and not len(above)):
            break
        open_gap = 1.0 - 1.0 / largest
        idle = np.flatnonzero((beta == 0.0) & (own < tuning.idle))
        beta = chosen.join(above, idle, beta)
    if controls.out_of_time():
        status = Status.TIME_LIMIT
    elif status is Status.OPTIMAL:
        status = Status.STALLED
    return Solution(status, best(), max(steps, 1), NAME)


class _Prices:
    """The prices of all columns, each from when it was last computed."""

    def __init__(
        self, rows: KernelColumns, controls: Controls, rng: np.random.Generator, tuning: Tuning
    ) -> None:
        self.rows, self.controls, self.tuning = rows, controls, tuning
        self.order = rng.permutation(rows.shape[1])
        self.prices = np.full(rows.shape[1], np.inf)

    def update(self, alpha: Vector, chosen: Index) -> tuple[bool, float, Index]:
        """Return whether all columns were seen, the largest price (at least 1), and who joins.

        The dearest come first.  It ends once enough are above 1; or a few, and the others were far
        from it.
        """
        tuning, prices = self.tuning, self.prices
        prices[prices < 0.0] = 1.0  # some of these may have left the choice
        prices[chosen] = -1.0
        order = self.order[np.argsort(-prices[self.order], kind="stable")]
        order = order[: len(order) - len(chosen)]
        seen = above = 0
        for part in self.rows.blocks(order, int(np.count_nonzero(alpha))):
            cheap = prices[part[0]] < 0.8
            if above >= (tuning.few if cheap else tuning.enough) or self.controls.out_of_time():
                break
            prices[part] = np.abs(self.rows.tdot_of(alpha, part))
            above += int(np.count_nonzero(prices[part] > 1.0))
            seen += len(part)
        new = order[:seen]
        largest = max(1.0, float(prices[new].max(initial=0.0)))
        joining = new[spread_choice(prices[new], tuning.joining)] if above else new[:0]
        return seen == len(order), largest, joining


class _ChosenColumns:
    """The columns in the problem at present, with the curvature that is known of them."""

    def __init__(self, program: RegularizedProgram, rows: KernelColumns) -> None:
        self.whole, self.rows = program, rows
        self.index = np.empty(0, dtype=np.intp)
        self.memory: Matrix = np.empty((0, rows.shape[0]))
        self.program = program
        self.model: Model | None = None

    def join(self, joining: Index, idle: Index, beta: Vector) -> Vector:
        """Put these columns in the places of idle ones and behind; return beta with them."""
        if not len(joining):
            return beta
        before, more = len(self.index), max(0, len(joining) - len(idle))
        places = np.append(idle[: len(joining)], np.arange(before, before + more))
        self.index = np.append(self.index, np.zeros(more, dtype=np.intp))
        self.index[places] = joining
        count = len(self.index)
        if count > len(self.memory):
            larger = np.empty((count + count // 2, self.memory.shape[1]))
            larger[:before] = self.memory[:before]
            self.memory = larger
        self.rows.write(joining, self.memory, places)
        columns = SelectedColumns(self.memory[:count])
        self.program = replace(self.whole, rows=columns, means=None)
        model = Model(self.program)
        if self.model is not None:
            model.exact.replace_columns(self.model.exact, columns, places)
        self.model = model
        return np.append(beta, np.zeros(more))


def _from_sample(
    program: RegularizedProgram,
    rows: KernelColumns,
    controls: Controls,
    rng: np.random.Generator,
    tuning: Tuning,
) -> tuple[Index, Vector, float | None]:
    """Return the columns that a sample of rows and columns uses, their coefficients, and t."""
    m, n = rows.shape
    size = max(tuning.least, m // tuning.thinner)
    sides = [np.flatnonzero(program.sign == side) for side in (-1.0, 1.0)]
    columns = np.sort(rng.permutation(n)[:size])
    if not all(len(side) for side in sides) or size >= m:
        return columns, np.zeros(len(columns)), None
    some, costs = [], []
    for side in sides:
        of = side[rng.permutation(len(side))[: max(size // 4, size * len(side) // m)]]
        some.append(of)
        costs.append(program.costs[of] * (program.costs[side].sum() / program.costs[of].sum()))
    part = rows.part(np.concatenate(some), columns)
    small = replace(program, rows=part, sign=part.sign, costs=np.concatenate(costs), means=None)
    loose = replace(controls, tol=max(0.1, controls.tol), watch=None)
    if size > tuning.least_priced:
        point = solve(small, part, loose, rng, tuning).certificate
    else:
        small = replace(small, rows=DenseRows(part.dense()))
        point = lasso.solve_path(small, (1.0,), loose, rng)[0].certificate
    used = np.flatnonzero(point.beta)
    if not len(used):
        return columns, np.zeros(len(columns)), None
    return columns[used], point.beta[used], point.t
