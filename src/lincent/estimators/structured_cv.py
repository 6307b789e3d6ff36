"""StructuredLCCCV: an ensemble of linear models and models with local centers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import Classifier, ProbabilityMixin
from lincent.estimators.problem import HostTraining, Training
from lincent.estimators.validation import Calibrated, Strategy, check_count, check_positive
from lincent.features.clusters import CenterSet, find_local_centers
from lincent.features.similarity import Extension, local_importances, local_scores
from lincent.model_selection.ensemble import FoldEnsemble, FoldResults

DEFAULT_GAMMA, DEFAULT_C = 1.0, 0.1
"""The defaults of StructuredLCC."""


class StructuredLCCCV(ProbabilityMixin, FoldEnsemble, Classifier):
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
        Candidates for the kernel width, beside the linear model.
    Cs : array-like of float, default=None
        Candidates for C, the cost per sample. None takes totals C * n_samples of 10^-1.5, 10^-1,
        ..., 10^3.5, and for more than two classes every second of them and 0.1.
    margin_range : tuple of two floats, default=(0.0, 2.0)
        The range of margins over which the hinge is averaged.
    cv : int, splitter or iterable, default=None
        None is 5 hash-based stratified folds, repeated twice for two classes of at most 2,000
        samples. For a Dask collection or batches: None, an int (the same folds as in memory), or
        one fold number per row as in ``LCCCV``.
    scoring : str or callable, default=None
        Metric of the pooled out-of-fold decision values. None is the area under the ROC curve, and
        for one-vs-rest of several classes the class-balanced log-likelihood.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid", "isotonic"} or None, default="sigmoid"
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

    _scales: np.ndarray
    _n_repeats = 2

    def __init__(
        self,
        n_centers: int = 30,
        gammas: tuple[float, ...] = (0.3, 1.0),
        Cs: Any = None,
        margin_range: tuple[float, float] = (0.0, 2.0),
        *,
        cv: Any = None,
        scoring: Any = None,
        class_weight: Any = "balanced",
        multi_class: Strategy = "ovr",
        probability: Calibrated = "sigmoid",
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_centers = n_centers
        self.gammas = gammas
        self.Cs = Cs
        self.margin_range = margin_range
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StructuredLCCCV:
        """Fit all candidates on all folds and average them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples. Also a Dask array or dataframe, or batches, which are read in place about ten
            times: one pass serves all folds, kernel widths and C.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency weights; any nonnegative numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _check_params(self) -> None:
        super()._check_params()
        check_count("n_centers", self.n_centers)
        for gamma in self.gammas:
            check_positive("gammas", gamma)

    def _default_candidate(self) -> tuple[int, float] | None:
        if self.Cs is not None or DEFAULT_GAMMA not in self.gammas:
            return None
        return 1 + list(self.gammas).index(DEFAULT_GAMMA), DEFAULT_C

    def _map_params(self) -> list[dict[str, Any]]:
        return [{"gamma": gamma} for gamma in (None, *self.gammas)]

    def _feature_maps(self, part: Training, seed: int, hashes: Any) -> tuple[list[Any], Any]:
        if isinstance(part, HostTraining) and hashes is not None:
            samples = part.X, part.codes, part.weight
            local = find_local_centers(*samples, self.n_centers, seed, hashes)
        else:
            local = part.local_centers(self.n_centers, seed)
        whitenings = [local.whitening(gamma) for gamma in self.gammas]
        maps = [
            Extension(local.centers, gamma / local.variance, whitening)
            for gamma, whitening in zip(self.gammas, whitenings, strict=True)
        ]
        return [None, *maps], (local, whitenings)

    def _set_model(
        self, results: list[FoldResults], weights: list[np.ndarray], made: list[Any]
    ) -> None:
        n = self.n_features_in_
        local: list[CenterSet] = [centers for centers, _ in made]
        ends = np.cumsum([0] + [len(one.centers) for one in local])
        self.local_centers_ = np.concatenate([one.centers for one in local])
        self.local_classes_ = self.classes_[np.concatenate([one.classes for one in local])]
        inverse = np.concatenate([np.full(len(one.centers), 1 / one.variance) for one in local])
        self._scales = np.outer(np.asarray(self.gammas, dtype=np.float64), inverse)
        self._coef = np.zeros((len(results), n))
        self._intercept = np.zeros(len(results))
        self.local_coef_ = np.zeros((len(results), len(self.gammas), ends[-1]))
        for k, (result, own) in enumerate(zip(results, weights, strict=True)):
            used = np.flatnonzero(own.reshape(result.shape).any(axis=1)).tolist()
            for fold, (_, whitenings) in enumerate(made):
                for of_map in used:
                    direction, intercept = result.mean_model(own, of_map, fold)
                    self._coef[k] += direction[:n]
                    self._intercept[k] += intercept
                    if of_map:
                        of_fold = slice(ends[fold], ends[fold + 1])
                        similarity = direction[n:] @ whitenings[of_map - 1]
                        self.local_coef_[k, of_map - 1, of_fold] = similarity

    @property
    def feature_importances_(self) -> np.ndarray:
        """Return the importance of each feature; see the attributes of the class."""
        check_is_fitted(self)
        return local_importances(self._coef, self.local_centers_, self._scales, self.local_coef_)

    def _task_scores(self, X: Any) -> np.ndarray:
        return local_scores(
            X, self._coef, self._intercept, self.local_centers_, self._scales, self.local_coef_
        )
