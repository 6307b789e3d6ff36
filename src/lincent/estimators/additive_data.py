"""What an additive model is fitted to: a sample on which everything is chosen, and all rows.

Knots, pairs, smoothing, C and the bands of curves come from at most about ``SAMPLE_ROWS`` different
rows, drawn by their values; the rules are fitted to all rows, in memory or in blocks.  So a fit is
the same wherever the rows are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.estimators.additive_fit import LOOSE, AdditiveProblem
from lincent.estimators.additive_terms import Terms
from lincent.estimators.joint_blocks import Limits, fit_in_blocks
from lincent.estimators.problem import BlockTraining
from lincent.solvers.newton.joint import JointSolution
from lincent.sources.source import dense_rows


@dataclass(frozen=True)
class TermsMap:
    """The features of rows that are numbers, wherever they are."""

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
class AdditiveBlocks:
    """Rows in blocks, and the problem of their sample."""

    training: BlockTraining
    sample: AdditiveProblem

    @property
    def total(self) -> float:
        """The weight of the rows."""
        return float(self.training.totals.sum())

    def fit(self, terms: Terms, C: float) -> tuple[JointSolution, np.ndarray]:
        """The rules over all rows, begun at those of the sample, and the means of the features."""
        if terms.held.any():
            raise ValueError(
                "monotonic_cst needs X in memory: compute() it first, or leave monotonic_cst out."
            )
        sample = self.sample
        limits = Limits(sample.tol, sample.max_iter, sample.out_of_time)
        starts = [sample.seen_by(terms).path([C], LOOSE)[0].rules]
        mapping = TermsMap(terms)
        found = fit_in_blocks(self.training, mapping, sample.costs, [C], starts, limits)
        return found[0], self.training.feature_means(mapping)
