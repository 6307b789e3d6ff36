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
from lincent.estimators.portfolio import TrainingRows
from lincent.estimators.problem import DaskTraining
from lincent.features.weighted import SAMPLE_ROWS, shares_of_classes
from lincent.passes.source import open_source
from lincent.solvers.newton import joint_in_place
from lincent.solvers.newton.joint import JointSolution


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

    def __call__(self, X: Any) -> np.ndarray:
        return self.terms.apply(open_source(X).array())


@dataclass(frozen=True)
class AdditiveBlocks:
    """Rows in blocks, and the problem of their sample."""

    training: DaskTraining
    sample: AdditiveProblem

    @property
    def total(self) -> float:
        """The weight of the rows."""
        return float(self.training.totals.sum())

    def fit(self, terms: Terms, C: float) -> tuple[JointSolution, np.ndarray]:
        """The rules over all rows, begun at those of the sample, and the means of the features."""
        from lincent.passes.dask.joint import pulls_of_table

        table, sample, totals = self._seen(terms), self.sample, self.training.totals
        faces = sample.costs.faces(totals)
        found = joint_in_place.solve_path(
            lambda points: pulls_of_table(table, faces, points),
            faces,
            [C * self.total],
            [sample.path(terms, [C], LOOSE)[0].rules],
            sample.tol,
            sample.max_iter,
            sample.out_of_time,
        )[0]
        survey = table.survey
        return found, survey.sums.sum(axis=0) / survey.totals.sum() + survey.origin

    def _seen(self, terms: Terms) -> Any:
        """The table of the features."""
        if terms.held.any():
            raise ValueError(
                "monotonic_cst needs X in memory: compute() it first, or leave monotonic_cst out."
            )
        return self.training.mapped(TermsMap(terms)).table


def sample_of_blocks(training: DaskTraining, seed: int) -> TrainingRows:
    """About ``SAMPLE_ROWS`` different rows, those that ``TrainingRows.sample`` takes: one read."""
    from lincent.passes.dask.landmarks import sample_classes

    found = sample_classes(training.table, SAMPLE_ROWS, seed)
    wanted = shares_of_classes(
        [len(keys) for keys in found.keys], training.totals.tolist(), SAMPLE_ROWS
    )
    Z = [open_source(rows[:k]).array() for rows, k in zip(found.rows, wanted, strict=True)]
    return TrainingRows(
        np.concatenate(Z).astype(np.float64),
        np.concatenate([keys[:k] for keys, k in zip(found.keys, wanted, strict=True)]),
        np.repeat(np.arange(len(wanted)), wanted),
        np.concatenate([weight[:k] for weight, k in zip(found.weights, wanted, strict=True)]),
        None,
    ).merged()
