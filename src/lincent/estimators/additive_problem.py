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
(``RemoteAdditiveProblem``).  So a fit does not depend on the kind of X.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from lincent import _console
from lincent.estimators.auto_candidates import TrainingRows
from lincent.estimators.joint_fit import Costs
from lincent.estimators.problem import run_jobs
from lincent.estimators.remote import RemoteTraining
from lincent.estimators.tabular import Limits, fit_remote
from lincent.features.splines import ColumnCurve, IncreasingCurve, learn_curve, learn_increasing
from lincent.model_selection.folds import Split
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import (
    Design,
    JointSolution,
    solve_near,
    solve_nonnegative,
    solve_path,
)
from lincent.sources.source import dense_rows, namespace_of
from lincent.tables.weighted import merged, sample_by_key

PAIR_TERMS = 3
"""Features of each column in the products of a pair: the smoothest ones."""

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
        curves: list[Curve] = []
        first = np.flatnonzero(np.diff(sources, prepend=-1))
        for j, column in enumerate(Z[rows].T):
            sign = signs[sources[j]] if j in first else 0
            if sign:
                curves.append(learn_increasing(column, counts, n_knots, float(sign)))
            else:
                curves.append(learn_curve(column, counts, n_knots))
        return cls(curves, sources, 0.0, [])

    @property
    def count(self) -> int:
        return int(self.sources[-1]) + 1 + len(self.pairs)

    @property
    def held(self) -> np.ndarray:
        """Whether the coefficient of each feature must be nonnegative."""
        single = [np.full(c.width, isinstance(c, IncreasingCurve)) for c in self.curves]
        return np.concatenate([*single, np.zeros(sum(self._pair_widths()), dtype=bool)])

    @property
    def owners(self) -> np.ndarray:
        """The term of each feature."""
        widths = [curve.width for curve in self.curves]
        single = np.repeat(self.sources, widths)
        extra = np.repeat(
            int(self.sources[-1]) + 1 + np.arange(len(self.pairs)), self._pair_widths()
        )
        return np.concatenate([single, extra])

    @property
    def factors(self) -> np.ndarray:
        """The factor of each feature by smoothing; 1 for pairs."""
        single = [curve.factors(self.smoothing) for curve in self.curves]
        return np.concatenate([*single, np.ones(sum(self._pair_widths()))])

    def apply(self, Z: Any) -> Any:
        """Return the features of encoded samples, as the same kind of array."""
        out, end = namespace_of(Z).empty((len(Z), len(self.owners))), 0
        for curve, z in zip(self.curves, Z.T, strict=True):
            out[:, end : end + curve.width] = curve.values(z, self.smoothing)
            end += curve.width
        for (first, second), width in zip(self.pairs, self._pair_widths(), strict=True):
            out[:, end : end + width] = products(
                self._leading(out, first), self._leading(out, second)
            )
            end += width
        return out

    def _leading(self, features: Any, column: int) -> Any:
        """Return the first few features of a column of the table."""
        first = int(np.searchsorted(self.owners, column))
        return features[:, first : first + self._lead_width(column)]

    def _lead_width(self, column: int) -> int:
        mine = np.flatnonzero(self.sources == column)
        return min(PAIR_TERMS, sum(self.curves[j].width for j in mine))

    def _pair_widths(self) -> list[int]:
        return [self._lead_width(a) * self._lead_width(b) for a, b in self.pairs]

    def best_pairs(
        self, features: np.ndarray, gradient: np.ndarray, count: int
    ) -> list[tuple[int, int]]:
        """Return the pairs of largest sum_k |(a b)' gradient_k|^2 / mean |a b|^2.

        The sum is over all products a b of a pair; ``gradient`` is that of the loss by the scores.
        """
        indices = range(int(self.sources[-1]) + 1)
        leads = bounded(np.concatenate([self._leading(features, k) for k in indices], axis=1))
        starts = np.cumsum([0, *(self._lead_width(k) for k in indices)])[:-1]

        def by_pair(matrix: np.ndarray) -> np.ndarray:
            return np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)

        columns = gradient.reshape(len(leads), -1).T
        gains = sum((leads.T @ (leads * column[:, None])) ** 2 for column in columns)
        squares = leads**2
        variance = np.maximum(by_pair(squares.T @ squares) / len(leads), 1e-12)
        first, second = np.triu_indices(len(starts), 1)
        value = (by_pair(np.asarray(gains)) / variance)[first, second]
        best = np.argsort(-value, kind="stable")[:count]
        return [(int(first[k]), int(second[k])) for k in best]


def bounded(features: Any) -> Any:
    """Clip features: they are linear far out, and products of two would be large."""
    return features.clip(-3.0, 3.0)


def products(A: Any, B: Any) -> Any:
    """Return all products of a clipped feature of one column and one of the other."""
    A, B = bounded(A), bounded(B)
    return (A[:, :, None] * B[:, None, :]).reshape(len(A), -1)


BAND_GAP, BAND_STEPS = 1e-3, 25
"""Stopping criteria of resampled fits: a band needs few digits."""
PAIR_GAP = 1e-4
"""Relative gap of fits that only select pairs."""


