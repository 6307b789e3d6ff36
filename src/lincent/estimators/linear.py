"""LCC, the linear centralization classifier, and the directions that linear models fit.

A ``Direction`` is the projection x.beta of a binary subproblem and the discriminator on it.
``LinearMixin._fit_direction`` solves the paper's linear program, ``RegularizedFit`` the problem of
RegularizedLCC and the estimators built on it; ``make_direction`` and ``fit_discriminator_on`` turn
coefficients into a ``Direction``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lincent.estimators.base import Classifier, EstimatorMixin, ProjectionMixin, has_pairs, log
from lincent.estimators.problem import BinaryProblem
from lincent.estimators.threshold import Discriminator, Line, Threshold, fit_discriminator
from lincent.estimators.validation import (
    PAPER_CONSTRAINTS,
    Calibrated,
    Rule,
    SolverName,
    Strategy,
    check_finite,
)
from lincent.problems.centralization import Program
from lincent.problems.double_double import UNIT
from lincent.problems.regularized import RegularizedProgram
from lincent.problems.rounding import certify_with_rounding
from lincent.solvers.lp import dispatch
from lincent.solvers.newton import in_place, ridge
from lincent.solvers.solution import Controls, Solution, Status, silent
from lincent.sources.source import open_source

OFFSET_LOSS = 1e-6
"""Relative error of scores above which an offset of X is warned of, about 1e8 times its scale."""


def _of_classes(name: str) -> Any:
    """Return the property ``coef_`` or ``intercept_`` for that of the binary problems."""

    def read(model: Any) -> Any:
        if not hasattr(model, name):
            raise AttributeError(f"This {type(model).__name__} is not fitted yet: call fit first.")
        if has_pairs(model):
            raise AttributeError(
                f"{type(model).__name__} with multi_class='ovo' votes between pairs of classes, so "
                "its score has no coef_ and intercept_: use multi_class='ovr', or "
                "feature_importances_."
            )
        return getattr(model, name)

    def write(model: Any, value: Any) -> None:
        setattr(model, name, value)

    return property(read, write, lambda model: delattr(model, name))


def controls(model: Any, began: float) -> Controls:
    """Return the stopping criteria and the log of a solve by the parameters of the estimator."""
    limit = getattr(model, "time_limit", None)
    deadline = np.inf if limit is None else began + limit
    tell = log if model.verbose > 1 else silent
    return Controls(tol=model.tol, max_iter=model.max_iter, deadline=deadline, tell=tell)


@dataclass(eq=False, repr=False)
class SolverMixin:
    """Stopping criteria, random numbers, margins and certificates of estimators with a solver."""

    _: KW_ONLY
    multi_class: Strategy = "ovr"
    probability: Calibrated = None

    def _generator(self: Any) -> np.random.Generator:
        """Return a generator seeded by ``random_state``."""
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _check_margin(self: Any, margin: float, largest: float, problem: BinaryProblem) -> float:
        """Return a feasible margin, or raise an error."""
        if largest == 0.0:
            raise ValueError(
                f"The class centers coincide ({problem.name}), so no direction separates them; "
                f"{type(self).__name__} needs classes with different means."
            )
        if margin > largest and self._clip_margin:
            return largest  # feasible for all samples, and not for those of this fold
        if margin > largest:
            raise ValueError(
                f"margin={margin:g} is above the largest feasible margin {largest:.6g} "
                f"({problem.name}): give a smaller margin, or scale the features up."
            )
        return float(margin)

    def _warn_if_not_converged(self: Any, problem: Any, margin: float, solution: Solution) -> None:
        """Warn of a solve that did not reach ``tol``; print its end if ``verbose``.

        A hard margin that cannot be met is an error.
        """
        answer = solution.certificate
        if self.verbose:
            log(
                f"{problem.name}: {solution.solver}, {solution.iterations} steps, objective "
                f"{answer.objective:.10e}, relative gap {answer.relative_gap:.1e}"
            )
        if np.isinf(self.C) and not np.isfinite(answer.objective):
            raise ValueError(
                f"C=np.inf asks for a hard margin of {margin:g}, but the rows cannot be "
                f"separated by it ({problem.name}): give a finite C."
            )
        if answer.relative_gap <= self.tol:
            return
        cause = {
            Status.TIME_LIMIT: f"time_limit={self.time_limit} s ended the solve",
            Status.ITERATION_LIMIT: f"max_iter={self.max_iter} ended the solve",
        }.get(solution.status, "the solvers stalled")
        if answer.rounding > answer.gap / 2:
            cause = "rounding, on data of this scale, ends the proof"
        warnings.warn(
            f"The optimum is not certified ({problem.name}): {cause} at a relative duality gap of "
            f"{answer.relative_gap:.1e} (tol {self.tol:g}). The model is usable; its objective is "
            f"within {answer.gap:.3g} of the optimum. Features of one scale are solved best.",
            ConvergenceWarning,
            stacklevel=2,
        )

    def _fit_regularized(
        self: Any,
        problem: BinaryProblem,
        margins: tuple[float, float],
        seed: int,
        free: bool = True,
        solve_path: ridge.PathSolver = ridge.solve_path,
    ) -> Direction:
        """Solve the regularized problem by the parameters of the estimator."""
        fit = RegularizedFit(margins, free, controls(self, problem.began), seed, solve_path)
        [direction] = fit.directions(problem, (float(self.C),))
        self._warn_if_not_converged(problem, margins[0], direction.solution)
        return direction

    def _store_directions(self: Any, parts: list[Direction]) -> None:
        """Set intercepts, class centers, discriminators and certificates."""
        if hasattr(self, "discriminator"):
            self._rules = [part.rule for part in parts]
        self._intercept = np.array([part.intercept for part in parts])
        centers = np.array([part.centers for part in parts])
        self.centers_ = centers[0] if len(parts) == 1 else centers
        self._store_certificates([part.solution for part in parts])

    def _store_certificates(self: Any, solutions: Sequence[Any]) -> None:
        """Set objectives, ``duality_gap_``, ``n_iter_`` and ``solver_``."""
        certificates = [solution.certificate for solution in solutions]
        self.objective_ = squeeze_single([c.objective for c in certificates])
        self.dual_objective_ = squeeze_single([c.dual_objective for c in certificates])
        self.duality_gap_ = float(max(c.relative_gap for c in certificates))
        self.n_iter_ = squeeze_single([solution.iterations for solution in solutions])
        solvers = [solution.solver for solution in solutions]
        self.solver_ = solvers[0] if len(solvers) == 1 else solvers


class LinearMixin:
    """The fitted attributes of linear classifiers, and the projection x.beta.

    One-vs-one scores are votes between pairs of classes, and whoever reads ``coef_`` takes a row of
    it for a class: there is ``feature_importances_`` instead.
    """

    _coef: np.ndarray
    _intercept: np.ndarray
    centers_: np.ndarray
    coef_ = _of_classes("_coef")
    intercept_ = _of_classes("_intercept")

    @property
    def feature_importances_(self) -> np.ndarray:
        """The root mean squares of the coefficients of all pairs of classes, for one-vs-one."""
        if not has_pairs(self):
            name = type(self).__name__
            raise AttributeError(f"{name} has coef_ instead of feature_importances_.")
        return np.asarray(np.sqrt(np.mean(self._coef**2, axis=0)))

    def _store(self: Any, parts: list[Direction]) -> None:
        self._coef = np.array([part.beta for part in parts])
        self._store_directions(parts)

    def _draws(self: Any) -> dispatch.Draws:
        """Return ``_generator()``, made on first use where that may be, since it takes a while."""
        seed = self.random_state
        if seed is None or isinstance(seed, int | np.integer):
            return self._generator
        return self._generator()

    def _fit_direction(self: Any, problem: BinaryProblem, margin: float) -> Direction:
        """Solve the paper's linear program by the parameters of the estimator."""
        program = problem.program(problem.costs(float(self.C)), margin)
        limits = controls(self, problem.began)
        # The certificate is computed once, for the coefficients that are stored.
        solution = dispatch.solve(program, self.solver, limits, self._draws(), prove=False)
        solution = certify_stored_coef(problem, program, solution, self.tol)
        self._warn_if_not_converged(problem, margin, solution)
        beta = solution.certificate.beta
        direction = fit_discriminator_on(problem, beta, solution, str(self.discriminator))
        reach = float(np.abs(direction.centers).max(axis=0) @ np.abs(direction.beta))
        warn_of_offset(problem, reach, direction.width)
        return direction

    def _project(self, X: Any) -> np.ndarray:
        source = open_source(X)
        return np.stack([source.project(beta) for beta in self._coef], axis=1)

    def _projected_centers(self) -> np.ndarray:
        """Return the projected class centers (n_problems, 2)."""
        centers = self.centers_.reshape(len(self._coef), 2, -1)
        return np.asarray(np.einsum("kij,kj->ki", centers, self._coef))

    def _midpoints(self) -> np.ndarray:
        return np.asarray(self._projected_centers().mean(axis=1))


