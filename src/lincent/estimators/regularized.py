"""RegularizedLCC: centralization with an L2 term, a range of margins and a free threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lincent.estimators.choices import Calibrated, StrategyOrNative
from lincent.estimators.classifier import Classifier, ProjectedLine
from lincent.estimators.direction import (
    Direction,
    controls,
    cut,
    generator,
    judge,
    project_all,
    solve_controls,
    store_directions,
)
from lincent.estimators.multiclass import STRATEGIES
from lincent.estimators.native import ALL_CLASSES, fit_native, native_losses
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import HostTraining, TwoClass, tasks
from lincent.estimators.regularized_fit import RegularizedFit, check_problem_finite
from lincent.estimators.renamed import UNUSED, margin_range_of
from lincent.estimators.validation import ClassCosts, check_choice, check_count, check_positive
from lincent.estimators.watching import watched
from lincent.solvers.lp import dispatch
from lincent.solvers.newton import lasso, ridge
from lincent.sources.source import Kind

NORMS = ("l2", "l1", "linf")
SOLVERS = {"l2": ridge.solve_path, "l1": lasso.solve_path}


def check_margin_range(margin_range: Any) -> tuple[float, float]:
    """Two finite numbers, the second above zero and not below the first."""
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
    """Margins over which a hinge can be averaged: Newton's method needs the range."""
    low, high = check_margin_range(margin_range)
    if low == high:
        raise ValueError(
            f"margin_range={margin_range!r} is a hinge with a corner, which Newton's method does "
            "not solve: give low below high."
        )
    return low, high


