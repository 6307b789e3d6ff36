"""What a solve leaves in an estimator: attributes, a warning, or an error."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lincent.estimators.problem import TwoClass
from lincent.solvers.solution import Controls, Solution, Status, silent


def controls(model: Any, began: float) -> Controls:
    """When to stop and whom to tell, by the parameters of the estimator."""
    limit = getattr(model, "time_limit", None)
    deadline = np.inf if limit is None else began + limit
    tell = print if model.verbose else silent
    return Controls(tol=model.tol, max_iter=model.max_iter, deadline=deadline, tell=tell)


def generator(model: Any) -> np.random.Generator:
    """A generator seeded by ``random_state``."""
    return np.random.default_rng(check_random_state(model.random_state).randint(2**31))


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


def check_margin(model: Any, margin: float, largest: float, name: str) -> float:
    """A margin that leaves a point to solve for, or a sentence about why not."""
    if largest == 0.0:
        raise ValueError(
            f"The class centers coincide ({name}), so no direction separates them; "
            f"{type(model).__name__} needs classes with different means."
        )
    if margin > largest:
        raise ValueError(
            f"margin={margin:g} is above the largest feasible margin {largest:.6g} "
            f"({name}): give a smaller margin, or scale the features up."
        )
    return float(margin)


def judge(model: Any, problem: TwoClass, margin: float, solution: Solution) -> None:
    """Turn the status of a solve into nothing, a warning or an error."""
    answer = solution.certificate
    if np.isinf(model.C) and not np.isfinite(answer.objective):
        raise ValueError(
            f"C=np.inf asks for a hard margin of {margin:g}, but the rows cannot be "
            f"separated by it ({problem.name}): give a finite C."
        )
    if solution.certified(model.tol):
        return
    cause = {
        Status.TIME_LIMIT: f"time_limit={model.time_limit} s ended the solve",
        Status.ITERATION_LIMIT: f"max_iter={model.max_iter} ended the solve",
    }.get(solution.status, "the solvers stalled")
    warnings.warn(
        f"The optimum is not certified ({problem.name}): {cause} at a duality gap of "
        f"{answer.gap:.3g} (relative {answer.relative_gap:.1e}, tol {model.tol:g}). The model is "
        "usable; its objective is within that gap of the best.",
        ConvergenceWarning,
        stacklevel=2,
    )
