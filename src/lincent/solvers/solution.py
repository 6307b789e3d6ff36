"""What every solver returns, and the controls every solver obeys."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lincent.problems.arrays import Certificate, Vector


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
    """A certified answer: the certificate is computed from the problem, whoever solved it."""

    status: Status
    certificate: Certificate
    iterations: int
    solver: str
    message: str = ""
    scale: Vector | None = None
    """The size of the columns, where the solver has learned it."""

    @property
    def relative_gap(self) -> float:
        return self.certificate.relative_gap

    def certified(self, tol: float) -> bool:
        """Whether the gap, rounding included, is proved to be within ``tol``."""
        return self.relative_gap <= tol


def not_begun(n: int) -> Solution:
    """What is known of a program of n columns whose turn came after the deadline: nothing."""
    nothing = Certificate(np.full(n, np.nan), np.empty(0), np.nan, np.nan, np.nan)
    return Solution(Status.TIME_LIMIT, nothing, 0, "none", "not begun before the deadline")


def silent(line: str) -> None:
    """Say nothing."""


class Watch(Protocol):
    """Sees the points that a solve proves, and may end it there."""

    stopped: bool

    def reached(self, objective: float, gap: float) -> None:
        """A point with this objective is proved to this relative gap."""


@dataclass(frozen=True)
class Controls:
    """When to stop and whom to tell.

    ``watch`` is for the whole program: a solver of a part of it, or of a sample, has none.
    ``start`` is a point (beta and t) to begin at, for solvers that begin at one: it changes the way
    to the optimum, not the place.
    """

    tol: float = 1e-9
    max_iter: int = 200
    deadline: float = float("inf")
    tell: Callable[[str], None] = field(default=silent)
    watch: Watch | None = None
    start: tuple[np.ndarray, float] | None = None

    def reached(self, where: str, objective: float, gap: float, more: str = "") -> None:
        """Tell of a point, and show it to the watch."""
        self.tell(f"{where}: objective {objective:.10e}  gap {gap:.1e}{more}")
        if self.watch is not None:
            self.watch.reached(objective, gap)

    def out_of_time(self, ahead: float = 0.0) -> bool:
        """Whether the deadline has passed, or will have in ``ahead`` seconds, or a watch stops."""
        if self.watch is not None and self.watch.stopped:
            return True
        return time.monotonic() + ahead >= self.deadline
