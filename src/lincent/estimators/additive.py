"""AdditiveLCC and AdditiveLCCCV: centralization on splines, one shape function for each column.

A term is a group of features (``Terms``).  That of a column of the table has the features of all
its encoded columns (a number and its missing-value indicator; the indicators of categories).  That
of a pair of columns has the products of the first few features of both.  Where the class depends
on two columns jointly, the residuals r of the other terms correlate with such products a b: pairs
are ranked by

    sum over products a b of the pair, and outputs k, of (sum_i a_i b_i r_ik)^2 / mean (a b)^2

(as in GA2M: Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise
interactions", KDD 2013).

Smoothing s multiplies feature j by d_j(s), so the features for another smoothing are these, scaled,
and coefficients beta of smoothing s are beta_j d_j(s) / d_j(t) for smoothing t.  A search over
smoothings and C therefore alternates (``AdditiveRows.alternating_path``),

    C rising at the first smoothing, falling at the second, rising at the third,

each solve starts from its neighbor, and the Gram matrix is rescaled (``solvers.newton.joint``).

The best candidates are averaged (``model_selection.selection.greedy_mean``).  For the same reason a
mean of models of several smoothings and C is one coefficient vector on the features of one of them,
and those with fewer pairs have the first pairs of those with more.  Pairs are tried with a single
smoothing: their products are no multiples of each other.

The band of a shape function comes from the Bayesian bootstrap: a weight w becomes a gamma variate
of shape w, the sum of w exponential ones, so that sample weights are frequency weights here, too.
All draws are solved at once, next to the solved problem.

Knots, pairs, smoothing, C and bands come from at most about ``SAMPLE_ROWS`` distinct samples, drawn
by their hash; the coefficients are fitted to all samples, in memory or in place.
So a fit does not depend on the kind of X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, groupby, pairwise, product
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_monotonic_cst, check_is_fitted

from lincent import _console
from lincent.estimators.base import Classifier, EstimatorMixin, output_like_input
from lincent.estimators.calibration import OutOfFoldScores, score_scale
from lincent.estimators.problem import RemoteTraining, run_jobs
from lincent.estimators.tabular import (
    Costs,
    TableClassifier,
    TrainingRows,
    fit_in_place,
    sample_of_remote,
    search_tolerance,
    total_costs,
)
from lincent.estimators.validation import (
    COMMON_CONSTRAINTS,
    NONNEGATIVE,
    POSITIVE,
    Calibrated,
    Number,
)
from lincent.features.splines import (
    ColumnCurve,
    IncreasingCurve,
    learn_curve,
    learn_increasing,
    write_curves,
)
from lincent.model_selection.folds import Split, calibration_folds, make_folds
from lincent.model_selection.scoring import Labels, make_metric
from lincent.model_selection.search import make_cv_results, store_gaps
from lincent.model_selection.selection import greedy_mean
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import (
    Design,
    JointSolution,
    Span,
    solve_near,
    solve_nonnegative,
    solve_path,
)
from lincent.solvers.solution import Controls
from lincent.sources.hashing import smallest_distinct
from lincent.sources.source import dense_rows, is_streamed, namespace_of
from lincent.tables.weighted import SAMPLE_ROWS, merged, quantiles

FOLDS = 4
COSTS_OF_MANY = 10.0 ** np.arange(1.0, 5.0)
"""Candidates for the total cost of more than two classes; those of AutoLCC begin at 10^1.75, which
was the best one on 8 of 14 splits of development tables."""
SMOOTHINGS = (0.01, 0.1, 1.0)
MOST_PAIRS = 40
"""Twice as many pairs are tried, up to this number, as long as the score rises."""
COLUMNS_FOR_PAIRS = 200
"""With more columns no pairs are tried: there are thousands."""
MOST_MEMBERS = 10
"""Candidates, the best ones, among which the members of the mean are selected."""
LEADING = 3
"""Features of each column in the products of a pair: the smoothest ones."""
BOUND = 3.0
"""Features are linear far out, and products of two would be large: they are clipped."""
BAND_GAP, BAND_STEPS = 1e-3, 25
"""Stopping criteria of resampled fits: a band needs few digits."""
PAIR_GAP = 1e-4
"""Relative gap of fits that only select pairs."""

Curve = ColumnCurve | IncreasingCurve


# The problem.


@dataclass(frozen=True)
class Terms:
    """Basis functions of the encoded columns; ``sources`` is the column of the table of each."""

    curves: list[Curve]
    sources: np.ndarray
    smoothing: float
    pairs: list[tuple[int, int]]

    @classmethod
    def learn(
        cls,
        Z: np.ndarray,
        keys: np.ndarray,
        weight: np.ndarray,
        sources: np.ndarray,
        n_knots: int,
        signs: np.ndarray,
    ) -> Terms:
        """Place knots on a sample; ``signs`` has 1 or -1 for monotonic columns of the table."""
        rows, counts = smallest_distinct(keys, weight, SAMPLE_ROWS)
        # With many columns fewer knots, and from 501 on none, so that a fit takes seconds.
        n_knots = min(n_knots, 1 + 1000 // len(sources))
        curves: list[Curve] = []
        first = np.flatnonzero(np.diff(sources, prepend=-1))
        for j, column in enumerate(Z[rows].T):
            sign = signs[sources[j]] if j in first else 0
            if sign:
                curves.append(learn_increasing(column, counts, max(n_knots, 3), float(sign)))
            else:
                curves.append(learn_curve(column, counts, n_knots, equalize=True))
        return cls(curves, sources, 0.0, [])

    @property
    def columns(self) -> int:
        """The number of encoded columns."""
        return len(self.curves)

    @property
    def width(self) -> int:
        """The number of features."""
        return sum(self._widths())

    @property
    def count(self) -> int:
        """The number of terms."""
        return int(self.sources[-1]) + 1 + len(self.pairs)

    @property
    def held(self) -> np.ndarray:
        """Whether the coefficient of each feature must be nonnegative."""
        single = [isinstance(curve, IncreasingCurve) for curve in self.curves]
        return np.repeat(single + [False] * len(self.pairs), self._widths())

    @property
    def owners(self) -> np.ndarray:
        """The term of each feature."""
        pairs = range(self.count - len(self.pairs), self.count)
        return np.repeat([*self.sources, *pairs], self._widths())

    @property
    def factors(self) -> np.ndarray:
        """The factor of each feature by smoothing; 1 for pairs."""
        single = [curve.factors(self.smoothing) for curve in self.curves]
        return np.concatenate([*single, np.ones(sum(self._pair_widths()))])

    def _widths(self) -> list[int]:
        """Return the number of features of each encoded column and pair."""
        return [*(curve.width for curve in self.curves), *self._pair_widths()]

    def __call__(self, X: Any) -> Any:
        """Return the features of samples wherever they are, as a feature map does."""
        return self.apply(dense_rows(X))

    def apply(self, Z: Any) -> Any:
        """Return the features of encoded samples, as the same kind of array."""
        out = namespace_of(Z).empty((len(Z), self.width))
        end = write_curves(out, self.curves, Z, self.smoothing)
        for (first, second), width in zip(self.pairs, self._pair_widths(), strict=True):
            A, B = self._leading(out, first), self._leading(out, second)
            out[:, end : end + width] = (A[:, :, None] * B[:, None, :]).reshape(len(A), -1)
            end += width
        return out

    def _leading(self, features: Any, column: int) -> Any:
        """Return the first few features of a column of the table, clipped."""
        first = int(np.searchsorted(self.owners, column))
        return features[:, first : first + self._lead_width(column)].clip(-BOUND, BOUND)

    def _lead_width(self, column: int) -> int:
        mine = np.flatnonzero(self.sources == column)
        return min(LEADING, sum(self.curves[j].width for j in mine))

    def _pair_widths(self) -> list[int]:
        return [self._lead_width(a) * self._lead_width(b) for a, b in self.pairs]

    def best_pairs(
        self, features: np.ndarray, gradient: np.ndarray, count: int
    ) -> list[tuple[int, int]]:
        """Return the best pairs; ``gradient`` is that of the loss by the scores."""
        indices = range(int(self.sources[-1]) + 1)
        leading = np.concatenate([self._leading(features, k) for k in indices], axis=1)
        starts = np.cumsum([0, *(self._lead_width(k) for k in indices)])[:-1]

        def by_pair(matrix: np.ndarray) -> np.ndarray:
            return np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)

        residuals = gradient.reshape(len(leading), -1).T
        gains = sum((leading.T @ (leading * own[:, None])) ** 2 for own in residuals)
        squares = leading**2
        value = by_pair(gains) / np.maximum(by_pair(squares.T @ squares) / len(leading), 1e-12)
        first, second = np.triu_indices(len(starts), 1)
        best = np.argsort(-value[first, second], kind="stable")[:count]
        return [(int(first[k]), int(second[k])) for k in best]


@dataclass(frozen=True)
class AdditiveProblem:
    """Merged training samples, their costs, and stopping criteria."""

    rows: TrainingRows
    costs: Costs
    limits: Controls
    n_jobs: int | None = None

    @property
    def total(self) -> float:
        """The weight of the samples."""
        return float(self.rows.weight.sum())

    def seen_by(self, terms: Terms) -> AdditiveRows:
        """Return the samples with the features of these terms."""
        return AdditiveRows(self, terms, terms.apply(self.rows.Z))

    def fit(self, members: Sequence[Member]) -> list[JointSolution]:
        """Fit the members, in their order."""
        solutions: list[JointSolution] = []
        for _, group in groupby(members, lambda one: (one.terms.smoothing, len(one.terms.pairs))):
            same = list(group)
            solutions += self.seen_by(same[0].terms).path([one.C for one in same])
        return solutions

    def out_of_fold(
        self,
        rows: TrainingRows,
        folds: Sequence[Split],
        terms: Terms,
        smoothings: Sequence[float],
        Cs: Sequence[float],
        tol: float,
        pairs: int = 0,
        C: float = 0.0,
    ) -> np.ndarray:
        """Return out-of-fold scores (smoothings, Cs, n_samples, n_outputs), or NaN.

        Pairs are selected in each training set, by the coefficients for ``C`` and the first
        smoothing.
        """
        n_classes = len(self.costs.by_class)
        shape = (len(smoothings), len(Cs), len(rows.codes), 1 if n_classes == 2 else n_classes)
        out = np.full(shape, np.nan)
        terms = replace(terms, smoothing=smoothings[0])
        features = terms.apply(rows.Z)

        def fit_fold(number: int, train: np.ndarray, test: np.ndarray) -> None:
            _console.step("search, fold", number, len(folds), f"{pairs} pairs")
            index, weight = merged(train, rows.keys, rows.codes, rows.weight)
            part = replace(self, rows=replace(rows[index], weight=weight))
            seen, held_out = AdditiveRows(part, terms, features[index]), features[test]
            if pairs:
                seen = part.seen_by(seen.with_pairs(C, pairs))
                held_out = seen.terms.apply(rows.Z[test])
            first = seen.terms.factors
            for s, k, smoothed, coef in seen.alternating_path(smoothings, Cs, tol):
                factors = smoothed.terms.factors / first
                out[s, k, test] = held_out @ (factors[:, None] * coef[:-1]) + coef[-1]

        run_jobs([partial(fit_fold, k, *fold) for k, fold in enumerate(folds)], self.n_jobs)
        return out


class Member(NamedTuple):
    """A candidate of the mean model: its terms, C, and the weight of its scores."""

    terms: Terms
    C: float
    weight: float = 1.0

    def widened(self, rules: np.ndarray, terms: Terms) -> np.ndarray:
        """Return coefficients of its features as those of the mean."""
        factors = self.terms.factors
        own = rules[:-1] * (factors / terms.factors[: len(factors)])[:, None]
        none = np.zeros((terms.width - len(own), rules.shape[1]))
        return np.concatenate([own, none, rules[-1:]])


class AdditiveRows:
    """The samples of a problem with the ``features`` of ``terms``."""

    def __init__(self, problem: AdditiveProblem, terms: Terms, features: np.ndarray) -> None:
        self.problem, self.terms, self.features = problem, terms, features
        self.loss = problem.costs.loss(problem.rows.codes, problem.rows.weight)

    @cached_property
    def span(self) -> Span:
        # Coefficients that must be nonnegative are those of the features themselves.
        return Span(self.features, rotate=not self.terms.held.any())

    @cached_property
    def design(self) -> Design:
        return Design(self.span.rows, self.loss.codes, self.problem.rows.weight)

    def means(self) -> np.ndarray:
        """Return the means of the features."""
        return np.asarray(self.problem.rows.weight / self.problem.total @ self.features)

    def path(
        self,
        Cs: Sequence[float],
        tol: float | None = None,
        *,
        certify: bool = True,
        start: np.ndarray | None = None,
    ) -> list[JointSolution]:
        """Return the solution for each C (per sample), each started from the one before."""
        limits, scales = self.problem.limits, [C * self.problem.total for C in Cs]
        tol = limits.tol if tol is None else tol
        held = self.terms.held
        if held.any():
            assert isinstance(self.loss, SeparateLoss)
            solutions: list[JointSolution] = []
            for scale in scales:
                begin = solutions[-1].rules if solutions else start
                given = held, tol, limits.max_iter, begin
                solutions.append(solve_nonnegative(self.design, self.loss, scale, *given))
            return solutions
        path = solve_path(
            self.design,
            self.loss,
            scales,
            tol,
            limits.max_iter,
            certify=certify,
            start=None if start is None else self.span.inner(start),
            out_of_time=limits.out_of_time,
        )
        return [replace(solution, rules=self.span.outer(solution.rules)) for solution in path]

    def with_pairs(self, C: float, count: int) -> Terms:
        """Return the terms with the best pairs, given the solution without pairs."""
        rules = self.path([C], PAIR_GAP)[0].rules
        scores = self.features @ rules[:-1] + rules[-1]
        gradient = -self.loss.read(scores).slope
        return replace(self.terms, pairs=self.terms.best_pairs(self.features, gradient, count))

    def smoothed(self, smoothing: float) -> tuple[AdditiveRows, np.ndarray]:
        """Return the samples for another smoothing, and the factors on the features."""
        assert not self.terms.pairs, "the features of pairs are no multiples of each other"
        terms = replace(self.terms, smoothing=smoothing)
        factors = terms.factors / self.terms.factors
        if self.span.basis is not None:
            return AdditiveRows(self.problem, terms, self.features * factors), factors
        design = self.design.scaled(factors)
        other = AdditiveRows(self.problem, terms, design.X)
        other.__dict__["design"] = design
        return other, factors

    def alternating_path(
        self, smoothings: Sequence[float], Cs: Sequence[float], tol: float
    ) -> Iterator[tuple[int, int, AdditiveRows, np.ndarray]]:
        """Yield (index of smoothing, index of C, samples, coefficients) for all candidates."""
        rows, start = self, None
        order = list(range(len(Cs)))
        for s, smoothing in enumerate(smoothings):
            if smoothing != rows.terms.smoothing:
                rows, factors = rows.smoothed(smoothing)
                if start is not None:
                    start = start / np.append(factors, 1.0)[:, None]
            path = rows.path([Cs[k] for k in order], tol, certify=False, start=start)
            for k, solution in zip(order, path, strict=True):
                yield s, k, rows, solution.rules
            start, order = path[-1].rules, order[::-1]

    def band(self, C: float, rules: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Return the coefficients of ``count`` resamples, started from ``rules``."""
        rng = np.random.default_rng(seed)
        drawn = np.array([rng.gamma(self.problem.rows.weight) for _ in range(count)])
        if not count:
            return np.empty((0, *rules.shape))
        if self.terms.held.any():
            limits = replace(self.problem.limits, max_iter=BAND_STEPS)
            bands = []
            for weight in drawn:
                resampled = replace(self.problem.rows, weight=weight)
                problem = replace(self.problem, rows=resampled, limits=limits)
                seen = AdditiveRows(problem, self.terms, self.features)
                bands.append(seen.path([C], BAND_GAP, start=rules)[0].rules)
            return np.array(bands)
        parts = [drawn] if isinstance(self.loss, SeparateLoss) else drawn[:, None]
        return np.concatenate([self._reweighted(C, rules, weights) for weights in parts])

    def _reweighted(self, C: float, rules: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return coefficients for other weights: (weights, n_features + 1, n_outputs)."""
        costs = self.problem.costs
        loss: SeparateLoss | JointLoss
        # The total cost is proportional to the weight.
        fraction = weights.sum(axis=1, keepdims=True) / self.problem.total
        if isinstance(self.loss, SeparateLoss):  # one binary problem for each set of weights
            totals = weights @ np.eye(2)[self.loss.codes]
            cost = costs.by_class / np.maximum(totals, 1e-300) * fraction
            side = np.repeat(self.loss.side, len(weights), axis=0)
            loss = replace(self.loss, weight=weights.T, side=side, cost=cost)
        else:
            plain = costs.loss(self.loss.codes, weights[0])
            assert isinstance(plain, JointLoss)
            loss = replace(plain, cost=plain.cost * fraction)
        solved = solve_near(
            self.design,
            self.loss,
            loss,
            C * self.problem.total,
            self.span.inner(rules),
            BAND_GAP,
            BAND_STEPS,
        )
        return np.moveaxis(self.span.outer(solved).reshape(len(rules), len(weights), -1), 1, 0)


# The estimators.


@dataclass(eq=False, repr=False)
class AdditiveModel(BaseEstimator):
    """Terms, scores and shape functions of AdditiveLCC and AdditiveLCCCV.

    Subclasses have the parameters of AdditiveLCC but for ``C`` and ``smoothing``, and choose these
    in ``_select``: it returns the terms, with smoothing and pairs, and the members of a mean.
    """

    _: KW_ONLY
    n_knots: int = 8
    monotonic_cst: Any = None
    margin_range: tuple[float, float] = (-1.0, 3.0)
    categorical_features: Any = None
    keep_columns: Any = ()

    _coef: np.ndarray = field(init=False)
    _intercept: np.ndarray = field(init=False)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "n_knots": [Interval(Integral, 3, None, closed="left")],
        "interactions": [Number(Integral, 0, None, closed="left")],
    }

    def _fit_table(self, X: Any, y: Any, sample_weight: Any, seed: int, limits: Controls) -> None:
        whole: TrainingRows | RemoteTraining
        if is_streamed(X):
            training = self._open_remote(X, y, sample_weight)
            given = sample_of_remote(training, seed, SAMPLE_ROWS)[0]
            whole, totals = training, training.totals
            rows = given.drawn(np.arange(len(given.codes)), totals)
        else:
            given = self._open_table(X, y, sample_weight, seed)
            rows = given.merged()
            whole, totals = rows, given.totals
            index = np.arange(len(rows.Z)) if self._own_folds else rows.sample(SAMPLE_ROWS, totals)
            rows = rows if len(index) == len(rows.Z) else rows.drawn(index, totals)
        sample = AdditiveProblem(rows, self._costs(totals), limits, self.n_jobs)
        signs = _check_monotonic_cst(self, self.monotonic_cst)
        if np.any(signs) and len(self.classes_) > 2:
            raise ValueError(
                f"monotonic_cst is for two classes; y has {len(self.classes_)}: with more there is "
                "no up and down."
            )
        if np.any(signs) and is_streamed(X):
            raise ValueError(
                "monotonic_cst needs X in memory: compute() it first, or leave monotonic_cst out."
            )
        signs, sources = signs[self._used], self._encoder.sources
        terms = Terms.learn(rows.Z, rows.keys, rows.weight, sources, self.n_knots, signs)
        terms, members = self._select(sample, terms, given, seed)
        self._store_solution(whole, sample, terms, members, seed)
        if self.probability is not None and is_streamed(X):  # samples without an index in X
            del self.out_of_fold_scores_, self.out_of_fold_probabilities_

    def _calibrate(self, rows: TrainingRows, scores: np.ndarray, given: TrainingRows) -> None:
        """Calibrate probabilities on out-of-fold scores of ``rows``, which may be merged.

        The out-of-fold values are copied to the ``given`` samples, those of X.
        """
        part = calibration_folds(rows.Z, rows.codes, rows.weight)
        labels = rows.codes, rows.weight, part, len(self.classes_)
        OutOfFoldScores(scores, *labels).calibrate(self, 1.0)
        pairs = zip(rows.keys.tolist(), rows.codes.tolist(), strict=True)
        position = {pair: k for k, pair in enumerate(pairs)}
        pairs = zip(given.keys.tolist(), given.codes.tolist(), strict=True)
        index = np.array([position.get(pair, -1) for pair in pairs])
        for name in ("out_of_fold_scores_", "out_of_fold_probabilities_"):
            values = getattr(self, name)
            held_out = (index >= 0).reshape(-1, *[1] * (values.ndim - 1))
            setattr(self, name, np.where(held_out, values[index], np.nan))

    def _store_solution(
        self: Any,
        whole: TrainingRows | RemoteTraining,
        sample: AdditiveProblem,
        terms: Terms,
        members: Sequence[Member],
        seed: int,
    ) -> None:
        def mean(solutions: Sequence[JointSolution]) -> np.ndarray:
            pairs = zip(members, solutions, strict=True)
            return np.asarray(sum(own.weight * own.widened(one.rules, terms) for own, one in pairs))

        # Terms have mean zero over the training samples; their means are in the intercept.
        rows, seen = sample.rows, sample.seen_by(terms)
        solutions = of_sample = sample.fit(members)
        rules, self._means = mean(solutions), seen.means()
        if whole is not rows:
            if isinstance(whole, TrainingRows):
                every = replace(sample, rows=whole)
                solutions, self._means = every.fit(members), every.seen_by(terms).means()
            else:
                given = whole, sample.costs, sample.limits
                jobs = [
                    partial(fit_in_place, *given, own.terms, [own.C], [one.rules])
                    for own, one in zip(members, of_sample, strict=True)
                ]
                solutions = [solution for [solution] in whole.each(jobs, None)]
                self._means = whole.feature_means(terms)
            rules = mean(solutions)
            if self.probability is not None:
                # With the same C, scores of more samples are larger than those calibrated on.
                n_classes = len(self.classes_)
                now, then = (
                    score_scale(seen.features @ coef[:-1], rows.codes, rows.weight, n_classes)
                    for coef in (rules, mean(of_sample))
                )
                self._calibration = replace(self._calibration, scale=now / then)
                self.out_of_fold_scores_ *= now / then
        self._terms = terms
        self._coef, offset = rules[:-1], rules[-1]
        if len(offset) > 1:  # a constant for all classes changes no prediction
            offset = offset - offset.mean()
        self._intercept = offset + self._means @ self._coef
        # The band of the mean is about that of its largest member.
        k = int(np.argmax([member.weight for member in members]))
        main, begin = members[k], of_sample[k].rules
        drawn = sample.seen_by(main.terms).band(main.C, begin, 20, seed) - begin
        # Coefficients of a sample vary more than those of all samples, by the root of its weight.
        fraction = float(sample.rows.weight.sum()) / float(whole.totals.sum())
        drawn = np.sqrt(fraction) * np.array([main.widened(one, terms) for one in drawn])
        self._resampled = (rules + drawn)[:, :-1]
        names = [column.name for column in self._encoder.columns_]
        pairs = [f"{names[a]} & {names[b]}" for a, b in terms.pairs]
        self.term_names_ = np.array([*names, *pairs], dtype=object)
        self.feature_importances_ = np.zeros(self.n_features_in_)
        self.feature_importances_[self._used] = self._importances(seen.features, rows.weight)
        ends = np.array([0.01, 0.99])
        self._range = np.array([quantiles(column, rows.weight, ends) for column in rows.Z.T])
        self.objective_ = float(sum(one.objective.sum() for one in solutions))
        self.dual_objective_ = float(sum(one.bound.sum() for one in solutions))
        gaps = [float(one.relative_gap.max()) for one in solutions]
        store_gaps(self, gaps, [one.iterations for one in solutions], "The optimum")

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
        if not 0 <= rule < self._coef.shape[1]:
            raise ValueError(f"rule={rule!r} is no index of {self._coef.shape[1]} decision values.")
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
class AdditiveLCC(AdditiveModel, TableClassifier, EstimatorMixin, Classifier):
    """Additive model of one spline per column, fitted by centralization.

    Every column gets a natural cubic spline (few-valued columns and categories one number per
    value); their sum is the score. The coefficients are those of RegularizedLCC on the spline
    features, with a certificate. Splines are those of an equalized column: its values, moved
    towards their ranks, so that the curves of skewed columns bend where the samples are.

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
    interactions: int = 0
    probability: Calibrated = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AdditiveModel._parameter_constraints,
        "C": [POSITIVE],
        "smoothing": [NONNEGATIVE],
    }

    def _select(
        self, problem: AdditiveProblem, terms: Terms, rows: TrainingRows, seed: int
    ) -> tuple[Terms, list[Member]]:
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
        terms = problem.seen_by(terms).with_pairs(C, pairs) if pairs else terms
        return terms, [Member(terms, C)]