@dataclass(eq=False, repr=False)
class LCC(SolverMixin, LinearMixin, ProjectionMixin, EstimatorMixin, Classifier):
    """Linear centralization classifier.

    Finds the direction that moves the samples of each class toward their own center while it moves
    the two centers apart, by a linear program solved to certified optimality. The threshold on the
    projected line is the midpoint of the centers.

    Parameters
    ----------
    C : float, default=2.0
        Misclassification cost on the sum over samples (the paper's lambda). ``np.inf`` is the hard
        margin: every sample must be on its own side by ``margin``.
    margin : float, default=0.01
        Margin in the projected space (the paper's abs(sigma)). Feasible up to the sum of absolute
        differences of the class centers.
    discriminator : {"distance", "nearest", "svm"}, default="distance"
        How classes are told apart on the projected line: by the midpoint of the class centers, by
        the nearest training sample, or by a one-dimensional SVM.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class. ``"balanced"`` gives the classes equal total cost and
        leaves the threshold at the midpoint, which favors neither class. A dictionary gives the
        importance of each class, and moves the threshold as well.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid"} or None, default=None
        Method by which ``predict_proba`` is calibrated on out-of-fold scores; ``fit`` is then
        repeated in five folds. ``predict`` does not change: with imbalanced classes the predicted
        class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        All give the optimum; they differ in time. A solve that does not reach ``tol`` is continued
        by HiGHS.
    tol : float, default=1e-9
        Bound on ``duality_gap_``.
    max_iter : int, default=200
        Largest number of iterations (Newton or interior-point steps) in one solve.
    time_limit : float, default=None
        Seconds after which the best solution so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Number of binary subproblems solved in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed for the subsample used to initialize the solver on large problems. Does not affect the
        solution.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

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
    objective_, dual_objective_ : float or ndarray of shape (n_problems,)
        The certificate: the paper's objective at ``coef_``, and a lower bound on the optimum from
        the dual solution over all samples.
    duality_gap_ : float
        Largest relative duality gap over the binary subproblems, with a floating-point error bound:
        the difference of the two objectives divided by ``max(1, abs(objective_))``.
    n_iter_ : int or ndarray of shape (n_problems,)
        Number of iterations.
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
    RegularizedLCC : With an L2 term instead of the box constraints; fast on data of any shape.
    sklearn.svm.LinearSVC : Maximizes a margin; approximate, with a penalized intercept.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : Uses class covariances, not samples.

    Notes
    -----
    The model is invariant to shifts of X. Sample weights are frequency weights, in the centers as
    well as in the costs. While no coefficient reaches the box constraints [-1, 1] the solution only
    scales with ``margin`` and the predictions do not depend on it.

    The exact linear program is expensive on some kinds of data: sparse X whose entries are spread
    evenly over thousands of features, hundreds of one-hot columns, and dense X of 10,000 samples
    and 1,000 features and more. There :class:`RegularizedLCC` takes a fraction of the time and is
    as accurate.

    References
    ----------
    Bonyadi, Vegh, Reutens, "Linear centralization classifier", 2017, equation LCC.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lincent import LCC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LCC()).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    >>> bool(model[-1].duality_gap_ < 1e-9)
    True
    """

    C: float = 2.0
    margin: float = 0.01
    discriminator: Rule = "distance"
    _: KW_ONLY
    class_weight: Any = None
    solver: SolverName = "auto"
    random_state: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = PAPER_CONSTRAINTS
    _reads_in_place = True

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        margin = self._check_margin(self.margin, problem.largest_margin, problem)
        return self._fit_direction(problem, margin)


