"""Several rules on a table in blocks: the sums of the joint program, and a sample by keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.passes.dask.block import apart, class_codes, open_rows, sliced, tidy
from lincent.passes.dask.table import DaskTable
from lincent.passes.pair_pulls import FacePulls, Faces, face_pulls
from lincent.programs.arrays import Matrix


def pulls_of_table(table: DaskTable, faces: Faces, points: list[Matrix]) -> list[FacePulls]:
    """What all rows pull at some points: one read."""
    found: list[FacePulls] = table.schedule.run(
        "pulls", _pulls, merge=FacePulls.joined_each,
        n=table.n, classes=table.survey.classes, faces=faces, points=points,
    )  # fmt: skip
    return found


@sliced(FacePulls.joined_each)
def _pulls(
    x: Any,
    y: Any,
    weight: Any,
    *,
    n: int,
    classes: NDArray[Any],
    faces: Faces,
    points: list[Matrix],
) -> list[FacePulls]:
    x, y, weight = apart(x, y, weight)
    X, codes = tidy(x, n), class_codes(classes, y)
    weights = np.ones(len(codes)) if weight is None else np.asarray(weight, float).reshape(-1)
    if not np.all(weights > 0):
        kept = np.flatnonzero(weights > 0)
        X, codes, weights = X[kept], codes[kept], weights[kept]
    rows = open_rows(X).array()
    return [face_pulls(rows, codes, weights, faces, rules) for rules in points]
