"""A fitted direction: the line x.beta, the class centers on it, and the rule that cuts it.

From a two-class problem to a direction, and from a direction to the attributes of an estimator:
the solve by the paper's linear program, what its certificate has to say, and what is stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lincent.estimators.discriminators import Cut, Discriminator, Line, fit_discriminator
from lincent.estimators.problem import TwoClass
from lincent.estimators.watching import solve_ended, watched
from lincent.problems.centralization import Program
from lincent.problems.double_double import UNIT
from lincent.problems.rounding import certify_with_rounding
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls, Solution, Status, silent
from lincent.sources.source import open_source

SEEDS = 2**32
"""How many seeds NumPy's older generators take."""
OFFSET_LOSS = 1e-6
"""Offsets up to 1e8 times the spread cost less than this of a score."""


@dataclass(frozen=True)
class Direction:
    """One fitted two-class problem."""

    beta: np.ndarray
    centers: np.ndarray
    midpoint: float
    """Half-way between the centers on the line."""
    width: float
    """The distance of the centers on the line: the unit of calibrated scores."""
    rule: Discriminator
    solution: Any

    @property
    def intercept(self) -> float:
        """Minus the cut, or minus the midpoint where the rule is no cut."""
        return -self.rule.at if isinstance(self.rule, Cut) else -self.midpoint

    @property
    def half(self) -> float:
        """Half the distance of the centers: the unit in which directions are comparable."""
        length = float(np.linalg.norm(self.beta))
        # Centers that coincide give no unit; the length of beta does, and of no direction nothing:
        # divided by next to nothing, the rounding of its scores would be all that is calibrated.
        half = self.width / 2
        return half if half > 1e-9 * length else length or 1.0

    def score(self, X: Any) -> np.ndarray:
        """The score of each row by the rule on the line."""
        return self.rule.score(open_source(X).project(self.beta))


def cut(problem: TwoClass, beta: np.ndarray, solution: Any, rule: str) -> Direction:
    """The direction beta with the rule of this name on its line."""
    beta = problem.direction(beta)
    low, high = (float(c) for c in problem.means @ beta)
    if rule == "distance" and problem.importance[0] == problem.importance[1]:
        return placed(problem, beta, solution, Cut((low + high) / 2))  # no row is asked
    line = Line(*problem.line(beta), (low, high), problem.importance)
    return placed(problem, beta, solution, fit_discriminator(rule, line))


def placed(problem: TwoClass, beta: np.ndarray, solution: Any, rule: Discriminator) -> Direction:
    """The direction with a rule for the line seen from the problem's origin."""
    midpoint = float((problem.means[0] + problem.means[1]) @ beta) / 2
    width = float(problem.difference @ beta)
    origin = problem.source.origin
    if origin is None:
        return Direction(beta, problem.means, midpoint, width, rule, solution)
    shift = float(origin @ beta)
    centers = problem.means + origin
    return Direction(beta, centers, midpoint + shift, width, rule.shifted(shift), solution)


def project_all(X: Any, directions: np.ndarray) -> np.ndarray:
    """x.beta for all rows and directions, one column each."""
    source = open_source(X)
    return np.stack([source.project(beta) for beta in directions], axis=1)


# The solve.


def controls(model: Any, began: float) -> Controls:
    """When to stop and whom to tell, by the parameters of the estimator."""
    limit = getattr(model, "time_limit", None)
    deadline = np.inf if limit is None else began + limit
    tell = print if model.verbose > 1 else silent
    return Controls(tol=model.tol, max_iter=model.max_iter, deadline=deadline, tell=tell)


def solve_controls(model: Any, problem: Any) -> Controls:
    """The same for the fit to all rows, which callbacks may follow and end."""
    limits = controls(model, problem.began)
    return watched(limits, model, problem.name) if _followed(model) else limits


def _followed(model: Any) -> bool:
    """Whether anybody is told of a solve: a callback, or who reads what ``verbose`` prints."""
    return hasattr(model, "_fit_tasks") or bool(model.verbose)


def generator(model: Any) -> np.random.Generator:
    """A generator seeded by ``random_state``."""
    return np.random.default_rng(check_random_state(model.random_state).randint(2**31))


def draws(model: Any) -> dispatch.Draws:
    """``generator``, but a seed becomes one only where it is drawn from, which takes a while."""
    seed = model.random_state
    if seed is None or (isinstance(seed, int | np.integer) and 0 <= seed < SEEDS):
        return partial(generator, model)
    return generator(model)  # or an error: this is no seed


def fit_direction(model: Any, problem: TwoClass, margin: float) -> Direction:
    """The certified direction of a problem, by the estimator's C, solver and rule."""
    program = problem.program(problem.costs(float(model.C)), margin)
    limits = solve_controls(model, problem)
    # What is proved is proved about the coefficients as they are stored, once.
    solution = dispatch.solve(program, model.solver, limits, draws(model), prove=False)
    solution = about_what_is_stored(problem, program, solution, model.tol)
    judge(model, problem, margin, solution)
    found = cut(problem, solution.certificate.beta, solution, str(model.discriminator))
    reach = float(np.abs(found.centers).max(axis=0) @ np.abs(found.beta))
    warn_of_offset(problem, reach, found.width)
    return found


