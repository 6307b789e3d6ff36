"""The rows of an additive problem as features of its terms, and the rules that are found on them.

Smoothing s multiplies feature j by d_j(s), so the features for another smoothing are these, scaled,
and a rule beta says the same as beta_j d_j(s) / d_j(t) does for smoothing t.  A search over
smoothings and C therefore goes to and fro,

    C rising at the first smoothing, falling at the second, rising at the third,

each rule begun at its neighbor, and takes the Gram matrix along (``solvers.newton.joint``).

The band of a curve is made of rules for weights drawn anew (the Bayesian bootstrap): a weight w
becomes a gamma variate of shape w, the sum of w exponential ones, so that a repeated row and a
weight of two are the same here as well.  All draws are solved at once, beside the solved problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lincent.estimators.additive_terms import Terms
from lincent.estimators.auto_candidates import TrainingRows
from lincent.estimators.joint_fit import Costs
from lincent.problems.joint import JointLoss, SeparateLoss
from lincent.solvers.newton.joint import (
    Design,
    JointSolution,
    solve_near,
    solve_nonnegative,
    solve_path,
)

BAND_GAP = 1e-3
"""The relative gap of rules that draw a band: it shows what chance does, and needs few digits."""
BAND_STEPS = 25


@dataclass(frozen=True)
class Weighed:
    """Merged training rows, their costs, and limits."""

    rows: TrainingRows
    costs: Costs
    tol: float
    max_iter: int
    out_of_time: Callable[[], bool]

    @property
    def total(self) -> float:
        """The weight of the rows."""
        return float(self.rows.weight.sum())

    @property
    def coupling(self) -> SeparateLoss | JointLoss:
        return self.costs.loss(self.rows.codes, self.rows.weight)


class AdditiveRows:
    """Rows as ``features`` of ``terms``."""

    def __init__(self, problem: Weighed, terms: Terms, features: np.ndarray) -> None:
        self.problem, self.terms, self.features = problem, terms, features
        self.coupling = problem.coupling

    @property
    def _turned(self) -> bool:
        """Whether rules are found as combinations of the rows: there are fewer than features."""
        rows, features = self.features.shape
        return rows < features and not self.terms.held.any()

    @cached_property
    def _basis(self) -> tuple[np.ndarray, np.ndarray]:
        """Orthogonal columns that span the rows, and the rows in them."""
        basis, turned = np.linalg.qr(self.features.T)
        return basis, np.ascontiguousarray(turned.T)

    @cached_property
    def design(self) -> Design:
        rows = self._basis[1] if self._turned else self.features
        return Design(rows, self.coupling.codes, self.problem.rows.weight)

    def _inner(self, rules: np.ndarray) -> np.ndarray:
        """Rules on the features as rules on the design."""
        if not self._turned:
            return rules
        return np.concatenate([self._basis[0].T @ rules[:-1], rules[-1:]])

    def _outer(self, rules: np.ndarray) -> np.ndarray:
        if not self._turned:
            return rules
        return np.concatenate([self._basis[0] @ rules[:-1], rules[-1:]])

    def means(self) -> np.ndarray:
        """The means of the features over the rows."""
        return np.asarray(self.problem.rows.weight / self.problem.total @ self.features)

    def path(
        self,
        Cs: Sequence[float],
        tol: float | None = None,
        *,
        certify: bool = True,
        start: np.ndarray | None = None,
    ) -> list[JointSolution]:
        """The rules for each C (per row), each begun at the one before."""
        problem, scales = self.problem, [C * self.problem.total for C in Cs]
        tol = problem.tol if tol is None else tol
        if self.terms.held.any():
            return self._held_path(scales, tol, start)
        found = solve_path(
            self.design,
            self.coupling,
            scales,
            tol,
            problem.max_iter,
            certify=certify,
            start=None if start is None else self._inner(start),
            out_of_time=problem.out_of_time,
        )
        return [replace(one, rules=self._outer(one.rules)) for one in found]

    def _held_path(
        self, scales: Sequence[float], tol: float, start: np.ndarray | None
    ) -> list[JointSolution]:
        assert isinstance(self.coupling, SeparateLoss)
        found: list[JointSolution] = []
        held, most = self.terms.held, self.problem.max_iter
        for scale in scales:
            begin = found[-1].rules if found else start
            found.append(
                solve_nonnegative(self.design, self.coupling, scale, held, tol, most, begin)
            )
        return found

    def smoothed(self, smoothing: float) -> tuple[AdditiveRows, np.ndarray]:
        """The same rows for another smoothing, and the factors on the features."""
        assert not self.terms.pairs, "products of features are no multiples of those products"
        terms = replace(self.terms, smoothing=smoothing)
        factors = terms.factors / self.terms.factors
        if self._turned:
            return AdditiveRows(self.problem, terms, self.features * factors), factors
        design = self.design.scaled(factors)
        other = AdditiveRows(self.problem, terms, design.X)
        other.__dict__["design"] = design
        return other, factors

    def to_and_fro(
        self, smoothings: Sequence[float], Cs: Sequence[float], tol: float
    ) -> Iterator[tuple[int, int, AdditiveRows, np.ndarray]]:
        """(number of the smoothing, of C, the rows, the rules) for all of both."""
        rows, start = self, None
        order = list(range(len(Cs)))
        for number, smoothing in enumerate(smoothings):
            if smoothing != rows.terms.smoothing:
                rows, factors = rows.smoothed(smoothing)
                if start is not None:
                    start = start / np.append(factors, 1.0)[:, None]
            path = rows.path([Cs[k] for k in order], tol, certify=False, start=start)
            for k, found in zip(order, path, strict=True):
                yield number, k, rows, found.rules
            start, order = path[-1].rules, order[::-1]

    def band(self, C: float, rules: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Rules of ``count`` resamples; ``rules`` are those of the rows as they are."""
        rng = np.random.default_rng(seed)
        drawn = np.array([rng.gamma(self.problem.rows.weight) for _ in range(count)])
        if not count or self.terms.held.any():
            return self._held_band(C, rules, drawn)
        parts = [drawn] if isinstance(self.coupling, SeparateLoss) else drawn[:, None]
        out = [self._near(C, rules, weights) for weights in parts]
        return np.concatenate(out)

    def _near(self, C: float, rules: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Rules for other weights of the rows: (weights, features + 1, rules)."""
        costs = self.problem.costs
        coupling: SeparateLoss | JointLoss
        if isinstance(self.coupling, SeparateLoss):
            coupling = _side_by_side(self.coupling, costs, weights)
        else:  # the total of the costs goes with the weight
            share = weights[0].sum() / self.problem.total
            plain = costs.loss(self.coupling.codes, weights[0])
            assert isinstance(plain, JointLoss)
            coupling = replace(plain, cost=plain.cost * share)
        found = solve_near(
            self.design,
            self.coupling,
            coupling,
            C * self.problem.total,
            self._inner(rules),
            BAND_GAP,
            BAND_STEPS,
        )
        return np.moveaxis(self._outer(found).reshape(len(rules), len(weights), -1), 1, 0)

    def _held_band(self, C: float, rules: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        out = np.empty((len(drawn), *rules.shape))
        for k, weight in enumerate(drawn):
            coupling = self.problem.costs.loss(self.coupling.codes, weight)
            assert isinstance(coupling, SeparateLoss)
            design, scale = Design(self.features, coupling.codes, weight), C * float(weight.sum())
            out[k] = solve_nonnegative(
                design, coupling, scale, self.terms.held, BAND_GAP, BAND_STEPS, rules
            ).rules
        return out


def _side_by_side(solved: SeparateLoss, costs: Costs, weights: np.ndarray) -> SeparateLoss:
    """The problem of two classes for each set of weights (sets, rows), for the same C per row."""
    classes = np.eye(2)[solved.codes]
    totals = weights @ classes
    share = weights.sum(axis=1, keepdims=True) / solved.weight.sum()
    cost = costs.by_class / np.maximum(totals, 1e-300) * share
    side = np.repeat(solved.side, len(weights), axis=0)
    return replace(solved, weight=weights.T, side=side, cost=cost)
