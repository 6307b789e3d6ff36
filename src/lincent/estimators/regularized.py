"""RegularizedLCC: centralization with an L2 term, a range of margins and an intercept.

RegularizedLCCCV averages it over C by cross-validation.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from lincent.estimators.base import Classifier, EstimatorMixin, ProjectionMixin
from lincent.estimators.linear import Direction, LinearMixin, SolverMixin
from lincent.estimators.problem import BinaryProblem, Training
from lincent.estimators.validation import COMMON_CONSTRAINTS, POSITIVE, Strategy
from lincent.model_selection.ensemble import FoldEnsemble, FoldResults
from lincent.problems.joint import SmoothedHinge
from lincent.solvers.newton import lasso, ridge

SOLVERS = {"l2": ridge.solve_path, "l1": lasso.solve_path}


@dataclass(eq=False, repr=False)
class RegularizedLCC(SolverMixin, LinearMixin, ProjectionMixin, EstimatorMixin, Classifier):
    """Regularized linear centralization classifier.

    LCC with four changes that close its gap to class-balanced logistic regression: an L2 term
    instead of the box constraints, the hinge averaged over a range of margins, class-balanced
    costs, and a threshold that need not be the midpoint of the centers. A quadratic program, solved
    by Newton's method to certified optimality.

    Parameters
    ----------
    C : float, default=1.0
        Misclassification cost per sample; comparable with the C of LogisticRegression.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged. Only the ratio matters beside C.
    norm : {"l2", "l1"}, default="l2"
        ``"l2"`` adds half the squared length of the direction to the loss. ``"l1"`` adds the sum of
        its absolute values, so that many features have a coefficient of exactly zero: the smaller
        ``C``, the more.
    fit_intercept : bool, default=True
        Whether the threshold is fitted; otherwise it is the midpoint of the class centers.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class. ``"balanced"`` gives both sides of each binary
        subproblem the same total cost.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One-vs-one or one-vs-rest for more than two classes.
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
        Seed for the subsample used to initialize the solver on large problems. Does not affect the
        solution.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The direction beta of each binary subproblem. One-vs-one models of several classes vote
        between pairs and have `feature_importances_` instead.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Minus the threshold on the projected line; for one-vs-one models of several classes absent,
        too.
    centers_ : ndarray of shape (2, n_features) or (n_problems, 2, n_features)
        The class centers, negative class first.
    objective_, dual_objective_ : float or ndarray of shape (n_problems,)
        The certificate: the objective, and a lower bound on the optimum from the dual problem.
    duality_gap_ : float
        Largest relative duality gap over the binary subproblems.
    n_iter_ : int or ndarray of shape (n_problems,)
        Number of Newton steps.
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
    LCC : The paper's linear program.
    RegularizedLCCCV : The same with C chosen by cross-validation.

    Notes
    -----
    The model is invariant to shifts of X, not to scaling: standardize the features first. Sample
    weights are frequency weights. As accurate as class-balanced logistic regression, not more.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lincent import RegularizedLCC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RegularizedLCC()).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    >>> bool(model[-1].duality_gap_ < 1e-6)
    True
    """

    C: float = 1.0
    margin_range: tuple[float, float] = (-1.0, 3.0)
    _: KW_ONLY
    norm: Literal["l2", "l1"] = "l2"
    fit_intercept: bool = True
    multi_class: Strategy = "ovo"

    _finite_by_centers = True
    _reads_in_place = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "C": [POSITIVE],
        "norm": [StrOptions({"l2", "l1"})],
        "fit_intercept": ["boolean"],
    }

    def _check_input_backend(self, X: Any) -> None:
        if self.norm == "l1":
            raise ValueError(
                "norm='l1' needs X in memory: compute() or cpu() it first, or use norm='l2'."
            )

    def _fit_task(self, problem: BinaryProblem) -> Direction:
        if isinstance(self.class_weight, str):
            problem = problem.balanced()
        seed, free = int(self._generator().integers(2**31)), bool(self.fit_intercept)
        return self._fit_regularized(problem, self.margin_range, seed, free, SOLVERS[self.norm])

    def _midpoints(self) -> np.ndarray:
        return -self._intercept

    def _violation(self, signed: np.ndarray, task: int = 0) -> np.ndarray:
        return SmoothedHinge(*self.margin_range).value(signed)


@dataclass(eq=False, repr=False)
class RegularizedLCCCV(LinearMixin, FoldEnsemble, EstimatorMixin, Classifier):
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
        samples; an int is that many, not repeated. For a Dask collection or batches: None, an int
        (the same folds as in memory), or
        one fold number per row as in ``LCCCV``.
    scoring : str or callable, default=None
        Metric of the pooled out-of-fold decision values. None is the area under the ROC curve, and
        for one-vs-rest of several classes the class-balanced log-likelihood; any scorer of
        scikit-learn that asks for decision values or predictions can be given.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One-vs-one or one-vs-rest for more than two classes.
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
        Seeds the folds.
    verbose : int, default=0
        1 prints folds and a line for each solve, 2 also the steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        One-vs-one models of several classes have `feature_importances_` instead.
    intercept_ : ndarray of shape (1,) or (n_classes,)
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

    Cs: Any = None
    margin_range: tuple[float, float] = (-1.0, 3.0)
    _: KW_ONLY
    multi_class: Strategy = "ovo"

    _n_repeats = 3

    def _feature_maps(self, part: Training, seed: int) -> tuple[list[Any], Any]:
        return [None], None

    def _set_model(self, results: FoldResults, weights: np.ndarray, made: list[Any]) -> None:
        coef, intercept = [], []
        for k in range(len(weights)):
            models = [results.mean_model(weights, k, 0, fold) for fold in range(len(made))]
            coef.append(np.sum([direction for direction, _ in models], axis=0))
            intercept.append(sum(offset for _, offset in models))
        self._coef, self._intercept = np.array(coef), np.array(intercept)

    def _task_scores(self, X: Any) -> np.ndarray:
        return self._project(X) + self._intercept
