"""StructuredLCCCV: a committee of linear and locally centered rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent._lazy import public
from lincent.estimators.choices import Calibrated, Strategy
from lincent.estimators.classifier import Classifier
from lincent.estimators.committee import Tally, mean_rule
from lincent.estimators.committee_base import Committee
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import Training
from lincent.estimators.renamed import UNUSED
from lincent.estimators.validation import check_count, check_positive
from lincent.features.clusters import CenterSet
from lincent.features.similarity import Extension, local_scores

KNOWN_GAMMA, KNOWN_C = 1.0, 0.1
"""The defaults of StructuredLCC."""


@public
class StructuredLCCCV(Probabilities, Committee, Classifier):
    """StructuredLCC with width and C by cross-validation.

    The members are the linear rule and one rule with local centers for each width. All settings are
    fitted on the training part of every fold, local centers included, and their rules are averaged
    with weights exp(sharpness * out-of-fold AUC). With several classes, one against the rest, the
    same settings fitted to all rows are averaged, and the defaults of StructuredLCC are among them:
    these stay unless the best setting is better by more than a standard error.

    Parameters
    ----------
    n_centers : int, default=30
        Local centers per class, at most a quarter of the weight of the class.
    gammas : tuple of float, default=(0.3, 1.0)
        Widths of the similarity, one member each, beside the linear member.
    Cs : array-like of float, default=None
        Values of C, per row. None takes totals C * n_samples of 10^-1.5, 10^-1, ..., 10^3.5,
        and for more than two classes every second of them and 0.1.
    margin_range : tuple of two floats, default=(0.0, 2.0)
        The range of margins over which the hinge is averaged.
    cv : int, splitter or iterable, default=None
        None is 5 stratified folds, dealt by row values. For a Dask collection or batches: None, an
        int (the same folds as in memory), or one fold number per row as in ``LCCCV``.
    n_repeats : int, default=None
        How often the folds are dealt anew. None is 2, or 1 above 2,000 rows and for more than
        two classes.
    scoring : str or callable, default=None
        The measure on the pooled out-of-fold scores. None is the area under the ROC curve,
        and for one-vs-rest of several classes the class-balanced log-likelihood.
    sharpness : float, default=400.0
        How fast the weight of a setting falls with its measure.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one for more than two classes.
    probability : {"sigmoid", "isotonic"} or None, default="sigmoid"
        How ``predict_proba`` is calibrated, on the held-out rows of the folds and at no further
        fit; None leaves it out. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    tol : float, default=1e-9
        Bound on the relative duality gap of every rule.
    max_iter : int, default=200
        Largest number of steps in one solve.
    n_jobs : int, default=None
        Parallel folds.
    random_state : int, RandomState instance or None, default=0
        Deals the folds and starts k-means.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.
    margins : tuple of two floats
        The old name of ``margin_range``.

        .. deprecated:: 0.2.0
            Give ``margin_range``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_problems, n_features)
        The linear part of the committee.
    intercept_ : ndarray of shape (n_problems,)
    local_centers_ : ndarray of shape (n_local, n_features)
        The local centers of all folds, or of all rows.
    local_classes_ : ndarray of shape (n_local,)
        The class of each.
    pulls_ : ndarray of shape (n_problems, n_widths, n_local)
        How much nearness to each local center adds to the score.
    Cs_ : ndarray of shape (n_costs,)
    C_ : float or ndarray of shape (n_problems,)
        C of the best setting.
    best_member_ : int or ndarray of shape (n_problems,)
        Member of the best setting: 0 is linear, 1 the first width.
    scores_, weights_ : ndarray of shape (n_members, n_costs) or (n_problems, n_members, n_costs)
        The measure and the weight of each setting. For one-vs-rest of several classes, settings
        clearly behind on the first fold are tried on no other: their measure is of that fold.
    objectives_ : ndarray of shape (n_rules,)
        The objective of every rule that was fitted, problem by problem.
    duality_gap_ : float
        The largest relative duality gap among all rules.
    n_iter_ : int
        Steps of all solves together.
    held_out_scores_, held_out_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    StructuredLCC : One width and C, fitted once.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from lincent import StructuredLCCCV
    >>> X, y = make_circles(120, factor=0.4, noise=0.05, random_state=0)
    >>> StructuredLCCCV(n_repeats=1).fit(X, y).score(X, y)
    1.0
    """

    _scales: np.ndarray
    _default_repeats = 2

    def __init__(
        self,
        n_centers: int = 30,
        gammas: tuple[float, ...] = (0.3, 1.0),
        Cs: Any = None,
        margin_range: tuple[float, float] = (0.0, 2.0),
        *,
        cv: Any = None,
        n_repeats: int | None = None,
        scoring: Any = None,
        sharpness: float = 400.0,
        class_weight: Any = "balanced",
        multi_class: Strategy = "ovr",
        probability: Calibrated = "sigmoid",
        tol: float = 1e-9,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        margins: Any = UNUSED,
    ) -> None:
        self.n_centers = n_centers
        self.gammas = gammas
        self.Cs = Cs
        self.margin_range = margin_range
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.sharpness = sharpness
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.margins = margins

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StructuredLCCCV:
        """Cross-validate and combine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. Also a Dask array or dataframe, or batches, which are read in place about ten
            times: one read answers all folds, widths and C.
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
        super()._check_params()
        check_count("n_centers", self.n_centers)
        for gamma in self.gammas:
            check_positive("gammas", gamma)

    def _known(self) -> tuple[int, float] | None:
        if self.Cs is not None or KNOWN_GAMMA not in self.gammas:
            return None
        return 1 + list(self.gammas).index(KNOWN_GAMMA), KNOWN_C

    def _maps(self, part: Training, seed: int) -> tuple[list[Any], Any]:
        local = part.local_centers(self.n_centers, seed)
        whitenings = [local.whitening(gamma) for gamma in self.gammas]
        maps = [
            Extension(local.centers, gamma / local.variance, whitening)
            for gamma, whitening in zip(self.gammas, whitenings, strict=True)
        ]
        return [None, *maps], (local, whitenings)

    def _keep(
        self, tallies: list[Tally], weights: list[np.ndarray], made: list[Any], refit: Any
    ) -> float:
        n = self.n_features_in_
        locals_: list[CenterSet] = [local for local, _ in made]
        ends = np.cumsum([0] + [len(local.centers) for local in locals_])
        self.local_centers_ = np.concatenate([local.centers for local in locals_])
        self.local_classes_ = self.classes_[np.concatenate([local.classes for local in locals_])]
        units = [np.full(len(local.centers), 1 / local.variance) for local in locals_]
        self._scales = np.outer(np.asarray(self.gammas, dtype=np.float64), np.concatenate(units))
        self.coef_ = np.zeros((len(tallies), n))
        self.intercept_ = np.zeros(len(tallies))
        self.pulls_ = np.zeros((len(tallies), len(self.gammas), ends[-1]))
        for k, (tally, share) in enumerate(zip(tallies, weights, strict=True)):
            for fold, (_, whitenings) in enumerate(made):
                for member in np.flatnonzero(
                    share.reshape(tally.n_members, -1).any(axis=1)
                ).tolist():
                    direction, intercept = mean_rule(tally, share, member, fold)
                    self.coef_[k] += direction[:n]
                    self.intercept_[k] += intercept
                    if member:
                        part = slice(ends[fold], ends[fold + 1])
                        self.pulls_[k, member - 1, part] = direction[n:] @ whitenings[member - 1]
        return 1.0

    def _task_scores(self, X: Any) -> np.ndarray:
        return local_scores(
            X, self.coef_, self.intercept_, self.local_centers_, self._scales, self.pulls_
        )
