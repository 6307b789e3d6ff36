"""The problem of an additive model: its terms, and the linear classifiers of their features.

A term is a group of features (``Terms``).  That of a column of the table has the features of all
its encoded columns (a number and its missing-value indicator; the indicators of categories).  That
of a pair of columns has the products of the first few features of both.

Smoothing s multiplies feature j by d_j(s), so the features for another smoothing are these, scaled,
and coefficients beta of smoothing s are beta_j d_j(s) / d_j(t) for smoothing t.  A search over
smoothings and C therefore alternates (``AdditiveRows.alternating_path``),

    C rising at the first smoothing, falling at the second, rising at the third,

each solve starts from its neighbor, and the Gram matrix is rescaled (``solvers.newton.joint``).

The band of a shape function comes from the Bayesian bootstrap: a weight w becomes a gamma variate
of shape w, the sum of w exponential ones, so that sample weights are frequency weights here, too.
All draws are solved at once, next to the solved problem.

Knots, pairs, smoothing, C and bands come from at most about ``SAMPLE_ROWS`` distinct samples, drawn
by their hash; the coefficients are fitted to all samples, in memory or in place
(``fit_whole``).  So a fit does not depend on the kind of X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from lincent import _console
from lincent.estimators.problem import run_jobs
from lincent.estimators.remote import RemoteTraining
from lincent.estimators.tabular import Costs, TrainingRows, fit_in_place
from lincent.features.pairs import BOUND, LEADING, pair_values, products
from lincent.features.splines import ColumnCurve, IncreasingCurve, learn_curve, learn_increasing
from lincent.model_selection.folds import Split
from lincent.model_selection.search import search_folds
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
from lincent.sources.source import dense_rows, namespace_of
from lincent.tables.weighted import merged, sample_by_key

MOST_FEATURES = 1000
"""With many columns each has fewer knots, and from 501 on none, so that a fit takes seconds."""

Curve = ColumnCurve | IncreasingCurve


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
        rows, counts = sample_by_key(keys, weight)
        n_knots = min(n_knots, 1 + MOST_FEATURES // len(sources))
        curves: list[Curve] = []
        first = np.flatnonzero(np.diff(sources, prepend=-1))
        for j, column in enumerate(Z[rows].T):
            sign = signs[sources[j]] if j in first else 0
            if sign:
                curves.append(learn_increasing(column, counts, max(n_knots, 3), float(sign)))
            else:
                curves.append(learn_curve(column, counts, n_knots))
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
        out, end = namespace_of(Z).empty((len(Z), self.width)), 0
        for curve, z in zip(self.curves, Z.T, strict=True):
            out[:, end : end + curve.width] = curve.values(z, self.smoothing)
            end += curve.width
        for (first, second), width in zip(self.pairs, self._pair_widths(), strict=True):
            out[:, end : end + width] = products(*(self._leading(out, k) for k in (first, second)))
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
        """Return the pairs of largest sum_k |(a b)' gradient_k|^2 / mean |a b|^2.

        The sum is over all products a b of a pair; ``gradient`` is that of the loss by the scores.
        """
        indices = range(int(self.sources[-1]) + 1)
        leading = np.concatenate([self._leading(features, k) for k in indices], axis=1)
        widths = [self._lead_width(k) for k in indices]
        residuals = gradient.reshape(len(leading), -1).T
        first, second, value = pair_values(leading, widths, residuals, 1.0 / len(leading))
        best = np.argsort(-value, kind="stable")[:count]
        return [(int(first[k]), int(second[k])) for k in best]


BAND_GAP, BAND_STEPS = 1e-3, 25
"""Stopping criteria of resampled fits: a band needs few digits."""
PAIR_GAP = 1e-4
"""Relative gap of fits that only select pairs."""


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

    @property
    def loss(self) -> SeparateLoss | JointLoss:
        return self.costs.loss(self.rows.codes, self.rows.weight)

    def seen_by(self, terms: Terms) -> AdditiveRows:
        """Return the samples with the features of these terms."""
        return AdditiveRows(self, terms, terms.apply(self.rows.Z))

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

        def fit_fold(number: int, _: Any) -> None:
            train, test = folds[number]
            _console.step("search, fold", number, len(folds), f"{pairs} pairs")
            index, weight = merged(train, rows.keys, rows.codes, rows.weight)
            part = replace(self, rows=replace(rows[index], weight=weight))
            seen, held_out = AdditiveRows(part, terms, features[index]), features[test]
            if pairs:
                seen = part.seen_by(part.with_pairs(seen, C, pairs))
                held_out = seen.terms.apply(rows.Z[test])
            first = seen.terms.factors
            for s, k, smoothed, coef in seen.alternating_path(smoothings, Cs, tol):
                factors = smoothed.terms.factors / first
                out[s, k, test] = held_out @ (factors[:, None] * coef[:-1]) + coef[-1]

        search_folds(len(folds), fit_fold, partial(run_jobs, n_jobs=self.n_jobs))
        return out

    def with_pairs(self, seen: AdditiveRows, C: float, count: int) -> Terms:
        """Return the terms with the best pairs, given the solution without pairs."""
        rules = seen.path([C], PAIR_GAP)[0].rules
        scores = seen.features @ rules[:-1] + rules[-1]
        gradient = -self.loss.read(scores).slope
        return replace(seen.terms, pairs=seen.terms.best_pairs(seen.features, gradient, count))


class AdditiveRows:
    """The samples of a problem with the ``features`` of ``terms``."""

    def __init__(self, problem: AdditiveProblem, terms: Terms, features: np.ndarray) -> None:
        self.problem, self.terms, self.features = problem, terms, features
        self.loss = problem.loss

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
        if not count or self.terms.held.any():
            return self._held_band(C, rules, drawn)
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

    def _held_band(self, C: float, rules: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        out = np.empty((len(drawn), *rules.shape))
        for k, weight in enumerate(drawn):
            loss = self.problem.costs.loss(self.loss.codes, weight)
            assert isinstance(loss, SeparateLoss)
            design, scale = Design(self.features, loss.codes, weight), C * float(weight.sum())
            out[k] = solve_nonnegative(
                design, loss, scale, self.terms.held, BAND_GAP, BAND_STEPS, rules
            ).rules
        return out


def fit_whole(
    whole: TrainingRows | RemoteTraining, sample: AdditiveProblem, terms: Terms, C: float
) -> tuple[JointSolution, np.ndarray]:
    """Return the solution over all samples, and the means of the features."""
    if isinstance(whole, TrainingRows):
        seen = replace(sample, rows=whole).seen_by(terms)
        return seen.path([C])[0], seen.means()
    if terms.held.any():
        raise ValueError(
            "monotonic_cst needs X in memory: compute() it first, or leave monotonic_cst out."
        )
    starts = [sample.seen_by(terms).path([C], PAIR_GAP)[0].rules]
    path = fit_in_place(whole, sample.costs, sample.limits, terms, [C], starts)
    return path[0], whole.feature_means(terms)
