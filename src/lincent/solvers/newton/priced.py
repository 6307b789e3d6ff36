"""The regularized program with an L1 term where columns are too many to be held at once.

A solution has few columns.  So the program is solved on a choice of columns (see ``lasso``), and
the others are priced: with its multipliers alpha, column j can lower the objective only if

    |sum_i alpha_i a_ij| > 1.

Only rows with a multiplier have a part in that, and these are few where classes are apart.  Prices
of all columns for one alpha give the bound: alpha over the largest meets every constraint.  The
first choice is what a sample of rows and columns uses, found in the same way.  Where most rows have
a multiplier and the matrix is not large, it is formed after all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.problems.regularized import RegularizedProgram, certify_l1
from lincent.solvers.newton import lasso
from lincent.solvers.newton.lasso import NAME, Model, SparseReader, descend, spread_choice
from lincent.solvers.newton.start import even_at_zero
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.dense import DenseRows
from lincent.sources.kernel import KernelColumns, SelectedColumns


@dataclass(frozen=True)
class Tuning:
    """Measured on RBF kernels of 1,000 to 50,000 rows."""

    thinner: int = 16
    """A sample has so many times fewer rows and columns ..."""
    least: int = 300
    """... but no fewer than this."""
    least_priced: int = 700
    """Samples of up to so many rows have their matrix formed."""
    busy: float = 0.6
    formed: int = 5000
    """With a larger share of rows that have a multiplier the matrix is formed, up to this order:
    the same entries would be computed again and again."""
    sample_tol: float = 0.1
    joining: int = 200
    """Columns that join at most."""
    enough: int = 600
    """A round ends when so many are above 1 ..."""
    few: int = 60
    near: float = 0.8
    """... or a few are, and all that had a higher price than this were seen."""
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
    first, beta, t = _sampled(program, rows, controls, rng, tuning)
    sides, choice = _Sides(program), _Choice(program, rows)
    prices = _Prices(rows, controls, rng, tuning)
    choice.join(first, np.empty(0, dtype=np.intp), np.empty(0))
    open_gap, steps, status = 1.0, 0, Status.STALLED
    for number in range(tuning.rounds):
        reader = SparseReader(choice.program)
        tol = max(tuning.part_tol * controls.tol, tuning.loose * open_gap)
        last = tol <= tuning.part_tol * controls.tol
        point = reader.at_zero(even_at_zero(reader)) if t is None else reader.at(beta, t)
        limits = replace(controls, tol=tol, max_iter=controls.max_iter - steps, watch=None)
        status, found, more = descend(reader, point, limits, choice.model)
        steps += more
        beta, t = found.low.beta, found.low.t
        sides.point(found.low.objective, choice.chosen, beta, t)
        alpha = program.balanced(program.costs * found.high.pull)
        busy = np.count_nonzero(alpha) > tuning.busy * len(alpha)
        # With the columns of the sample alone most rows of any data may have one.
        if number == 1 and busy and max(rows.shape) <= tuning.formed:
            return _formed(program, rows, sides.certificate(), controls, rng)
        # With these the constraints hold in the columns of the choice.
        own = np.abs(choice.program.rows.tdot(alpha))
        alpha /= max(1.0, float(own.max(initial=0.0)))
        whole, most, above = prices.look(alpha, choice.chosen)
        if whole:
            sides.multipliers(alpha / most)
        answer = sides.certificate()
        controls.reached(
            f"columns, round {number + 1}", answer.objective, answer.relative_gap,
            f"  {len(beta)} columns, {len(above)} more above 1",
        )  # fmt: skip
        if answer.relative_gap <= controls.tol:
            return _proved(program, answer, controls, steps)
        limited = status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT)
        if limited or controls.out_of_time() or (last and not len(above)):
            break
        open_gap = 1.0 - 1.0 / most
        idle = np.flatnonzero((beta == 0.0) & (own < tuning.idle))
        beta = choice.join(above, idle, beta)
    if controls.out_of_time():
        status = Status.TIME_LIMIT
    elif status is Status.OPTIMAL:
        status = Status.STALLED
    return Solution(status, sides.certificate(), max(steps, 1), NAME)


def _proved(
    program: RegularizedProgram, answer: Certificate, controls: Controls, steps: int
) -> Solution:
    """Columns come and go here, and prices are of many rounds: once more, from nothing."""
    answer = certify_l1(program, answer.beta, answer.t, answer.alpha)
    status = Status.OPTIMAL if answer.relative_gap <= controls.tol else Status.STALLED
    return Solution(status, answer, max(steps, 1), NAME)


def _formed(
    program: RegularizedProgram,
    rows: KernelColumns,
    point: Certificate,
    controls: Controls,
    rng: np.random.Generator,
) -> Solution:
    """The same with the whole matrix, from a point on."""
    program = replace(program, rows=DenseRows(rows.dense()), means=None)
    controls = replace(controls, start=(point.beta, point.t))
    return lasso.solve_path(program, (1.0,), controls, rng)[0]


class _Prices:
    """What is known of the prices of all columns."""

    def __init__(
        self, rows: KernelColumns, controls: Controls, rng: np.random.Generator, tuning: Tuning
    ) -> None:
        self.rows, self.controls, self.tuning = rows, controls, tuning
        self.order = rng.permutation(rows.shape[1])
        self.known = np.full(rows.shape[1], np.inf)
        """The price of each column when it was last looked at."""

    def look(self, alpha: Vector, chosen: Index) -> tuple[bool, float, Index]:
        """Whether all columns were seen, the largest price (at least 1), and who should join.

        The dearest come first.  It ends once enough are above 1; or a few, and the others were far
        from it.
        """
        tuning, known = self.tuning, self.known
        known[known < 0.0] = 1.0  # some of these may have left the choice
        known[chosen] = -1.0
        order = self.order[np.argsort(-known[self.order], kind="stable")]
        order = order[: len(order) - len(chosen)]
        seen = above = 0
        for part in self.rows.blocks(order, int(np.count_nonzero(alpha))):
            far = known[part[0]] < tuning.near
            if above >= (tuning.few if far else tuning.enough) or self.controls.out_of_time():
                break
            known[part] = np.abs(self.rows.tdot_of(alpha, part))
            above += int(np.count_nonzero(known[part] > 1.0))
            seen += len(part)
        fresh = order[:seen]
        most = max(1.0, float(known[fresh].max(initial=0.0)))
        joining = fresh[spread_choice(known[fresh], tuning.joining)] if above else fresh[:0]
        return seen == len(order), most, joining


class _Choice:
    """The columns in the program at present, with the curvature that is known of them."""

    def __init__(self, program: RegularizedProgram, rows: KernelColumns) -> None:
        self.whole, self.rows = program, rows
        self.chosen = np.empty(0, dtype=np.intp)
        self.room: Matrix = np.empty((0, rows.shape[0]))
        self.program = program
        self.model: Model | None = None

    def join(self, joining: Index, idle: Index, beta: Vector) -> Vector:
        """These columns join, in the places of idle ones as far as there are; beta with them."""
        if not len(joining):
            return beta
        before, more = len(self.chosen), max(0, len(joining) - len(idle))
        places = np.append(idle[: len(joining)], np.arange(before, before + more))
        self.chosen = np.append(self.chosen, np.zeros(more, dtype=np.intp))
        self.chosen[places] = joining
        count = len(self.chosen)
        if count > len(self.room):
            larger = np.empty((count + count // 2, self.room.shape[1]))
            larger[:before] = self.room[:before]
            self.room = larger
        self.rows.write(joining, self.room, places)
        columns = SelectedColumns(self.room[:count])
        self.program = replace(self.whole, rows=columns, means=None)
        model = Model(self.program)
        if self.model is not None:
            model.whole.exchange(self.model.whole, columns, places)
        self.model = model
        return np.append(beta, np.zeros(more))


def _sampled(
    program: RegularizedProgram,
    rows: KernelColumns,
    controls: Controls,
    rng: np.random.Generator,
    tuning: Tuning,
) -> tuple[Index, Vector, float | None]:
    """The columns that a sample of rows and columns uses, with their coefficients and t."""
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
    index = np.concatenate(some)
    part = rows.part(index, columns)
    small = replace(program, rows=part, sign=part.sign, costs=np.concatenate(costs), means=None)
    loose = replace(controls, tol=max(tuning.sample_tol, controls.tol), watch=None)
    if size > tuning.least_priced:
        point = solve(small, part, loose, rng, tuning).certificate
    else:
        small = replace(small, rows=DenseRows(part.dense()))
        point = lasso.solve_path(small, (1.0,), loose, rng)[0].certificate
    used = np.flatnonzero(point.beta)
    if not len(used):
        return columns, np.zeros(len(columns)), None
    return columns[used], point.beta[used], point.t


class _Sides:
    """The lowest point and the highest bound so far; zero bounds the objective from below."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        m, n = program.shape
        self.beta, self.t, self.objective = np.zeros(n), 0.0, np.inf
        self.alpha, self.bound = np.zeros(m), 0.0

    def point(self, objective: float, chosen: Index, beta: Vector, t: float) -> None:
        if objective < self.objective:
            self.objective, self.t = objective, t
            self.beta = np.zeros_like(self.beta)
            self.beta[chosen] = beta

    def multipliers(self, alpha: Vector) -> None:
        bound = self.program.dual_l1(alpha)
        if bound > self.bound:
            self.bound, self.alpha = bound, alpha

    def certificate(self) -> Certificate:
        return Certificate(
            self.beta, self.alpha, self.t, self.objective, self.bound, unit=self.program.unit
        )
