"""FQCC: the fully quadratic centralization classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lincent.estimators.base import Classifier, EstimatorMixin, ProjectionMixin
from lincent.estimators.linear import (
    Direction,
    LinearMixin,
    SolverMixin,
    controls,
    fit_discriminator_on,
    squeeze_single,
)
from lincent.estimators.problem import BinaryProblem
from lincent.estimators.validation import COUNT, PAPER_CONSTRAINTS, POSITIVE, Rule, SolverName
from lincent.problems.centralization import lcc_program
from lincent.problems.ramp import RampProgram
from lincent.solvers import ramp
from lincent.solvers.lp import dispatch, scaling
from lincent.solvers.lp.duplicate_rows import groups, one_of_each, summed
from lincent.solvers.ramp import LocalSolution
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows

MAX_STEPS = 100
"""Largest number of steps (linear programs) from one start."""
UNSCALED = (2.0**-7, 2.0**20)
"""Distances of the class centers at which the problem is not rescaled."""


@dataclass(eq=False, repr=False)
class FQCC(SolverMixin, LinearMixin, ProjectionMixin, EstimatorMixin, Classifier):
    """Fully quadratic centralization classifier.

    The form of the paper before it is linearized: the loss of a sample is the difference of its
    distances to its own center and to the other, where that is positive. On the projected line this
    is LCC's loss with twice the slope, capped at the distance of the centers (a ramp loss): beyond
    the wrong center the loss does not grow, so far outliers do not turn the direction.

    The problem is not convex. The solution is a local optimum, started from the LCC solution.

    Parameters
    ----------
    C : float, default=2.0
        Misclassification cost on the sum over samples (the paper's lambda). The hard margin, where
        no loss may be capped, is that of :class:`LCC`.
    margin : float, default=0.01
        Margin in the projected space (the paper's abs(sigma)): by how much a sample must be nearer
        to its own center than to the other.
    discriminator : {"distance", "nearest", "svm"}, default="distance"
        How classes are told apart on the projected line: by the midpoint of the class centers, by
        the nearest training sample, or by a one-dimensional SVM.
    n_init : int, default=1
        Number of starts; the lowest objective wins. The first is the LCC solution, the second the
        difference of the class centers, which helps where outliers have already turned LCC, the
        others are random directions.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class, as in :class:`LCC`.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid"} or None, default=None
        Method by which ``predict_proba`` is calibrated on out-of-fold scores; ``fit`` is then
        repeated in five folds. ``predict`` does not change: with imbalanced classes the predicted
        class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        Solver of the linear programs.
    tol : float, default=1e-9
        Relative gap to which each linear program is solved.
    max_iter : int, default=200
        Largest number of iterations in one linear program.
    time_limit : float, default=None
        Seconds after which the best solution so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Number of binary subproblems solved in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed for the random starts, and for the subsample used to initialize the solver on large
        problems.
    verbose : int, default=0
        2 prints the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The direction beta of each binary subproblem. One-vs-one models of several classes vote
        between pairs and have `feature_importances_` instead.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Minus the threshold on the projected line (for ``"nearest"``: minus the midpoint).
    centers_ : ndarray of shape (2, n_features) or (n_problems, 2, n_features)
        The class centers, negative class first.
    objective_ : float or ndarray of shape (n_problems,)
        The paper's FQCC objective at ``coef_``.
    duality_gap_ : float
        Largest relative duality gap over the binary subproblems, of the last convex model: it
        certifies a local optimum.
    objective_history_ : ndarray of shape (n_steps + 1,) or list of such arrays
        The objective at the start and after each step of the winning start. It never rises.
    n_iter_ : int or ndarray of shape (n_problems,)
        Steps of the winning start.
    solver_ : str or list of str
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Predictions for the training samples by models fitted without them, if ``probability`` is
        set; NaN for samples that cannot be held out.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    See Also
    --------
    LCC : The linear form: convex, with a certificate of global optimality.

    Notes
    -----
    A lower objective is not always a better classifier. The cap is the distance of the projected
    centers, so the objective can be lowered by directions on which the centers are close and the
    samples far apart: the loss is then about the same for every misclassified sample, and the
    number of errors is minimized, unbalanced. The optimum next to the LCC solution, the default,
    does not drift that far.

    References
    ----------
    Bonyadi, Vegh, Reutens, "Linear centralization classifier", 2017, equation FQCC.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from lincent import FQCC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FQCC().fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.98
    True
    """

    C: float = 2.0
    margin: float = 0.01
    discriminator: Rule = "distance"
    _: KW_ONLY
    n_init: int = 1
    class_weight: Any = None
    solver: SolverName = "auto"
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PAPER_CONSTRAINTS,
        "C": [POSITIVE],
        "n_init": [COUNT],
    }

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        problem = problem.drop_zero_weight()
        margin = self._check_margin(self.margin, problem.largest_margin, problem)
        costs = problem.costs(float(self.C))
        rows = problem.rows.materialize()
        repeated = groups(rows)
        if repeated is not None:  # equal samples are one breakpoint; apart they hide the vertex
            rows, costs = one_of_each(rows, repeated[0]), summed(costs, repeated[1])
        program, scale = _rescaled(RampProgram(rows, costs, margin, problem.difference))
        limits, rng = controls(self, problem.began), self._generator()
        solution = self._best(program, limits, rng).times(scale)
        if solution.status is not Status.OPTIMAL:
            cause = {
                Status.TIME_LIMIT: f"time_limit={self.time_limit} s ended the search",
                Status.ITERATION_LIMIT: f"max_iter={self.max_iter} ended it",
            }.get(solution.status, "the solver stalled")
            warnings.warn(
                f"The local optimum is not reached ({problem.name}): {cause} after "
                f"{solution.steps} steps at an objective of {solution.objective:.6g}. The model is "
                "usable.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return fit_discriminator_on(problem, solution.beta, solution, self.discriminator)

    def _best(self, program: RampProgram, limits: Controls, rng: Any) -> LocalSolution:
        """Return the lowest of the local optima from ``n_init`` starts."""
        first = lcc_program(program.rows, program.difference, program.costs, program.margin)
        linear = dispatch.solve(first, self.solver, limits, rng, prove=False)
        solutions: list[LocalSolution] = []
        further = islice(_further_starts(program, rng), self.n_init - 1)
        for start in chain([linear.certificate.beta], further):
            if solutions and limits.out_of_time():
                break
            solutions.append(ramp.solve(program, start, self.solver, limits, rng, MAX_STEPS))
        return min(solutions, key=lambda solution: solution.objective)

    def _store_certificates(self, solutions: Sequence[LocalSolution]) -> None:
        self.objective_ = squeeze_single([solution.objective for solution in solutions])
        gaps = [s.model.relative_gap for s in solutions if s.model is not None]
        self.duality_gap_ = float(max(gaps, default=np.inf))
        self.n_iter_ = squeeze_single([max(solution.steps, 1) for solution in solutions])
        histories = [np.array(solution.history) for solution in solutions]
        solvers = [solution.solver for solution in solutions]
        self.objective_history_ = histories[0] if len(solutions) == 1 else histories
        self.solver_ = solvers[0] if len(solutions) == 1 else solvers

    def _violation(self, signed: np.ndarray, task: int) -> np.ndarray:
        low, high = self._projected_centers()[task]
        return np.maximum(self.margin + np.minimum(high - low, -2.0 * signed), 0.0)


def _rescaled(program: RampProgram) -> tuple[RampProgram, float]:
    """Return the problem for samples divided by a scale, which divides the objective, and this.

    The scale is the power of two next to the distance of the centers, or 1 in the usual range: gaps
    are relative to an objective of at least one, so on tiny data any point would do.
    """
    m, n = program.shape
    size = float(np.abs(program.difference).max(initial=0.0))
    if m * n > scaling.MOST_ENTRIES or UNSCALED[0] <= size <= UNSCALED[1] or not 0 < size < np.inf:
        return program, 1.0
    scale = float(2.0 ** np.round(np.log2(size)))
    rows = DenseRows(program.rows.dense() / scale)
    margin, difference = program.margin / scale, program.difference / scale
    return RampProgram(rows, program.costs, margin, difference), scale


def _further_starts(program: RampProgram, rng: Any) -> Iterator[np.ndarray]:
    """Yield the difference of the centers, then directions with random projections of X."""
    model = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    difference = program.difference
    yield model.feasible(difference * (2.0 * program.margin / float(difference @ difference)))
    values, vectors = np.linalg.eigh(program.rows.gram(program.costs))
    kept = values > 1e-10 * values[-1]
    while True:
        beta = vectors[:, kept] @ (rng.standard_normal(int(kept.sum())) / np.sqrt(values[kept]))
        reach = float(difference @ beta)
        if reach != 0.0:
            yield model.feasible(beta * (2.0 * program.margin / reach))
