"""LCC: the linear centralization classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.answers import where_rows_live
from lincent.estimators.calibration import (
    METHODS,
    Calibrator,
    combine_probabilities,
    fit_calibrator,
    held_out_scores,
)
from lincent.estimators.certified import CentralizationClassifier
from lincent.estimators.discriminators import Cut, Discriminator, Line, fit_discriminator
from lincent.estimators.path import TwoClassData
from lincent.estimators.validation import check_choice, check_rows
from lincent.passes.source import open_source
from lincent.solvers.lp import choose
from lincent.solvers.solution import Controls, Solution


@dataclass(frozen=True)
class Direction:
    """One fitted two-class problem."""

    beta: np.ndarray
    centers: np.ndarray
    rule: Discriminator
    solution: Solution
    calibrator: Calibrator | None = None

    @property
    def width(self) -> float:
        """The distance between the centers on the line: the unit of calibrated scores."""
        return float((self.centers[1] - self.centers[0]) @ self.beta)

    def score(self, X: Any) -> np.ndarray:
        """The score of each row by the rule on the line."""
        return self.rule.score(open_source(X).project(self.beta))

    @property
    def intercept(self) -> float:
        if isinstance(self.rule, Cut):
            return -self.rule.at
        return -float(self.centers.mean(axis=0) @ self.beta)


def cut(
    data: TwoClassData, solution: Solution, rule: str, importance: tuple[float, float]
) -> Direction:
    """The direction of a solution, with the rule that cuts its line."""
    beta = data.direction(solution.certificate.beta)
    low, high = (float(c) for c in data.centers @ beta)
    needs_rows = rule != "distance" or importance[0] != importance[1]
    line = Line(np.empty(0), np.empty(0), np.empty(0), (low, high), importance)
    if needs_rows:
        signs, weights = data.source.place.fetch(data.sign), np.asarray(data.weight)
        line = replace(line, projected=data.source.project(beta), sign=signs, weight=weights)
    return Direction(beta, data.centers, fit_discriminator(rule, line), solution)


def calibrated(
    data: TwoClassData,
    parts: Sequence[Direction | None],
    without: Callable[[np.ndarray], Sequence[Direction | None]],
    method: str,
) -> list[Direction | None]:
    """The directions, each with a calibrator; ``without`` fits the same to part of the rows."""
    counted = data.weight > 0
    positive, weight = data.sign[counted] > 0, data.weight[counted]
    scores = held_out_scores(data.X, data.sign, data.weight, parts, without)
    return [
        part
        if part is None or u is None
        else replace(
            part, calibrator=fit_calibrator(method, u[counted], positive, weight, part.width)
        )
        for part, u in zip(parts, scores, strict=True)
    ]


def _offers_probabilities(model: Any) -> bool:
    if model.probability is None:
        raise AttributeError(
            f"{type(model).__name__} has predict_proba only where it is asked for: give "
            "probability='sigmoid' (or 'isotonic'), or wrap it in CalibratedClassifierCV."
        )
    return True


def refuse_probability(probability: str | None) -> None:
    """Say that calibration needs the rows in memory."""
    if probability is not None:
        raise ValueError(
            f"probability={probability!r} needs X in memory: give a NumPy array, or fit without it "
            "and calibrate decision_function yourself."
        )


class LinearCentralization(CentralizationClassifier):
    """A direction per two-class problem: what LCC and its cross-validated form share.

    Subclasses have the parameters of LCC and say which margin, cost and rule a problem gets.
    """

    probability: str | None
    _calibrators: list[Calibrator | None]

    def _margin_for(self, data: TwoClassData, name: str) -> float:
        """The margin of a two-class problem, checked to be feasible."""
        raise NotImplementedError

    def _rule_name(self) -> str:
        """The discriminator."""
        return str(self.discriminator)

    @available_if(_offers_probabilities)
    @where_rows_live
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, accept_sparse=self._accept_sparse)
        scores = self._task_scores(X)
        columns = [c.probability(scores[:, k]) for k, c in enumerate(self._calibrators) if c]
        return combine_probabilities(
            np.stack(columns, axis=1), len(self.classes_), self.multi_class
        )

    def _check_params(self) -> None:
        super()._check_params()
        if self.probability is not None:
            check_choice("probability", self.probability, METHODS)

    # The contract with TwoClassReduction.

    def _fit_task(
        self,
        X: Any,
        sign: np.ndarray,
        weight: np.ndarray,
        cost: np.ndarray,
        importance: tuple[float, float],
        name: str,
    ) -> Direction:
        controls = self._controls()
        data = TwoClassData(X, sign, weight, cost)
        margin = self._margin_for(data, name)
        part = self._solve(data, margin, importance, controls, name)
        if self.probability is None:
            return part

        def without(kept: np.ndarray) -> list[Direction]:
            # The margin of a fold is the same share of the largest feasible one, so it is feasible.
            seen = data.among(kept)
            share = margin / data.largest_margin * seen.largest_margin
            return [self._solve(seen, share, importance, controls, f"{name}, a calibration fold")]

        return calibrated(data, [part], without, self.probability)[0] or part

    def _solve(
        self,
        data: TwoClassData,
        margin: float,
        importance: tuple[float, float],
        controls: Controls,
        name: str,
    ) -> Direction:
        program = data.program(self._costs(data.cost), margin)
        solution = choose.solve(program, self.solver, controls, self._rng())
        self._judge(solution, name)
        return cut(data, solution, self._rule_name(), importance)

    def _store(self, parts: list[Direction]) -> None:
        self.coef_ = np.array([part.beta for part in parts])
        self.intercept_ = np.array([part.intercept for part in parts])
        self._rules = [part.rule for part in parts]
        self._calibrators = [part.calibrator for part in parts]
        self.centers_ = np.array([part.centers for part in parts])
        if len(parts) == 1:
            self.centers_ = self.centers_[0]
        self._store_certificates([part.solution for part in parts])

    def _project(self, X: Any) -> np.ndarray:
        source = open_source(X)
        return np.stack([source.project(beta) for beta in self.coef_], axis=1)

    def _midpoints(self) -> np.ndarray:
        centers = self.centers_.reshape(-1, 2, self.n_features_in_)
        return np.asarray(np.einsum("kij,kj->ki", centers, self.coef_).mean(axis=1))


class LCC(LinearCentralization):
    """Linear centralization classifier.

    Finds the direction that pulls the rows of each class to their own center while it pushes the
    two centers apart, as a linear program solved to certified optimality, and cuts the projected
    line half-way between the centers.

    Parameters
    ----------
    C : float, default=2.0
        Cost of a unit of slack, on the sum over rows (the paper's lambda). ``np.inf`` is the hard
        margin: every row must be on its own side by ``margin``.
    margin : float, default=0.01
        Margin in the projected space (the paper's abs(sigma)). Feasible up to the sum of absolute
        differences of the class centers.
    discriminator : {"distance", "nearest", "svm"}, default="distance"
        How the projected line is cut: half-way between the centers, by the nearest training row, or
        by a one-dimensional SVM.
    class_weight : dict, "balanced" or None, default=None
        Factors on the costs of each class. ``"balanced"`` gives the classes equal total cost and
        leaves the cut half-way, which favors neither class. A dictionary states how much each class
        matters, and moves the cut as well.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Offer ``predict_proba``, by a calibration of the projected line that is cross-fitted in five
        folds: ``fit`` then solves six problems instead of one. ``predict`` does not change.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        All give the optimum; they differ in time. What does not reach ``tol`` goes on to HiGHS.
    tol : float, default=1e-9
        Bound on ``duality_gap_ / max(1, abs(objective_))``.
    max_iter : int, default=200
        Largest number of interior-point iterations in one solve.
    time_limit : float, default=None
        Seconds after which the best point so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Parallel two-class problems.
    random_state : int, RandomState instance or None, default=None
        Chooses the sample from which a large problem is started. The optimum does not depend on it.
    verbose : int, default=0
        1 prints one line per iteration or round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
        The direction beta of each two-class problem.
    intercept_ : ndarray of shape (1,) or (n_problems,)
        Minus the cut on the projected line (for ``"nearest"``: minus the midpoint).
    centers_ : ndarray of shape (2, n_features) or (n_problems, 2, n_features)
        The class centers, negative class first.
    objective_, dual_objective_, duality_gap_ : float or ndarray of shape (n_problems,)
        The certificate: the paper's objective at ``coef_``, a lower bound proved by the dual
        solution over all rows, and their difference.
    n_iter_ : int or ndarray of shape (n_problems,)
    solver_ : str or list of str
        Which solver answered.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    sklearn.svm.LinearSVC : Maximizes a margin; approximate, with a penalized intercept.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : Uses class covariances, not rows.

    Notes
    -----
    Shifting X changes nothing; a weight of two is the same as a repeated row, in the centers as
    well as in the costs. While no coefficient reaches the box [-1, 1] the solution only scales with
    ``margin`` and the predictions do not depend on it.

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

    def __init__(
        self,
        C: float = 2.0,
        margin: float = 0.01,
        discriminator: str = "distance",
        *,
        class_weight: Any = None,
        multi_class: str = "ovr",
        probability: str | None = None,
        solver: str = "auto",
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LCC:
        """Find the direction.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Also a Dask array or dataframe, which is read in place, or a torch or CuPy array, which
            stays on its device; predictions are then arrays of the same kind.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _margin_for(self, data: TwoClassData, name: str) -> float:
        self._check_margin(data.largest_margin, name)
        return float(self.margin)

    def _check_elsewhere(self, X: Any) -> None:
        refuse_probability(self.probability)
