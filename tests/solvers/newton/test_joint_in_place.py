"""Several rules from sums alone: the optimum of the solver that has the rows."""

import numpy as np
import pytest

from lincent.estimators.auto_search import Costs
from lincent.solvers.newton import joint, joint_in_place
from lincent.sources.gradients import joint_sums

SCALES = [1.0, 30.0, 1000.0]


def problem(classes, m=1_500, n=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    noise = 2 * rng.standard_normal((m, classes))
    y = (X @ rng.standard_normal((n, classes)) + noise).argmax(axis=1)
    weight = rng.integers(1, 4, m).astype(float)
    total = np.bincount(y, weights=weight)
    return X, y, weight, Costs(total / total.sum(), (-1.0, 3.0)), total


def solved(*here, most=200, late=False):
    return joint_in_place.solve_path(*here, 1e-10, most, lambda: late)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("begin", ["zero", "sample"])
def test_the_same_optimum_and_certificate(classes, begin):
    X, y, weight, costs, total = problem(classes)
    coupling = costs.coupling(y, weight)
    expected = joint.solve_path(joint.Design(X, y, weight), coupling, SCALES, 1e-10, 200)
    faces, reads = costs.faces(total), []

    def read(points):
        reads.append(len(points))
        return [joint_sums(X, y, weight, faces, point) for point in points]

    starts = [np.zeros((X.shape[1] + 1, faces.rules))] * len(SCALES)
    if begin == "sample":
        some = slice(400)
        part = costs.coupling(y[some], weight[some])
        design = joint.Design(X[some], y[some], weight[some])
        starts = [s.rules for s in joint.solve_path(design, part, SCALES, 1e-4, 50)]
    found = solved(read, faces, SCALES, starts, len(y))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.objective[0], other.objective.sum(), rtol=1e-9)
        assert one.bound[0] <= other.objective.sum() * (1 + 1e-12)
        assert one.relative_gap.max() <= 1e-10
    assert reads[0] == len(SCALES)  # one read answers all
    assert len(reads) <= (8 if begin == "sample" else 40)


def test_time_and_steps_end_a_walk_with_an_honest_gap():
    X, y, weight, costs, total = problem(3)
    faces = costs.faces(total)

    def read(points):
        return [joint_sums(X, y, weight, faces, point) for point in points]

    starts = [np.zeros((X.shape[1] + 1, 3))]
    early = joint_in_place.solve_path(
        read, faces, [30.0], starts, len(y), 1e-10, 200, lambda: True
    )[0]
    short = joint_in_place.solve_path(read, faces, [30.0], starts, len(y), 1e-10, 1, lambda: False)[
        0
    ]
    best = joint_in_place.solve_path(
        read, faces, [30.0], starts, len(y), 1e-10, 200, lambda: False
    )[0]
    for one in (early, short):
        assert one.relative_gap.max() > 1e-6
        assert one.bound[0] <= best.objective[0] <= one.objective[0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rows", [60, 1])
def test_a_share_of_the_rows_is_enough_for_steps(classes, rows, monkeypatch):
    """Where it says too little, as one row for each feature does, more are asked."""
    X, y, weight, costs, total = problem(classes, m=6_000, n=5)
    coupling, design = costs.coupling(y, weight), joint.Design(X, y, weight)
    expected = joint.solve_path(design, coupling, SCALES, 1e-10, 200)
    faces, shares = costs.faces(total), []

    def read(points):
        shares.append(max(point.share for point in points))
        return [joint_sums(X, y, weight, faces, point) for point in points]

    monkeypatch.setattr(joint_in_place, "ROWS", rows)
    monkeypatch.setattr(joint_in_place, "WORK", 0.0)
    starts = [np.zeros((X.shape[1] + 1, faces.rules))] * len(SCALES)
    found = solved(read, faces, SCALES, starts, len(y))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.objective[0], other.objective.sum(), rtol=1e-9)
        assert one.relative_gap.max() <= 1e-10
    assert shares[0] == rows * starts[0].size / len(y)
    assert len(shares) <= 40