@dataclass(frozen=True)
class AdditiveProblem:
    """Merged training samples, their costs, and stopping criteria."""

    rows: TrainingRows
    costs: Costs
    tol: float
    max_iter: int
    out_of_time: Callable[[], bool]
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

        def fit_fold(number: int) -> None:
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

        run_jobs([partial(fit_fold, number) for number in range(len(folds))], self.n_jobs)
        return out

    def fit(self, terms: Terms, C: float) -> tuple[JointSolution, np.ndarray]:
        """Return the solution, and the means of the features."""
        seen = self.seen_by(terms)
        return seen.path([C])[0], seen.means()

    def sampled(self, count: int) -> AdditiveProblem:
        """Return the problem of about ``count`` distinct samples, or itself if it has no more."""
        index = self.rows.sample(count)
        return self if len(index) == len(self.rows.Z) else replace(self, rows=self.rows[index])

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

    @property
    def _rotated(self) -> bool:
        """Whether coefficients are combinations of the samples, fewer than features."""
        n_samples, n_features = self.features.shape
        return n_samples < n_features and not self.terms.held.any()

    @cached_property
    def _basis(self) -> tuple[np.ndarray, np.ndarray]:
        """An orthonormal basis of the span of the samples, and the samples in it."""
        basis, rotated = np.linalg.qr(self.features.T)
        return basis, np.ascontiguousarray(rotated.T)

    @cached_property
    def design(self) -> Design:
        rows = self._basis[1] if self._rotated else self.features
        return Design(rows, self.loss.codes, self.problem.rows.weight)

    def _inner(self, rules: np.ndarray) -> np.ndarray:
        """Return coefficients of the features as coefficients of the design."""
        if not self._rotated:
            return rules
        return np.concatenate([self._basis[0].T @ rules[:-1], rules[-1:]])

    def _outer(self, rules: np.ndarray) -> np.ndarray:
        if not self._rotated:
            return rules
        return np.concatenate([self._basis[0] @ rules[:-1], rules[-1:]])

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
        problem, scales = self.problem, [C * self.problem.total for C in Cs]
        tol = problem.tol if tol is None else tol
        if self.terms.held.any():
            return self._held_path(scales, tol, start)
        path = solve_path(
            self.design,
            self.loss,
            scales,
            tol,
            problem.max_iter,
            certify=certify,
            start=None if start is None else self._inner(start),
            out_of_time=problem.out_of_time,
        )
        return [replace(solution, rules=self._outer(solution.rules)) for solution in path]

    def _held_path(
        self, scales: Sequence[float], tol: float, start: np.ndarray | None
    ) -> list[JointSolution]:
        assert isinstance(self.loss, SeparateLoss)
        path: list[JointSolution] = []
        held, most = self.terms.held, self.problem.max_iter
        for scale in scales:
            begin = path[-1].rules if path else start
            path.append(solve_nonnegative(self.design, self.loss, scale, held, tol, most, begin))
        return path

    def smoothed(self, smoothing: float) -> tuple[AdditiveRows, np.ndarray]:
        """Return the samples for another smoothing, and the factors on the features."""
        assert not self.terms.pairs, "the features of pairs are no multiples of each other"
        terms = replace(self.terms, smoothing=smoothing)
        factors = terms.factors / self.terms.factors
        if self._rotated:
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
        if isinstance(self.loss, SeparateLoss):
            loss = _stacked(self.loss, costs, weights)
        else:  # the total cost is proportional to the weight
            fraction = weights[0].sum() / self.problem.total
            plain = costs.loss(self.loss.codes, weights[0])
            assert isinstance(plain, JointLoss)
            loss = replace(plain, cost=plain.cost * fraction)
        solved = solve_near(
            self.design,
            self.loss,
            loss,
            C * self.problem.total,
            self._inner(rules),
            BAND_GAP,
            BAND_STEPS,
        )
        return np.moveaxis(self._outer(solved).reshape(len(rules), len(weights), -1), 1, 0)

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


def _stacked(solved: SeparateLoss, costs: Costs, weights: np.ndarray) -> SeparateLoss:
    """Return the binary problems for each set of weights (n_sets, n_samples), for the same C."""
    classes = np.eye(2)[solved.codes]
    totals = weights @ classes
    fraction = weights.sum(axis=1, keepdims=True) / solved.weight.sum()
    cost = costs.by_class / np.maximum(totals, 1e-300) * fraction
    side = np.repeat(solved.side, len(weights), axis=0)
    return replace(solved, weight=weights.T, side=side, cost=cost)


@dataclass(frozen=True)
class TermsMap:
    """The features of remote samples as a mapping."""

    terms: Terms

    @property
    def columns(self) -> int:
        return len(self.terms.curves)

    @property
    def width(self) -> int:
        return len(self.terms.owners)

    def __call__(self, X: Any) -> Any:
        return self.terms.apply(dense_rows(X))


@dataclass(frozen=True)
class RemoteAdditiveProblem:
    """Remote training data, and the problem of a sample of it."""

    training: RemoteTraining
    sample: AdditiveProblem

    @property
    def total(self) -> float:
        """The weight of the samples."""
        return float(self.training.totals.sum())

    def fit(self, terms: Terms, C: float) -> tuple[JointSolution, np.ndarray]:
        """Return the solution over all samples, started from the sample, and the feature means."""
        if terms.held.any():
            raise ValueError(
                "monotonic_cst needs X in memory: compute() it first, or leave monotonic_cst out."
            )
        sample = self.sample
        limits = Limits(sample.tol, sample.max_iter, sample.out_of_time)
        starts = [sample.seen_by(terms).path([C], PAIR_GAP)[0].rules]
        mapping = TermsMap(terms)
        path = fit_remote(self.training, mapping, sample.costs, [C], starts, limits)
        return path[0], self.training.feature_means(mapping)
