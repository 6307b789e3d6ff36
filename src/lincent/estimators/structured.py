"""StructuredLCC: centralization with several centers per class.

StructuredLCCCV is an ensemble of linear models and models with local centers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import Classifier, EstimatorMixin, output_like_input
from lincent.estimators.linear import Direction, SolverMixin
from lincent.estimators.problem import BinaryProblem, Training, local_centers
from lincent.estimators.validation import COMMON_CONSTRAINTS, COUNT, POSITIVE, check_rows
from lincent.features.similarity import CenterSet, Extension, local_importances, local_scores
from lincent.model_selection.ensemble import FoldEnsemble, FoldResults
from lincent.model_selection.search import check_grid
from lincent.sources.array_namespace import HOST
from lincent.sources.source import namespace_of


class LocalCentersMixin:
    """Scores of linear models with similarities to local centers of several widths, ``_scales``."""

    _coef: np.ndarray
    _intercept: np.ndarray
    local_centers_: np.ndarray
    local_coef_: np.ndarray

    def _local_model(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the local centers, scales (n_widths, n_local) and coefficients by width."""
        scales: np.ndarray = self._scales  # type: ignore[attr-defined]
        return self.local_centers_, scales, self.local_coef_.reshape(-1, *scales.shape)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Return the importance of each feature; see the attributes of the class."""
        check_is_fitted(self)
        return local_importances(self._coef, *self._local_model())

    def _task_scores(self, X: Any) -> np.ndarray:
        return local_scores(X, self._coef, self._intercept, *self._local_model())


@dataclass(eq=False, repr=False)
class StructuredLCC(
    SolverMixin,
    LocalCentersMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    EstimatorMixin,
    Classifier,
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
    probability : {"sigmoid"} or None, default=None
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

    n_centers: int = 30
    gamma: float = 1.0
    C: float = 0.1
    margin_range: tuple[float, float] = (0.0, 2.0)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "n_centers": [COUNT],
        "gamma": [POSITIVE],
        "C": [POSITIVE],
    }
    _reads_in_place = True
    _coef: np.ndarray = field(init=False)
    _intercept: np.ndarray = field(init=False)
    _variance: float = field(init=False)
    _whitening: np.ndarray = field(init=False)
    _seed: int = field(init=False)

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
        scale = self.gamma / self._variance
        features = Extension(self.local_centers_, scale, self._whitening)(place.doubles(X))
        if place is HOST:
            return features.astype(X.dtype, copy=False)
        return place.xp.astype(features, X.dtype, copy=False)

    def _prepare(self, training: Training) -> Training:
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        local = local_centers(training, self.n_centers, self._seed)
        self.local_centers_ = local.centers
        self.local_classes_ = self.classes_[local.classes]
        self.local_sizes_ = local.sizes
        self._variance = local.variance
        extension = local.extension(self.gamma)
        self._whitening = extension.whitening
        return training.mapped(extension)

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        if isinstance(self.class_weight, str):
            problem = problem.balanced()
        return self._fit_regularized(problem, self.margin_range, self._seed)

    def _store(self, parts: list[Direction]) -> None:
        self._store_certificates([part.solution for part in parts])
        del self.solver_, self._seed
        n = self.n_features_in_
        self.extended_coef_ = np.array([part.beta for part in parts])
        self._coef = self.extended_coef_[:, :n].copy()
        self._intercept = np.array([part.intercept for part in parts])
        self.local_coef_ = self.extended_coef_[:, n:] @ self._whitening

    @property
    def _scales(self) -> np.ndarray:
        return np.full((1, len(self.local_centers_)), self.gamma / self._variance)

    @property
    def _n_features_out(self) -> int:
        return int(self.extended_coef_.shape[1])


@dataclass(eq=False, repr=False)
class StructuredLCCCV(LocalCentersMixin, FoldEnsemble, EstimatorMixin, Classifier):
    """StructuredLCC with kernel width and C by cross-validation.

    The candidates are the linear model and, for each kernel width, a model with local centers. All
    are fitted on the training part of every fold, local centers included, and averaged with softmax
    weights of their out-of-fold scores. With several classes, one against the rest, the candidates
    are refitted to all samples before they are averaged, and the defaults of StructuredLCC are
    among them: these stay unless the best candidate is better by more than one standard error.

    Parameters
    ----------
    n_centers : int, default=30
        Local centers per class, at most a quarter of the weight of the class.
    gammas : tuple of float, default=(0.3, 1.0)
        Candidates for gamma, the inverse kernel width, beside the linear model.
    Cs : array-like of float, default=None
        Candidates for C, the cost per sample. None takes totals C * n_samples of 10^-1.5, 10^-1,
        ..., 10^3.5, and for more than two classes every second of them and 0.1.
    margin_range : tuple of two floats, default=(0.0, 2.0)
        The range of margins over which the hinge is averaged.
    cv : int, splitter or iterable, default=None
        None is 5 hash-based stratified folds, repeated twice for two classes of at most 2,000
        samples; an int is that many, not repeated. For a Dask collection or batches: None, an int
        (the same folds as in memory), or
        one fold number per row as in ``LCCCV``.
    scoring : str or callable, default=None
        Metric of the pooled out-of-fold decision values. None is the area under the ROC curve, and
        for one-vs-rest of several classes the class-balanced log-likelihood.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid"} or None, default="sigmoid"
        How ``predict_proba`` is calibrated, on the out-of-fold decision values and at no further
        fit; None leaves it out. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    tol : float, default=1e-9
        Bound on the relative duality gap of every model.
    max_iter : int, default=200
        Largest number of steps in one solve.
    time_limit : float, default=None
        Seconds after which no further fold is begun and solves end where they are.
    n_jobs : int, default=None
        Number of folds that are fitted in parallel.
    random_state : int, RandomState instance or None, default=0
        Seeds the folds and k-means.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    local_centers_ : ndarray of shape (n_local, n_features)
        The local centers of all folds, or of all samples.
    local_classes_ : ndarray of shape (n_local,)
        The class of each.
    local_coef_ : ndarray of shape (n_problems, n_gammas, n_local)
        The coefficient of the kernel similarity to each local center.
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute derivative of the decision values at the local centers, times the standard
        deviation of the feature over them; of sum one.
    Cs_ : ndarray of shape (n_Cs,)
        The candidates for C, for the whole training set.
    C_ : float or ndarray of shape (n_problems,)
        C of the best candidate.
    cv_results_ : dict of arrays
        ``params`` (``gamma`` is None for the linear model), ``mean_test_score``,
        ``rank_test_score`` and ``weight`` of each candidate; where binary problems have weights of
        their own the mean over them, beside ``problem0_test_score``, ``problem0_weight``, ... For
        one-vs-rest of several classes, candidates that are worse by more than one standard error on
        the first fold are evaluated on no other: their score is that of the first fold.
    best_index_, best_params_, best_score_ : int, dict, float
        The candidate of the largest weight; one for each binary problem where they differ.
    objectives_ : ndarray of shape (n_models,)
        The objective of every model that was fitted, problem by problem.
    duality_gap_ : float
        The largest relative duality gap among all models.
    n_iter_ : int
        Steps of all solves together.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Predictions for the training samples by models that have not seen them, where
        ``probability`` is set; NaN where there are none.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    StructuredLCC : One kernel width and C, fitted once.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from lincent import StructuredLCCCV
    >>> X, y = make_circles(120, factor=0.4, noise=0.05, random_state=0)
    >>> StructuredLCCCV().fit(X, y).score(X, y)
    1.0
    """

    n_centers: int = 30
    gammas: tuple[float, ...] = (0.3, 1.0)
    Cs: Any = None
    margin_range: tuple[float, float] = (0.0, 2.0)

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON_CONSTRAINTS, "n_centers": [COUNT]}
    _scales: np.ndarray = field(init=False)
    _n_repeats = 2

    def _check_params(self) -> None:
        super()._check_params()
        check_grid("gammas", self.gammas)

    def _default_candidate(self) -> tuple[int, float] | None:
        if self.Cs is not None or StructuredLCC.gamma not in self.gammas:
            return None
        return 1 + list(self.gammas).index(StructuredLCC.gamma), StructuredLCC.C

    def _map_params(self) -> list[dict[str, Any]]:
        return [{"gamma": gamma} for gamma in (None, *self.gammas)]

    def _feature_maps(self, part: Training, seed: int) -> tuple[list[Any], Any]:
        local = local_centers(part, self.n_centers, seed)
        maps = [local.extension(gamma) for gamma in self.gammas]
        return [None, *maps], (local, [extension.whitening for extension in maps])

    def _set_model(self, results: FoldResults, weights: np.ndarray, made: list[Any]) -> None:
        n = self.n_features_in_
        local: list[CenterSet] = [centers for centers, _ in made]
        ends = np.cumsum([0] + [len(one.centers) for one in local])
        self.local_centers_ = np.concatenate([one.centers for one in local])
        self.local_classes_ = self.classes_[np.concatenate([one.classes for one in local])]
        inverse = np.concatenate([np.full(len(one.centers), 1 / one.variance) for one in local])
        self._scales = np.outer(np.asarray(self.gammas, dtype=np.float64), inverse)
        self._coef = np.zeros((len(weights), n))
        self._intercept = np.zeros(len(weights))
        self.local_coef_ = np.zeros((len(weights), len(self.gammas), ends[-1]))
        for k, own in enumerate(weights):
            used = np.flatnonzero(own.reshape(results.shape).any(axis=1)).tolist()
            for fold, (_, whitenings) in enumerate(made):
                for of_map in used:
                    direction, intercept = results.mean_model(weights, k, of_map, fold)
                    self._coef[k] += direction[:n]
                    self._intercept[k] += intercept
                    if of_map:
                        of_fold = slice(ends[fold], ends[fold + 1])
                        similarity = direction[n:] @ whitenings[of_map - 1]
                        self.local_coef_[k, of_map - 1, of_fold] = similarity
