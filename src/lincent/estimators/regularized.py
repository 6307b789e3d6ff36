"""RegularizedLCC: centralization with an L2 term, a range of margins and an intercept.

``RegularizedFit`` solves one binary subproblem, for this estimator and those built on it.
``multi_class="joint"`` is one problem for all classes: every sample of class y is to score higher
for y than for any other class k, by the margins,

    minimize    sum_k |beta_k|^2 + (2 C / K) sum_i sum_{k != y_i} c_i phi(f_iy - f_ik)

over one direction and one offset for each of K classes (problem, dual and certificate are those of
``problems.joint``).  Since sum_{y<k} |beta_y - beta_k|^2 = K sum_k |beta_k|^2 where the directions
add up to zero, as they do at the optimum, this is K/2 times less than one-vs-one with directions

    beta_yk = beta_y - beta_k

so C has the same scale, and with two classes both are the same problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from lincent.estimators.base import Classifier, ProbabilityMixin, ProjectionMixin
from lincent.estimators.direction import (
    Direction,
    controls,
    fit_discriminator_on,
    generator,
    make_direction,
    midpoints,
    project_all,
    solve_controls,
    store_directions,
    warn_if_not_converged,
)
from lincent.estimators.fit_callbacks import observed
from lincent.estimators.joint_fit import fit_path
from lincent.estimators.problem import STRATEGIES, BinaryProblem, HostTraining, binary_tasks
from lincent.estimators.threshold import Threshold
from lincent.estimators.validation import (
    COMMON_CONSTRAINTS,
    POSITIVE,
    Calibrated,
    ClassCosts,
    StrategyOrJoint,
    check_finite,
)
from lincent.problems.arrays import Certificate
from lincent.problems.joint import JointLoss, SmoothedHinge
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.lp import dispatch
from lincent.solvers.newton import in_place, lasso, ridge
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.source import Kind

SOLVERS = {"l2": ridge.solve_path, "l1": lasso.solve_path}
JOINT: Any = SimpleNamespace(name="all classes at once")
"""The joint problem, as messages name it."""
LARGE = 2.0**20
"""The joint problem rescales X where its largest entry is above this, or below one over it."""


def check_margin_range(margin_range: Any) -> tuple[float, float]:
    """Return two finite numbers, the second above zero and not below the first."""
    try:
        low, high = (float(value) for value in margin_range)
    except (TypeError, ValueError):
        raise ValueError(
            f"margin_range={margin_range!r} is not usable: give two numbers (low, high)."
        ) from None
    if not (np.isfinite(low) and np.isfinite(high) and low <= high and high > 0):
        raise ValueError(
            f"margin_range={margin_range!r} is not usable: give finite numbers low <= high with "
            "high above 0."
        )
    return low, high


def check_hinge_range(margin_range: Any) -> tuple[float, float]:
    """Return a range of margins over which a hinge can be averaged, as Newton's method needs."""
    low, high = check_margin_range(margin_range)
    if low == high:
        raise ValueError(
            f"margin_range={margin_range!r} is a hinge with a corner, which Newton's method does "
            "not solve: give low below high."
        )
    return low, high


@dataclass(frozen=True)
class RegularizedFit:
    """The fit of one binary subproblem: margins, whether the intercept is free, and the solver."""

    margins: tuple[float, float]
    free: bool
    controls: Controls
    seed: int
    solve_path: ridge.PathSolver = ridge.solve_path

    def directions(self, problem: BinaryProblem, Cs: Sequence[float]) -> list[Direction]:
        """Return the directions for several C, each started from the one before."""
        check_problem_finite(problem)
        low, high = float(self.margins[0]), float(self.margins[1])
        rng = np.random.default_rng(self.seed)
        if problem.in_memory:
            means = _mean_rows(problem) if self.free else None
            program = RegularizedProgram(
                problem.rows, problem.sign, problem.cost, low, high, self.free, means
            )
            solutions = self.solve_path(program, Cs, self.controls, rng)
        else:
            rows: Any = problem.rows
            costs, means = problem.source.cost_means(rows, problem.cost)
            remote = in_place.RemoteProgram(rows, problem.cost, costs, means, low, high, self.free)
            solutions = in_place.solve_path(remote, Cs, self.controls, rng)
        directions = []
        for solution in solutions:
            beta, t = solution.certificate.beta, solution.certificate.t
            middle = float(problem.means.mean(axis=0) @ beta)
            directions.append(make_direction(problem, beta, solution, Threshold(middle + t)))
        return directions


