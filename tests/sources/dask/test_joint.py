"""The sums of several rules over blocks are those of all rows."""

import numpy as np
import pytest

from lincent.solvers.solution import silent
from lincent.sources.dask import blocks as block
from lincent.sources.dask.table import _joint_sums, open_dask
from lincent.sources.gradients import JointPoint, LossStructure, joint_sums
from support.blocks import N, labeled, same_numbers

da = pytest.importorskip("dask.array")


@pytest.mark.parametrize("slices", [8192, 7])
@pytest.mark.parametrize("chunks", [90, 13, (1, 60, 0, 29)])
def test_one_read_answers_several_points(chunks, slices, monkeypatch):
    monkeypatch.setattr(block, "SLICE_ROWS", slices)
    X, y, weight = labeled()  # some rows have no weight
    table = open_dask(da.from_array(X, chunks=(chunks, N)), y, weight, N, silent)
    losses = LossStructure.native(np.array([0.3, 0.5, 0.2]), -1.0, 3.0)
    points = [JointPoint(np.random.default_rng(k).normal(size=(N + 1, 3))) for k in range(2)]
    terms = {"n": N, "classes": table.survey.classes, "losses": losses, "points": points}
    found = table.schedule.run("sums", _joint_sums, **terms)
    codes = np.searchsorted(np.array(["a", "b", "c"]), y)
    for sums, point in zip(found, points, strict=True):
        whole = joint_sums(X, codes, weight, losses, point)
        for name, value in vars(whole).items():
            same_numbers(getattr(sums, name), value)