def about_what_is_stored(
    problem: TwoClass, program: Program, solution: Solution, tol: float
) -> Solution:
    """The solution with the coefficients that are stored, and a certificate of those.

    Rows and centers are known up to rounding at their distance from the origin, which is more than
    at the size of the rows around their centers: the certificate accounts for both.
    """
    answer = solution.certificate
    beta = problem.direction(answer.beta)
    if beta is not answer.beta:
        answer = replace(answer, beta=beta)
    if answer.unit == 1.0:
        scale = program.rows.column_scale() if solution.scale is None else solution.scale
        size = np.hypot(scale, np.abs(problem.means).max(axis=0))
        answer = certify_with_rounding(program, answer, tol, scale=size, data=problem.labeled())
    return replace(solution, certificate=answer)


def warn_of_offset(problem: TwoClass, reach: float, width: float) -> None:
    """Say which precision is left where sums of the size ``reach`` make scores of ``width``."""
    lost = 2 * UNIT * reach
    if lost > OFFSET_LOSS * width:
        left = lost / width if width > 0 else np.inf
        warnings.warn(
            f"X is so far from zero ({problem.name}) that scores have an error of about "
            f"{left:.1e} of the distance between the classes: subtract a typical row from X.",
            ConvergenceWarning,
            stacklevel=2,
        )


def check_margin(model: Any, margin: float, largest: float, problem: TwoClass) -> float:
    """A margin that leaves a point to solve for, or a sentence about why not."""
    if largest == 0.0:
        raise ValueError(
            f"The class centers coincide ({problem.name}), so no direction separates them; "
            f"{type(model).__name__} needs classes with different means."
        )
    if margin > largest and model._in_a_fold:
        return largest  # the fit to all rows had a margin that this part has not
    if margin > largest:
        raise ValueError(
            f"margin={margin:g} is above the largest feasible margin {largest:.6g} "
            f"({problem.name}): give a smaller margin, or scale the features up."
        )
    return float(margin)


def judge(model: Any, problem: TwoClass, margin: float, solution: Solution) -> None:
    """Turn the status of a solve into nothing, a warning or an error.

    A solve that a callback has ended is as good as it was asked to be.
    """
    answer = solution.certificate
    stopped = _followed(model) and solve_ended(model, problem.name, solution)
    if np.isinf(model.C) and not np.isfinite(answer.objective):
        raise ValueError(
            f"C=np.inf asks for a hard margin of {margin:g}, but the rows cannot be "
            f"separated by it ({problem.name}): give a finite C."
        )
    if answer.relative_gap <= model.tol or stopped:
        return
    cause = {
        Status.TIME_LIMIT: f"time_limit={model.time_limit} s ended the solve",
        Status.ITERATION_LIMIT: f"max_iter={model.max_iter} ended the solve",
    }.get(solution.status, "the solvers stalled")
    if answer.rounding > answer.gap / 2:
        cause = "rounding, on data of this scale, ends the proof"
    warnings.warn(
        f"The optimum is not certified ({problem.name}): {cause} at a duality gap of "
        f"{answer.gap:.3g} (relative {answer.relative_gap:.1e}, tol {model.tol:g}). The model is "
        "usable; its objective is within that gap of the best.",
        ConvergenceWarning,
        stacklevel=2,
    )


# What is stored.


def alone(values: Sequence[Any]) -> Any:
    """One number per task as an array, or the number itself where there is one task."""
    array = np.array(values)
    return array[0].item() if len(array) == 1 and array.ndim == 1 else array


def store_certificates(model: Any, solutions: Sequence[Solution]) -> None:
    """Set ``objective_``, ``dual_objective_``, ``duality_gap_``, ``n_iter_`` and ``solver_``."""
    certificates = [solution.certificate for solution in solutions]
    model.objective_ = alone([c.objective for c in certificates])
    model.dual_objective_ = alone([c.dual_objective for c in certificates])
    model.duality_gap_ = alone([c.gap for c in certificates])
    model.n_iter_ = alone([solution.iterations for solution in solutions])
    solvers = [solution.solver for solution in solutions]
    model.solver_ = solvers[0] if len(solvers) == 1 else solvers


def store_directions(model: Any, parts: Sequence[Direction]) -> None:
    """Set ``coef_``, ``intercept_``, ``centers_`` and the certificate."""
    model.coef_ = np.array([part.beta for part in parts])
    model.intercept_ = np.array([part.intercept for part in parts])
    centers = np.array([part.centers for part in parts])
    model.centers_ = centers[0] if len(parts) == 1 else centers
    # Rules of one program share its certificate.
    store_certificates(model, list({id(part.solution): part.solution for part in parts}.values()))


def midpoints(model: Any) -> np.ndarray:
    """The midpoints of the centers on the lines, by the stored attributes."""
    centers = model.centers_.reshape(-1, 2, model.n_features_in_)
    return np.asarray(np.einsum("kij,kj->ki", centers, model.coef_).mean(axis=1))