class RegularizedLCC(Probabilities, ProjectedLine, Classifier):
    """Regularized linear centralization classifier.

    LCC with four changes that close its gap to class-balanced logistic regression: an L2 term
    instead of the box, the hinge averaged over a range of margins, class-balanced costs, and a
    threshold that may leave the midpoint of the centers. A quadratic program, solved by Newton's
    method to certified optimality.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of loss, per row; comparable with the C of LogisticRegression.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged. Only the ratio matters beside C.
    norm : {"l2", "l1", "linf"}, default="l2"
        ``"l2"`` adds half the squared length of the direction to the loss. ``"l1"`` adds the sum of
        its absolute values, which leaves few columns in use: the others have a coefficient of
        exactly zero, and the smaller ``C``, the more of them. ``"linf"`` is the paper's box as a
        linear program; it needs a single margin ``(s, s)`` and ``fit_threshold=False``: LCC with
        ``margin=s``.
    fit_threshold : bool, default=True
        Whether the cut may leave the midpoint of the class centers.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class. ``"balanced"`` gives both sides of each two-class
        problem the same total cost.
    multi_class : {"ovo", "ovr", "native"}, default="ovo"
        For more than two classes: one rule for each pair, one for each class against the rest, or
        one for each class from one program in which every row is to be nearer to its own class
        than to any other (``norm="l2"``, a free threshold and rows in memory).
    probability : {"sigmoid", "isotonic"} or None, default=None
        Offer ``predict_proba``, calibrated on rows that the rules had not seen: ``fit`` is then
        repeated in five folds. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    tol : float, default=1e-9
        Bound on ``duality_gap_ / max(1, abs(objective_))``.
    max_iter : int, default=200
        Largest number of steps in one solve.
    time_limit : float, default=None
        Seconds after which the best point so far is taken, with a ConvergenceWarning.
    warm_start : bool, default=False
        Begin at the solution of the last ``fit``, if it was one of as many columns and problems:
        fewer steps where rows were added or ``C`` was changed, and the same solution. Not with
        ``multi_class="native"`` or ``norm="linf"``, nor for rows that are not in memory.
    n_jobs : int, default=None
        Parallel two-class problems.
    random_state : int, RandomState instance or None, default=None
        Chooses the sample from which a large problem is started. The optimum does not depend on it.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.
    margins : tuple of two floats
        The old name of ``margin_range``.

        .. deprecated:: 0.2.0
            Give ``margin_range``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
    intercept_ : ndarray of shape (1,) or (n_problems,)
    threshold_ : float or ndarray of shape (n_problems,)
        How far the cut is from the midpoint of the centers, on the projected line.
    centers_ : ndarray of shape (2, n_features) or (n_problems, 2, n_features)
        The class centers, negative class first.
    objective_, dual_objective_, duality_gap_ : float or ndarray of shape (n_problems,)
        The certificate: the objective, a lower bound proved by the dual, and their difference.
    n_iter_ : int or ndarray of shape (n_problems,)
    solver_ : str or list of str
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    LCC : The paper's linear program.
    RegularizedLCCCV : The same with C chosen by cross-validation.

    Notes
    -----
    Shifting X changes nothing, scaling it does: standardize the columns first. A weight of two is
    the same as a repeated row. As accurate as class-balanced logistic regression, not more.

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
    _strategies = STRATEGIES

    def __init__(
        self,
        C: float = 1.0,
        margin_range: tuple[float, float] = (-1.0, 3.0),
        *,
        norm: Literal["l2", "l1", "linf"] = "l2",
        fit_threshold: bool = True,
        class_weight: Any = "balanced",
        multi_class: StrategyOrNative = "ovo",
        probability: Calibrated = None,
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        margins: Any = UNUSED,
    ) -> None:
        self.C = C
        self.margin_range = margin_range
        self.norm = norm
        self.fit_threshold = fit_threshold
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
        self.margins = margins

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegularizedLCC:
        """Find the direction and the threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. Also a Dask array or dataframe, which is read in place about five times, or a
            torch or CuPy array, which stays on its device; not with ``norm="l1"``.
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

    def _range(self) -> tuple[float, float]:
        return check_margin_range(margin_range_of(self))

    # The contract with Classifier and ProjectedLine.

    def _check_params(self) -> None:
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)
        low, high = self._range()
        if check_choice("norm", self.norm, NORMS) == "linf":
            if low != high or self.fit_threshold:
                raise ValueError(
                    f"norm='linf' is a linear program for one margin and the cut at the midpoint: "
                    f"give margin_range=(s, s) and fit_threshold=False, not margin_range="
                    f"{margin_range_of(self)!r} and fit_threshold={self.fit_threshold!r}."
                )
        elif low == high:
            raise ValueError(
                f"margin_range={margin_range_of(self)!r} with norm={self.norm!r} is a hinge with a "
                "corner, which Newton's method does not solve: give low below high, or norm='linf'."
            )

        if self.multi_class == "native" and not (self.norm == "l2" and self.fit_threshold):
            raise ValueError(
                "multi_class='native' has an L2 term and free thresholds: give norm='l2' and "
                f"fit_threshold=True, not norm={self.norm!r} and "
                f"fit_threshold={self.fit_threshold!r}, or another multi_class."
            )

    @property
    def _dispatches(self) -> bool:
        in_memory = self.norm == "l1" or self.multi_class == "native"
        return super()._dispatches and not in_memory

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        if self.norm == "l1":
            raise ValueError(
                "norm='l1' needs X in memory: compute() or cpu() it first, or use norm='l2'."
            )

    def _fit_task(self, problem: TwoClass) -> Direction:
        if isinstance(self.class_weight, str):
            problem = problem.balanced()
        if self.norm == "linf":
            part = self._fit_box(problem)
        else:
            seed = int(generator(self).integers(2**31))
            limits = solve_controls(self, problem)
            start = self._last_point(problem) if self.warm_start else None
            fit = RegularizedFit(
                self._range(),
                bool(self.fit_threshold),
                replace(limits, start=start),
                seed,
                SOLVERS[self.norm],
            )
            part = fit.directions(problem, (float(self.C),))[0]
            if start is not None and not part.solution.certified(self.tol):  # it has misled
                part = replace(fit, controls=limits).directions(problem, (float(self.C),))[0]
        judge(self, problem, self._range()[0], part.solution)
        return part

    def _last_point(self, problem: TwoClass) -> tuple[np.ndarray, float] | None:
        """Where the last fit has ended, if it was one of as many columns and problems."""
        coef = vars(self).get("coef_")
        todo = tasks(len(self.classes_), self.multi_class)
        if not isinstance(coef, np.ndarray) or coef.shape != (len(todo), problem.X.shape[1]):
            return None
        k = [task.labels(self.classes_) for task in todo].index(problem.labels)
        return coef[k], float(np.ravel(self.threshold_)[k])

    def _fit_native(self, training: HostTraining, costs: ClassCosts) -> list[Direction]:
        limits = watched(controls(self, training.began), self, ALL_CLASSES.name)
        parts = fit_native(training, costs, float(self.C), self._range(), limits)
        judge(self, ALL_CLASSES, self._range()[0], parts[0].solution)
        return parts

    def _fit_box(self, problem: TwoClass) -> Direction:
        """The paper's linear program."""
        check_problem_finite(problem)
        largest = problem.largest_margin
        if largest == 0.0 or self._range()[0] > largest:
            raise ValueError(
                f"margin_range={margin_range_of(self)!r} is above the largest feasible margin "
                f"{largest:.6g} ({problem.name}): give a smaller margin, or scale the features up."
            )
        program = problem.program(problem.costs(float(self.C)), self._range()[0])
        limits = solve_controls(self, problem)
        solution = dispatch.solve(program, "auto", limits, generator(self))
        return cut(problem, solution.certificate.beta, solution, "distance")

    def _store(self, parts: list[Direction]) -> None:
        store_directions(self, parts)
        threshold = np.array([-part.intercept - part.midpoint for part in parts])
        self.threshold_ = float(threshold[0]) if len(parts) == 1 else threshold

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
        if self.multi_class == "native" and len(self.classes_) > 2:
            return float(self.C) * native_losses(self._task_scores(X), codes, self._missed)
        return super()._impacts(X, codes)

    def _missed(self, beyond: np.ndarray, task: int) -> np.ndarray:
        low, high = self._range()
        pull = np.clip((high - beyond) / (high - low), 0.0, 1.0) if high > low else beyond < high
        return np.asarray(pull * (high - beyond - (high - low) / 2 * pull))
