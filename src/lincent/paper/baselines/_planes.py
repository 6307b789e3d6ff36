"""Twin planes: each class gets a plane of its own, and a row belongs to the nearer one.

u = (w+, b+) lies close to the positive rows and away from the negative ones, v = (w-, b-) the
other way round.  The score is the difference of the two distances,

    |w-.x + b-| / |w-| - |w+.x + b+| / |w+|,

positive where the plane of the positive class is nearer.  It is not linear in x, so there is no
single ``coef_``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.problem import TwoClass
from lincent.estimators.validation import check_positive
from lincent.paper.baselines._base import one_or_all
from lincent.paper.baselines._rows import RowSpace, as_float, signed_rows, with_ones


@dataclass(frozen=True)
class PlaneProblem:
    """One of the two planes: ``own`` rows to lie on, ``other`` rows to stay away from."""

    own: Any
    own_weight: np.ndarray
    other: Any
    other_weight: np.ndarray
    loss: float
    ridge: float
    name: str

    def quadratic(self) -> np.ndarray:
        """H'WH + ridge I: the squared distances to the own rows, and the ridge."""
        rows = signed_rows(self.own, np.ones(self.own.shape[0]))
        P = rows.gram(self.own_weight)
        P.flat[:: P.shape[0] + 1] += self.ridge
        return P


@dataclass(frozen=True)
class Plane:
    """(w, b) in one vector, with the value of its objective."""

    u: np.ndarray
    objective: float
    gap: float = 0.0
    iterations: int = 1


class TwinPlanes:
    """Two planes per two-class problem, beside ``Classifier``; subclasses say how one is found.

    Subclasses have the parameters c1, c2 (losses) and c3, c4 (ridges).
    """

    c1: float
    c2: float
    c3: float
    c4: float

    @abstractmethod
    def _fit_plane(self, problem: PlaneProblem) -> Plane:
        """Find one plane; its positive side is that of the other class's -1 (see the subclass)."""

    def _check_params(self) -> None:
        for name in ("c1", "c2", "c3", "c4"):
            check_positive(name, getattr(self, name))

    def _fit_task(self, problem: TwoClass) -> tuple[Plane, Plane]:
        problem = problem.counted()
        weight, name = problem.weight, problem.name
        space = RowSpace(with_ones(as_float(problem.X)))
        Z, high, low = space.coordinates, problem.sign > 0, problem.sign < 0
        up = PlaneProblem(Z[high], weight[high], Z[low], weight[low], self.c1, self.c3, name)
        down = PlaneProblem(Z[low], weight[low], Z[high], weight[high], self.c2, self.c4, name)
        planes = [self._fit_plane(side) for side in (down, up)]
        lifted = [
            Plane(space.lift(plane.u), plane.objective, plane.gap, plane.iterations)
            for plane in planes
        ]
        return lifted[0], lifted[1]

    def _store(self, parts: list[tuple[Plane, Plane]]) -> None:
        u = np.array([[plane.u for plane in pair] for pair in parts])
        self.plane_coef_ = u[..., :-1]
        self.plane_intercept_ = u[..., -1]
        self.objective_ = np.array([[plane.objective for plane in pair] for pair in parts])
        if len(parts) == 1:
            self.objective_ = self.objective_[0]
        self._store_more(parts)

    def _store_more(self, parts: list[tuple[Plane, Plane]]) -> None:
        """Set further attributes."""

    def _task_scores(self, X: Any) -> np.ndarray:
        return self._distances(X, 0) - self._distances(X, 1)

    def _distances(self, X: Any, side: int) -> np.ndarray:
        coef, intercept = self.plane_coef_[:, side], self.plane_intercept_[:, side]
        norm = np.linalg.norm(coef, axis=1)
        # A plane without direction (all features constant) is at the same distance everywhere.
        norm[norm == 0] = 1.0
        return np.abs(np.asarray(X @ coef.T) + intercept) / norm


def most_iterations(parts: list[tuple[Plane, Plane]]) -> Any:
    """The iterations of the slower plane of each pair."""
    return one_or_all([max(plane.iterations for plane in pair) for pair in parts])
