"""LCC: the linear centralization classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.choices import Calibrated, Rule, SolverName, Strategy
from lincent.estimators.classifier import Classifier, ProjectedLine
from lincent.estimators.direction import (
    Direction,
    check_margin,
    fit_direction,
    midpoints,
    project_all,
    store_directions,
)
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import TwoClass
from lincent.estimators.validation import check_line_params
from lincent.sources.source import Kind


class LinearLine:
    """What LCC and LCCCV keep of their directions: beside ``Classifier``."""

    def _store(self, parts: list[Direction]) -> None:
        self._rules = [part.rule for part in parts]
        store_directions(self, parts)

    def _project(self, X: Any) -> np.ndarray:
        return project_all(X, self.coef_)  # type: ignore[attr-defined]

    def _midpoints(self) -> np.ndarray:
        return midpoints(self)


class LCC(Probabilities, LinearLine, ProjectedLine, Classifier):
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
        Offer ``predict_proba``, calibrated on rows that the rules had not seen: ``fit`` is then
        repeated in five folds. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    solver : {"auto", "interior-point", "highs"}, default="auto"
        All give the optimum; they differ in time. What does not reach ``tol`` goes on to HiGHS.
    tol : float, default=1e-9
        Bound on ``duality_gap_ / max(1, abs(objective_))``.
    max_iter : int, default=200
        Largest number of iterations (Newton or interior-point steps) in one solve.
    time_limit : float, default=None
        Seconds after which the best point so far is taken, with a ConvergenceWarning.
    n_jobs : int, default=None
        Parallel two-class problems.
    random_state : int, RandomState instance or None, default=None
        Chooses the sample from which a large problem is started. The optimum does not depend on it.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

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
        solution over all rows, and their difference with what rounding can have done to both.
    n_iter_ : int or ndarray of shape (n_problems,)
    solver_ : str or list of str
        Which solver answered.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
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
        discriminator: Rule = "distance",
        *,
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
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _check_params(self) -> None:
        check_line_params(self)

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        """Rows anywhere will do."""

    def _fit_task(self, problem: TwoClass) -> Direction:
        margin = check_margin(self, self.margin, problem.largest_margin, problem)
        return fit_direction(self, problem, margin)
