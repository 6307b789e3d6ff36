"""Sums by class and rule: their meaning, and that those of parts add up."""

import numpy as np
import pytest

from lincent.problems.joint import JointLoss, SmoothedHinge
from lincent.sources.gradients import JointPoint, LossStructure, in_basis, joint_sums
from lincent.sources.shared_reads import merge_results


def data(classes, m=200, n=3):
    rng = np.random.default_rng(classes)
    X, codes = rng.standard_normal((m, n)), rng.integers(0, classes, m)
    return X, codes, rng.random(m) + 0.5, rng.standard_normal((n + 1, classes))


def test_the_sums_are_those_of_the_native_program():
    X, codes, weight, rules = data(3)
    cost = np.array([0.3, 0.5, 0.2])
    losses = LossStructure.native(cost, -1.0, 3.0)
    sums = joint_sums(X, codes, weight, losses, JointPoint(rules))
    program = JointLoss(codes, weight, np.tile(cost[:, None] / 2, (1, 3)), SmoothedHinge(-1.0, 3.0))
    at = program.read(X @ rules[:-1] + rules[-1])
    np.testing.assert_allclose(sums.loss.sum(), at.loss.sum())
    slope = np.c_[X, np.ones(len(X))].T @ at.slope
    np.testing.assert_allclose(-sums.combined.T @ losses.direction, slope, atol=1e-12)
    factor = losses.factors(sums.flow)
    held = (factor[:, None] * sums.combined).T @ losses.direction
    np.testing.assert_allclose(held[-1], 0.0, atol=1e-9)  # no rule gains or loses
    bound = 3.0 * factor @ sums.flow - 2.0 * factor**2 @ sums.squares - (held[:-1] ** 2).sum() / 4
    expected = program.bound(at.dual_weight, 1.0, lambda amounts: X.T @ amounts)
    np.testing.assert_allclose(bound, expected[0])


@pytest.mark.parametrize("classes", [2, 4])
def test_the_gram_matrices_are_the_second_derivative(classes):
    X, codes, weight, rules = data(classes)
    cost = np.full(classes, 1.0 / classes)
    if classes == 2:
        losses, rules = LossStructure.of_two(cost, -1.0, 3.0), rules[:, :1]
    else:
        losses = LossStructure.native(cost, -1.0, 3.0)
    move = 1e-6 * np.random.default_rng(0).standard_normal(rules.shape)
    low, high = (
        joint_sums(X, codes, weight, losses, JointPoint(rules + s * move)) for s in (-1, 1)
    )
    change = -(high.combined - low.combined).T @ losses.direction
    sums, edges = (
        joint_sums(X, codes, weight, losses, JointPoint(rules)),
        losses.edges,
    )
    gram = sums.gram
    np.testing.assert_allclose(sums.curvature, gram, atol=1e-12 * gram.max())
    expected = 2 * np.einsum("ea,eb,eij,jb->ia", edges, edges, gram, move)
    np.testing.assert_allclose(change, expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_sums_over_features_of_a_basis_come_from_those_before_it(share):
    X, codes, weight, _ = data(3)
    rng = np.random.default_rng(1)
    basis, rules = rng.standard_normal((3, 2)), rng.standard_normal((3, 3))
    losses = LossStructure.native(np.full(3, 1 / 3), -1.0, 3.0)
    at = JointPoint(rules, share, rules + 0.3 * rng.standard_normal(rules.shape))

    def read(points):
        return [joint_sums(X, codes, weight, losses, point) for point in points]

    [found], expected = (
        in_basis(read, basis)([at]),
        joint_sums(X @ basis, codes, weight, losses, at),
    )
    for name in ("loss", "squares", "combined", "bend", "gram"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_same_on_a_device(dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
    from lincent.sources.array_namespace import DeviceNamespace
    from lincent.sources.device import DeviceSource

    X, codes, weight, rules = data(3)
    X, weight = X.astype(dtype), weight.astype(dtype).astype(float)
    losses = LossStructure.native(np.ones(3), 0.0, 2.0)
    there = torch.asarray(X)
    place = DeviceNamespace(there)
    points = [JointPoint(rules), JointPoint(rules, 0.3)]
    moved = [JointPoint(rules, share, 0.7 * rules) for share in (1.0, 0.3)]
    found = DeviceSource(there).joint_sums(place.send(codes), place.send(weight), losses, points)
    # There a further read costs more than products: all rows say how sums bend, whatever is asked.
    expected = joint_sums(X.astype(float), codes, weight, losses, JointPoint(rules))
    for sums in found:
        for name, value in vars(expected).items():
            np.testing.assert_allclose(getattr(sums, name), value, atol=1e-12, err_msg=name)
    change = joint_sums(X.astype(float), codes, weight, losses, moved[0])
    for sums in DeviceSource(there).joint_sums(
        place.send(codes), place.send(weight), losses, moved
    ):
        np.testing.assert_allclose(sums.gram, change.gram, atol=1e-12)


@pytest.mark.parametrize("period", [1, 2, 5, 64])
def test_a_share_of_the_rows_says_how_sums_bend(period):
    """Size and mean are those of all rows, the rest nearly so; also where rows have a rhythm."""
    X, codes, weight, rules = data(3, m=6_000)
    X = X + 5.0 + np.sin(2 * np.pi * np.arange(len(X)) / period)[:, None]
    losses = LossStructure.native(np.ones(3), -20.0, 20.0)
    whole = joint_sums(X, codes, weight, losses, JointPoint(rules))
    some = joint_sums(X, codes, weight, losses, JointPoint(rules, 0.2))
    for name in ("loss", "squares", "combined", "bend"):
        np.testing.assert_allclose(getattr(some, name), getattr(whole, name), rtol=1e-12)
    for found, gram in zip(some.curvature, whole.gram, strict=True):
        np.testing.assert_allclose(found[-1], gram[-1])
        root = np.linalg.inv(np.linalg.cholesky(gram))
        shift = np.linalg.eigvalsh(root @ found @ root.T)
        assert 0.8 < shift[0] <= shift[-1] < 1.25


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("classes", [2, 4])
def test_to_a_known_point_the_difference_of_gram_matrices_is_formed(classes, share):
    X, codes, weight, rules = data(classes)
    if classes == 2:
        losses, rules = LossStructure.of_two(np.ones(2), 0.0, 2.0), rules[:, :1]
    else:
        losses = LossStructure.native(np.ones(classes), 0.0, 2.0)
    move = 0.3 * np.random.default_rng(0).standard_normal(rules.shape)

    def sums(*point):
        return joint_sums(X, codes, weight, losses, JointPoint(*point))

    known, whole = sums(rules, share), sums(rules + move, share)
    found = sums(rules + move, share, rules)
    assert np.abs(found.gram).max() > 0.1 * np.abs(known.gram).max()
    for name, value in vars(whole).items():
        given = getattr(found, name) + (known.gram if name == "gram" else 0.0)
        np.testing.assert_allclose(given, value, atol=1e-10, err_msg=name)


def test_parts_add_up():
    X, codes, weight, rules = data(3)
    losses = LossStructure.native(np.ones(3), 0.0, 2.0)
    whole = joint_sums(X, codes, weight, losses, JointPoint(rules))
    halves = [
        joint_sums(X[part], codes[part], weight[part], losses, JointPoint(rules))
        for part in (slice(70), slice(70, 70), slice(70, None))
    ]
    for name, value in vars(merge_results(halves)).items():
        np.testing.assert_allclose(value, getattr(whole, name), atol=1e-12, err_msg=name)
