"""AutoLCC on more rows than its members are fitted to at first.

Search and members come from samples.  The other rows then say which few members are best: they are
unseen, so scores of theirs are honest, and there are more of them than folds of a search have.
These few are fitted to all rows, begun at the rules of the sample: Newton's method on sums over
rows whose features are made a few at a time and forgotten, so memory does not grow with the map.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from lincent.estimators.auto_choice import (
    Measure,
    Rows,
    Setting,
    best,
    blend,
    choose_shift,
    deviation,
    fit_probability,
)
from lincent.estimators.auto_members import MOST_SUM_BYTES, Member, answer_bytes, member_of
from lincent.estimators.auto_search import Costs
from lincent.estimators.auto_verdict import Verdict
from lincent.estimators.joint_blocks import Limits
from lincent.estimators.portfolio import Blocks, TrainingRows
from lincent.features.transformer import by_blocks
from lincent.solvers.newton import in_place
from lincent.sources.gradients import JointPoint, JointSums, LossStructure, joint_sums
from lincent.sources.landmarks import RowMapping

FEW = 2
"""Members that are fitted to all rows."""
JUDGES = 10_000
"""Unseen rows that choose them."""
READ_ROWS = 2_048
PARTS = 4
"""Of the unseen rows, for the standard error of a gain."""


def judges_of(
    rows: TrainingRows, sampled: np.ndarray, count: int, totals: list[float]
) -> np.ndarray | None:
    """The places of the rows that choose, not among those of a sample of ``count`` different rows.

    None where there are too few.
    """
    unseen = np.setdiff1d(rows.sample(count + JUDGES, totals), sampled)
    different = len(np.unique(rows.keys[unseen]))
    if different < JUDGES // 2 or len(np.unique(rows.codes[unseen])) < len(totals):
        return None
    return unseen


def best_few(
    verdict: Verdict,
    members: Sequence[Member],
    blocks: Blocks,
    unseen: TrainingRows,
    measure: Measure,
    by_labels: bool,
) -> tuple[Verdict, list[Member]]:
    """The members that are best on unseen rows, and what these say about their mean.

    The best one first; another joins it if the mean of both is better still.
    """
    labels = Rows(unseen.codes, unseen.weight, len(verdict.calibrator.offset))
    settings = [_seen_by(member, blocks, unseen) for member in members]
    chosen = best(np.array([measure(one.scores, labels) for one in settings]), 1)
    while len(chosen) < FEW:
        rest = [k for k in range(len(settings)) if k not in chosen]
        value = measure(blend(settings, chosen), labels)
        gains = [measure(blend(settings, [*chosen, k]), labels) - value for k in rest]
        if not gains or max(gains) <= 0:
            break
        chosen.append(rest[int(np.argmax(gains))])
    blended = blend(settings, chosen)
    shift = np.zeros(blended.shape[1])
    if by_labels:
        dealt = np.unique(unseen.keys, return_inverse=True)[1].reshape(-1) % PARTS
        parts = [np.flatnonzero(dealt == k) for k in range(PARTS)]
        shift = choose_shift(blended, labels, parts, measure)
    few = [settings[k] for k in chosen]
    found = verdict.narrowed(few, blended, shift, fit_probability(blended, labels))
    return found, [members[k] for k in chosen]


def _seen_by(member: Member, blocks: Blocks, rows: TrainingRows) -> Setting:
    def scores(Z: np.ndarray) -> np.ndarray:
        return blocks.features(member.map, Z) @ member.rules[:-1] + member.rules[-1]

    found = by_blocks(scores, rows.Z, READ_ROWS)
    return Setting(member.map, member.C, found, deviation(found, rows.weight))


def refit_in_memory(
    rows: TrainingRows,
    blocks: Blocks,
    unit: tuple[np.ndarray, np.ndarray],
    costs: Costs,
    members: Sequence[Member],
    limits: Limits,
) -> list[Member]:
    """The members over all rows, which are encoded and in their own units."""
    faces = costs.faces(np.bincount(rows.codes, weights=rows.weight))
    weight = float(rows.weight.sum())
    found: list[Member] = []
    for name in dict.fromkeys(member.map for member in members):
        mine = [member for member in members if member.map == name]
        mapping = blocks.mapping(name, *unit)
        if answer_bytes(mapping.width, len(costs.by_class), len(mine)) > MOST_SUM_BYTES:
            found += mine
            continue
        path = in_place.solve_joint_path(
            partial(_read, rows, mapping, faces),
            faces,
            [member.C * weight for member in mine],
            [member.rules for member in mine],
            len(rows.codes),
            *limits,
        )
        found += [member_of(name, one.C, end) for one, end in zip(mine, path, strict=True)]
    return found


def _read(
    rows: TrainingRows,
    mapping: RowMapping,
    faces: LossStructure,
    points: list[JointPoint],
) -> list[JointSums]:
    """What all rows pull at some points; the sums so far are all that is kept."""
    total: list[JointSums] | None = None
    for start in range(0, len(rows.codes), READ_ROWS):
        part = slice(start, start + READ_ROWS)
        features = mapping(rows.Z[part])
        here = rows.codes[part], rows.weight[part]
        found = [joint_sums(features, *here, faces, point) for point in points]
        total = found if total is None else JointSums.joined_each([total, found])
    assert total is not None
    return total
