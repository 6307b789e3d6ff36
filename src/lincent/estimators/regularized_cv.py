"""RegularizedLCCCV: the regularized form, averaged over C by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.base import Classifier, ProbabilityMixin
from lincent.estimators.direction import project_all
from lincent.estimators.problem import Training
from lincent.estimators.validation import Calibrated, Strategy
from lincent.model_selection.ensemble import FoldEnsemble, FoldResults


class RegularizedLCCCV(ProbabilityMixin, FoldEnsemble, Classifier):
    """RegularizedLCC with C by cross-validation: a linear ensemble of all folds and values of C.

    The models of all folds and all C are averaged with softmax weights of their out-of-fold scores,
    which again is one linear model.

    Parameters
    ----------
    Cs : array-like of float, default=None
        Candidates for C, the cost per sample. None takes totals C * n_samples of 10^-1.5, 10^-1,
        ..., 10^3.5, and every second of them for more than two classes.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    cv : int, splitter or iterable, default=None
        None is 5 hash-based stratified folds, repeated three times for two classes of at most 2,000
        samples. For a Dask collection or batches: None, an int (the same folds as in memory), or
        one fold number per row as in ``LCCCV``.
    scoring : str or callable, default=None
        Metric of the pooled out-of-fold decision values. None is the area under the ROC curve, and
        for one-vs-rest of several classes the class-balanced log-likelihood; any scorer of
        scikit-learn that asks for decision values or predictions can be given.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One-vs-one or one-vs-rest for more than two classes.
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
        Seeds the folds.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
    intercept_ : ndarray of shape (1,) or (n_problems,)
    Cs_ : ndarray of shape (n_Cs,)
        The candidates for C, for the whole training set.
    C_ : float or ndarray of shape (n_problems,)
        The best of them.
    cv_results_ : dict of arrays
        ``params``, ``mean_test_score``, ``rank_test_score`` and ``weight`` of each candidate; where
        binary problems have weights of their own the mean over them, beside
        ``problem0_test_score``, ``problem0_weight``, ...
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
    RegularizedLCC : One C, fitted once.

    Notes
    -----
    In a class with more than 10,000 unique samples the candidates are compared on about 100,000 of
    the held-out ones, chosen by hash.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lincent import RegularizedLCCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RegularizedLCCCV().fit(X[y > 0], y[y > 0])
    >>> model.coef_.shape
    (1, 4)
    """

    _n_repeats = 3

    def __init__(
        self,
        Cs: Any = None,
        margin_range: tuple[float, float] = (-1.0, 3.0),
        *,
        cv: Any = None,
        scoring: Any = None,
        class_weight: Any = "balanced",
        multi_class: Strategy = "ovo",
        probability: Calibrated = "sigmoid",
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegularizedLCCCV:
        """Fit all candidates on all folds and average them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples. Also a Dask array or dataframe, or batches, which are read in place: one pass
            serves all folds and C.
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

    def _feature_maps(self, part: Training, seed: int, hashes: Any) -> tuple[list[Any], Any]:
        return [None], None

    def _set_model(
        self, results: list[FoldResults], weights: list[np.ndarray], made: list[Any]
    ) -> None:
        coef, intercept = [], []
        for result, own in zip(results, weights, strict=True):
            models = [result.mean_model(own, 0, fold) for fold in range(len(made))]
            coef.append(np.sum([direction for direction, _ in models], axis=0))
            intercept.append(sum(offset for _, offset in models))
        self.coef_, self.intercept_ = np.array(coef), np.array(intercept)

    def _task_scores(self, X: Any) -> np.ndarray:
        return np.asarray(project_all(X, self.coef_) + self.intercept_)
