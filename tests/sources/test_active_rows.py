"""What is asked of all rows at once, against the sums written out."""

import numpy as np
import pytest

from lincent.estimators.problem import scaled_costs
from lincent.sources import evaluation as band
from lincent.sources.dense import DenseRows

M, N, MARGIN = 200, 4, 0.3


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(M, N))


@pytest.fixture(params=["one cost", "costs"])
def costs(request):
    costs = np.random.default_rng(1).uniform(0.5, 2.0, M)
    return np.full(M, 1.5) if request.param == "one cost" else costs


BETA = np.array([0.4, -0.2, 0.1, 0.3])
RULER = np.random.default_rng(2).normal(size=(N, 2))


def sizes(rows, ruler):
    return np.ones(M) if ruler is None else np.linalg.norm(rows @ ruler, axis=1) + band.TINY


@pytest.mark.parametrize("ruler", [None, RULER], ids=["unsized", "sized"])
def test_a_view_answers_what_the_sums_say(rows, costs, ruler):
    view = band.InMemoryRows(DenseRows(rows), costs, MARGIN).sized(ruler).look(BETA)
    z, size = rows @ BETA - MARGIN, sizes(rows, ruler)
    assert view.loss == pytest.approx(costs @ np.maximum(-z, 0))
    assert view.width(30) == pytest.approx(np.sort(np.abs(z) / size)[30])
    other = band.InMemoryRows(DenseRows(rows), costs, MARGIN).look(-BETA)
    far = rows @ -BETA - MARGIN
    wanted = [costs @ np.maximum(-(z + t * (far - z)), 0) for t in (0.0, 0.3, 1.0)]
    np.testing.assert_allclose(view.along(other, np.array([0.0, 0.3, 1.0])), wanted)


@pytest.mark.parametrize("ruler", [None, RULER], ids=["unsized", "sized"])
def test_the_smoothed_program_is_the_sum_over_the_band(rows, costs, ruler, monkeypatch):
    monkeypatch.setattr(band, "TAKEN_ENTRIES", 50)  # a few rows at a time
    view = band.InMemoryRows(DenseRows(rows), costs, MARGIN).sized(ruler).look(BETA)
    z, size, width = rows @ BETA - MARGIN, sizes(rows, ruler), 0.4
    combined, hessian = view.smoothed(width, M, np.random.default_rng(0))
    alpha = costs * np.clip(0.5 - z / (2 * width * size), 0, 1)
    np.testing.assert_allclose(combined, alpha @ rows, atol=1e-12)
    inside = np.abs(z) <= width * size
    weight = np.where(inside, costs / (2 * width * size), 0.0)
    np.testing.assert_allclose(hessian, rows.T @ (weight[:, None] * rows), atol=1e-12)


def test_the_band_and_what_is_beyond_it_are_all_rows(rows, costs):
    whole = band.InMemoryRows(DenseRows(rows), costs, MARGIN)
    split = whole.look(BETA).split(0.2)
    z = rows @ BETA - MARGIN
    inside, beyond = np.abs(z) <= 0.2, z < -0.2
    np.testing.assert_array_equal(split.rows.dense(), rows[inside])
    np.testing.assert_allclose(split.summed, costs[beyond] @ rows[beyond], atol=1e-12)
    assert split.summed_cost == pytest.approx(costs[beyond].sum())
    full = split.multipliers(np.arange(inside.sum(), dtype=float), split.summed)
    np.testing.assert_allclose(full[beyond], costs[beyond])
    np.testing.assert_array_equal(full[inside], np.arange(inside.sum()))
    assert not full[~inside & ~beyond].any()


def test_rows_that_changed_sides_are_found_and_join_the_band(rows, costs):
    whole = band.InMemoryRows(DenseRows(rows), costs, MARGIN)
    split = whole.look(BETA).split(0.05)
    moved = BETA + 0.3
    checked = split.check(moved)
    before, after = rows @ BETA - MARGIN, rows @ moved - MARGIN
    wrong = (np.abs(before) > 0.05) & ((before < 0) != (after < 0))
    assert checked.misplaced == wrong.sum() > 0
    assert checked.loss == pytest.approx(costs @ np.maximum(-after, 0))
    grown = split.grow(checked)
    assert grown.check(moved).misplaced == 0
    np.testing.assert_array_equal(grown.rows.dense(), rows[(np.abs(before) <= 0.05) | wrong])
    assert split.grow(split.check(BETA)) is split


@pytest.mark.parametrize("ruler", [None, RULER], ids=["unsized", "sized"])
def test_a_sample_costs_what_all_rows_cost(rows, costs, ruler):
    whole = band.InMemoryRows(DenseRows(rows), costs, MARGIN).sized(ruler)
    some, cost = whole.sample(50_000, np.random.default_rng(3))
    assert cost.sum() == pytest.approx(costs.sum(), rel=0.02)
    np.testing.assert_allclose(some.tdot(cost), costs @ rows, atol=0.05 * costs.sum())


def test_scaled_costs_keep_their_form():
    one = np.broadcast_to(2.0, 5)
    assert band.one_cost(scaled_costs(one, 3.0)) == 6.0
    assert scaled_costs(np.broadcast_to(2.0, 2**17), 3.0).strides == (0,)
    hard = scaled_costs(np.array([0.0, 1.0]), np.inf)
    np.testing.assert_array_equal(hard, [0.0, np.inf])
    assert band.one_cost(np.array([1.0, 2.0])) is None
