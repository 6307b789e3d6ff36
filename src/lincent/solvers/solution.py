"""The result of every solver, and the controls that every solver obeys."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Certificate


class Status(enum.Enum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    STALLED = "stalled"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INFEASIBLE = "infeasible"
    FAILED = "failed"


@dataclass(frozen=True)
class Solution:
    """A point with its duality-gap certificate, which is computed from the problem alone."""

    status: Status
    certificate: Certificate
    iterations: int
    solver: str
    message: str = ""
    scale: Vector | None = None
    """The scale of the features, where the solver has computed it."""

    @property
    def relative_gap(self) -> float:
        return self.certificate.relative_gap

    def certified(self, tol: float) -> bool:
        """Return whether the relative gap, rounding included, is at most ``tol``."""
        return self.relative_gap <= tol


def not_begun(n: int) -> Solution:
    """Return the solution of a problem of n features that the deadline left unsolved."""
    nothing = Certificate(np.full(n, np.nan), np.empty(0), np.nan, np.nan, np.nan)
    return Solution(Status.TIME_LIMIT, nothing, 0, "none", "not begun before the deadline")


def silent(line: str) -> None:
    """Log nothing."""


class Watch(Protocol):
    """Observes the certified points of a solve, and may end it."""

    stopped: bool

    def reached(self, objective: float, gap: float) -> None:
        """Note a point with this objective and this certified relative gap."""


@dataclass(frozen=True)
class Controls:
    """When to stop, where to log (``tell``), and who observes.

    ``watch`` is for the whole problem: a solver of a subproblem, or of a subsample, has none.
    ``start`` is a point (beta and t) for a warm start; it does not affect the optimum.
    """

    tol: float = 1e-9
    max_iter: int = 200
    deadline: float = float("inf")
    tell: Callable[[str], None] = field(default=silent)
    watch: Watch | None = None
    start: tuple[np.ndarray, float] | None = None

    def reached(self, where: str, objective: float, gap: float, more: str = "") -> None:
        """Log a point, and show it to the observer."""
        self.tell(f"{where}: objective {objective:.10e}  gap {gap:.1e}{more}")
        if self.watch is not None:
            self.watch.reached(objective, gap)

    def out_of_time(self, ahead: float = 0.0) -> bool:
        """Return whether the deadline is over in ``ahead`` seconds, or the observer stops."""
        if self.watch is not None and self.watch.stopped:
            return True
        return time.monotonic() + ahead >= self.deadline
