"""Sums of loss, gradient and Hessian over all rows, for every source and partition of the rows."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse as sp

from lincent.sources.array_namespace import HOST
from lincent.sources.gradients import LossSums, QueryPoint, SideCosts
from lincent.sources.rows import SignedRows
from lincent.sources.source import open_source
from support.layouts import M, N, plain, signs, weights

AT = QueryPoint(np.linspace(-1, 1, N), 0.3, -0.5, 1.5)


def expected(X, sign, cost, center):
    A = sign[:, None] * (X - center)
    z = A @ AT.beta - AT.t * sign
    v = np.maximum((AT.high - z) / (AT.high - AT.low), 0)
    u = np.minimum(v, 1)
    D = np.where((u > 0) & (u < 1), cost, 0) / (AT.high - AT.low)
    alpha = cost * u
    return LossSums(
        alpha[sign < 0].sum(), alpha[sign > 0].sum(), alpha @ u, cost @ (v - u), alpha @ A,
        A.T @ (D[:, None] * A), (D * sign) @ A, D.sum(),
    )  # fmt: skip


def assert_same(found, wanted):
    for name, value in vars(wanted).items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-11, atol=1e-11)


def test_in_memory(source):
    rows = SignedRows(source, signs(), weights(N))
    assert_same(
        rows.loss_sums(weights(), [AT])[0], expected(plain(), signs(), weights(), weights(N))
    )


def test_few_rows_between_the_margins(source, monkeypatch):
    monkeypatch.setattr("lincent.sources.gradients.COMPACT_SHARE", 0.0)
    rows = SignedRows(source, signs(), weights(N))
    assert_same(
        rows.loss_sums(weights(), [AT])[0], expected(plain(), signs(), weights(), weights(N))
    )


def test_on_a_device():
    torch = pytest.importorskip("torch")
    source = open_source(torch.asarray(plain()))
    rows = SignedRows(source, torch.asarray(signs()), weights(N))
    assert_same(
        rows.loss_sums(weights(), [AT])[0], expected(plain(), signs(), weights(), weights(N))
    )
    costs = SideCosts(np.broadcast_to(1.0, M), 2.0, 3.0).scaled(0.5)
    cost = np.where(signs() > 0, 1.5, 1.0)
    assert_same(rows.loss_sums(costs, [AT])[0], expected(plain(), signs(), cost, weights(N)))


@pytest.mark.parametrize("chunks", [M, 10, (1, 40, 0, 16)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_in_blocks(chunks, kind):
    from lincent.solvers.solution import silent
    from lincent.sources.dask.table import open_table

    X = da.from_array(plain(), chunks=(chunks, N)).map_blocks(kind)
    table = open_table(X, signs(), weights(), N, silent)
    source = table.problem(np.array([-1, 1]), np.array([2.0, 3.0]))
    rows = SignedRows(source, source.sign, weights(N))
    cost = weights() * np.where(signs() > 0, 3.0, 2.0)
    assert_same(rows.loss_sums(source.costs, [AT])[0], expected(plain(), signs(), cost, weights(N)))
    totals, means = source.cost_means(rows, source.costs)
    for k, side in enumerate((-1, 1)):
        here = signs() == side
        np.testing.assert_allclose(totals[k], cost[here].sum())
        mean = np.average(side * (plain()[here] - weights(N)), axis=0, weights=cost[here])
        np.testing.assert_allclose(means[k], mean, atol=1e-12)


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
