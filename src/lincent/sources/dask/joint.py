"""Several rules on a table in blocks: the sums of the joint program, and a sample by keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.sources.dask.block import apart, class_codes, open_rows, sliced, tidy
from lincent.sources.dask.table import AnySchedule
from lincent.sources.pair_pulls import FacePoint, FacePulls, Faces, face_pulls


def pulls_of_blocks(
    schedule: AnySchedule, n: int, classes: NDArray[Any], faces: Faces, points: list[FacePoint]
) -> list[FacePulls]:
    """What all rows, of ``n`` features, pull at some points: one read."""
    found: list[FacePulls] = schedule.run(
        "pulls", _pulls, merge=FacePulls.joined_each,
        n=n, classes=classes, faces=faces, points=points,
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
    points: list[FacePoint],
) -> list[FacePulls]:
    x, y, weight = apart(x, y, weight)
    X, codes = tidy(x, n), class_codes(classes, y)
    weights = np.ones(len(codes)) if weight is None else np.asarray(weight, float).reshape(-1)
    if not np.all(weights > 0):
        kept = np.flatnonzero(weights > 0)
        X, codes, weights = X[kept], codes[kept], weights[kept]
    rows = open_rows(X).array()
    return [face_pulls(rows, codes, weights, faces, point) for point in points]
