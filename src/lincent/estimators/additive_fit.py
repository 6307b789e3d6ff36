"""Fitting an additive model: terms, rules, pairs, and scores of unseen rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lincent import _progress
from lincent.estimators.additive_rows import AdditiveRows, Weighed
from lincent.estimators.additive_terms import Terms
from lincent.estimators.auto_candidates import TrainingRows
from lincent.model_selection.folds import Split
from lincent.solvers.newton.joint import JointSolution
from lincent.tables.weighted import merged

LOOSE = 1e-4
"""The gap of rules that only choose pairs."""


class AdditiveProblem(Weighed):
    """What is asked of weighed rows."""

    def seen_by(self, terms: Terms) -> AdditiveRows:
        """The rows as features of these terms."""
        return AdditiveRows(self, terms, terms.apply(self.rows.Z))

    def unseen(
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
        """Scores by rules that have not seen them: (smoothings, Cs, rows, rules).

        NaN where no rule has not.  Pairs are looked for in each training part, by the rules for
        ``C`` and the first smoothing.
        """
        rules = 1 if len(self.costs.by_class) == 2 else len(self.costs.by_class)
        out = np.full((len(smoothings), len(Cs), len(rows.codes), rules), np.nan)
        terms = replace(terms, smoothing=smoothings[0])
        features = terms.apply(rows.Z)
        for number, (train, held) in enumerate(folds):
            _progress.step("search, fold", number, len(folds), f"{pairs} pairs")
            index, weight = merged(train, rows.keys, rows.codes, rows.weight)
            part = replace(self, rows=replace(rows[index], weight=weight))
            seen, asked = AdditiveRows(part, terms, features[index]), features[held]
            if pairs:
                seen = part.seen_by(part.with_pairs(seen, C, pairs))
                asked = seen.terms.apply(rows.Z[held])
            first = seen.terms.factors
            for s, k, there, found in seen.to_and_fro(smoothings, Cs, tol):
                factors = there.terms.factors / first
                scores = asked @ (factors[:, None] * found[:-1])
                out[s, k, held] = scores + found[-1]
        return out

    def fit(self, terms: Terms, C: float) -> tuple[JointSolution, np.ndarray]:
        """The rules, and the means of the features over the rows."""
        seen = self.seen_by(terms)
        return seen.path([C])[0], seen.means()

    def sampled(self, count: int) -> AdditiveProblem:
        """The same for about ``count`` different rows, or itself where there are no more."""
        index = self.rows.sample(count)
        return self if len(index) == len(self.rows.Z) else replace(self, rows=self.rows[index])

    def with_pairs(self, seen: AdditiveRows, C: float, count: int) -> Terms:
        """The terms and the best pairs, given the rules of the terms alone."""
        rules = seen.path([C], LOOSE)[0].rules
        scores = seen.features @ rules[:-1] + rules[-1]
        asked = -self.coupling.read(scores).slope
        return replace(seen.terms, pairs=seen.terms.best_pairs(seen.features, asked, count))
