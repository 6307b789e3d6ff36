"""StructuredLCC: centralization with several centers per class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import Classifier, ProbabilityMixin, output_like_input
from lincent.estimators.direction import (
    Direction,
    solve_controls,
    store_certificates,
    warn_if_not_converged,
)
from lincent.estimators.problem import BinaryProblem, Training
from lincent.estimators.regularized import RegularizedFit, check_hinge_range
from lincent.estimators.validation import (
    COMMON_CONSTRAINTS,
    COUNT,
    POSITIVE,
    Calibrated,
    Strategy,
    check_rows,
)
from lincent.features.similarity import Extension, local_importances, local_scores
from lincent.sources.array_namespace import HOST
from lincent.sources.source import Kind, namespace_of


class StructuredLCC(
    ProbabilityMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Classifier
):
    r"""Linear centralization on features extended by the similarity to local centers.

    k-means finds local centers in each class; the similarities of a sample to them join its
    features; RegularizedLCC is fitted to both. The model is not linear in X. Its cost grows
    linearly with the number of samples.

    Parameters
    ----------
    n_centers : int, default=30
        Local centers per class, at most a quarter of the weight of the class.
    gamma : float, default=1.0
        Inverse width of the similarity exp(-gamma * r^2 / v), where r is the distance of sample and
        center and v the total variance of X (the number of features, if they are standardized).
    C : float, default=0.1
        Misclassification cost per sample.
    margin_range : tuple of two floats, default=(0.0, 2.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes. The local centers of all classes are
        shared by all subproblems.
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
    n_jobs : int, default=None
        Number of binary subproblems solved in parallel.
    random_state : int, RandomState instance or None, default=0
        Seed of k-means.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    local_centers_ : ndarray of shape (n_local, n_features)
        The centroids of all classes.
    local_classes_ : ndarray of shape (n_local,)
        The class of each local center.
    local_sizes_ : ndarray of shape (n_local,)
        The weight of the samples nearest to it, within its class.
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute derivative of the decision values at the local centers, times the standard
        deviation of the feature over them; of sum one.
    local_coef_ : ndarray of shape (n_problems, n_local)
        Coefficient of the similarity to each local center in the score of each subproblem.
    extended_coef_ : ndarray of shape (n_problems, n_features + n_local)
        The coefficients of the extended features that ``transform`` returns.
    objective_, dual_objective_ : float or ndarray of shape (n_problems,)
        The certificate: the objective, and a lower bound on the optimum from the dual problem.
    duality_gap_ : float
        Largest relative duality gap over the binary subproblems.
    n_iter_ : int or ndarray of shape (n_problems,)
        Number of Newton steps.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Predictions for the training samples by models fitted without them, if ``probability`` is
        set; NaN for samples that cannot be held out.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    See Also
    --------
    StructuredLCCCV : Several widths and C, combined by cross-validation.
    RegularizedLCC : The linear model.

    Notes
    -----
    Standardize the features first. In a class with more than 10,000 distinct samples k-means runs
    on a random 10,000, and mini-batch k-means over all of them continues from there.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from lincent import StructuredLCC
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> StructuredLCC().fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "n_centers": [COUNT],
        "gamma": [POSITIVE],
        "C": [POSITIVE],
    }
    _coef: np.ndarray
    _intercept: np.ndarray
    _variance: float
    _whitening: np.ndarray
    _seed: int

    def __init__(
        self,
        n_centers: int = 30,
        gamma: float = 1.0,
        C: float = 0.1,
        margin_range: tuple[float, float] = (0.0, 2.0),
        *,
        class_weight: Any = "balanced",
        multi_class: Strategy = "ovr",
        probability: Calibrated = None,
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_centers = n_centers
        self.gamma = gamma
        self.C = C
        self.margin_range = margin_range
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StructuredLCC:
        """Fit the local centers and the coefficients.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples. Also a Dask array or dataframe, which is read in place about seven times:
            features are computed as it is read, and at most 10,000 distinct samples of a class are
            transferred to the host, for k-means. Or a torch or CuPy array, mapped on its device.
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

    @output_like_input
    def transform(self, X: Any) -> Any:
        """Compute the extended features: those of X, then the whitened similarities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, n_features + n_local)
            The extended features.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        place = namespace_of(X)
        features = self._extension()(place.doubles(X))
        if place is HOST:
            return features.astype(X.dtype, copy=False)
        return place.xp.astype(features, X.dtype, copy=False)

    def explain(self, problem: int = 0) -> dict[str, np.ndarray]:
        """List the local centers by the size of their coefficients, the largest first.

        Parameters
        ----------
        problem : int, default=0
            Index of the binary subproblem.

        Returns
        -------
        dict of arrays of shape (n_local,)
            ``center``, the index into ``local_centers_``; ``class``, the class it belongs to;
            ``size``, the weight of its samples; ``coef``, the coefficient of its similarity.
        """
        check_is_fitted(self)
        if not 0 <= problem < len(self.local_coef_):
            raise ValueError(
                f"problem={problem!r} is not there: this model has {len(self.local_coef_)} binary "
                "subproblems, counted from 0."
            )
        order = np.argsort(-np.abs(self.local_coef_[problem]), kind="stable")
        return {
            "center": order,
            "class": self.local_classes_[order],
            "size": self.local_sizes_[order],
            "coef": self.local_coef_[problem][order],
        }

    def _check_params(self) -> None:
        check_hinge_range(self.margin_range)

    def _check_input_backend(self, kind: Kind, X: Any) -> None:
        """Accept any kind of X."""

    def _prepare(self, training: Training) -> Training:
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        local = training.local_centers(self.n_centers, self._seed)
        self.local_centers_ = local.centers
        self.local_classes_ = self.classes_[local.classes]
        self.local_sizes_ = local.sizes
        self._variance = local.variance
        self._whitening = local.whitening(self.gamma)
        return training.mapped(self._extension())

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        if isinstance(self.class_weight, str):
            problem = problem.balanced()
        limits = solve_controls(self, problem)
        fit = RegularizedFit(check_hinge_range(self.margin_range), True, limits, self._seed)
        part = fit.directions(problem, (float(self.C),))[0]
        warn_if_not_converged(self, problem, 0.0, part.solution)
        return part

    def _store(self, parts: list[Direction]) -> None:
        store_certificates(self, [part.solution for part in parts])
        del self.solver_, self._seed
        n = self.n_features_in_
        self.extended_coef_ = np.array([part.beta for part in parts])
        self._coef = self.extended_coef_[:, :n].copy()
        self._intercept = np.array([part.intercept for part in parts])
        self.local_coef_ = self.extended_coef_[:, n:] @ self._whitening

    def _extension(self) -> Extension:
        return Extension(self.local_centers_, self.gamma / self._variance, self._whitening)

    def _scales(self) -> np.ndarray:
        return np.full((1, len(self.local_centers_)), self.gamma / self._variance)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Return the importance of each feature; see the attributes of the class."""
        check_is_fitted(self)
        local = self.local_coef_[:, None, :]
        return local_importances(self._coef, self.local_centers_, self._scales(), local)

    def _task_scores(self, X: Any) -> np.ndarray:
        local = self.local_coef_[:, None, :]
        return local_scores(
            X, self._coef, self._intercept, self.local_centers_, self._scales(), local
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.extended_coef_.shape[1])
