"""The exact optimum of a program with many rows, by solving it for a few of them.

At the optimum at most n rows sit on the kink a_i.beta = s.  All others are surely outside (their
cost is linear) or surely inside (their cost is zero).  So, as Portnoy and Koenker (1997) do for
quantile regression:

    1. solve a small sample, and measure at its optimum how large each row is (see ``ruler``);
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

from lincent.programs.arrays import AllRows, Rows, Vector
from lincent.programs.centralization import Program
from lincent.solvers.lp import interior_point
from lincent.solvers.lp.duplicate_rows import merge
from lincent.solvers.lp.rounds import Rounds
from lincent.solvers.lp.ruler import Ruler, ruler_of
from lincent.solvers.lp.smoothing import Near, approach, look
from lincent.solvers.solution import Controls, Solution

NAME = "screening"


@dataclass(frozen=True)
class Tuning:
    """What screening trades; measured on the tall shapes of ``benchmarks/workloads.py``."""

    small: int = 4000  # rows up to which the interior point on the whole is as fast
    start_rows: int = 30  # per column in the first sample: fewer leave more for the Newton steps
    start_more: int = 500
    start_tol: float = 1e-3  # of the first sample's solve: its optimum is off by more than that
    sample: float = 2.0  # times (m^2 n)^(1/3) rows in the second sample
    band: float = 2.0  # times sqrt(n / sample) of the rows are in doubt after a sample
    exact_rows: int = 30  # per column in the band of the exact solve
    newton_steps: int = 4  # on the whole; each costs two reads
    near_rows: int = 10  # per column, from a guess, which knows better than a sample
    near_steps: int = 8
    sketch_rows: int = 2000  # among which repetitions are looked for: a millisecond
    sketch_share: float = 0.5  # of them distinct, or fewer: a sort of all rows then pays


TUNING = Tuning()


def start_size(n: int) -> int:
    """Rows of the first sample, the only one solved from nothing."""
    return TUNING.start_rows * n + TUNING.start_more


def sample_size(m: int, n: int) -> int:
    """Rows of the sample before the whole: grows like (m^2 n)^(1/3), so its share of m falls."""
    return int(TUNING.sample * (float(m) ** 2 * n) ** (1 / 3)) + 1


def worthwhile(m: int, n: int) -> bool:
    """Whether the first sample is well below the whole."""
    return m > TUNING.small and m > 3 * start_size(n)


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
        return Rounds(program, whole, near, controls).run(steps)
    m, n = program.shape
    second = min(sample_size(m, n), whole.most_sampled)
    k = second if second > 2 * start_size(n) else start_size(n)
    sample = _Sample(program, *whole.sample(k, rng))
    merged = merge(program) if whole.here and sample.repeats(rng) else None
    if merged is not None:
        controls.tell(f"{merged.program.shape[0]} of {m} rows are distinct")
        return merged.expand(_solve_distinct(merged.program, controls, rng))
    near, whole, ruler, steps = _from_samples(program, whole, sample, k, controls, rng)
    return Rounds(program, whole, near, controls, ruler).run(steps)


def _solve_distinct(program: Program, controls: Controls, rng: np.random.Generator) -> Solution:
    if worthwhile(*program.shape) and program.shape[0] > TUNING.small:
        return solve(program, controls, rng)
    found = interior_point.solve(program.materialize(), controls)
    return replace(found, solver=NAME)


def _in_doubt(m: int, n: int, sample: int) -> int:
    """How many of m rows the optimum of a sample leaves in doubt."""
    return int(min(1.0, TUNING.band * np.sqrt(n / sample)) * m) + n


def _from_samples(
    program: Program,
    whole: AllRows,
    sample: _Sample,
    second: int,
    controls: Controls,
    rng: np.random.Generator,
) -> tuple[Near, AllRows, Ruler, int]:
    """A point near the optimum, the rows with their sizes, the ruler, and the steps taken."""
    m, n = program.shape
    k = start_size(n)
    beta, few_rows, iterations = sample.optimum_of(k, controls, rng)
    ruler = ruler_of(few_rows, beta, _in_doubt(k, n, k) / k, rng)
    if ruler.columns is not None:
        # Few rows are large, and the optimum hangs on them: they are drawn more often.
        whole = whole.sized(ruler.columns)
        if whole.sampled_by_size:
            sample = _Sample(program, *whole.sample(second, rng))
        sample.all_rows = sample.all_rows.sized(ruler.columns)
        beta, _, more = sample.optimum_of(k, controls, rng)
        iterations += more
    if second > k:
        larger, seen = sample.program, sample.all_rows
        near = look(larger, seen, larger.feasible(beta), _in_doubt(larger.shape[0], n, k))
        few = TUNING.exact_rows * n
        near, steps = approach(larger, seen, near, few, TUNING.near_steps, rng, controls.tell)
        beta, iterations = near.beta, iterations + steps
        del larger, seen
    del sample
    near = look(program, whole, program.feasible(beta), _in_doubt(m, n, second))
    few = max(TUNING.exact_rows * n, whole.spare_rows)
    steps = 0 if controls.out_of_time() else TUNING.newton_steps
    near, steps = approach(program, whole, near, few, steps, rng, controls.tell)
    return near, whole, ruler, iterations + steps


class _Sample:
    """Some rows that stand for all."""

    def __init__(self, program: Program, rows: Rows, costs: Vector) -> None:
        self.program = replace(program, rows=rows, costs=costs)
        self.all_rows: AllRows = rows.all_rows(costs, program.margin)

    def repeats(self, rng: np.random.Generator) -> bool:
        """Whether a few rows are mostly repetitions of each other; then so are all of them."""
        rows = self.program.rows.take(np.arange(min(TUNING.sketch_rows, self.program.shape[0])))
        keys = rows.dot(rng.standard_normal(rows.shape[1]))
        return len(np.unique(keys)) <= TUNING.sketch_share * len(keys)

    def optimum_of(
        self, k: int, controls: Controls, rng: np.random.Generator
    ) -> tuple[Vector, Program, int]:
        """The optimum of about k of these rows, their program, and the iterations spent."""
        program = self.program
        if program.shape[0] > k:
            rows, costs = self.all_rows.sample(k, rng)
            program = replace(program, rows=rows, costs=costs)
        solved = interior_point.solve(program, replace(controls, tol=TUNING.start_tol))
        return solved.certificate.beta, program, solved.iterations


def _from_guess(
    program: Program, whole: AllRows, guess: Guess, controls: Controls, rng: np.random.Generator
) -> tuple[Near, int]:
    """The guess, brought closer until a few rows around the kink remain; and the steps taken."""
    n = program.shape[1]
    few = max(TUNING.near_rows * n, whole.spare_rows)
    near = look(program, whole, program.feasible(guess.beta), max(guess.band, few // 2))
    return approach(program, whole, near, few, TUNING.near_steps, rng, controls.tell)