@dataclass(eq=False, repr=False)
class AdditiveLCCCV(AdditiveModel, TableClassifier, EstimatorMixin, Classifier):
    """AdditiveLCC with C, smoothing and pairs of columns selected by cross-validation.

    The model is a weighted mean of the best candidates, which is again a sum of shape functions.

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
    probability : {"sigmoid"} or None, default="sigmoid"
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
        Those of the best candidate.
    cv_results_ : dict of arrays
        ``params`` (``C``, ``smoothing`` and ``interactions``), ``mean_test_score`` (of the pooled
        out-of-fold scores), ``rank_test_score`` and ``weight`` in the model of every candidate.
    best_index_, best_params_, best_score_ : int, dict, float
        The best candidate; ``AdditiveLCC(**best_params_)`` fits it alone.
    term_names_ : ndarray of shape (n_terms,)
        The columns, then the pairs.
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute contribution of each column to the score over the training samples; the
        contribution of a pair counts half for each of its columns; of sum one.
    objective_, dual_objective_, duality_gap_ : float
        The certificate: sums over the candidates with weight, and their largest relative gap.
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

    Notes
    -----
    The weights are those of a greedy selection with replacement among the ten best candidates by
    ``scoring``, on the out-of-fold log loss of the mean: four have a weight, as a rule. Each of
    them is fitted to all samples. The band of ``shape`` is that of the candidate with the largest
    weight, about the curve of the mean.

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
    scoring: Any = None
    cv: Any = None
    probability: Calibrated = "sigmoid"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AdditiveModel._parameter_constraints,
        "interactions": [Number(Integral, 0, None, closed="left"), StrOptions({"auto"})],
    }

    def _select(
        self, problem: AdditiveProblem, terms: Terms, rows: TrainingRows, seed: int
    ) -> tuple[Terms, list[Member]]:
        # The user's folds are indices of samples of X; others are assigned to distinct samples.
        given, rows = rows, rows if self._own_folds else problem.rows
        cv = FOLDS if self.cv is None else self.cv
        folds = make_folds(cv, rows.Z, rows.codes, rows.weight, 1, seed)
        metric = make_metric(self.scoring, self.classes_)
        labels = Labels(rows.codes, rows.weight, len(self.classes_))
        costs = total_costs(2) if len(self.classes_) == 2 else COSTS_OF_MANY
        Cs = (costs / rows.weight.sum()).tolist()
        tol = search_tolerance(len(self.classes_))
        params: list[dict[str, Any]] = []
        values: list[float] = []
        scores: list[np.ndarray] = []

        def evaluate(smoothings: Sequence[float], pairs: int = 0, C: float = 0.0) -> None:
            out_of_fold = problem.out_of_fold(rows, folds, terms, smoothings, Cs, tol, pairs, C)
            tried = zip(product(smoothings, Cs), chain(*out_of_fold), strict=True)
            for (smoothing, cost), held_out in tried:
                kept = np.flatnonzero(np.isfinite(held_out[:, 0]))
                values.append(metric(held_out[kept], labels.subset(kept)))
                params.append({"C": cost, "smoothing": smoothing, "interactions": pairs})
                scores.append(held_out)

        def rank(k: int) -> tuple[float, ...]:
            """Sort the best candidate last; ties go to fewer pairs, larger C and smoothing."""
            C, smoothing, pairs = params[k].values()
            return values[k], -pairs, C, smoothing

        evaluate(SMOOTHINGS)
        first = params[max(range(len(params)), key=rank)]
        automatic = isinstance(self.interactions, str)
        n_columns = int(terms.sources[-1]) + 1
        n_pairs = min(10, n_columns // 2) if n_columns <= COLUMNS_FOR_PAIRS else 0
        n_pairs = n_pairs if automatic else int(self.interactions)
        most = min(MOST_PAIRS, n_columns * (n_columns - 1) // 2)
        while n_pairs and not problem.limits.out_of_time():
            reached = max(values)
            evaluate([first["smoothing"]], n_pairs, first["C"])
            rising = automatic and max(values) > reached and n_pairs < most
            n_pairs = min(2 * n_pairs, most) if rising else 0
        every = range(len(params))
        with_pairs = [k for k in every if automatic or params[k]["interactions"]]
        chosen = sorted(with_pairs or every, key=rank, reverse=True)[:MOST_MEMBERS]
        self.best_index_ = best = chosen[0]
        self.best_params_, self.best_score_ = params[best], float(values[best])
        self.C_, self.smoothing_, _ = params[best].values()
        kept = np.flatnonzero(np.isfinite(scores[best][:, 0]))
        weights = np.zeros(len(params))
        weights[chosen] = greedy_mean([scores[k][kept] for k in chosen], labels.subset(kept))
        self.cv_results_ = make_cv_results(params, np.array(values), weight=weights)
        used = np.flatnonzero(weights).tolist()
        if self.probability is not None:
            self._calibrate(rows, sum(weights[k] * scores[k] for k in used), given)
        smooth = replace(terms, smoothing=self.smoothing_)
        if n_pairs := max(params[k]["interactions"] for k in used):
            smooth = problem.seen_by(smooth).with_pairs(first["C"], n_pairs)
        members = []
        for k in used:
            C, smoothing, pairs = params[k].values()
            own = replace(smooth, smoothing=smoothing, pairs=smooth.pairs[:pairs])
            members.append(Member(own, C, float(weights[k])))
        return smooth, members
