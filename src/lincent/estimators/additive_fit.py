"""Fitting an additive model: terms, rules, pairs, and what resampling says about the curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lincent import _progress
from lincent.estimators.additive_terms import Terms
from lincent.estimators.auto_members import fit_path
from lincent.estimators.auto_search import Costs
from lincent.estimators.folds import Split
from lincent.estimators.portfolio import TrainingRows
from lincent.programs.joint import Native, Separate
from lincent.solvers.newton.joint import Design, JointSolution, solve_path
from lincent.solvers.newton.nonnegative import solve_nonnegative

LOOSE = 1e-4
"""The gap of rules that only choose pairs or draw a band."""
BAND_STEPS = 12


@dataclass(frozen=True)
class AdditiveProblem:
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
    def coupling(self) -> Separate | Native:
        return self.costs.coupling(self.rows.codes, self.rows.weight)

    def path(
        self, terms: Terms, Cs: Sequence[float], tol: float | None = None
    ) -> list[JointSolution]:
        """The rules for each C (per row), in rising order."""
        features = terms.apply(self.rows.Z)
        scales = [C * float(self.rows.weight.sum()) for C in Cs]
        tol = self.tol if tol is None else tol
        coupling = self.coupling
        if not terms.held.any():
            return fit_path(features, coupling, scales, tol, self.max_iter, self.out_of_time)
        assert isinstance(coupling, Separate)
        design = Design(features, coupling.codes, coupling.weight)
        found: list[JointSolution] = []
        for scale in scales:
            start = found[-1].rules if found else None
            found.append(
                solve_nonnegative(design, coupling, scale, terms.held, tol, self.max_iter, start)
            )
        return found

    def unseen(
        self,
        rows: TrainingRows,
        folds: Sequence[Split],
        terms: Terms,
        Cs: Sequence[float],
        pairs: int,
        C: float,
        tol: float | None = None,
    ) -> list[np.ndarray]:
        """For each C, scores (rows, rules) by rules that have not seen them, NaN where none has.

        Pairs are looked for in each training part, by the rules for ``C``.
        """
        rules = 1 if len(self.costs.by_class) == 2 else len(self.costs.by_class)
        out = [np.full((len(rows.codes), rules), np.nan) for _ in Cs]
        for number, (train, held) in enumerate(folds):
            which = f"smoothing {terms.smoothing:g}, {pairs} pairs"
            _progress.step("search, fold", number, len(folds), which)
            part = replace(self, rows=rows[train].merged())
            with_pairs = part.with_pairs(terms, C, pairs)
            features = with_pairs.apply(rows.Z[held])
            for scores, found in zip(out, part.path(with_pairs, Cs, tol), strict=True):
                scores[held] = features @ found.rules[:-1] + found.rules[-1]
        return out

    def fit(self, terms: Terms, C: float) -> tuple[JointSolution, np.ndarray]:
        """The rules, and the means of the features over the rows."""
        share = self.rows.weight / self.rows.weight.sum()
        return self.path(terms, [C])[0], share @ terms.apply(self.rows.Z)

    def sampled(self, count: int) -> AdditiveProblem:
        """The same for about ``count`` different rows, or itself where there are no more."""
        index = self.rows.sample(count)
        return self if len(index) == len(self.rows.Z) else replace(self, rows=self.rows[index])

    def with_pairs(self, terms: Terms, C: float, count: int) -> Terms:
        """The terms and the best pairs, given the rules of the terms alone."""
        if not count:
            return terms
        rules = self.path(terms, [C], LOOSE)[0].rules
        scores = terms.apply(self.rows.Z) @ rules[:-1] + rules[-1]
        asked = -self.coupling.read(scores).slope
        found = terms.best_pairs(self.rows.Z, asked, count)
        return replace(terms, pairs=found)

    def band(self, terms: Terms, C: float, rules: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Rules of ``count`` resamples: weights drawn anew (the Bayesian bootstrap).

        A weight w becomes a gamma variate of shape w, the sum of w exponential ones, so that a
        repeated row and a weight of two are the same here as well.
        """
        rng = np.random.default_rng(seed)
        features = terms.apply(self.rows.Z)
        out = np.empty((count, *rules.shape))
        for k in range(count):
            weight = rng.gamma(self.rows.weight)
            again = replace(self, rows=replace(self.rows, weight=weight), tol=LOOSE)
            coupling = again.coupling
            design = Design(features, coupling.codes, coupling.weight)
            scale = C * float(weight.sum())
            if terms.held.any():
                assert isinstance(coupling, Separate)
                found = solve_nonnegative(
                    design, coupling, scale, terms.held, LOOSE, BAND_STEPS, rules
                )
            else:
                found = solve_path(
                    design, coupling, [scale], LOOSE, BAND_STEPS, certify=False, start=rules
                )[0]
            out[k] = found.rules
        return out
