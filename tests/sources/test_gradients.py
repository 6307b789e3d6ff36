"""Sums of loss, gradient and Hessian over all rows, for every source and partition of the rows."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse as sp

from lincent.sources.array_namespace import HOST
from lincent.sources.gradients import JointPoint, JointSums, LossStructure, SideCosts
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source
from support.layouts import M, N, plain, signs, weights

AT = JointPoint(np.append(np.linspace(-1, 1, N), -0.3)[:, None])
LOSSES = LossStructure.of_two(np.ones(2), -0.5, 1.5)


def expected(cost, center):
    """The sums by class, negative first."""
    A = np.column_stack([plain() - center, np.ones(M)])
    short = LOSSES.high - signs() * (A @ AT.rules[:, 0])
    u = np.clip(short / LOSSES.width, 0, 1)
    loss = cost * u * (short - LOSSES.width / 2 * u)
    D = np.where((short > 0) & (short < LOSSES.width), cost, 0) / LOSSES.width
    sides = signs() < 0, signs() > 0
    return JointSums(
        np.array([loss[side].sum() for side in sides]),
        np.array([(cost * u * u)[side].sum() for side in sides]),
        np.array([(cost * u)[side] @ A[side] for side in sides]),
        (D @ A)[None],
        (A.T @ (D[:, None] * A))[None],
    )


def assert_same(found, cost, center):
    for name, value in vars(expected(cost, center)).items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-11, atol=1e-11)


def test_in_memory(source):
    rows = SignedRows(source, signs(), weights(N))
    assert_same(rows.joint_sums(weights(), LOSSES, [AT])[0], weights(), weights(N))


def test_on_a_device():
    torch = pytest.importorskip("torch")
    source = open_source(torch.asarray(plain()))
    rows = SignedRows(source, torch.asarray(signs()), weights(N))
    assert_same(rows.joint_sums(weights(), LOSSES, [AT])[0], weights(), weights(N))
    costs = SideCosts(np.broadcast_to(1.0, M), 2.0, 3.0).scaled(0.5)
    cost = np.where(signs() > 0, 1.5, 1.0)
    assert_same(rows.joint_sums(costs, LOSSES, [AT])[0], cost, weights(N))


@pytest.mark.parametrize("chunks", [M, 10, (1, 40, 0, 16)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_in_blocks(chunks, kind):
    from lincent.solvers.solution import silent
    from lincent.sources.dask.table import open_dask

    X = da.from_array(plain(), chunks=(chunks, N)).map_blocks(kind)
    table = open_dask(X, signs(), weights(), N, silent)
    source = table.problem(np.array([-1, 1]), np.array([2.0, 3.0]))
    rows = SignedRows(source, source.sign, weights(N))
    cost = weights() * np.where(signs() > 0, 3.0, 2.0)
    assert_same(rows.joint_sums(source.costs, LOSSES, [AT])[0], cost, weights(N))


def test_costs_by_side():
    costs = SideCosts(weights(), 2.0, 3.0)
    wanted = weights() * np.where(signs() > 0, 3.0, 2.0)
    np.testing.assert_allclose(costs.on(HOST, signs()), wanted)


def test_a_sample_stands_for_all(source):
    rows = SignedRows(source, signs(), weights(N))
    some, sign, cost = rows.draw(weights(), 20_000, np.random.default_rng(0))
    assert some.shape[0] == len(sign) == len(cost) <= M
    np.testing.assert_allclose(cost.sum(), weights().sum(), rtol=0.05)
    np.testing.assert_allclose(some.tdot(cost), rows.tdot(weights()), rtol=0.1, atol=2.0)
