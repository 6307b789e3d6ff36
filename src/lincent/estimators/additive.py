"""AdditiveLCC and AdditiveLCCCV: centralization on splines, one shape function for each column."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain, pairwise, product
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.additive_problem import AdditiveProblem, Terms, fit_whole
from lincent.estimators.base import (
    COMMON_CONSTRAINTS,
    NONNEGATIVE,
    POSITIVE,
    Calibrated,
    Classifier,
    ProbabilityMixin,
    output_like_input,
)
from lincent.estimators.calibration import OutOfFoldScores
from lincent.estimators.linear import check_hinge_range
from lincent.estimators.remote import RemoteTraining
from lincent.estimators.tabular import (
    TableClassifier,
    TrainingRows,
    sample_of_remote,
    search_tolerance,
    total_costs,
)
from lincent.model_selection.folds import calibration_folds, make_folds, number_of_folds
from lincent.model_selection.scoring import Labels, make_metric
from lincent.model_selection.search import make_cv_results
from lincent.sources.source import is_streamed, namespace_of
from lincent.tables.weighted import SAMPLE_ROWS, quantiles

FOLDS = 4
SMOOTHINGS = (0.01, 0.1, 1.0)
FIRST_PAIRS, MOST_PAIRS = 10, 40
"""Twice as many pairs are tried as long as the score rises."""
COLUMNS_FOR_PAIRS = 200
"""With more columns no pairs are tried: there are thousands."""
N_RESAMPLES = 20
"""Resampled fits behind the bands of shape functions."""


class AdditiveModel(BaseEstimator):
    """Terms, scores and shape functions of AdditiveLCC and AdditiveLCCCV.

    Subclasses have the parameters of AdditiveLCC but for ``C`` and ``smoothing``, and choose these
    in ``_select``.
    """

    _coef: np.ndarray
    _intercept: np.ndarray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "n_knots": [Interval(Integral, 3, None, closed="left")],
        "interactions": [NONNEGATIVE],
    }

    def _select(
        self, problem: AdditiveProblem, terms: Terms, rows: TrainingRows, seed: int
    ) -> tuple[Terms, float]:
        """Return the terms, with smoothing and pairs, and C; ``rows`` are those of X."""
        raise NotImplementedError

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._validate_params()
        self._check_params()
        seed = int(check_random_state(self.random_state).randint(2**31))
        limits = self._limits()
        X, y, sample_weight = self._sparse_to_batches(X, y, sample_weight)
        whole: TrainingRows | RemoteTraining
        if is_streamed(X):
            training = self._open_remote(X, y, sample_weight)
            rows = given = sample_of_remote(training, seed, SAMPLE_ROWS)[0]
            whole, totals = training, training.totals
        else:
            given = self._open_table(X, y, sample_weight, seed)
            rows = given.merged()
            whole, totals = rows, given.totals
            index = np.arange(len(rows.Z)) if self._own_folds else rows.sample(SAMPLE_ROWS)
            rows = rows if len(index) == len(rows.Z) else rows[index]
        sample = AdditiveProblem(rows, self._costs(totals), limits, self.n_jobs)
        signs = self._monotonic_signs(self._column_names())[self._used]
        sources = self._encoder.sources
        terms = Terms.learn(rows.Z, rows.keys, rows.weight, sources, self.n_knots, signs)
        terms, C = self._select(sample, terms, given, seed)
        self._store_solution(whole, sample, terms, C, seed)
        if self.probability is not None and is_streamed(X):  # samples without an index in X
            del self.out_of_fold_scores_, self.out_of_fold_probabilities_
        return self

    def _calibrate(self, rows: TrainingRows, scores: np.ndarray, given: TrainingRows) -> None:
        """Calibrate probabilities on out-of-fold scores of ``rows``, which may be merged.

        The out-of-fold values are copied to the ``given`` samples, those of X.
        """
        part = calibration_folds(rows.Z, rows.codes, rows.weight)
        part = np.where(np.isfinite(scores[:, 0]), part, -1)
        OutOfFoldScores(scores, rows.codes, rows.weight, part, len(self.classes_)).calibrate(
            self, 1.0
        )
        pairs = zip(rows.keys.tolist(), rows.codes.tolist(), strict=True)
        position = {pair: k for k, pair in enumerate(pairs)}
        pairs = zip(given.keys.tolist(), given.codes.tolist(), strict=True)
        index = np.array([position.get(pair, -1) for pair in pairs])
        for name in ("out_of_fold_scores_", "out_of_fold_probabilities_"):
            values = getattr(self, name)
            held_out = (index >= 0).reshape(-1, *[1] * (values.ndim - 1))
            setattr(self, name, np.where(held_out, values[index], np.nan))

    def _check_params(self) -> None:
        check_hinge_range(self.margin_range)

    def _monotonic_signs(self, names: list[str]) -> np.ndarray:
        """Return 1, -1 or 0 for each column, from ``monotonic_cst``."""
        signs = self.monotonic_cst
        if signs is None:
            return np.zeros(len(names), dtype=int)
        if isinstance(signs, dict):
            unknown = set(map(str, signs)) - set(names)
            if unknown:
                raise ValueError(f"monotonic_cst names {sorted(unknown)[0]!r}, which X has not.")
            signs = [signs.get(name, 0) for name in names]
        signs = np.asarray(signs)
        if signs.shape != (len(names),) or not np.all(np.isin(signs, (-1, 0, 1))):
            raise ValueError(
                f"monotonic_cst={self.monotonic_cst!r} is not usable: give -1, 0 or 1 for each of "
                f"the {len(names)} columns, or a dictionary of column names."
            )
        if np.any(signs) and len(self.classes_) > 2:
            raise ValueError(
                f"monotonic_cst is for two classes; y has {len(self.classes_)}: with more there is "
                "no up and down."
            )
        return signs.astype(int)

    def _store_solution(
        self,
        whole: TrainingRows | RemoteTraining,
        sample: AdditiveProblem,
        terms: Terms,
        C: float,
        seed: int,
    ) -> None:
        # Terms have mean zero over the training samples; their means are in the intercept.
        seen = sample.seen_by(terms)
        solution, self._means = seen.path([C])[0], seen.means()
        own = solution.rules
        if whole is not sample.rows:
            solution, self._means = fit_whole(whole, sample, terms, C)
        self._terms = terms
        self._coef = solution.rules[:-1]
        offset = solution.rules[-1]
        if len(offset) > 1:  # a constant for all classes changes no prediction
            offset = offset - offset.mean()
        self._intercept = offset + self._means @ self._coef
        drawn = seen.band(C, own, N_RESAMPLES, seed) - own
        # Coefficients of a sample vary more than those of all samples, by the root of its weight.
        fraction = float(sample.rows.weight.sum()) / float(whole.totals.sum())
        self._resampled = (solution.rules + np.sqrt(fraction) * drawn)[:, :-1]
        names = [column.name for column in self._encoder.columns_]
        pairs = [f"{names[a]} & {names[b]}" for a, b in terms.pairs]
        self.term_names_ = np.array([*names, *pairs], dtype=object)
        rows = sample.rows
        self.feature_importances_ = np.zeros(self.n_features_in_)
        self.feature_importances_[self._used] = self._importances(seen.features, rows.weight)
        levels = np.array([0.01, 0.99])
        self._range = np.array([quantiles(column, rows.weight, levels) for column in rows.Z.T])
        self.objective_ = float(solution.objective.sum())
        self.dual_objective_ = float(solution.bound.sum())
        self.duality_gap_ = max(float(solution.relative_gap.max()), 0.0)
        self.n_iter_ = max(1, solution.iterations)
        if not self.duality_gap_ <= self.tol:
            warnings.warn(
                f"The optimum is not certified: the relative duality gap is {self.duality_gap_:.1e}"
                f" (tol {self.tol:g}). Raise max_iter or time_limit.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _importances(self, features: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the share of each column in the mean absolute contributions of the terms."""
        terms = self._terms
        sizes = np.empty(terms.count)
        for term, part in enumerate(self._slices()):
            values = (features[:, part] - self._means[part]) @ self._coef[part]
            sizes[term] = weight @ np.abs(values).sum(axis=1)
        shares = sizes[: terms.count - len(terms.pairs)]
        for pair, size in zip(terms.pairs, sizes[len(shares) :], strict=True):
            shares[list(pair)] += size / 2
        return shares / shares.sum() if shares.any() else np.full(len(shares), 1 / len(shares))

    def _slices(self) -> list[slice]:
        """Return the features of each term."""
        ends = np.searchsorted(self._terms.owners, np.arange(self._terms.count + 1)).tolist()
        return [slice(low, high) for low, high in pairwise(ends)]

    @output_like_input
    def contributions(self, X: Any) -> np.ndarray:
        """Compute the contribution of each term to the score of each sample.

        They are centered over the training samples; their sum over terms and a constant, the same
        for all samples, is ``decision_function(X)``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_classes)
            In the order of ``term_names_``.
        """
        parts = self._apply_encoded(self._parts, X)
        return parts[:, :, 0] if parts.shape[2] == 1 else parts

    def _block_scores(self, Z: Any) -> Any:
        return self._parts(Z).sum(axis=1) + namespace_of(Z).send(self._intercept)

    def _parts(self, Z: Any) -> Any:
        """Return the contributions (n_samples, n_terms, n_outputs)."""
        place, terms = namespace_of(Z), self._terms
        features = terms.apply(Z) - place.send(self._means)
        out = place.empty((len(Z), terms.count, self._coef.shape[1]))
        for term, part in enumerate(self._slices()):
            out[:, term] = features[:, part] @ place.send(self._coef[part])
        return out

    def shape(self, column: Any, rule: int = 0) -> dict[str, np.ndarray]:
        """Evaluate the shape function of one column, with a band from resampling.

        Parameters
        ----------
        column : str or int
            Name or index of the column.
        rule : int, default=0
            Index of the class, where there are more than two.

        Returns
        -------
        dict of ndarrays
            ``x``, values of the column (its categories, if it has them); ``value``, their
            contribution to the score; ``low`` and ``high``, the band that holds 80 percent of the
            resampled shape functions.
        """
        check_is_fitted(self)
        names = [code.name for code in self._encoder.columns_]
        used = self._used.tolist()
        index = names.index(column) if column in names else -1
        if isinstance(column, int | np.integer) and int(column) in used:
            index = used.index(int(column))
        if index < 0:
            raise ValueError(
                f"column={column!r} is not there: give a name of {names[:5]!r}... or a number "
                f"below {self.n_features_in_} of a column that is used."
            )
        x, Z = self._grid(int(index))
        features = self._terms.apply(Z) - self._means
        mine = self._terms.owners == index
        value = features[:, mine] @ self._coef[mine, rule]
        curves = features[:, mine] @ self._resampled[:, mine, rule].T
        # Only differences within a shape function matter: resampled ones get the same mean.
        curves = curves - curves.mean(axis=0) + value.mean()
        low, high = np.quantile(curves, (0.1, 0.9), axis=1) if curves.size else (value, value)
        return {"x": x, "value": value, "low": low, "high": high}

    def _grid(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return values of a column to evaluate it at, and encoded samples with these values."""
        code = self._encoder.columns_[index]
        mine = np.flatnonzero(self._encoder.sources == index)
        middle = self._range.mean(axis=1)
        if code.categories is not None:
            Z = np.tile(middle, (len(code.categories), 1))
            Z[:, mine] = np.eye(len(mine))
            return np.array(code.categories, dtype=object), Z
        curve = self._terms.curves[mine[0]]
        levels = getattr(curve, "levels", np.empty(0))
        low, high = self._range[mine[0]]
        x = levels if len(levels) else np.linspace(float(low), float(high), 100)
        Z = np.tile(middle, (len(x), 1))
        Z[:, mine[0]] = x
        Z[:, mine[1:]] = 0.0
        return x, Z


@dataclass(eq=False, repr=False)
class AdditiveLCC(ProbabilityMixin, AdditiveModel, TableClassifier, Classifier):
    """Additive model of one spline per column, fitted by centralization.

    Every column gets a natural cubic spline (few-valued columns and categories one number per
    value); their sum is the score. The coefficients are those of RegularizedLCC on the spline
    features, with a certificate.

    Parameters
    ----------
    C : float, default=0.1
        Misclassification cost per sample.
    smoothing : float, default=0.1
        Penalty on the curvature of the shape functions, beside that on their size.
    n_knots : int, default=8
        Knots per column, at quantiles. More than 142 columns have fewer, and more than 500 are
        fitted by a line each.
    interactions : int, default=0
        Number of pairs of columns with a term of their own; they are selected by the data.
    monotonic_cst : array-like of int or dict, default=None
        1 for columns whose shape function must rise, -1 for those that must fall, 0 for the others,
        as in HistGradientBoostingClassifier.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class. ``"balanced"`` gives all classes the same total cost.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    keep_columns : list of str or "all", default=()
        Columns of a frame to use whatever they look like. Identifiers, dates, free text, constant
        columns and those that tell the class of nearly every row are left out with a warning
        otherwise, as by ``lincent fit``; without pyarrow all columns are used. A date becomes its
        number of days.
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
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=0
        Seed for the subsample on which knots are placed, and for the bands of ``shape``.
    verbose : int, default=0
        1 prints the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    term_names_ : ndarray of shape (n_terms,)
        The columns, then the pairs.
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute contribution of each column to the score over the training samples; the
        contribution of a pair counts half for each of its columns; of sum one.
    objective_, dual_objective_, duality_gap_ : float
        The certificate.
    n_iter_ : int
        Number of Newton steps.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Predictions for the training samples by models fitted without them, if ``probability`` is
        set; NaN for samples that cannot be held out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has them.

    See Also
    --------
    AdditiveLCCCV : C, smoothing and pairs by cross-validation.
    AutoLCC : More accurate, less interpretable.

    Notes
    -----
    With more than 10,000 distinct samples, knots, pairs and bands come from a random sample of that
    size; the coefficients are fitted, and certified, on all samples.

    The band of ``shape`` shows how a shape function varies over resampled training samples (the
    Bayesian bootstrap): it holds the middle 80 percent at each value. It is no confidence band of
    the whole curve, and it does not contain the choice of C and smoothing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import AdditiveLCC
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AdditiveLCC().fit(X, y)
    >>> curve = model.shape("mean radius")
    >>> curve["x"].shape, curve["value"].shape
    ((100,), (100,))
    """

    C: float = 0.1
    smoothing: float = 0.1
    _: KW_ONLY
    n_knots: int = 8
    interactions: int = 0
    monotonic_cst: Any = None
    margin_range: tuple[float, float] = (-1.0, 3.0)
    class_weight: Any = "balanced"
    categorical_features: Any = None
    keep_columns: Any = ()
    probability: Calibrated = None
    tol: float = 1e-9
    max_iter: int = 200
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AdditiveModel._parameter_constraints,
        "C": [POSITIVE],
        "smoothing": [NONNEGATIVE],
    }

    def _select(
        self, problem: AdditiveProblem, terms: Terms, rows: TrainingRows, seed: int
    ) -> tuple[Terms, float]:
        terms, C = replace(terms, smoothing=float(self.smoothing)), float(self.C)
        pairs = int(self.interactions)
        if self.probability is not None:
            merged = problem.rows
            fold = calibration_folds(merged.Z, merged.codes, merged.weight)
            parts = range(int(fold.max(initial=-1)) + 1)
            folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in parts]
            smoothing = [terms.smoothing]
            scores = problem.out_of_fold(merged, folds, terms, smoothing, [C], self.tol, pairs, C)
            self._calibrate(merged, scores[0, 0], rows)
        return (problem.with_pairs(problem.seen_by(terms), C, pairs) if pairs else terms), C


@dataclass(eq=False, repr=False)
class AdditiveLCCCV(ProbabilityMixin, AdditiveModel, TableClassifier, Classifier):
    """AdditiveLCC with C, smoothing and pairs of columns selected by cross-validation.

    Parameters
    ----------
    interactions : int or "auto", default="auto"
        Number of pairs of columns with a term of their own. "auto" tries half as many pairs as
        there are columns, at most 10, and twice as many, up to 40, as long as the cross-validated
        score rises; with more than 200 columns it tries none.
    n_knots : int, default=8
        Knots per column, at quantiles. More than 142 columns have fewer, and more than 500 are
        fitted by a line each.
    monotonic_cst : array-like of int or dict, default=None
        1 for columns whose shape function must rise, -1 for those that must fall, 0 for the others.
    scoring : str or callable, default=None
        Any scorer of scikit-learn. None is the area under the ROC curve for two classes and the
        class-balanced log-likelihood for more.
    cv : int, splitter or iterable, default=None
        None is 4 hash-based stratified folds.
    probability : {"sigmoid", "isotonic"} or None, default="sigmoid"
        Method by which ``predict_proba`` is calibrated on the out-of-fold scores of the search;
        None leaves it out. ``predict`` does not change: with imbalanced classes the predicted class
        is not always the most probable one.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        Factors on the costs of each class. ``"balanced"`` gives all classes the same total cost.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    keep_columns : list of str or "all", default=()
        Columns of a frame to use whatever they look like. Identifiers, dates, free text, constant
        columns and those that tell the class of nearly every row are left out with a warning
        otherwise, as by ``lincent fit``; without pyarrow all columns are used. A date becomes its
        number of days.
    tol : float, default=1e-9
        Bound on ``duality_gap_``.
    max_iter : int, default=200
        Largest number of Newton steps in one solve.
    time_limit : float, default=None
        Seconds after which no further candidate is tried.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=0
        Seed for the folds, for the subsample on which knots are placed, and for the bands of
        ``shape``.
    verbose : int, default=0
        1 prints the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    C_, smoothing_ : float
        The selected values.
    cv_results_ : dict of arrays
        ``params`` (``C``, ``smoothing`` and ``interactions``), ``mean_test_score`` (of the pooled
        out-of-fold scores) and ``rank_test_score`` of every candidate.
    best_index_, best_params_, best_score_ : int, dict, float
        The selected candidate; ``AdditiveLCC(**best_params_)`` fits it alone.
    term_names_ : ndarray of shape (n_terms,)
        The columns, then the pairs.
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute contribution of each column to the score over the training samples; the
        contribution of a pair counts half for each of its columns; of sum one.
    objective_, dual_objective_, duality_gap_ : float
        The certificate of the rule.
    n_iter_ : int
        Number of Newton steps.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Predictions for the training samples by models fitted without them, if ``probability`` is
        set; NaN for samples that cannot be held out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has them.

    See Also
    --------
    AdditiveLCC : One candidate, fitted once.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import AdditiveLCCCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> AdditiveLCCCV(interactions=0).fit(X, y).term_names_.shape
    (30,)
    """

    interactions: Any = "auto"
    _: KW_ONLY
    n_knots: int = 8
    monotonic_cst: Any = None
    scoring: Any = None
    cv: Any = None
    probability: Calibrated = "sigmoid"
    margin_range: tuple[float, float] = (-1.0, 3.0)
    class_weight: Any = "balanced"
    categorical_features: Any = None
    keep_columns: Any = ()
    tol: float = 1e-9
    max_iter: int = 200
    time_limit: float | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AdditiveModel._parameter_constraints,
        "interactions": [NONNEGATIVE, StrOptions({"auto"})],
    }

    def _open_remote(self, X: Any, y: Any, sample_weight: Any) -> RemoteTraining:
        number_of_folds(self.cv, remote=True)
        return super()._open_remote(X, y, sample_weight)

    def _select(
        self, problem: AdditiveProblem, terms: Terms, rows: TrainingRows, seed: int
    ) -> tuple[Terms, float]:
        # The user's folds are indices of samples of X; others are assigned to distinct samples.
        given, rows = rows, rows if self._own_folds else problem.rows
        cv = FOLDS if self.cv is None else self.cv
        folds = make_folds(cv, rows.Z, rows.codes, rows.weight, 1, seed)
        metric = make_metric(self.scoring, self.classes_)
        labels = Labels(rows.codes, rows.weight, len(self.classes_))
        Cs = (total_costs(len(self.classes_)) / rows.weight.sum()).tolist()
        tol = search_tolerance(len(self.classes_))
        params: list[dict[str, Any]] = []
        values: list[float] = []
        scores: list[np.ndarray] = []

        def evaluate(smoothings: Sequence[float], pairs: int = 0, C: float = 0.0) -> None:
            out_of_fold = problem.out_of_fold(rows, folds, terms, smoothings, Cs, tol, pairs, C)
            for (smoothing, cost), held_out in zip(
                product(smoothings, Cs), chain(*out_of_fold), strict=True
            ):
                kept = np.flatnonzero(np.isfinite(held_out[:, 0]))
                values.append(metric(held_out[kept], labels.subset(kept)))
                params.append({"C": cost, "smoothing": smoothing, "interactions": pairs})
                scores.append(held_out)

        def best(candidates: Sequence[int]) -> int:
            """Return the best candidate; ties go to fewer pairs, larger C and smoothing."""

            def key(k: int) -> tuple[float, ...]:
                C, smoothing, pairs = params[k].values()
                return values[k], -pairs, C, smoothing

            return max(candidates, key=key)

        evaluate(SMOOTHINGS)
        first = params[best(range(len(params)))]
        automatic = isinstance(self.interactions, str)
        n_columns = int(terms.sources[-1]) + 1
        n_pairs = 0 if automatic else int(self.interactions)
        most = min(MOST_PAIRS, n_columns * (n_columns - 1) // 2)
        if automatic and n_columns <= COLUMNS_FOR_PAIRS:
            n_pairs = min(FIRST_PAIRS, n_columns // 2)
        while n_pairs and not problem.limits.out_of_time():
            reached = max(values)
            evaluate([first["smoothing"]], n_pairs, first["C"])
            rising = automatic and max(values) > reached and n_pairs < most
            n_pairs = min(2 * n_pairs, most) if rising else 0
        every = range(len(params))
        with_pairs = [k for k in every if params[k]["interactions"]]
        self.best_index_ = best(every if automatic or not with_pairs else with_pairs)
        self.cv_results_ = make_cv_results(params, np.array(values))
        self.best_params_ = chosen = params[self.best_index_]
        self.best_score_ = float(values[self.best_index_])
        self.C_, self.smoothing_ = chosen["C"], chosen["smoothing"]
        if self.probability is not None:
            self._calibrate(rows, scores[self.best_index_], given)
        smooth = replace(terms, smoothing=self.smoothing_)
        if not chosen["interactions"]:
            return smooth, self.C_
        seen = problem.seen_by(smooth)
        return problem.with_pairs(seen, first["C"], chosen["interactions"]), self.C_
