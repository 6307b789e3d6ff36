"""The next margin of a path by exchanges, from the vertex of the last.

The rates of the tableau (``crossover``), E inv(B), do not depend on the margin: only the place of
each hinge does.  So the tableau of one margin becomes that of the next by one product with the
right-hand sides, and the exchanges go on from there: as many as hinges join or leave the basis
between two margins, which on little data is a fraction of those that lead there from nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Program
from lincent.solvers.lp.tableau import Tableau
from lincent.solvers.solution import Controls, Solution, Status

NAME = "exchanges"


@dataclass(frozen=True)
class Tuning:
    """What exchanges along a path trade; measured by ``benchmarks/everyday.py tuning``."""

    most_entries: int = 30_000  # beyond which Newton steps, which pass many hinges at once, pay
    most_columns: int = 64  # beyond which a basis is dear
    few_entries: int = 6_000  # up to which calls are all that counts, and exchanges are fewest
    turned: float = 0.5  # rows per column that turn, beyond which Newton steps pay as well
    steps_above: float = 5.0  # rows per column: with fewer, Newton steps have nothing to sum up
    exchanges: int = 12  # per column and margin
    drift: int = 200  # exchanges after which the tableau is formed anew
    met: float = 1e-18  # of the mean square distance: below it a hinge is met


TUNING = Tuning()


def affordable(program: Program) -> bool:
    """Whether the tableau of all rows is small enough to be exchanged in."""
    m, n = program.shape
    near = not (program.rows.is_remote or program.rows.sparse)
    return near and m * n <= TUNING.most_entries and n <= TUNING.most_columns


def short(program: Program) -> bool:
    """Whether exchanges are cheaper than Newton steps, however many rows change sides."""
    m, n = program.shape
    return affordable(program) and (m * n <= TUNING.few_entries or m < TUNING.steps_above * n)


def worthwhile(program: Program, turned: int) -> bool:
    """Whether this is cheaper than Newton steps, where about so many rows change sides."""
    few = turned <= TUNING.turned * program.shape[1]
    return short(program) or (few and affordable(program))


@dataclass(frozen=True)
class Vertex:
    """A point where n hinges of a program are met, and a_i.beta of every row there."""

    program: Program
    beta: Vector
    projected: Vector

    def stiffness(self) -> Vector:
        """How near each hinge is to its bend; those that are met count alike."""
        program, beta = self.program, self.beta
        missed = program.margin - self.projected
        reach = float(program.difference @ beta) - program.separation
        distance = np.concatenate([missed, beta - program.lower, program.upper - beta, [reach]])
        met = TUNING.met * (float(missed @ missed) / len(missed) + program.margin**2)
        return np.asarray(1.0 / (distance * distance + met))


class MarginExchanges:
    """The tableau of the last margin, where there is one."""

    def __init__(self) -> None:
        self._tableau: Tableau | None = None
        self._since = 0

    def forget(self) -> None:
        """The last point of the path is not the vertex of this tableau."""
        self._tableau = None

    def solve(self, program: Program, last: Vertex, controls: Controls) -> Solution | None:
        """The certified vertex of a program from that of another margin, or None."""
        tableau = self._aimed(program, last)
        if tableau is None:
            return None
        before = tableau.exchanges
        self._tableau = None  # until it is known to be good
        if not tableau.descend(TUNING.exchanges * program.shape[1] + 20):
            return None
        answer = tableau.certificate(program.feasible(last.beta))
        if answer.relative_gap > controls.tol:
            return None
        self._tableau = tableau
        return Solution(Status.OPTIMAL, answer, tableau.exchanges - before, NAME)

    def _aimed(self, program: Program, last: Vertex) -> Tableau | None:
        """The tableau of a program at the basis of the last vertex."""
        tableau = self._tableau
        if tableau is None or tableau.program.costs is not program.costs:
            self._since = 0
            tableau = Tableau(program, last.stiffness())
            return tableau if tableau.usable else None
        fresh = tableau.exchanges - self._since > TUNING.drift
        if fresh:
            self._since = tableau.exchanges
        return tableau if tableau.aim(program, fresh=fresh) else None
