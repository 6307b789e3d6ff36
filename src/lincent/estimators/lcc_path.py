"""``lcc_path``: the solutions of one binary problem at many margins and costs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from lincent.estimators.problem import BinaryProblem, HostTraining, binary_tasks
from lincent.estimators.remote import open_remote
from lincent.estimators.validation import (
    SolverName,
    check_choice,
    check_class_weight,
    check_count,
    check_positive,
)
from lincent.model_selection.search import check_grid, warn_uncertified
from lincent.solvers.lp import dispatch
from lincent.solvers.lp.path import PathSolver, solve_path
from lincent.solvers.solution import Controls, Solution, silent
from lincent.sources.source import Kind, kind_of

PAPER_MARGINS = 2.0 ** np.arange(-7, 8)
"""The margins of the paper's parameter search."""


@dataclass(frozen=True)
class LCCPath:
    """Solutions of a binary problem by C and margin.

    Attributes
    ----------
    margins : ndarray of shape (n_margins,)
    Cs : ndarray of shape (n_Cs,)
    largest_margin : float
        Margins above it have no solution.
    feasible : ndarray of shape (n_margins,), dtype=bool
    coefs : ndarray of shape (n_Cs, n_margins, n_features)
        The directions; NaN where infeasible.
    intercepts : ndarray of shape (n_Cs, n_margins)
        Minus the midpoint between the projected centers.
    objectives, dual_objectives, duality_gaps : ndarray of shape (n_Cs, n_margins)
    certified : ndarray of shape (n_Cs, n_margins), dtype=bool
        Whether the relative gap is within ``tol``.
    n_iters : ndarray of shape (n_Cs, n_margins)
    solvers : ndarray of shape (n_Cs, n_margins), dtype=object
        "scaled" and "vertex" are the shortcuts, "none" is an infeasible margin. The largest margin
        comes first; shortcuts start from the next larger one.
    classes : ndarray of shape (2,)
    """

    margins: np.ndarray
    Cs: np.ndarray
    largest_margin: float
    feasible: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    dual_objectives: np.ndarray
    duality_gaps: np.ndarray
    certified: np.ndarray
    n_iters: np.ndarray
    solvers: np.ndarray
    classes: np.ndarray


def lcc_path(
    X: Any,
    y: Any,
    *,
    margins: Any = None,
    Cs: Any = (2.0,),
    sample_weight: Any = None,
    class_weight: Any = None,
    solver: SolverName = "auto",
    tol: float = 1e-9,
    max_iter: int = 200,
    time_limit: float | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> LCCPath:
    """Compute exact LCC solutions along the margin, each warm-started and certified.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples; also a torch or CuPy array, which stays on its device.
    y : array-like of shape (n_samples,)
        Two classes.
    margins : array-like, default=None
        The margins, in any order. None is the paper's grid, 2**-7 to 2**7. Margins above the
        largest feasible one are reported, not solved.
    Cs : array-like, default=(2.0,)
        Values of C, the paper's λ on the sum of slacks.
    sample_weight : array-like of shape (n_samples,), default=None
        Frequency weights; any nonnegative numbers.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class, as in :class:`lincent.LCC`.
    solver : str, default='auto'
        As in :class:`LCC`.
    tol : float, default=1e-09
        As in :class:`LCC`.
    max_iter : int, default=200
        As in :class:`LCC`.
    time_limit : float, default=None
        Seconds for the whole path; points not solved in time are NaN.
    random_state : object, default=None
        As in :class:`LCC`.
    verbose : int, default=0
        As in :class:`LCC`.

    Returns
    -------
    LCCPath
        Every margin with its coefficients, objective and certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import lcc_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = lcc_path((X - X.mean(axis=0)) / X.std(axis=0), y)
    >>> path.coefs.shape
    (1, 15, 30)
    >>> bool(path.certified[:, path.feasible].all())
    True
    """
    check_choice("solver", solver, dispatch.SOLVERS)
    check_positive("tol", tol)
    check_count("max_iter", max_iter)
    if time_limit is not None:
        check_positive("time_limit", time_limit)
    margins = check_grid("margins", PAPER_MARGINS if margins is None else margins)
    Cs = check_grid("Cs", Cs, infinite=True)
    limit = np.inf if time_limit is None else time_limit
    controls = Controls(tol, max_iter, time.monotonic() + limit, print if verbose else silent)
    open_rows = open_remote if kind_of(X) is Kind.DEVICE else HostTraining.open
    training: Any = open_rows(_Columns(), X, y, sample_weight)
    if len(training.classes) != 2:
        raise ValueError(
            f"lcc_path follows one two-class problem and y has {len(training.classes)} classes: "
            "pass the rows of two of them, or use LCCCV, which takes any number."
        )
    class_costs = check_class_weight(class_weight, training.classes, training.totals)
    problem = training.task(binary_tasks(2, "ovr")[0], class_costs)
    if problem.largest_margin == 0.0:
        raise ValueError("The class centers coincide, so no margin is feasible.")
    costs = [problem.costs(float(C)) for C in Cs]
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    path_solver = PathSolver(solver, controls, rng)
    table = solve_path(problem.rows, problem.difference, margins, costs, path_solver)
    return _collect(problem, margins, Cs, table, tol, training.classes)


class _Columns(BaseEstimator):
    """Receives the number of features from scikit-learn's validation."""

    _accept_sparse = "csr"


def _collect(
    problem: BinaryProblem,
    margins: np.ndarray,
    Cs: np.ndarray,
    table: list[list[Solution]],
    tol: float,
    classes: np.ndarray,
) -> LCCPath:
    answers = [[solution.certificate for solution in line] for line in table]
    feasible = margins <= problem.largest_margin
    coefs = np.array([[problem.direction(answer.beta) for answer in line] for line in answers])
    coefs[:, ~feasible] = np.nan
    objectives = np.array([[answer.objective for answer in line] for line in answers])
    objectives[:, ~feasible] = np.nan
    duals = np.array([[answer.dual_objective for answer in line] for line in answers])
    duals[:, ~feasible] = np.nan
    certified = np.array([[answer.relative_gap <= tol for answer in line] for line in answers])
    certified &= feasible
    short = int((~certified[:, feasible]).sum())
    if short:
        warn_uncertified(
            f"{short} of {certified[:, feasible].size} points of the path are not certified"
        )
    return LCCPath(
        margins=margins,
        Cs=Cs,
        largest_margin=problem.largest_margin,
        feasible=feasible,
        coefs=coefs,
        intercepts=-(coefs @ (problem.means.mean(axis=0) + problem.offset)),
        objectives=objectives,
        dual_objectives=duals,
        duality_gaps=np.maximum(objectives - duals, 0.0),
        certified=certified,
        n_iters=np.array([[solution.iterations for solution in line] for line in table]),
        solvers=np.array([[solution.solver for solution in line] for line in table], dtype=object),
        classes=classes,
    )
