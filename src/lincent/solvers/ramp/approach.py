"""To near a local optimum of the ramp program by Newton steps.

A model (U) of ``programs.ramp`` equals F where it was taken and is nowhere below it, so a step that
lowers a model lowers F by at least as much, wherever the model's minimizer is.  So J is taken anew
before every Newton step (``solvers.lp.simplex``), not after every minimizer: where rows are many
this leads to within a few exchanges of a local optimum for the price of a fraction of one model,
and the ``walk`` along the edges, which meets rows one by one, has little left to do.

How far to go along a step F itself says: it falls on where a model, which counts the rows that
enter J on the way as if they cost more and more, has long turned up.  On pure noise steps are up to
eight times as long, and end lower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.ramp import RampProgram
from lincent.solvers.lp import simplex
from lincent.solvers.solution import Controls


@dataclass(frozen=True)
class Tuning:
    """What steps trade; measured on ``benchmarks/workloads.py`` at 200 x 6 to 1,000,000 x 10."""

    least_entries: int = 4_000  # below which the walk from the first model is short
    most_entries: int = 10_000_000  # beyond which rows are not read for every step
    most_columns: int = 64  # beyond which a basis is dear, and steps lead too far from one
    least_rows: int = 3  # per column: with fewer the classes are separable, and the box is met
    first_band: float = 4.0  # rows per column whose hinges the first step smooths
    last_band: float = 2.0  # and of the last, at least
    shrink: float = 0.25  # of a band, at most, from one step to the next
    grow: float = 2.0  # of a band that led nowhere
    widest: float = 64.0  # rows per column of a band that is worth a step
    steps: int = 64  # at most: what is left costs the walk less
    longer: tuple[float, ...] = (2.0, 4.0, 8.0)  # lengths of a step while F falls
    shorter: tuple[float, ...] = (0.5, 0.2, 0.05)  # and where it does not
    gain: float = 1e-4  # of the objective: a step that lowers it by less is flat
    patience: int = 2  # flat steps in a row after which the walk goes on


TUNING = Tuning()


def worthwhile(program: RampProgram) -> bool:
    """Whether there are so many rows that Newton steps pay, but not too many for them."""
    m, n = program.shape
    dense = not (program.rows.sparse or program.rows.far)
    usual = not program.hard and bool(program.costs.min() > 0)
    entries = TUNING.least_entries < m * n <= TUNING.most_entries
    shape = entries and n <= TUNING.most_columns and m >= TUNING.least_rows * n
    return bool(dense and usual and shape)


@np.errstate(all="ignore")  # a point that is not finite has no objective and is not taken
def approach(program: RampProgram, start: Vector, controls: Controls) -> Vector:
    """A point near a local optimum of F, at most as high as the start."""
    m, n = program.shape
    near = _NearLocal(program, start)
    band, least, flat = TUNING.first_band * n, TUNING.last_band * n, 0
    largest = min(m // 2, int(TUNING.widest * n))
    for _ in range(TUNING.steps):
        before = near.beyond
        length, gain = near.step(min(int(band), largest))
        stuck = length == 0.0 and band >= largest
        flat = 0 if gain > TUNING.gain else flat + (length > 0.0)
        if stuck or flat == TUNING.patience or controls.out_of_time():
            break
        if length == 0.0:  # so narrow a band leads nowhere here, and would not later
            band = least = TUNING.grow * band
        else:
            turned = np.count_nonzero(before != near.beyond)
            band = max(turned / length, TUNING.shrink * band, least)
    return near.beta


class _NearLocal(simplex.NearVertex):
    """A point on its way; of the program only what all models share is used."""

    value: float | None  # of F here, where it is known

    def __init__(self, program: RampProgram, start: Vector) -> None:
        self.ramp, self.value = program, None
        super().__init__(program.upper_model(np.zeros(program.shape[0], dtype=bool)), start)

    def step(self, band: int) -> tuple[float, float]:
        """One Newton step on a new model: its length, and its gain as a share of F."""
        self.gain = 0.0
        return self._step(band), self.gain

    def _slope(self, alpha: Vector) -> Vector:
        # That of the model taken here: its linear term and its hinges in one product.
        ramp = self.ramp
        beyond = ramp.beyond(self.beta, self.program.margin - self.missed)
        capped = np.where(beyond, ramp.costs, 0.0)
        both = 2.0 * capped - alpha
        return both @ self.rows + (float(capped.sum()) - 1.0) * ramp.difference

    def move(self, step: Vector, along: Vector) -> float:
        """Go along a step as far as F falls: a model, which is above it, would stop too early."""
        ramp, slope = self.ramp, float(self.ramp.difference @ step)
        reach, doubled = float(ramp.difference @ self.beta), 2.0 * along
        capped = 2.0 * self.missed - ramp.margin  # -2 a_i.beta: a model's margin is half of s

        def value(length: float) -> float:
            there = reach + length * slope
            loss = np.minimum(capped - length * doubled, there)
            return float(np.maximum(loss, -ramp.margin, out=loss) @ ramp.costs) - there

        here = value(0.0) if self.value is None else self.value
        best, lowest = 1.0, value(1.0)
        room = self._room(step)
        for longer in TUNING.longer:
            there = value(longer) if longer <= room else np.inf
            if there >= lowest:
                break
            best, lowest = longer, there
        if best == 1.0:
            for shorter in TUNING.shorter:
                there = value(shorter)
                if there >= lowest and lowest < here:
                    break
                best, lowest = shorter, there
        if not lowest < here:
            return 0.0
        self.value, self.gain = lowest, (here - lowest) / max(abs(lowest), 1e-300)
        self.stand(self.beta + best * step, self.missed - best * along)
        return best

    def _room(self, step: Vector) -> float:
        """The length of a step at which it leaves the box or d.beta falls below the separation."""
        program = self.program
        room = np.where(step > 0, program.upper, program.lower) - self.beta
        reach, slope = float(program.difference @ self.beta), float(program.difference @ step)
        apart = (program.separation - reach) / slope if slope < 0 else np.inf
        return float(min(np.min(room[step != 0] / step[step != 0], initial=np.inf), apart))
