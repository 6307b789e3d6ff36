"""StructuredLCC: centralization with several centers per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.answers import where_rows_live
from lincent.estimators.choices import Calibrated, Strategy
from lincent.estimators.classifier import Classifier
from lincent.estimators.direction import Direction, judge, solve_controls, store_directions
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import Training, TwoClass
from lincent.estimators.regularized import check_hinge_range
from lincent.estimators.regularized_fit import RegularizedFit
from lincent.estimators.renamed import UNUSED, margin_range_of
from lincent.estimators.validation import check_count, check_positive, check_rows
from lincent.features.clusters import CenterSet
from lincent.features.similarity import Extension, local_scores
from lincent.sources.array_namespace import HOST
from lincent.sources.source import Kind, namespace_of


class StructuredLCC(Probabilities, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Classifier):
    r"""Linear centralization on features extended by the similarity to local centers.

    k-means finds local centers in each class; how near a row is to each of them joins the original
    columns; RegularizedLCC finds the rule on both. The rule is not linear in X. Its cost grows
    linearly with the number of rows.

    Parameters
    ----------
    n_centers : int, default=30
        Local centers per class, at most a quarter of the weight of the class.
    gamma : float, default=1.0
        Width of the similarity exp(-gamma * r^2 / v), where r is the distance of row and center and
        v the total variance of X (the number of columns, if they are standardized).
    C : float, default=0.1
        Cost of a unit of loss, per row.
    margin_range : tuple of two floats, default=(0.0, 2.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes. The local centers of all classes are
        shared by all problems.
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
    n_jobs : int, default=None
        Parallel two-class problems.
    random_state : int, RandomState instance or None, default=0
        Starts k-means.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.
    margins : tuple of two floats
        The old name of ``margin_range``.

        .. deprecated:: 0.2.0
            Give ``margin_range``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    local_centers_ : ndarray of shape (n_local, n_features)
    local_classes_ : ndarray of shape (n_local,)
        The class of each local center.
    local_sizes_ : ndarray of shape (n_local,)
        The weight of the rows nearest to it, within its class.
    pulls_ : ndarray of shape (n_problems, n_local)
        How much nearness to each local center adds to the score of each problem.
    coef_ : ndarray of shape (n_problems, n_features)
        The linear part of the rule, as in :class:`StructuredLCCCV`.
    extended_coef_ : ndarray of shape (n_problems, n_features + n_local)
        The rule on the extended features that ``transform`` gives; ``coef_`` was this in 0.1.0.
    intercept_ : ndarray of shape (n_problems,)
    objective_, dual_objective_, duality_gap_ : float or ndarray of shape (n_problems,)
        The certificate of the rule on the extended features.
    n_iter_ : int or ndarray of shape (n_problems,)
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    StructuredLCCCV : Several widths and C, combined by cross-validation.
    RegularizedLCC : The linear rule.

    Notes
    -----
    Standardize the columns first. In a class with more than 10,000 different rows k-means runs on a
    random 10,000, and mini-batch k-means over all of them goes on from there.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from lincent import StructuredLCC
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> StructuredLCC().fit(X, y).score(X, y)
    1.0
    """

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
        margins: Any = UNUSED,
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
        self.margins = margins

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StructuredLCC:
        """Find the local centers and the rule.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. Also a Dask array or dataframe, which is read in place about seven times: its
            rows get their features as they are read, and no more than 10,000 different rows of a
            class are brought here, for k-means. Or a torch or CuPy array, mapped on its device.
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

    @where_rows_live
    def transform(self, X: Any) -> Any:
        """The extended features: the columns of X, then the whitened similarities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, n_features + n_local)
            One column per feature of the map.
        """
        check_is_fitted(self)
        X = check_rows(self, X)
        place = namespace_of(X)
        features = self._extension()(place.doubles(X))
        if place is HOST:
            return features.astype(X.dtype, copy=False)
        return place.xp.astype(features, X.dtype, copy=False)

    def explain(self, problem: int = 0) -> dict[str, np.ndarray]:
        """Which local centers pull where, the strongest first.

        Parameters
        ----------
        problem : int, default=0
            Which two-class problem, where there are several.

        Returns
        -------
        dict of arrays of shape (n_local,)
            ``center``, the index into ``local_centers_``; ``class``, the class it belongs to;
            ``size``, the weight of its rows; ``pull``, what nearness to it adds to the score.
        """
        check_is_fitted(self)
        if not 0 <= problem < len(self.pulls_):
            raise ValueError(
                f"problem={problem!r} is not there: this model has {len(self.pulls_)} two-class "
                "problems, counted from 0."
            )
        order = np.argsort(-np.abs(self.pulls_[problem]), kind="stable")
        return {
            "center": order,
            "class": self.local_classes_[order],
            "size": self.local_sizes_[order],
            "pull": self.pulls_[problem][order],
        }

    # The contract with Classifier.

    def _check_params(self) -> None:
        check_count("n_centers", self.n_centers)
        check_positive("gamma", self.gamma)
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)
        check_hinge_range(margin_range_of(self))

    def _check_elsewhere(self, kind: Kind, X: Any) -> None:
        """Rows are read wherever they are."""

    def _prepare(self, training: Training) -> Training:
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        found = training.local_centers(self.n_centers, self._seed)
        self._keep(found)
        return training.mapped(self._extension())

    def _keep(self, found: CenterSet) -> None:
        self.local_centers_ = found.centers
        self.local_classes_ = self.classes_[found.classes]
        self.local_sizes_ = found.sizes
        self._variance = found.variance
        self._whitening = found.whitening(self.gamma)

    def _fit_task(self, problem: TwoClass) -> Direction:
        if isinstance(self.class_weight, str):
            problem = problem.balanced()
        limits = solve_controls(self, problem)
        fit = RegularizedFit(check_hinge_range(margin_range_of(self)), True, limits, self._seed)
        part = fit.directions(problem, (float(self.C),))[0]
        judge(self, problem, 0.0, part.solution)
        return part

    def _store(self, parts: list[Direction]) -> None:
        store_directions(self, parts)
        del self.centers_, self.solver_, self._seed
        n = self.n_features_in_
        self.extended_coef_ = np.array([part.beta for part in parts])
        self.coef_ = self.extended_coef_[:, :n].copy()
        self.pulls_ = self.extended_coef_[:, n:] @ self._whitening

    def _extension(self) -> Extension:
        return Extension(self.local_centers_, self.gamma / self._variance, self._whitening)

    def _task_scores(self, X: Any) -> np.ndarray:
        width = np.array([self.gamma / self._variance])
        scales = np.broadcast_to(width[:, None], (1, len(self.local_centers_)))
        return local_scores(
            X, self.coef_, self.intercept_, self.local_centers_, scales, self.pulls_[:, None, :]
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.extended_coef_.shape[1])
