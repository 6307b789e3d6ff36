"""LCC: the linear centralization classifier."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lincent.estimators.base import Classifier, ProbabilityMixin, ProjectionMixin
from lincent.estimators.direction import (
    Direction,
    check_margin,
    fit_direction,
    midpoints,
    project_all,
    store_directions,
)
from lincent.estimators.problem import BinaryProblem
from lincent.estimators.validation import PAPER_CONSTRAINTS, Calibrated, Rule, SolverName, Strategy
from lincent.sources.source import Kind


class LinearProjectionMixin:
    """The fitted attributes and the projection of LCC and LCCCV."""

    def _store(self, parts: list[Direction]) -> None:
        self._rules = [part.rule for part in parts]
        store_directions(self, parts)

    def _project(self, X: Any) -> np.ndarray:
        return project_all(X, self.coef_)  # type: ignore[attr-defined]

    def _midpoints(self) -> np.ndarray:
        return midpoints(self)


class LCC(ProbabilityMixin, LinearProjectionMixin, ProjectionMixin, Classifier):
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
    probability : {"sigmoid", "isotonic"} or None, default=None
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
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
        The direction beta of each binary subproblem.
    intercept_ : ndarray of shape (1,) or (n_problems,)
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
    sklearn.svm.LinearSVC : Maximizes a margin; approximate, with a penalized intercept.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : Uses class covariances, not samples.

    Notes
    -----
    The model is invariant to shifts of X. Sample weights are frequency weights, in the centers as
    well as in the costs. While no coefficient reaches the box constraints [-1, 1] the solution only
    scales with ``margin`` and the predictions do not depend on it.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = PAPER_CONSTRAINTS

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
        """Fit the direction.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples. Also a Dask array or dataframe, which is read in place, or a torch or CuPy
            array, which stays on its device; predictions are then arrays of the same kind.
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

    def _check_input_backend(self, kind: Kind, X: Any) -> None:
        """Accept any kind of X."""

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        margin = check_margin(self, self.margin, problem.largest_margin, problem)
        return fit_direction(self, problem, margin)
