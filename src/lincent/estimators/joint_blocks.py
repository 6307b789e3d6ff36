"""Rules that are chosen on a sample and fitted to all rows, which stay where they are.

A sample of different rows, drawn by their values, is brought here: what is to be learned (knots,
centers, landmarks) and chosen comes from it, as in memory.  The rules are then
those of all rows, begun at those of the sample: Newton's method on sums by class and rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lincent.estimators.auto_candidates import TrainingRows
from lincent.estimators.joint_fit import Costs
from lincent.estimators.problem import BlockTraining
from lincent.solvers.newton import in_place
from lincent.solvers.newton.joint import JointSolution
from lincent.sources.landmarks import RowMapping
from lincent.sources.source import open_source
from lincent.tables.encoder import TableEncoder
from lincent.tables.weighted import Columns, shares_of_classes


class Limits(NamedTuple):
    """When a solve ends."""

    tol: float
    max_iter: int
    out_of_time: Callable[[], bool]


@dataclass(frozen=True)
class BlockSample:
    """Some rows, and of each column what all rows say."""

    rows: TrainingRows
    columns: Columns


def sample_of_blocks(training: BlockTraining, seed: int, count: int) -> BlockSample:
    """About ``count`` different rows, those that ``TrainingRows.sample`` takes: one read."""
    totals = training.totals
    most = shares_of_classes([count] * len(totals), totals.tolist(), count)
    found = training.sample_classes(count, seed, most)
    rows = TrainingRows(
        np.concatenate([open_source(rows).array() for rows in found.rows]).astype(np.float64),
        np.concatenate(found.keys),
        np.repeat(np.arange(len(totals)), [len(keys) for keys in found.keys]),
        np.concatenate(found.weights),
        None,
    )
    spread = found.spread
    deviation = np.sqrt(spread.squares / totals.sum())
    flat = deviation <= 1e-12 * np.maximum(np.abs(spread.mean), 1e-300)
    columns = Columns(spread.mean, np.where(flat, 1.0, deviation), spread.low, spread.high)
    return BlockSample(rows.merged(), columns)


def plain_encoder(model: Any) -> TableEncoder:
    """Rows in blocks are numbers without gaps, or the first read says where they are not."""
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return TableEncoder.for_numbers(names)


def fit_in_blocks(
    training: BlockTraining,
    mapping: RowMapping,
    costs: Costs,
    Cs: Sequence[float],
    starts: Sequence[np.ndarray],
    limits: Limits,
) -> list[JointSolution]:
    """The rules for each C (per row) over all rows."""
    faces, weight = costs.loss_structure(training.totals), float(training.totals.sum())
    read, scales = training.joint_reader(mapping, faces), [C * weight for C in Cs]
    return in_place.solve_joint_path(read, faces, scales, starts, training.shape[0], *limits)
