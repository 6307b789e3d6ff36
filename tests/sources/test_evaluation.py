"""What a view says of all rows at once is what their own sums say, swept or not."""

import numpy as np
import pytest

from lincent.sources import evaluation as band
from lincent.sources import evaluation as view
from lincent.sources.dense import DenseRows, DenseSource
from lincent.sources.evaluation import InMemoryRows
from lincent.sources.rows import SignedRows

M, N, MARGIN = 700, 5, 0.05


@pytest.fixture(params=["C", "F", "float32"])
def rows(request):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((M, N))
    X = X.astype(np.float32) if request.param == "float32" else np.asarray(X, order=request.param)
    sign = np.where(rng.random(M) < 0.4, 1.0, -1.0)
    return SignedRows(DenseSource(X), sign, rng.standard_normal(N))


def whole(rows, costs):
    ruler = np.diag(np.linspace(0.1, 2.0, N))
    return rows.all_rows(costs, MARGIN).sized(ruler)


COSTS = {"one": np.full(M, 2.0), "many": np.linspace(0.5, 3.0, M)}
BETA = np.linspace(-0.2, 0.3, N)


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_loss_and_sums_are_those_of_the_rows(rows, costs):
    A, view = rows.dense(), whole(rows, costs).look(BETA, 10)
    z = A @ BETA - MARGIN
    np.testing.assert_allclose(view.distance, z, atol=1e-6)
    assert view.loss == pytest.approx(costs @ np.maximum(-z, 0.0), rel=1e-6)
    np.testing.assert_allclose(view.tangent, A.T @ (costs * (z < 0)), rtol=1e-5)
    assert view.below == pytest.approx(costs @ (z < 0))


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize("band", [30, 400])
def test_a_swept_view_smooths_and_splits_as_any_other(rows, costs, band):
    """A correction by the rows of the band, or a second read: the same numbers."""
    everything = whole(rows, costs)
    swept, plain = everything.look(BETA, band), everything.look(BETA)
    assert plain.tangent is None
    assert swept.tangent is not None
    width = plain.width(band)
    for ours, theirs in zip(
        swept.smoothed(width, M, np.random.default_rng(0)),
        plain.smoothed(width, M, np.random.default_rng(0)),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    ours, theirs = swept.split(width), plain.split(width)
    np.testing.assert_array_equal(ours.index, theirs.index)
    np.testing.assert_allclose(ours.summed, theirs.summed, rtol=1e-9, atol=1e-9)
    assert ours.summed_cost == pytest.approx(theirs.summed_cost)


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_rows_that_join_leave_the_sum(rows, costs):
    split = whole(rows, costs).look(BETA, 50).split(0.02)
    checked = split.check(BETA + 0.1)
    assert checked.misplaced > 10
    grown = split.grow(checked)
    assert grown.rows.shape[0] == split.rows.shape[0] + checked.misplaced
    again = split.grow(checked)
    again.sum_up()
    np.testing.assert_allclose(grown.summed, again.summed, rtol=1e-9, atol=1e-9)
    assert grown.summed_cost == pytest.approx(again.summed_cost)
    wider = grown.wider(checked.view, checked.view.width(200))
    A, z = rows.dense(), rows.dot(BETA + 0.1) - MARGIN
    np.testing.assert_allclose(wider.summed, A.T @ (costs * (~wider.band & (z < 0))), rtol=1e-5)


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize("swept", [False, True])
def test_a_point_between_two_takes_no_look(rows, costs, swept):
    everything = whole(rows, costs)
    here, there = (everything.look(beta, 10 * swept) for beta in (BETA, BETA + 0.1))
    found = here.between(there, 0.3, 1.0)
    again = everything.look(found.beta, 10)
    np.testing.assert_allclose(found.beta, BETA + 0.03)
    np.testing.assert_allclose(found.distance, again.distance, rtol=1e-6, atol=1e-6)
    assert found.loss == 1.0
    assert (found.tangent is None) != swept
    if swept:
        np.testing.assert_allclose(found.tangent, again.tangent, rtol=1e-5)


def test_rows_that_cross_from_beyond_the_band_are_counted(rows):
    here = whole(rows, COSTS["one"]).look(BETA)
    there = here.whole.look(BETA + 0.1)
    sides = (here.distance < 0) != (there.distance < 0)
    assert here.crossed(there, 0.0) == np.count_nonzero(sides)
    assert here.crossed(there, 0.05) == np.count_nonzero(sides & (here.away() > 0.05))
    assert here.crossed(here, 0.0) == 0


def test_of_many_rows_some_are_counted(monkeypatch, rows):
    from lincent.sources import evaluation as view

    here = whole(rows, COSTS["one"]).look(BETA)
    there = here.whole.look(BETA + 0.1)
    exact = here.crossed(there, 0.01)
    monkeypatch.setattr(view, "FEW", M // 4)
    assert here.crossed(there, 0.01) == pytest.approx(exact, rel=0.5)


def test_tied_rows_have_a_positive_width():
    whole = InMemoryRows(DenseRows(np.zeros((10, 2))), np.ones(10), 1.0)
    assert whole.look(np.zeros(2)).width(3) >= 1.0
    tied = InMemoryRows(DenseRows(np.vstack([np.eye(2)] * 5)), np.ones(10), 1.0)
    assert tied.look(np.array([1.0, 5.0])).width(3) == pytest.approx(view.TIED * 2.0)


@pytest.mark.parametrize("k", [0, 7, 400, M - 1])
def test_the_kth_smallest_of_many_is_that_of_all(k, monkeypatch, rows):
    here = whole(rows, COSTS["one"]).look(BETA)
    monkeypatch.setattr(view, "FEW", 2**5)
    monkeypatch.setattr(band, "PART", 2**6)
    tied = view.TIED * float(here.away()[:: M // view.FEW].mean())
    assert here.width(k) == max(float(np.sort(here.away())[k]), tied)
