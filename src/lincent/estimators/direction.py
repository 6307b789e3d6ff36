"""Fitted directions: the projection x.beta of a binary subproblem and the discriminator on it.

``fit_direction`` solves the paper's linear program; ``make_direction`` and ``fit_discriminator_on``
turn coefficients into a ``Direction``; ``store_directions`` sets the attributes of an estimator.
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

from lincent.estimators.fit_callbacks import observed, solve_ended
from lincent.estimators.problem import BinaryProblem
from lincent.estimators.threshold import Discriminator, Line, Threshold, fit_discriminator
from lincent.problems.centralization import Program
from lincent.problems.double_double import UNIT
from lincent.problems.rounding import certify_with_rounding
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls, Solution, Status, silent
from lincent.sources.source import open_source

OFFSET_LOSS = 1e-6
"""Relative error of scores above which an offset of X is warned of, about 1e8 times its scale."""


@dataclass(frozen=True)
class Direction:
    """One fitted binary subproblem."""

    beta: np.ndarray
    centers: np.ndarray
    midpoint: float
    """The midpoint between the projected centers."""
    width: float
    """The distance between the projected centers."""
    rule: Discriminator
    solution: Any

    @property
    def intercept(self) -> float:
        """Minus the threshold, or minus the midpoint for other discriminators."""
        return -self.rule.at if isinstance(self.rule, Threshold) else -self.midpoint

    @property
    def half(self) -> float:
        """Half the distance of the projected centers, by which directions are normalized."""
        length = float(np.linalg.norm(self.beta))
        # Where the centers coincide, the length of beta is used: divided by a rounding error,
        # scores would be calibrated on rounding errors.
        half = self.width / 2
        return half if half > 1e-9 * length else length or 1.0

    def score(self, X: Any) -> np.ndarray:
        """Return the score of each sample."""
        return self.rule.score(open_source(X).project(self.beta))


def fit_discriminator_on(
    problem: BinaryProblem, beta: np.ndarray, solution: Any, rule: str
) -> Direction:
    """Return the direction beta with the discriminator of this name."""
    beta = problem.direction(beta)
    low, high = (float(c) for c in problem.means @ beta)
    if rule == "distance" and problem.importance[0] == problem.importance[1]:
        return make_direction(problem, beta, solution, Threshold((low + high) / 2))
    line = Line(*problem.line(beta), (low, high), problem.importance)
    return make_direction(problem, beta, solution, fit_discriminator(rule, line))


def make_direction(
    problem: BinaryProblem, beta: np.ndarray, solution: Any, rule: Discriminator
) -> Direction:
    """Return the direction, given a discriminator relative to the origin of the problem."""
    midpoint = float((problem.means[0] + problem.means[1]) @ beta) / 2
    width = float(problem.difference @ beta)
    origin = problem.source.origin
    if origin is None:
        return Direction(beta, problem.means, midpoint, width, rule, solution)
    shift = float(origin @ beta)
    centers = problem.means + origin
    return Direction(beta, centers, midpoint + shift, width, rule.shifted(shift), solution)


def project_all(X: Any, directions: np.ndarray) -> np.ndarray:
    """Return x.beta for all samples and directions, one column each."""
    source = open_source(X)
    return np.stack([source.project(beta) for beta in directions], axis=1)


# The solve.


def controls(model: Any, began: float) -> Controls:
    """Return the stopping criteria and the log of a solve by the parameters of the estimator."""
    limit = getattr(model, "time_limit", None)
    deadline = np.inf if limit is None else began + limit
    log = print if model.verbose > 1 else silent
    return Controls(tol=model.tol, max_iter=model.max_iter, deadline=deadline, tell=log)


def solve_controls(model: Any, problem: Any) -> Controls:
    """Return the same for the fit to all samples, which callbacks may observe and stop."""
    limits = controls(model, problem.began)
    return observed(limits, model, problem.name) if _is_observed(model) else limits


def _is_observed(model: Any) -> bool:
    """Return whether a solve is reported to callbacks or printed."""
    return hasattr(model, "_fit_tasks") or bool(model.verbose)


def generator(model: Any) -> np.random.Generator:
    """Return a generator seeded by ``random_state``."""
    return np.random.default_rng(check_random_state(model.random_state).randint(2**31))


def draws(model: Any) -> dispatch.Draws:
    """Return ``generator``, made on first use where that may be, since it takes a while."""
    seed = model.random_state
    if seed is None or isinstance(seed, int | np.integer):
        return partial(generator, model)
    return generator(model)


def fit_direction(model: Any, problem: BinaryProblem, margin: float) -> Direction:
    """Solve the paper's linear program by the parameters of the estimator."""
    program = problem.program(problem.costs(float(model.C)), margin)
    limits = solve_controls(model, problem)
    # The certificate is computed once, for the coefficients that are stored.
    solution = dispatch.solve(program, model.solver, limits, draws(model), prove=False)
    solution = certify_stored_coef(problem, program, solution, model.tol)
    warn_if_not_converged(model, problem, margin, solution)
    beta = solution.certificate.beta
    direction = fit_discriminator_on(problem, beta, solution, str(model.discriminator))
    reach = float(np.abs(direction.centers).max(axis=0) @ np.abs(direction.beta))
    warn_of_offset(problem, reach, direction.width)
    return direction


