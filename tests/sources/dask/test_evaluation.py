"""Rows in blocks, looked at and split: the answers of rows in memory, at as few reads."""

import numpy as np
import pytest

from lincent import LCC
from lincent.solvers.solution import silent
from lincent.sources.dask import source as band
from lincent.sources.dask.table import open_dask
from lincent.sources.dense import DenseRows
from lincent.sources.evaluation import InMemoryRows
from lincent.sources.rows import SignedRows
from support.blocks import M, N, same_numbers

da = pytest.importorskip("dask.array")
BETA, FURTHER = np.array([0.5, -0.3, 0.2, 0.1]), np.array([-0.2, 0.4, 0.3, 0.0])


@pytest.fixture
def both():
    """All rows in blocks, with the reads they cost, and the same in memory."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(M, N)), np.arange(M) % 2
    weight = rng.uniform(0.5, 2.0, M)
    table = open_dask(da.from_array(X, chunks=(25, N)), y, weight, N, silent)
    source = table.problem(np.array([-1, 1]), np.array([2.0, 3.0]))
    center = np.linspace(-0.2, 0.2, N)
    blocks = SignedRows(source, source.sign, center).all_rows(source.costs, 0.3)
    sign = np.where(y == 0, -1.0, 1.0)
    costs = weight * np.where(y == 0, 2.0, 3.0)
    whole = InMemoryRows(DenseRows(sign[:, None] * (X - center)), costs, 0.3)
    reads, run = [], source.run
    source.run = lambda verb, *rest, **how: reads.append(verb) or run(verb, *rest, **how)
    return blocks, whole, reads


def test_views_and_splits_are_those_in_memory(both):
    blocks, whole, _ = both
    view, known = blocks.look(BETA), whole.look(BETA)
    assert view.loss == pytest.approx(known.loss)
    lengths = np.array([0.2, 0.8])
    same_numbers(
        view.along(blocks.look(FURTHER), lengths), known.along(whole.look(FURTHER), lengths)
    )
    split, in_memory = view.split(0.1), known.split(0.1)
    same_numbers(split.summed, in_memory.summed)
    checked = split.check(FURTHER)
    assert checked.misplaced == in_memory.check(FURTHER).misplaced > 0
    grown, wanted = split.grow(checked), in_memory.grow(in_memory.check(FURTHER))
    same_numbers(grown.summed, wanted.summed)
    alpha = np.random.default_rng(1).random(len(grown.costs))
    multipliers = grown.multipliers(alpha, grown.summed + grown.rows.tdot(alpha))
    full = np.asarray(multipliers)
    assert multipliers.total == pytest.approx(full.sum())
    same_numbers(multipliers.combined, full @ whole.rows.dense())


def test_a_good_guess_saves_a_read(both):
    blocks, _, reads = both
    blocks.sample(60, np.random.default_rng(0))
    view = blocks.look(BETA, 20)
    width = view.width(20)
    assert width == view.guess > 0
    view.split(width)
    assert reads == ["sample", "look"]
    view.split(2 * width)  # another question is another read
    assert reads[-1] == "split"


def test_a_sample_costs_what_all_rows_cost(both):
    blocks, whole, _ = both
    rows, cost = blocks.sample(20_000, np.random.default_rng(0))
    assert cost.sum() == pytest.approx(whole.costs.sum(), rel=1e-9)
    wanted = whole.costs @ whole.rows.dense()
    np.testing.assert_allclose(rows.tdot(cost), wanted, atol=0.05 * whole.costs.sum())


def test_the_sample_that_is_remembered_is_small(both, monkeypatch):
    monkeypatch.setattr(band, "REMEMBERED", 10)
    blocks, *_ = both
    blocks.sample(80, np.random.default_rng(0))
    assert blocks.remembered.shape[0] <= 10


@pytest.mark.parametrize("scale", [2.0**-50, 2.0**50])
def test_the_scale_of_the_data_does_not_matter(scale):
    """Rows of an extreme scale are transferred and scaled, with their signs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, N))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    blocks = da.from_array(scale * X, chunks=(100, N))
    found = LCC(margin=0.1 * scale, random_state=0).fit(blocks, y)
    expected = LCC(margin=0.1, random_state=0).fit(X, y)
    np.testing.assert_allclose(found.objective_, scale * expected.objective_, rtol=1e-9)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)