def check_problem_finite(problem: BinaryProblem) -> None:
    """Raise an error where X is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        means = problem.means
    if problem.in_memory:  # other data is checked in the first pass over it
        check_finite(problem.X, means, "RegularizedLCC")


def _mean_rows(problem: BinaryProblem) -> np.ndarray | None:
    """Return half of C+ - C- for each class, if the costs are proportional to the weights in it.

    This is then the mean signed sample of each class by cost, which need not be computed.
    """
    weight, cost, high = problem.weight, problem.cost, problem.sign > 0
    sides = (~high, high)
    factors = [float(cost @ side) / float(weight @ side) for side in sides]
    expected = np.where(high, factors[1], factors[0])
    expected *= weight
    expected -= cost
    if max(float(expected.max()), -float(expected.min())) > 1e-9 * max(factors):
        return None
    return np.tile(problem.difference / 2, (2, 1))


class RegularizedLCC(ProbabilityMixin, ProjectionMixin, Classifier):
    """Regularized linear centralization classifier.

    LCC with four changes that close its gap to class-balanced logistic regression: an L2 term
    instead of the box constraints, the hinge averaged over a range of margins, class-balanced
    costs, and a threshold that need not be the midpoint of the centers. A quadratic program, solved
    by Newton's method to certified optimality.

    Parameters
    ----------
    C : float, default=1.0
        Misclassification cost per sample; comparable with the C of LogisticRegression.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged. Only the ratio matters beside C.
    norm : {"l2", "l1", "linf"}, default="l2"
        ``"l2"`` adds half the squared length of the direction to the loss. ``"l1"`` adds the sum of
        its absolute values, so that many features have a coefficient of exactly zero: the smaller
        ``C``, the more. ``"linf"`` is the paper's linear program; it needs a single margin
        ``(s, s)`` and ``fit_intercept=False``: LCC with ``margin=s``.
    fit_intercept : bool, default=True
        Whether the threshold is fitted; otherwise it is the midpoint of the class centers.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class. ``"balanced"`` gives both sides of each binary
        subproblem the same total cost.
    multi_class : {"ovo", "ovr", "joint"}, default="ovo"
        For more than two classes: one-vs-one, one-vs-rest, or one joint (Crammer-Singer style)
        problem for all classes, which needs ``norm="l2"``, an intercept and X in memory.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Method by which ``predict_proba`` is calibrated on out-of-fold scores; ``fit`` is then
        repeated in five folds. ``predict`` does not change: with imbalanced classes the predicted
        class is not always the most probable one.
    tol : float, default=1e-9
        Bound on ``duality_gap_``.
    max_iter : int, default=200
        Largest number of Newton steps in one solve.
    time_limit : float, default=None
        Seconds after which the best solution so far is taken, with a ConvergenceWarning.
    warm_start : bool, default=False
        Start from the solution of the last ``fit``, if it has as many features and binary
        subproblems: fewer steps where samples were added or ``C`` was changed, and the same
        solution. Not with ``multi_class="joint"`` or ``norm="linf"``, nor for X not in memory.
    n_jobs : int, default=None
        Number of binary subproblems solved in parallel.
    random_state : int, RandomState instance or None, default=0
        Seed for the subsample used to initialize the solver on large problems. Does not affect the
        solution.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
        The direction beta of each binary subproblem.
    intercept_ : ndarray of shape (1,) or (n_problems,)
        Minus the threshold on the projected line.
    centers_ : ndarray of shape (2, n_features) or (n_problems, 2, n_features)
        The class centers, negative class first.
    objective_, dual_objective_ : float or ndarray of shape (n_problems,)
        The certificate: the objective, and a lower bound on the optimum from the dual problem.
    duality_gap_ : float
        Largest relative duality gap over the binary subproblems.
    n_iter_ : int or ndarray of shape (n_problems,)
        Number of Newton steps.
    solver_ : str or list of str
        The solver that found the solution.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Predictions for the training samples by models fitted without them, if ``probability`` is
        set; NaN for samples that cannot be held out.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    See Also
    --------
    LCC : The paper's linear program.
    RegularizedLCCCV : The same with C chosen by cross-validation.

    Notes
    -----
    The model is invariant to shifts of X, not to scaling: standardize the features first. Sample
    weights are frequency weights. As accurate as class-balanced logistic regression, not more.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lincent import RegularizedLCC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RegularizedLCC()).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    >>> bool(model[-1].duality_gap_ < 1e-6)
    True
    """

    _finite_by_centers = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "C": [POSITIVE],
        "norm": [StrOptions({"l2", "l1", "linf"})],
        "fit_intercept": ["boolean"],
        "multi_class": [StrOptions(set(STRATEGIES))],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        C: float = 1.0,
        margin_range: tuple[float, float] = (-1.0, 3.0),
        *,
        norm: Literal["l2", "l1", "linf"] = "l2",
        fit_intercept: bool = True,
        class_weight: Any = "balanced",
        multi_class: StrategyOrJoint = "ovo",
        probability: Calibrated = None,
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.margin_range = margin_range
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegularizedLCC:
        """Fit the direction and the threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples. Also a Dask array or dataframe, which is read in place about five times, or
            a torch or CuPy array, which stays on its device; not with ``norm="l1"``.
        y : array-like of shape (n_samples,)
            The class of each sample.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights of the samples; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _check_params(self) -> None:
        low, high = check_margin_range(self.margin_range)
        if self.norm == "linf":
            if low != high or self.fit_intercept:
                raise ValueError(
                    "norm='linf' is a linear program for one margin and the threshold at the "
                    "midpoint: give margin_range=(s, s) and fit_intercept=False, not margin_range="
                    f"{self.margin_range!r} and fit_intercept={self.fit_intercept!r}."
                )
        elif low == high:
            raise ValueError(
                f"margin_range={self.margin_range!r} with norm={self.norm!r} is a hinge with a "
                "corner, which Newton's method does not solve: give low below high, or norm='linf'."
            )
        if self.multi_class == "joint" and not (self.norm == "l2" and self.fit_intercept):
            raise ValueError(
                "multi_class='joint' has an L2 term and free intercepts: give norm='l2' and "
                f"fit_intercept=True, not norm={self.norm!r} and "
                f"fit_intercept={self.fit_intercept!r}, or another multi_class."
            )

    @property
    def _array_api_support(self) -> bool:
        in_memory = self.norm == "l1" or self.multi_class == "joint"
        return super()._array_api_support and not in_memory

    def _check_input_backend(self, kind: Kind, X: Any) -> None:
        if self.norm == "l1":
            raise ValueError(
                "norm='l1' needs X in memory: compute() or cpu() it first, or use norm='l2'."
            )

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        if isinstance(self.class_weight, str):
            problem = problem.balanced()
        margins = check_margin_range(self.margin_range)
        limits = solve_controls(self, problem)
        if self.norm == "linf":  # the paper's linear program
            check_problem_finite(problem)
            largest = problem.largest_margin
            if largest == 0.0 or margins[0] > largest:
                raise ValueError(
                    f"margin_range={self.margin_range!r} is above the largest feasible margin "
                    f"{largest:.6g} ({problem.name}): give a smaller margin, or scale the features "
                    "up."
                )
            program = problem.program(problem.costs(float(self.C)), margins[0])
            solution = dispatch.solve(program, "auto", limits, generator(self))
            direction = fit_discriminator_on(
                problem, solution.certificate.beta, solution, "distance"
            )
        else:
            seed = int(generator(self).integers(2**31))
            start = self._last_solution(problem) if self.warm_start else None
            warm = replace(limits, start=start)
            free = bool(self.fit_intercept)
            fit = RegularizedFit(margins, free, warm, seed, SOLVERS[self.norm])
            direction = fit.directions(problem, (float(self.C),))[0]
            if start is not None and not direction.solution.certified(self.tol):
                direction = replace(fit, controls=limits).directions(problem, (float(self.C),))[0]
        warn_if_not_converged(self, problem, margins[0], direction.solution)
        return direction

    def _last_solution(self, problem: BinaryProblem) -> tuple[np.ndarray, float] | None:
        """Return the solution of the last fit, if it has as many features and subproblems."""
        coef = vars(self).get("coef_")
        tasks = binary_tasks(len(self.classes_), self.multi_class)
        if not isinstance(coef, np.ndarray) or coef.shape != (len(tasks), problem.X.shape[1]):
            return None
        k = [task.labels(self.classes_) for task in tasks].index(problem.labels)
        return coef[k], float(-self.intercept_[k] - midpoints(self)[k])

    def _fit_joint(self, training: HostTraining, costs: ClassCosts) -> list[Direction]:
        """Fit one direction for each class to centered samples; all share the certificate."""
        margins = check_margin_range(self.margin_range)
        limits = observed(controls(self, training.began), self, JOINT.name)
        n = len(training.classes)
        fraction = training.weight / training.weight.sum()
        with np.errstate(invalid="ignore", over="ignore"):
            origin = np.asarray(fraction @ training.X, dtype=np.float64)
        check_finite(training.X, origin[None], "multi_class='joint'")
        rows = training.X - origin
        largest = max(float(rows.max()), -float(rows.min()))
        scale = 1.0
        if largest != 0.0 and not 1 / LARGE < largest < LARGE:
            scale = float(2.0 ** np.frexp(largest)[1])
            rows /= scale  # directions grow by it, C and the objective by its square
        pairs = np.tile(2.0 / n * costs.factor[:, None], (1, n))
        losses = JointLoss(
            training.codes, np.array(training.weight), pairs, SmoothedHinge(*margins)
        )
        joint = fit_path(
            rows, losses, [self.C * scale**2], limits.tol, limits.max_iter, limits.out_of_time
        )[0]
        coef, offset = joint.rules[:-1] / scale, joint.rules[-1]
        factor = scale**-2
        objective, bound = float(joint.objective[0]) * factor, float(joint.bound[0]) * factor
        certificate = Certificate(coef.ravel(), np.empty(0), 0.0, objective, bound, unit=factor)
        status = Status.STALLED
        if certificate.relative_gap <= limits.tol:
            status = Status.OPTIMAL
        elif limits.out_of_time():
            status = Status.TIME_LIMIT
        elif joint.iterations >= limits.max_iter:
            status = Status.ITERATION_LIMIT
        solution = Solution(status, certificate, joint.iterations, "newton, all classes")
        warn_if_not_converged(self, JOINT, margins[0], solution)
        sums = scale * np.stack([fraction * (training.codes == k) @ rows for k in range(n)])
        totals = np.bincount(training.codes, fraction, n)
        directions = []
        for k in range(n):
            rest = (sums.sum(axis=0) - sums[k]) / (1.0 - totals[k])
            centers = np.stack([rest, sums[k] / totals[k]]) + origin
            low, high = (float(value) for value in centers @ coef[:, k])
            threshold = Threshold(float(origin @ coef[:, k] - offset[k]))
            directions.append(
                Direction(coef[:, k], centers, (low + high) / 2, high - low, threshold, solution)
            )
        return directions

    def _store(self, parts: list[Direction]) -> None:
        store_directions(self, parts)

    def _project(self, X: Any) -> np.ndarray:
        return project_all(X, self.coef_)

    def _task_scores(self, X: Any) -> np.ndarray:
        return np.asarray(self._project(X) + self.intercept_)

    @property
    def _n_features_out(self) -> int:
        return len(self.coef_)

    def _midpoints(self) -> np.ndarray:
        return -self.intercept_

    def _impacts(self, X: Any, codes: np.ndarray) -> np.ndarray:
        if self.multi_class != "joint" or len(self.classes_) == 2:
            return super()._impacts(X, codes)
        # (2 C / K) times the sum over the other classes of the loss at f_y - f_k.
        scores = self._task_scores(X)
        ahead = scores[np.arange(len(codes)), codes][:, None] - scores
        losses = np.where(np.arange(scores.shape[1]) == codes[:, None], 0, self._violation(ahead))
        return np.asarray(2.0 * float(self.C) / scores.shape[1] * losses.sum(axis=1))

    def _violation(self, signed: np.ndarray, task: int = 0) -> np.ndarray:
        """Return the hinge averaged over the range of margins."""
        low, high = check_margin_range(self.margin_range)
        slope = np.clip((high - signed) / (high - low), 0.0, 1.0) if high > low else signed < high
        return np.asarray(slope * (high - signed - (high - low) / 2 * slope))