# Directions.


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


# The solve.


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


# The regularized problem.


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
        with np.errstate(invalid="ignore", over="ignore"):
            means = problem.means
        low, high = float(self.margins[0]), float(self.margins[1])
        rng = np.random.default_rng(self.seed)
        if problem.in_memory:  # other data is checked in the first pass over it
            check_finite(problem.X, means, "RegularizedLCC")
            mean_rows = _mean_rows(problem) if self.free else None
            program = RegularizedProgram(
                problem.rows, problem.sign, problem.cost, low, high, self.free, mean_rows
            )
            solutions = self.solve_path(program, Cs, self.controls, rng)
        else:
            rows: Any = problem.rows
            remote = in_place.RemoteProgram(rows, problem.cost, low, high, self.free)
            solutions = in_place.solve_path(remote, Cs, self.controls, rng)
        directions = []
        for solution in solutions:
            beta, t = solution.certificate.beta, solution.certificate.t
            middle = float(means.mean(axis=0) @ beta)
            directions.append(make_direction(problem, beta, solution, Threshold(middle + t)))
        return directions


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


# Fitted attributes.


def squeeze_single(values: Sequence[Any]) -> Any:
    """Return one number per subproblem as an array, or the number itself if there is one."""
    array = np.array(values)
    return array[0].item() if len(array) == 1 and array.ndim == 1 else array