def certify_stored_coef(
    problem: BinaryProblem, program: Program, solution: Solution, tol: float
) -> Solution:
    """Return the solution with the coefficients that are stored, and their certificate.

    Samples and centers have rounding errors of the size of their distance from the origin, larger
    than those of the samples around their centers: the certificate accounts for both.
    """
    answer = solution.certificate
    beta = problem.direction(answer.beta)
    if beta is not answer.beta:
        answer = replace(answer, beta=beta)
    if answer.unit == 1.0:
        scale = program.rows.column_scale() if solution.scale is None else solution.scale
        size = np.hypot(scale, np.abs(problem.means).max(axis=0))
        answer = certify_with_rounding(
            program, answer, tol, scale=size, data=problem.certificate_data()
        )
    return replace(solution, certificate=answer)


def warn_of_offset(problem: BinaryProblem, reach: float, width: float) -> None:
    """Warn where scores of the size ``width`` are differences of sums of the size ``reach``."""
    error = 2 * UNIT * reach
    if error > OFFSET_LOSS * width:
        relative = error / width if width > 0 else np.inf
        warnings.warn(
            f"X is so far from zero ({problem.name}) that scores have an error of about "
            f"{relative:.1e} of the distance between the classes: subtract a typical row from X.",
            ConvergenceWarning,
            stacklevel=2,
        )


def check_margin(model: Any, margin: float, largest: float, problem: BinaryProblem) -> float:
    """Return a feasible margin, or raise an error."""
    if largest == 0.0:
        raise ValueError(
            f"The class centers coincide ({problem.name}), so no direction separates them; "
            f"{type(model).__name__} needs classes with different means."
        )
    if margin > largest and model._clip_margin:
        return largest  # feasible for all samples, and not for those of this fold
    if margin > largest:
        raise ValueError(
            f"margin={margin:g} is above the largest feasible margin {largest:.6g} "
            f"({problem.name}): give a smaller margin, or scale the features up."
        )
    return float(margin)


def warn_if_not_converged(
    model: Any, problem: BinaryProblem, margin: float, solution: Solution
) -> None:
    """Warn of a solve that did not reach ``tol``, unless a callback has stopped it.

    A hard margin that cannot be met is an error.
    """
    answer = solution.certificate
    stopped = _is_observed(model) and solve_ended(model, problem.name, solution)
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
        f"The optimum is not certified ({problem.name}): {cause} at a relative duality gap of "
        f"{answer.relative_gap:.1e} (tol {model.tol:g}). The model is usable; its objective is "
        f"within {answer.gap:.3g} of the optimum.",
        ConvergenceWarning,
        stacklevel=2,
    )


# Fitted attributes.


def squeeze_single(values: Sequence[Any]) -> Any:
    """Return one number per subproblem as an array, or the number itself if there is one."""
    array = np.array(values)
    return array[0].item() if len(array) == 1 and array.ndim == 1 else array


def store_certificates(model: Any, solutions: Sequence[Solution]) -> None:
    """Set ``objective_``, ``dual_objective_``, ``duality_gap_``, ``n_iter_`` and ``solver_``."""
    certificates = [solution.certificate for solution in solutions]
    model.objective_ = squeeze_single([c.objective for c in certificates])
    model.dual_objective_ = squeeze_single([c.dual_objective for c in certificates])
    model.duality_gap_ = float(max(c.relative_gap for c in certificates))
    model.n_iter_ = squeeze_single([solution.iterations for solution in solutions])
    solvers = [solution.solver for solution in solutions]
    model.solver_ = solvers[0] if len(solvers) == 1 else solvers


def store_coefficients(model: Any, parts: Sequence[Direction]) -> None:
    """Set ``coef_``, ``intercept_`` and ``centers_``."""
    model.coef_ = np.array([part.beta for part in parts])
    model.intercept_ = np.array([part.intercept for part in parts])
    centers = np.array([part.centers for part in parts])
    model.centers_ = centers[0] if len(parts) == 1 else centers


def store_directions(model: Any, parts: Sequence[Direction]) -> None:
    """Set ``coef_``, ``intercept_``, ``centers_`` and the certificate."""
    store_coefficients(model, parts)
    # The directions of a joint problem share its certificate.
    store_certificates(model, list({id(part.solution): part.solution for part in parts}.values()))


def projected_centers(model: Any) -> np.ndarray:
    """Return the projected class centers (n_problems, 2) from the fitted attributes."""
    centers = model.centers_.reshape(-1, 2, model.n_features_in_)
    return np.asarray(np.einsum("kij,kj->ki", centers, model.coef_))


def midpoints(model: Any) -> np.ndarray:
    """Return the midpoints of the projected centers from the fitted attributes."""
    return np.asarray(projected_centers(model).mean(axis=1))
