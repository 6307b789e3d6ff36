"""AdditiveLCC: centralization on curves, one for each column."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.additive_data import AdditiveBlocks
from lincent.estimators.additive_fit import AdditiveProblem
from lincent.estimators.additive_terms import Terms
from lincent.estimators.answers import where_rows_live
from lincent.estimators.auto_candidates import TrainingRows
from lincent.estimators.choices import Calibrated
from lincent.estimators.encoded import of_encoded_rows
from lincent.estimators.encoded_model import EncodedModel
from lincent.estimators.joint_blocks import sample_of_blocks
from lincent.estimators.joint_fit import Costs
from lincent.estimators.probabilities import Probabilities, Unseen, check_probability
from lincent.estimators.problem import in_blocks, in_parts
from lincent.estimators.regularized import check_hinge_range
from lincent.estimators.validation import check_class_weight, check_nonnegative, check_positive
from lincent.features.transformer import check_least
from lincent.model_selection.folds import calibration_folds
from lincent.sources.source import Kind, kind_of, namespace_of
from lincent.tables.weighted import SAMPLE_ROWS, quantiles

GRID = 100
BAND = (0.1, 0.9)
"""The band of a curve holds this part of the resampled curves at each place."""


class AdditiveModel(BaseEstimator):
    """What AdditiveLCC and AdditiveLCCCV share: terms, scores, curves, probabilities.

    Subclasses have the parameters of AdditiveLCC but for ``C`` and ``smoothing``, and say how these
    are found (``_settle``).
    """

    def _settle(
        self, problem: AdditiveProblem, terms: Terms, rows: TrainingRows, seed: int
    ) -> tuple[Terms, float]:
        """The terms, with smoothing and pairs, and C per row; ``rows`` are as they were given."""
        raise NotImplementedError

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._check_params()
        seed = int(check_random_state(self.random_state).randint(2**31))
        ends = time.monotonic() + (np.inf if self.time_limit is None else self.time_limit)

        def problem(rows: TrainingRows, total: np.ndarray) -> AdditiveProblem:
            total = total * check_class_weight(self.class_weight, self.classes_, total).factor
            costs = Costs(total / total.sum(), check_hinge_range(self.margin_range))
            return AdditiveProblem(
                rows, costs, self.tol, self.max_iter, lambda: time.monotonic() >= ends
            )

        whole: AdditiveProblem | AdditiveBlocks
        if self._own_folds and kind_of(X) is Kind.SPARSE:
            X = X.toarray()
        X, y, sample_weight = in_parts(self, X, y, sample_weight)
        if in_blocks(X):
            training = self._open_blocks(X, y, sample_weight)
            given = sample_of_blocks(training, seed, SAMPLE_ROWS).rows
            sample = problem(given, training.totals)
            whole = AdditiveBlocks(training, sample)
        else:
            given = self._open_table(X, y, sample_weight, seed)
            total = np.bincount(given.codes, weights=given.weight)
            whole = sample = problem(given.merged(), total)
            if not self._own_folds:
                sample = whole.sampled(SAMPLE_ROWS)
        ways = self._ways([column.name for column in self.encoder_.columns_])
        rows, sources = sample.rows, self.encoder_.sources
        terms = Terms.learn(rows.Z, rows.keys, rows.weight, sources, self.n_knots, ways)
        terms, C = self._settle(sample, terms, given, seed)
        self._keep(whole, sample, terms, C, seed)
        if self.probability is not None:
            self._spread(given)
            if in_blocks(X):  # rows of a sample, which have no places in X
                del self.out_of_fold_scores_, self.out_of_fold_probabilities_
        return self

    @property
    def _own_folds(self) -> bool:
        """Whether folds of the user's own name rows by their places."""
        return False

    def _calibrate(self, rows: TrainingRows, scores: np.ndarray) -> None:
        """Probabilities from scores of unseen rows; they and the rows may be merged ones."""
        part = calibration_folds(rows.Z, rows.codes, rows.weight)
        part = np.where(np.isfinite(scores[:, 0]), part, -1)
        Unseen(scores, rows.codes, rows.weight, part, len(self.classes_)).keep(self, 1.0)
        self._kinds = (rows.keys, rows.codes)

    def _spread(self, given: TrainingRows) -> None:
        """Held-out values of kinds of rows to the rows as they were given."""
        keys, codes = self.__dict__.pop("_kinds")
        place = {kind: k for k, kind in enumerate(zip(keys.tolist(), codes.tolist(), strict=True))}
        kinds = zip(given.keys.tolist(), given.codes.tolist(), strict=True)
        index = np.array([place.get(kind, -1) for kind in kinds])
        for name in ("out_of_fold_scores_", "out_of_fold_probabilities_"):
            values = getattr(self, name)
            there = (index >= 0).reshape(-1, *[1] * (values.ndim - 1))
            setattr(self, name, np.where(there, values[index], np.nan))

    def _check_params(self) -> None:
        check_probability(self, in_memory=True)
        check_least("n_knots", self.n_knots, 3)
        self._check_limits()
        check_hinge_range(self.margin_range)
        check_nonnegative("n_resamples", self.n_resamples)

    def _ways(self, names: list[str]) -> np.ndarray:
        """1, -1 or 0 for each column, from ``monotonic_cst``."""
        asked = self.monotonic_cst
        if asked is None:
            return np.zeros(len(names), dtype=int)
        if isinstance(asked, dict):
            unknown = set(map(str, asked)) - set(names)
            if unknown:
                raise ValueError(f"monotonic_cst names {sorted(unknown)[0]!r}, which X has not.")
            asked = [asked.get(name, 0) for name in names]
        ways = np.asarray(asked)
        if ways.shape != (len(names),) or not np.all(np.isin(ways, (-1, 0, 1))):
            raise ValueError(
                f"monotonic_cst={self.monotonic_cst!r} is not usable: give -1, 0 or 1 for each of "
                f"the {len(names)} columns, or a dictionary of column names."
            )
        if np.any(ways) and len(self.classes_) > 2:
            raise ValueError(
                f"monotonic_cst is for two classes; y has {len(self.classes_)}: with more there is "
                "no up and down."
            )
        return ways.astype(int)

    def _keep(
        self,
        whole: AdditiveProblem | AdditiveBlocks,
        sample: AdditiveProblem,
        terms: Terms,
        C: float,
        seed: int,
    ) -> None:
        # Terms have mean zero over the training rows; what they give up is in the intercept.
        seen = sample.seen_by(terms)
        if whole is sample:
            found, self.means_ = seen.path([C])[0], seen.means()
            own = found.rules
        else:
            found, self.means_ = whole.fit(terms, C)
            own = seen.path([C])[0].rules
        self.terms_, self.C_, self.smoothing_ = terms, C, terms.smoothing
        self.coef_ = found.rules[:-1]
        offset = found.rules[-1]
        if len(offset) > 1:  # what the rules of all classes have in common says nothing
            offset = offset - offset.mean()
        self.intercept_ = offset + self.means_ @ self.coef_
        drawn = seen.band(C, own, int(self.n_resamples), seed) - own
        # Rules of a sample vary more than those of all rows, by the root of how much it weighs.
        share = float(sample.rows.weight.sum()) / whole.total
        self.resampled_ = (found.rules + np.sqrt(share) * drawn)[:, :-1]
        self.term_names_ = self._term_names()
        self._range = self._ranges(sample.rows)
        self.objective_, self.dual_objective_ = (
            float(found.objective.sum()),
            float(found.bound.sum()),
        )
        self.duality_gap_ = max(self.objective_ - self.dual_objective_, 0.0)
        self.n_iter_ = max(1, found.iterations)
        relative = float(found.relative_gap.max())
        if relative > self.tol:
            warnings.warn(
                f"The rule is not certified: its relative duality gap is {relative:.1e} (tol "
                f"{self.tol:g}). Raise max_iter or time_limit.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _term_names(self) -> np.ndarray:
        names = [column.name for column in self.encoder_.columns_]
        pairs = [f"{names[a]} & {names[b]}" for a, b in self.terms_.pairs]
        return np.array([*names, *pairs], dtype=object)

    def _ranges(self, rows: TrainingRows) -> np.ndarray:
        """The 1 and 99 percent quantiles of each encoded column."""
        shares = np.array([0.01, 0.99])
        return np.array([quantiles(column, rows.weight, shares) for column in rows.Z.T])

    # Scores and what they are made of.

    @where_rows_live
    def contributions(self, X: Any) -> np.ndarray:
        """What each term adds to the score of each row.

        Their sum over terms and ``intercept_`` is ``decision_function(X)``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_terms) or (n_samples, n_terms, n_classes)
            In the order of ``term_names_``.
        """
        parts = of_encoded_rows(self, self._parts, X)
        return parts[:, :, 0] if parts.shape[2] == 1 else parts

    def _block_scores(self, Z: Any) -> Any:
        return self._parts(Z).sum(axis=1) + namespace_of(Z).send(self.intercept_)

    def _parts(self, Z: Any) -> Any:
        """(rows, terms, rules)."""
        place, terms = namespace_of(Z), self.terms_
        features = terms.apply(Z) - place.send(self.means_)
        out = place.empty((len(Z), terms.count, self.coef_.shape[1]))
        ends = np.searchsorted(terms.owners, np.arange(terms.count + 1)).tolist()
        for term, (low, high) in enumerate(pairwise(ends)):
            out[:, term] = features[:, low:high] @ place.send(self.coef_[low:high])
        return out

    def shape(self, column: Any, rule: int = 0) -> dict[str, np.ndarray]:
        """The curve of one column, with a band from resampling.

        Parameters
        ----------
        column : str or int
            Name or number of the column.
        rule : int, default=0
            Number of the class, where there are more than two.

        Returns
        -------
        dict of ndarrays
            ``x``, values of the column (its categories, if it has them); ``value``, what they add
            to the score; ``low`` and ``high``, between which 80 percent of the resampled curves
            are.
        """
        check_is_fitted(self)
        names = [code.name for code in self.encoder_.columns_]
        place = names.index(column) if column in names else column
        if not isinstance(place, int | np.integer) or not 0 <= place < len(names):
            raise ValueError(
                f"column={column!r} is not there: give a name of {names[:5]!r}... or a number "
                f"below {len(names)}."
            )
        x, Z = self._grid(int(place))
        features = self.terms_.apply(Z) - self.means_
        mine = self.terms_.owners == place
        value = features[:, mine] @ self.coef_[mine, rule]
        curves = features[:, mine] @ self.resampled_[:, mine, rule].T
        # A curve is known up to a constant: each resampled one is moved to the height of the curve.
        curves = curves - curves.mean(axis=0) + value.mean()
        low, high = np.quantile(curves, BAND, axis=1) if curves.size else (value, value)
        return {"x": x, "value": value, "low": low, "high": high}

    def _grid(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Values of a column to draw it at, and encoded rows that have them."""
        code = self.encoder_.columns_[place]
        mine = np.flatnonzero(self.encoder_.sources == place)
        middle = self._range.mean(axis=1)
        if code.categories is not None:
            Z = np.tile(middle, (len(code.categories), 1))
            Z[:, mine] = np.eye(len(mine))
            return np.array(code.categories, dtype=object), Z
        curve = self.terms_.curves[mine[0]]
        levels = getattr(curve, "levels", np.empty(0))
        low, high = self._range[mine[0]]
        x = levels if len(levels) else np.linspace(float(low), float(high), GRID)
        Z = np.tile(middle, (len(x), 1))
        Z[:, mine[0]] = x
        Z[:, mine[1:]] = 0.0
        return x, Z


class AdditiveLCC(Probabilities, AdditiveModel, EncodedModel):
    """Centralization on splines per column: a model that can be read curve by curve.

    Every column gets a natural cubic spline (few-valued columns and categories one number per
    value); their sum is the score. The rule is that of RegularizedLCC on the spline features, so it
    comes with a certificate.

    Parameters
    ----------
    C : float, default=0.1
        Cost of a unit of loss, per row.
    smoothing : float, default=0.1
        Penalty on the curvature of the curves, beside that on their size.
    n_knots : int, default=8
        Knots per column, at quantiles.
    interactions : int, default=0
        How many pairs of columns get a term of their own; the data says which.
    monotonic_cst : array-like of int or dict, default=None
        1 for columns whose curve must rise, -1 for those that must fall, 0 for the others, as in
        HistGradientBoostingClassifier.
    margin_range : tuple of two floats, default=(-1.0, 3.0)
        The range of margins over which the hinge is averaged.
    class_weight : dict, "balanced" or None, default="balanced"
        What the classes cost; "balanced" gives all the same total.
    n_resamples : int, default=20
        Resampled fits behind the bands of ``shape``.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Offer ``predict_proba``, calibrated on rows that the rules had not seen: ``fit`` is then
        repeated in five folds. ``predict`` does not change; where classes differ in size the
        predicted class is not always the most probable one.
    tol : float, default=1e-9
        Bound on the relative duality gap.
    max_iter : int, default=200
        Largest number of steps.
    time_limit : float, default=None
        Seconds after which the best point so far is taken, with a ConvergenceWarning.
    random_state : int, RandomState instance or None, default=0
        Draws the rows on which knots are placed, and the resamples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    term_names_ : ndarray of shape (n_terms,)
        The columns, then the pairs.
    coef_ : ndarray of shape (n_spline_features, 1) or (n_spline_features, n_classes)
        The rule on the features of all terms.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The score where every term is at its mean.
    objective_, dual_objective_, duality_gap_ : float
        The certificate.
    n_iter_ : int
        Steps.
    out_of_fold_scores_, out_of_fold_probabilities_ : ndarray
        Of the training rows, by rules that have not seen them, where ``probability`` is set; NaN
        where there are none.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has them.

    See Also
    --------
    AdditiveLCCCV : C, smoothing and pairs by cross-validation.
    AutoLCC : The best score, not the most readable one.

    Notes
    -----
    With more than 10,000 different rows, knots, pairs and bands come from a sample of about that
    size; the rules are fitted, and certified, on all rows.

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

    def __init__(
        self,
        C: float = 0.1,
        smoothing: float = 0.1,
        *,
        n_knots: int = 8,
        interactions: int = 0,
        monotonic_cst: Any = None,
        margin_range: tuple[float, float] = (-1.0, 3.0),
        class_weight: Any = "balanced",
        n_resamples: int = 20,
        categorical_features: Any = None,
        probability: Calibrated = None,
        tol: float = 1e-9,
        max_iter: int = 200,
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.smoothing = smoothing
        self.n_knots = n_knots
        self.interactions = interactions
        self.monotonic_cst = monotonic_cst
        self.margin_range = margin_range
        self.class_weight = class_weight
        self.n_resamples = n_resamples
        self.categorical_features = categorical_features
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("C", self.C)
        check_nonnegative("smoothing", self.smoothing)
        check_nonnegative("interactions", self.interactions)

    def _settle(
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
            scores = problem.unseen(merged, folds, terms, smoothing, [C], self.tol, pairs, C)
            self._calibrate(merged, scores[0, 0])
        return (problem.with_pairs(problem.seen_by(terms), C, pairs) if pairs else terms), C
