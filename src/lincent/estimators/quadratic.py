"""FQCC: the fully quadratic centralization classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lincent.estimators.choices import Calibrated, Rule, SolverName, Strategy
from lincent.estimators.classifier import Classifier, ProjectedLine
from lincent.estimators.direction import (
    Direction,
    alone,
    check_margin,
    controls,
    cut,
    generator,
    judge,
    project_all,
)
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import TwoClass
from lincent.estimators.validation import check_choice, check_count, check_line_params
from lincent.problems.centralization import lcc_program
from lincent.problems.ramp import RampProgram
from lincent.solvers import ramp, ramp_slsqp
from lincent.solvers.lp import dispatch, scaling
from lincent.solvers.lp.duplicate_rows import groups, one_of_each, summed
from lincent.solvers.ramp import LocalSolution
from lincent.solvers.solution import Controls, Status
from lincent.sources.dense import DenseRows

ALGORITHMS = ("convex-concave", "general")
ORDINARY = (2.0**-7, 2.0**20)
"""Distances of centers at which data is solved as it is."""


class FQCC(Probabilities, ProjectedLine, Classifier):
    """Fully quadratic centralization classifier.

    The form of the paper before it is linearized: a row is charged for being nearer to the wrong
    center than to its own, by the difference of the two distances. On the projected line this is
    LCC's loss with twice the slope, capped at the distance of the centers: a row beyond the wrong
    center costs no more for being further out, so far outliers do not turn the direction.

    The problem is not convex. What is found is a local optimum, started from the LCC solution.

    Parameters
    ----------
    C : float, default=2.0
        Cost of a unit of slack, on the sum over rows (the paper's lambda). ``np.inf`` is the hard
        margin, where no row may be capped and the problem is a linear program.
    margin : float, default=0.01
        Margin in the projected space (the paper's abs(sigma)): by how much a row must be nearer to
        its own center than to the other.
    discriminator : {"distance", "nearest", "svm"}, default="distance"
        How the projected line is cut: half-way between the centers, by the nearest training row, or
        by a one-dimensional SVM.
    algorithm : {"convex-concave", "general"}, default="convex-concave"
        ``"convex-concave"`` is a linear program and a walk over vertices. ``"general"`` hands
        the paper's formulation, with one slack variable per row, to SciPy's SLSQP: for comparison,
        and for a few hundred rows at most.
    n_init : int, default=1
        Number of starts; the lowest objective wins. The first is the LCC solution, the second the
        difference of the class centers, which helps where outliers have already turned LCC, the
        others are random directions.
    line_search : bool, default=False
        Whether the convex-concave procedure, once at a local optimum, looks along lines for a lower
        point and goes on from there. It lowers the objective much further than other starts do; see
        the notes before you use it to classify.
    max_steps : int, default=100
        Largest number of steps (linear programs and moves along lines) from one start.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class, as in :class:`LCC`.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Offer ``predict_proba``, calibrated on rows that the rules had not seen: ``fit`` is then
        repeated in five folds. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        Solver of the linear programs.
    tol : float, default=1e-9
        Relative gap to which each linear program is solved.
    max_iter : int, default=200
        Largest number of iterations in one linear program, and of the general solver.
    time_limit : float, default=None
        Seconds after which the best point so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Parallel two-class problems.
    random_state : int, RandomState instance or None, default=None
        Chooses the random starts, and the sample from which a large linear program is started.
    verbose : int, default=0
        2 prints the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
        The direction beta of each two-class problem.
    intercept_ : ndarray of shape (1,) or (n_problems,)
        Minus the cut on the projected line (for ``"nearest"``: minus the midpoint).
    centers_ : ndarray of shape (2, n_features) or (n_problems, 2, n_features)
        The class centers, negative class first.
    objective_ : float or ndarray of shape (n_problems,)
        The paper's FQCC objective at ``coef_``.
    objective_history_ : ndarray of shape (n_steps + 1,) or list of such arrays
        The objective at the start and after each step of the winning start. It never rises.
    optimality_ : str
        ``"local"``: nothing is claimed about other valleys of the objective. ``"global"`` for the
        hard margin.
    n_iter_ : int or ndarray of shape (n_problems,)
        Steps of the winning start.
    solver_ : str or list of str
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    LCC : The linear form: convex, with a certificate of global optimality.

    Notes
    -----
    A lower objective is not always a better classifier. The cap is the distance of the projected
    centers, so the objective can be lowered by letting the centers come together while the rows
    spread out: every row is then charged about the same for being on the wrong side, and what is
    minimized is the number of errors, unbalanced. The optimum next to the LCC solution, the
    default, does not drift that far.

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
    >>> model.optimality_
    'local'
    """

    def __init__(
        self,
        C: float = 2.0,
        margin: float = 0.01,
        discriminator: Rule = "distance",
        *,
        algorithm: Literal["convex-concave", "general"] = "convex-concave",
        n_init: int = 1,
        line_search: bool = False,
        max_steps: int = 100,
        class_weight: Any = None,
        multi_class: Strategy = "ovr",
        probability: Calibrated = None,
        solver: SolverName = "auto",
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.margin = margin
        self.discriminator = discriminator
        self.algorithm = algorithm
        self.n_init = n_init
        self.line_search = line_search
        self.max_steps = max_steps
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FQCC:
        """Find the direction.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    # The contract with Classifier.

    def _check_params(self) -> None:
        check_line_params(self)
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        check_count("n_init", self.n_init)
        check_count("max_steps", self.max_steps)
        if self.line_search and self.algorithm != "convex-concave":
            raise ValueError(
                'line_search=True belongs to algorithm="convex-concave", not to '
                f"{self.algorithm!r}: leave it False."
            )

    def _fit_task(self, problem: TwoClass) -> Direction:
        problem = problem.counted()
        margin = check_margin(self, self.margin, problem.largest_margin, problem)
        costs = problem.costs(float(self.C))
        rows = problem.rows.materialize()
        repeated = groups(rows)
        if repeated is not None:  # equal rows are one kink; apart they hide the vertex
            rows, costs = one_of_each(rows, repeated[0]), summed(costs, repeated[1])
        program = RampProgram(rows, costs, margin, problem.difference)
        unit = 1.0 if program.hard else _unit(program)
        found = self._best(_divided(program, unit), problem).times(unit)
        self._judge_local(found, problem.name)
        return cut(problem, found.beta, found, self.discriminator)

    def _store(self, parts: list[Direction]) -> None:
        self.coef_ = np.array([part.beta for part in parts])
        self.intercept_ = np.array([part.intercept for part in parts])
        self._rules = [part.rule for part in parts]
        self.centers_ = np.array([part.centers for part in parts])
        self.objective_ = alone([part.solution.objective for part in parts])
        self.n_iter_ = alone([max(part.solution.steps, 1) for part in parts])
        histories = [np.array(part.solution.history) for part in parts]
        solvers = [part.solution.solver for part in parts]
        self.optimality_ = "local" if np.isfinite(self.C) else "global"
        if len(parts) == 1:
            self.centers_ = self.centers_[0]
        self.objective_history_ = histories[0] if len(parts) == 1 else histories
        self.solver_ = solvers[0] if len(parts) == 1 else solvers

    def _project(self, X: Any) -> np.ndarray:
        return project_all(X, self.coef_)

    def _line_centers(self) -> np.ndarray:
        centers = self.centers_.reshape(-1, 2, self.n_features_in_)
        return np.asarray(np.einsum("kij,kj->ki", centers, self.coef_))

    def _midpoints(self) -> np.ndarray:
        return np.asarray(self._line_centers().mean(axis=1))

    def _missed(self, beyond: np.ndarray, task: int) -> np.ndarray:
        low, high = self._line_centers()[task]
        return np.maximum(self.margin + np.minimum(high - low, -2.0 * beyond), 0.0)

    # The search.

    def _best(self, program: RampProgram, problem: TwoClass) -> LocalSolution:
        limits, rng = controls(self, problem.began), generator(self)
        if program.hard:
            return self._hard(program, limits, rng, problem)
        first = lcc_program(program.rows, program.difference, program.costs, program.margin)
        start = dispatch.solve(first, self.solver, limits, rng, prove=False).certificate.beta
        best = self._descend(program, start, limits, rng)
        if self.n_init > 1:
            for start in _further_starts(program, self.n_init - 1, rng):
                if limits.out_of_time():
                    break
                found = self._descend(program, start, limits, rng)
                best = found if found.objective < best.objective else best
        return best

    def _descend(
        self, program: RampProgram, start: np.ndarray, limits: Controls, rng: Any
    ) -> LocalSolution:
        if self.algorithm == "general":
            return ramp_slsqp.solve(program, start, limits)
        return ramp.solve(
            program, start, self.solver, limits, rng, self.max_steps, lines=bool(self.line_search)
        )

    def _hard(
        self, program: RampProgram, limits: Controls, rng: Any, problem: TwoClass
    ) -> LocalSolution:
        """No row may be beyond the wrong center: one linear program, solved to its optimum."""
        nobody = np.zeros(program.shape[0], dtype=bool)
        solution = dispatch.solve(program.upper_model(nobody), self.solver, limits, rng)
        judge(self, problem, program.margin, solution)
        answer = solution.certificate
        history = (answer.objective, answer.objective)
        return LocalSolution(Status.OPTIMAL, answer.beta, history, answer, solution.solver)

    def _judge_local(self, found: LocalSolution, name: str) -> None:
        if found.status is Status.OPTIMAL:
            return
        cause = {
            Status.TIME_LIMIT: f"time_limit={self.time_limit} s ended the search",
            Status.ITERATION_LIMIT: (
                f"max_steps={self.max_steps} or max_iter={self.max_iter} ended it"
            ),
        }.get(found.status, "the solver stalled")
        warnings.warn(
            f"The local optimum is not reached ({name}): {cause} after {found.steps} steps at an "
            f"objective of {found.objective:.6g}. The model is usable.",
            ConvergenceWarning,
            stacklevel=2,
        )


def _unit(program: RampProgram) -> float:
    """The power of two near the size of the data, where that is not ordinary.

    Gaps are relative to an objective of at least one: on tiny data every point would do.
    """
    m, n = program.shape
    size = float(np.abs(program.difference).max(initial=0.0))
    if m * n > scaling.MOST_ENTRIES or ORDINARY[0] <= size <= ORDINARY[1] or not 0 < size < np.inf:
        return 1.0
    return float(2.0 ** np.round(np.log2(size)))


def _divided(program: RampProgram, unit: float) -> RampProgram:
    """The same problem on rows divided by a unit: the same points, the objective divided by it."""
    if unit == 1.0:
        return program
    rows = DenseRows(program.rows.dense() / unit)
    return RampProgram(rows, program.costs, program.margin / unit, program.difference / unit)


def _further_starts(program: RampProgram, count: int, rng: Any) -> Iterator[np.ndarray]:
    """The difference of the centers, then directions whose projections of the data are random."""
    model = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    difference = program.difference
    yield model.feasible(difference * (2.0 * program.margin / float(difference @ difference)))
    if count == 1:
        return
    values, vectors = np.linalg.eigh(program.rows.gram(program.costs))
    kept = values > 1e-10 * values[-1]
    for _ in range(count - 1):
        beta = vectors[:, kept] @ (rng.standard_normal(int(kept.sum())) / np.sqrt(values[kept]))
        reach = float(difference @ beta)
        if reach != 0.0:
            yield model.feasible(beta * (2.0 * program.margin / reach))
