"""The exact optimum of a program with many rows, by solving it for a few of them.

At the optimum at most n rows sit on the kink a_i.beta = s.  All others are surely outside (their
cost is linear) or surely inside (their cost is zero).  So, as Portnoy and Koenker (1997) do for
quantile regression:

    1. solve a small sample (see ``sample``), and measure at its optimum how large each row is (see
       ``ruler``);
    2. carry its optimum to that of a larger sample, and of the whole, by Newton steps on the
       smoothed program (see ``smoothing``);
    3. solve the rows near the kink, in their own sizes, exactly (see ``rounds``).

Where a neighboring problem was solved before (another margin, other costs), its optimum takes the
place of the sample: the Newton steps start there, or are not needed at all.

The data is read about a dozen times, whatever its size.  Where rows repeat so often that few are
distinct, those are found and solved instead (see ``duplicate_rows``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import AllRows, Vector
from lincent.problems.centralization import Program
from lincent.solvers.lp import interior_point
from lincent.solvers.lp.duplicate_rows import merge
from lincent.solvers.lp.rounds import Rounds
from lincent.solvers.lp.ruler import Ruler, ruler_of
from lincent.solvers.lp.sample import Sample, in_doubt
from lincent.solvers.lp.smoothing import Near, approach, look
from lincent.solvers.solution import Controls, Solution

NAME = "screening"


@dataclass(frozen=True)
class Tuning:
    """What screening trades; measured on the tall shapes of ``benchmarks/workloads.py``."""

    small: int = 4000  # rows up to which the interior point on the whole is as fast
    start_rows: int = 30  # per column in the first sample: fewer leave more for the Newton steps
    start_more: int = 500
    sample: float = 2.0  # times (m^2 n)^(1/3) rows in the second sample
    exact_rows: int = 30  # per column in the band of the exact solve
    columns: int = 100  # beyond which a row costs more than its place in a sample or a band: fewer
    least: float = 4.0  # per column then
    whole: float = 2.8  # times the first sample: rows from which on a sample pays
    second: float = 1 / 3  # of all rows that a second sample may have
    newton_steps: int = 7  # on the whole at most; each costs a read
    most_in_doubt: float = 0.5  # of the rows after that: more, and the whole costs less than rounds
    near_rows: int = 10  # per column, from a guess, which knows better than a sample
    near_steps: int = 8


TUNING = Tuning()


def per_column(rows: int, n: int) -> int:
    """So many rows for each of n columns; fewer where there are many columns, and a row is dear."""
    return int(max(rows * min(1.0, TUNING.columns / n), TUNING.least) * n)


def start_size(n: int) -> int:
    """Rows of the first sample, the only one solved from nothing."""
    return per_column(TUNING.start_rows, n) + TUNING.start_more


def sample_size(m: int, n: int) -> int:
    """Rows of the sample before the whole: grows like (m^2 n)^(1/3), so its share of m falls."""
    return int(TUNING.sample * (float(m) ** 2 * n) ** (1 / 3)) + 1


def worthwhile(m: int, n: int, *, sparse: bool = False) -> bool:
    """Whether the first sample is well below the whole; sparse rows are sooner named (n > 100)."""
    first = TUNING.start_rows * n + TUNING.start_more if sparse else start_size(n)
    return m > TUNING.small and m > TUNING.whole * first


@dataclass(frozen=True)
class Guess:
    """A point near the optimum, and the number of rows around the kink that it leaves in doubt."""

    beta: Vector
    band: int


def solve(
    program: Program,
    controls: Controls,
    rng: np.random.Generator,
    start: Guess | None = None,
) -> Solution:
    """The certified optimum over all rows; a start takes the place of the sample."""
    whole = program.rows.all_rows(program.costs, program.margin)
    if start is not None:
        near, steps = _from_guess(program, whole, start, controls, rng)
        search = Rounds(program, whole, near, controls)
        del near
        return search.run(steps)
    m, n = program.shape
    second = min(sample_size(m, n), whole.most_sampled)
    pays = 2 * start_size(n) < second <= TUNING.second * m
    k = second if pays else start_size(n)
    sample = Sample(program, *whole.sample(k, rng))
    merged = merge(program) if whole.on_host and sample.repeats(rng) else None
    if merged is not None:
        sample.release()
        controls.tell(f"{merged.program.shape[0]} of {m} rows are distinct")
        return merged.expand(_solve_distinct(merged.program, controls, rng))
    near, whole, ruler, steps = _from_samples(program, whole, sample, k, controls, rng)
    if whole.on_host and near.band > TUNING.most_in_doubt * m:
        found = interior_point.exact(program.materialize(), controls, near.beta)
        return replace(found, solver=NAME, iterations=steps + found.iterations)
    search = Rounds(program, whole, near, controls, ruler)
    del near
    return search.run(steps)


def _solve_distinct(program: Program, controls: Controls, rng: np.random.Generator) -> Solution:
    if worthwhile(*program.shape):
        return solve(program, controls, rng)
    found = interior_point.exact(program.materialize(), controls)
    return replace(found, solver=NAME)


def _from_samples(
    program: Program,
    whole: AllRows,
    sample: Sample,
    second: int,
    controls: Controls,
    rng: np.random.Generator,
) -> tuple[Near, AllRows, Ruler, int]:
    """A point near the optimum, the rows with their sizes, the ruler, and the steps taken."""
    n = program.shape[1]
    k = start_size(n)
    beta, iterations, ruler = _measured(sample.part(k, rng), controls, rng)
    if ruler.columns is not None:
        # Few rows are large, and the optimum hangs on them: they are drawn more often.
        whole = whole.sized(ruler.columns)
        if whole.sampled_by_size:
            sample.release()
            sample = Sample(program, *whole.sample(second, rng))
        sample.all_rows = sample.all_rows.sized(ruler.columns)
        beta, more = sample.part(k, rng).optimum(controls)
        iterations += more
    if second > k:
        few = per_column(TUNING.exact_rows, n)
        near = _seen_from(sample.program, sample.all_rows, beta, k)
        near, steps = approach(
            sample.program, sample.all_rows, near, few, TUNING.near_steps, rng, controls.tell
        )
        beta, iterations = near.beta, iterations + steps
        del near
    sample.release()
    few = max(per_column(TUNING.exact_rows, n), whole.spare_rows)
    steps = 0 if controls.out_of_time() else TUNING.newton_steps
    # Nobody but the approach holds the view that it begins with: it is as long as the data.
    near, steps = approach(
        program, whole, _seen_from(program, whole, beta, second), few, steps, rng, controls.tell
    )
    return near, whole, ruler, iterations + steps


def _measured(
    first: Sample, controls: Controls, rng: np.random.Generator
) -> tuple[Vector, int, Ruler]:
    """A point near the optimum of a small sample, the steps to it, and the ruler there."""
    beta, steps = first.near_optimum(controls, rng)
    k, n = first.program.shape
    return beta, steps, ruler_of(first.program, beta, in_doubt(k, n, k, 1.0) / k, rng)


def _seen_from(program: Program, rows: AllRows, beta: Vector, sample: int) -> Near:
    """All rows from the optimum of a sample, with those in doubt that chance leaves so."""
    m, n = program.shape
    near = look(program, rows, program.feasible(beta), in_doubt(m, n, sample, 1.0))
    below = near.view.below / float(program.costs.sum())
    # A little more than an exact solve takes: one step at least is better than a second round.
    least = per_column(TUNING.exact_rows, n) + 1
    return replace(near, band=max(in_doubt(m, n, sample, below), least))


def _from_guess(
    program: Program, whole: AllRows, guess: Guess, controls: Controls, rng: np.random.Generator
) -> tuple[Near, int]:
    """The guess, brought closer until a few rows around the kink remain; and the steps taken."""
    n = program.shape[1]
    few = max(TUNING.near_rows * n, whole.spare_rows)
    near = look(program, whole, program.feasible(guess.beta), max(guess.band, few // 2))
    return approach(program, whole, near, few, TUNING.near_steps, rng, controls.tell)
