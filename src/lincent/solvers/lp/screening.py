"""Screening: the exact optimum of a program with many more rows than columns, from few of them.

At the optimum at most n rows are active.  All others surely violate the margin (their loss is
linear) or surely keep it (their loss is zero).  So, as Portnoy and Koenker (1997) do for quantile
regression:

    1. solve a small sample, and estimate at its optimum how far each row can move;
    2. carry its optimum to that of a larger sample, and of the whole, by Newton steps on the
       smoothed program (``smoothing``);
    3. solve the rows near the margin exactly, the others as a sum (``rounds``).

Where a neighboring problem was solved before (another margin, other costs), its optimum takes the
place of the sample.  The data is read about a dozen times, whatever its size.  Where rows repeat so
often that few are distinct, those are solved instead (``duplicate_rows``).

**How many rows a sample leaves undecided.**  The optimum of k rows differs from that of the whole
by sampling error.  With a fraction p of the rows violating the margin the sample's gradient is off
by about sqrt(p k n) rows, and so many of its k rows are undecided.

**How far a row can move.**  With features of scale s_j the error of beta is about proportional to
1 / s_j, so row i moves by about its size |a_i / s|, and is undecided where |a_i.beta - margin| is
not much larger than that.  On data with outliers sizes differ by factors of hundreds: a band of one
width for all rows is then nearly the whole data, and still misses the largest ones.  Rows are
measured by |a_i G|, G = diag(1 / s) R with R a random matrix of a few columns, which is the size up
to a quarter, for one pass over the data.  (The covariance of the error, estimated from a sample,
gained nothing over this on 19 kinds of data.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import AllRows, Matrix, Rows, Vector
from lincent.problems.centralization import Program
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp import interior_point, rounds
from lincent.solvers.lp.duplicate_rows import merge
from lincent.solvers.lp.interior_point import discriminant_start
from lincent.solvers.lp.rounds import Rounds, solve_subproblem
from lincent.solvers.lp.smoothing import Evaluated, approach, evaluate
from lincent.solvers.solution import Controls, Solution

NAME = rounds.NAME

# Trade-offs, measured on the tall shapes of ``benchmarks/workloads.py``.
START_ROWS = 30
"""Rows per column in the first sample (fewer leave more for the Newton steps),"""
START_MORE = 500
"""and further ones."""
EXACT_ROWS = 30
"""Rows per column in the band of the exact solve."""
COLUMNS = 100
"""Columns beyond which a row costs more than its place in a sample or a band is worth."""
NEWTON_STEPS = 7
"""Newton steps on all rows at most; each costs a pass."""
NEAR_STEPS = 8
TOL = 1e-3
"""Tolerance of the sample: its optimum is off by more than that."""
BAND = 4.0
"""Fraction of rows undecided after a sample, in sqrt(p n / sample)."""
SKETCH_ROWS = 2000
"""Rows among which repetitions are looked for: a millisecond."""
METRIC_COLUMNS = 8
"""Columns of R: eight measure a size to a quarter, sixteen to a sixth."""
HEAVY = 3.0
"""Sizes whose largest thousandth is below so many medians count as one."""


def per_column(rows: int, n: int) -> int:
    """Return so many rows for each of n columns; fewer, down to four, where columns are many."""
    return int(max(rows * min(1.0, COLUMNS / n), 4.0) * n)


def start_size(n: int) -> int:
    """Return the rows of the first sample, the only one solved from nothing."""
    return per_column(START_ROWS, n) + START_MORE


def sample_size(m: int, n: int) -> int:
    """Return the rows of the second sample, like (m^2 n)^(1/3): a decreasing fraction of m."""
    return int(2.0 * (float(m) ** 2 * n) ** (1 / 3)) + 1


def undecided(m: int, n: int, sample: int, violating: float) -> int:
    """Return how many of m rows a sample leaves undecided; ``violating`` is p above."""
    # Above a quarter p says nothing more: both sides of the margin contribute.
    share = BAND * np.sqrt(min(violating, 0.25) * n / sample)
    return int(min(1.0, share) * m) + 3 * n


def is_applicable(m: int, n: int, *, sparse: bool = False) -> bool:
    """Return whether the first sample is well below the whole.

    Up to 4,000 rows the interior point on the whole is as fast; with more than 100 columns active
    sparse rows are identified faster (``sparse``).
    """
    first = START_ROWS * n + START_MORE if sparse else start_size(n)
    return m > 4000 and m > 2.8 * first


@dataclass(frozen=True)
class Guess:
    """A point near the optimum, and the number of rows around the margin it leaves undecided."""

    beta: Vector
    band: int


def solve(
    program: Program, controls: Controls, rng: np.random.Generator, start: Guess | None = None
) -> Solution:
    """Return the certified optimum over all rows; a start takes the place of the sample."""
    whole = program.rows.all_rows(program.costs, program.margin)
    m, n = program.shape
    if start is not None:
        few = max(10 * n, whole.spare_rows)  # a guess is closer than a sample
        point = evaluate(program, whole, program.feasible(start.beta), max(start.band, few // 2))
        point, steps = approach(program, whole, point, few, NEAR_STEPS, rng, controls.tell)
        search = Rounds(program, whole, point, controls)
        del point  # as long as the data, unlike what the search keeps of it
        return search.run(steps)
    second = min(sample_size(m, n), whole.most_sampled)
    pays = 2 * start_size(n) < second <= m / 3
    k = second if pays else start_size(n)
    sample = Sample(program, *whole.sample(k, rng))
    merged = merge(program) if whole.on_host and sample.repeats(rng) else None
    if merged is not None:
        sample.release()
        controls.tell(f"{merged.program.shape[0]} of {m} rows are distinct")
        if is_applicable(*merged.program.shape):
            return merged.expand(solve(merged.program, controls, rng))
        solution = interior_point.exact(merged.program.materialize(), controls)
        return merged.expand(replace(solution, solver=NAME))
    point, whole, metric, steps = _from_samples(program, whole, sample, k, controls, rng)
    if whole.on_host and point.band > m / 2:
        solution = interior_point.exact(program.materialize(), controls, point.beta)
        return replace(solution, solver=NAME, iterations=steps + solution.iterations)
    search = Rounds(program, whole, point, controls, metric.scale, metric.spread)
    del point
    return search.run(steps)


def _from_samples(
    program: Program,
    whole: AllRows,
    sample: Sample,
    second: int,
    controls: Controls,
    rng: np.random.Generator,
) -> tuple[Evaluated, AllRows, Metric, int]:
    """Return a point near the optimum, the rows with their sizes, the metric, and the steps."""
    n = program.shape[1]
    k = start_size(n)
    first = sample.subset(k, rng)
    metric = metric_at(first.program.rows, rng)
    near = first.near_optimum(controls, rng) if metric.columns is None else None
    del first  # its samples are a copy
    if near is None:
        # Few rows are large, and the optimum depends on them: they are drawn more often.
        whole = whole.sized(metric.columns)
        if whole.sampled_by_size:
            sample.release()
            sample = Sample(program, *whole.sample(second, rng))
        sample.all_rows = sample.all_rows.sized(metric.columns)
        near = sample.subset(k, rng).optimum(controls)
    beta, iterations = near
    if second > k:
        few = per_column(EXACT_ROWS, n)
        point = _seen_from(sample.program, sample.all_rows, beta, k)
        point, steps = approach(
            sample.program, sample.all_rows, point, few, NEAR_STEPS, rng, controls.tell
        )
        beta, iterations = point.beta, iterations + steps
        del point
    sample.release()
    few = max(per_column(EXACT_ROWS, n), whole.spare_rows)
    steps = 0 if controls.out_of_time() else NEWTON_STEPS
    # Only ``approach`` holds the view that it begins with: it is as long as the data.
    point, steps = approach(
        program, whole, _seen_from(program, whole, beta, second), few, steps, rng, controls.tell
    )
    return point, whole, metric, iterations + steps


def _seen_from(program: Program, rows: AllRows, beta: Vector, sample: int) -> Evaluated:
    """Evaluate all rows at the optimum of a sample, with the undecided ones as the band."""
    m, n = program.shape
    point = evaluate(program, rows, program.feasible(beta), undecided(m, n, sample, 1.0))
    violating = point.view.below / float(program.costs.sum())
    # A little more than an exact solve takes: one step at least is better than a second round.
    least = per_column(EXACT_ROWS, n) + 1
    return replace(point, band=max(undecided(m, n, sample, violating), least))


class Sample:
    """Some rows that represent all."""

    def __init__(self, program: Program, rows: Rows, costs: Vector) -> None:
        self.program = replace(program, rows=rows, costs=costs)
        self.all_rows: AllRows = rows.all_rows(costs, program.margin)

    def release(self) -> None:
        """Drop the rows: whoever still holds this sample does not hold them."""
        del self.program, self.all_rows

    def repeats(self, rng: np.random.Generator) -> bool:
        """Return whether a few rows are mostly repetitions of each other; then so are all."""
        rows = self.program.rows.take(np.arange(min(SKETCH_ROWS, self.program.shape[0])))
        keys = rows.dot(rng.standard_normal(rows.shape[1]))
        return len(np.unique(keys)) <= 0.5 * len(keys)

    def subset(self, k: int, rng: np.random.Generator) -> Sample:
        """Return about k of these rows, or all where there are no more."""
        if self.program.shape[0] <= k:
            return self
        return Sample(self.program, *self.all_rows.sample(k, rng))

    def optimum(self, controls: Controls) -> tuple[Vector, int]:
        """Return the optimum of these rows, and the iterations spent."""
        solution = solve_subproblem(self.program, replace(controls, tol=TOL, watch=None))
        return solution.certificate.beta, solution.iterations

    def near_optimum(self, controls: Controls, rng: np.random.Generator) -> tuple[Vector, int]:
        """Return a point as near to the optimum as sampling error, and the steps spent.

        Newton steps from the discriminant direction cost a fraction of an exact solve.  Where rows
        of very different sizes blur them and they do not settle, the sample is solved.
        """
        program, (m, n) = self.program, self.program.shape
        try:
            start = discriminant_start(program, program.rows.column_scale())[0]
        except NotPositiveDefiniteError:
            return self.optimum(controls)
        point = evaluate(program, self.all_rows, program.feasible(start), m // 2)
        few = undecided(m, n, m, point.view.below / float(program.costs.sum()))
        point, steps = approach(program, self.all_rows, point, few, 12, rng, controls.tell)
        return (point.beta, steps) if point.band <= few else self.optimum(controls)


@dataclass(frozen=True)
class Metric:
    """How to measure rows, and how far each coefficient moves where a typical row moves by 1."""

    columns: Matrix | None  # None: all rows have about the same size
    spread: Vector
    scale: Vector  # of the features


def metric_at(rows: Rows, rng: np.random.Generator) -> Metric:
    """Return the metric of the rows of a sample."""
    scale, n, k = rows.column_scale(), rows.shape[1], METRIC_COLUMNS
    spread = 1.0 / scale
    root = spread[:, None] * (rng.standard_normal((n, k)) / np.sqrt(k) if n > k else np.eye(n))
    size = rows.sizes(root)
    typical = float(np.median(size))
    if not 0 < typical < np.inf:
        return Metric(None, spread, scale)
    return Metric(root / typical if _differ(size) else None, spread / typical, scale)


def _differ(size: Vector) -> bool:
    """Return whether some rows are much larger than most."""
    middle, large = len(size) // 2, len(size) - 1 - len(size) // 1000
    ordered = np.partition(size, [middle, large])
    return bool(ordered[large] >= HEAVY * ordered[middle])
