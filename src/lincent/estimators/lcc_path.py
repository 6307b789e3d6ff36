"""``lcc_path``: the solutions of one two-class problem at many margins and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.cv_table import (
    check_grid,
    warn_uncertified,
)
from lincent.estimators.linear import LCC
from lincent.estimators.path import Follower, TwoClassData, follow
from lincent.estimators.validation import check_class_weight, check_training_data, check_weights
from lincent.solvers.solution import Solution

PAPER_MARGINS = 2.0 ** np.arange(-7, 8)
"""The margins of the paper's parameter search."""


@dataclass(frozen=True)
class LCCPath:
    """Solutions of a two-class problem by cost and margin.

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
    solver: str = "auto",
    tol: float = 1e-9,
    max_iter: int = 200,
    time_limit: float | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> LCCPath:
    """Exact LCC solutions along the margin, each warm-started from the last and certified.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes.
    margins : array-like, default=None
        The margins, in any order. None is the paper's grid, 2**-7 to 2**7. Margins above the
        largest feasible one are reported, not solved.
    Cs : array-like, default=(2.0,)
        Costs of a unit of slack.
    sample_weight : array-like of shape (n_samples,), default=None
    class_weight : dict, "balanced" or None, default=None
    solver, tol, max_iter, random_state, verbose
        As in :class:`LCC`.
    time_limit : float, default=None
        Seconds for the whole path.

    Returns
    -------
    LCCPath

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
    model = LCC(
        class_weight=class_weight, solver=solver, tol=tol, max_iter=max_iter,
        time_limit=time_limit, random_state=random_state, verbose=verbose,
    )  # fmt: skip
    model._check_params()
    margins = check_grid("margins", PAPER_MARGINS if margins is None else margins)
    Cs = check_grid("Cs", Cs, infinite=True)
    X, codes = check_training_data(model, X, y)
    if len(model.classes_) != 2:
        raise ValueError(
            f"lcc_path follows one two-class problem and y has {len(model.classes_)} classes: pass "
            "the rows of two of them, or use LCCCV, which takes any number."
        )
    weight = check_weights(sample_weight, X.shape[0])
    factor, _ = check_class_weight(model, class_weight, codes, weight)
    data = TwoClassData(X, np.where(codes == 1, 1.0, -1.0), weight, weight * factor[codes])
    if data.largest_margin == 0.0:
        raise ValueError("The class centers coincide, so no margin is feasible.")
    costs = [model.set_params(C=C)._costs(data.cost) for C in Cs]
    follower = Follower(solver, model._controls(), model._rng())
    return _collect(data, margins, Cs, follow(data, margins, costs, follower), tol, model.classes_)


def _collect(
    data: TwoClassData,
    margins: np.ndarray,
    Cs: np.ndarray,
    table: list[list[Solution]],
    tol: float,
    classes: np.ndarray,
) -> LCCPath:
    answers = [[solution.certificate for solution in line] for line in table]
    feasible = margins <= data.largest_margin
    coefs = np.array([[data.direction(answer.beta) for answer in line] for line in answers])
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
        largest_margin=data.largest_margin,
        feasible=feasible,
        coefs=coefs,
        intercepts=-coefs @ data.centers.mean(axis=0),
        objectives=objectives,
        dual_objectives=duals,
        duality_gaps=np.maximum(objectives - duals, 0.0),
        certified=certified,
        n_iters=np.array([[solution.iterations for solution in line] for line in table]),
        solvers=np.array([[solution.solver for solution in line] for line in table], dtype=object),
        classes=classes,
    )
