"""RegularizedLCCCV: the regularized form with C chosen, or averaged over, by cross-validation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from lincent._lazy import public
from lincent.estimators.choices import Calibrated, Strategy
from lincent.estimators.classifier import Classifier
from lincent.estimators.committee import Tally, mean_rule
from lincent.estimators.committee_base import Committee
from lincent.estimators.direction import project_all
from lincent.estimators.probabilities import Probabilities
from lincent.estimators.problem import Training
from lincent.estimators.renamed import UNUSED
from lincent.estimators.validation import check_choice

WAYS = ("committee", "refit")


@public
class RegularizedLCCCV(Probabilities, Committee, Classifier):
    """RegularizedLCC with C by cross-validation; one linear rule in the end.

    Parameters
    ----------
    Cs : array-like of float, default=None
        Values of C, per row. None takes totals C * n_samples of 10^-1.5, 10^-1, ..., 10^3.5,
        and every second of them for more than two classes.
    margin_range : tuple of two floats, default=(0.0, 2.0)
        The range of margins over which the hinge is averaged.
    cv : int, splitter or iterable, default=None
        None is 5 stratified folds, dealt by row values. For a Dask collection or batches: None, an
        int (the same folds as in memory), or one fold number per row as in ``LCCCV``.
    n_repeats : int, default=None
        How often the folds are dealt anew. None is 3, or 1 above 2,000 rows and for more than
        two classes.
    scoring : str or callable, default=None
        The measure on the pooled out-of-fold scores. None is the area under the ROC curve,
        and for one-vs-rest of several classes the class-balanced log-likelihood; any scorer of
        scikit-learn that asks for decisions or predictions will do.
    combine : {"committee", "refit"}, default="committee"
        ``"committee"`` is the mean of the rules of all folds and all C, weighted by
        exp(sharpness * measure). ``"refit"`` takes the best C and fits all rows.
    sharpness : float, default=400.0
        How fast the weight of a C falls with its measure.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One-vs-one or one-vs-rest for more than two classes.
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
        Deals the folds.
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
    Cs_ : ndarray of shape (n_costs,)
        The values of C, for the whole training set.
    C_ : float or ndarray of shape (n_problems,)
        The best of them.
    scores_, weights_ : ndarray of shape (1, n_costs) or (n_problems, 1, n_costs)
        The measure and the weight of each C.
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
    RegularizedLCC : One C, fitted once.

    Notes
    -----
    In a class with more than 10,000 different rows the settings are compared on about 100,000 of
    the held-out ones, drawn by their values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lincent import RegularizedLCCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RegularizedLCCCV(n_repeats=1).fit(X[y > 0], y[y > 0])
    >>> model.coef_.shape
    (1, 4)
    """

    _default_repeats = 3

    def __init__(
        self,
        Cs: Any = None,
        margin_range: tuple[float, float] = (0.0, 2.0),
        *,
        cv: Any = None,
        n_repeats: int | None = None,
        scoring: Any = None,
        combine: Literal["committee", "refit"] = "committee",
        sharpness: float = 400.0,
        class_weight: Any = "balanced",
        multi_class: Strategy = "ovo",
        probability: Calibrated = "sigmoid",
        tol: float = 1e-9,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        margins: Any = UNUSED,
    ) -> None:
        self.Cs = Cs
        self.margin_range = margin_range
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.combine = combine
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RegularizedLCCCV:
        """Cross-validate and combine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. Also a Dask array or dataframe, or batches, which are read in place about
            seven times: one read answers all folds and all C.
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
        check_choice("combine", self.combine, WAYS)

    def _maps(self, part: Training, seed: int) -> tuple[list[Any], Any]:
        return [None], None

    def _keep(
        self, tallies: list[Tally], weights: list[np.ndarray], made: list[Any], refit: Any
    ) -> float:
        unit = 1.0
        if self.combine == "refit":
            found = [refit(k, float(C)) for k, C in enumerate(np.atleast_1d(self.C_))]
            unit = float(np.mean([direction.half for direction in found]))
            pairs = [(direction.beta, direction.intercept) for direction in found]
        else:
            pairs = []
            for tally, share in zip(tallies, weights, strict=True):
                rules = [mean_rule(tally, share, 0, fold) for fold in range(len(made))]
                direction = np.sum([beta for beta, _ in rules], axis=0)
                pairs.append((direction, float(sum(intercept for _, intercept in rules))))
        self.coef_ = np.array([direction for direction, _ in pairs])
        self.intercept_ = np.array([intercept for _, intercept in pairs])
        return unit

    def _used(self, weights: list[np.ndarray]) -> list[np.ndarray]:
        if self.combine == "committee":
            return weights
        return [np.eye(len(share))[share.argmax()] for share in weights]

    def _task_scores(self, X: Any) -> np.ndarray:
        return np.asarray(project_all(X, self.coef_) + self.intercept_)
