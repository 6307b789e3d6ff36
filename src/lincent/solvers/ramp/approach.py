"""To near a local optimum of the ramp program by Newton steps.

A model (U) of ``programs.ramp`` equals F where it was taken and is nowhere below it, so a step that
lowers a model lowers F by at least as much, wherever the model's minimizer is.  So J is taken anew
before every Newton step (``solvers.lp.simplex``), not after every minimizer: where rows are many
this leads to within a few exchanges of a local optimum for the price of a fraction of one model,
and the ``walk`` along the edges, which meets rows one by one, has little left to do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.programs.arrays import Vector
from lincent.programs.ramp import Mask, RampProgram
from lincent.solvers.lp import simplex
from lincent.solvers.solution import Controls


@dataclass(frozen=True)
class Tuning:
    """What steps trade; measured on ``benchmarks/workloads.py`` at 1,000 x 24 to 20,000 x 30."""

    least_entries: int = 20_000  # below which the walk from the first model is short
    beyond: float = 2.0  # rows per column beyond the wrong center: with fewer J hardly changes
    first_band: float = 4.0  # rows per column whose hinges the first step smooths
    rounds: int = 4  # of steps, each with a narrow band again
    gain: float = 1e-4  # of the objective: a round that lowers it by less is the last


TUNING = Tuning()


def worthwhile(program: RampProgram, beyond: Mask) -> bool:
    """Whether so many rows, and so many of J, that Newton steps pay, but not too many for them."""
    m, n = program.shape
    dense = not (program.rows.sparse or program.rows.far)
    usual = not program.hard and bool(program.costs.min() > 0)
    many = m * n > TUNING.least_entries and np.count_nonzero(beyond) > TUNING.beyond * n
    return bool(dense and usual and many and simplex.worthwhile(m, n))


@np.errstate(all="ignore")  # a point that is not finite has no objective and is not taken
def approach(program: RampProgram, start: Vector, controls: Controls) -> Vector:
    """A point near a local optimum of F, at most as high as the start."""
    near = _NearLocal(program, start)
    value = near.value()
    for _ in range(TUNING.rounds):
        near.approach(controls)
        before, value = value, near.value()
        if not before - value > TUNING.gain * abs(value) or controls.out_of_time():
            break
        near.band = simplex.TUNING.last_band
    return near.beta


class _NearLocal(simplex.NearVertex):
    """A point on its way, with the model that was taken there."""

    def __init__(self, program: RampProgram, start: Vector) -> None:
        self.ramp = program
        super().__init__(program.upper_model(program.beyond(start, program.rows.dot(start))), start)
        self.band = TUNING.first_band

    def value(self) -> float:
        """F here."""
        return self.ramp.objective(self.beta, self.program.margin - self.missed)

    def _step(self, band: int) -> float:
        projected = self.program.margin - self.missed
        self.program = self.ramp.upper_model(self.ramp.beyond(self.beta, projected))
        length = super()._step(band)
        # How much a round gains is judged by F; a share of a model's loss says little of it.
        self.gain = 1.0
        return length
