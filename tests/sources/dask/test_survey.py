"""The first read: what blocks know of their classes, merged; and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.sources.dask import blocks as block
from lincent.sources.dask.table import Survey, length, survey
from lincent.sources.shared_reads import BlockError
from support.blocks import CUTS, N, in_blocks, labeled, same_numbers


@pytest.mark.parametrize("slices", [8192, 7])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_sums_of_blocks_are_those_of_all_rows(kind, slices, offset, monkeypatch):
    monkeypatch.setattr(block, "SLICE_ROWS", slices)
    X, y, weight = labeled()
    X = X + offset
    parts = [survey(kind(x), *rest, n=N) for x, *rest in in_blocks(X, y, weight)]
    found = Survey.joined(parts)
    assert found.lengths == list(np.diff(CUTS))
    np.testing.assert_array_equal(found.classes, ["a", "b", "c"])
    for k, label in enumerate("abc"):
        own = y == label
        assert found.counts.sum(axis=0)[k] == np.count_nonzero(weight[own])
        total = weight[own].sum()
        assert found.totals.sum(axis=0)[k] == pytest.approx(total)
        mean = found.sums[k] / total + found.origin
        np.testing.assert_allclose(mean, np.average(X[own], axis=0, weights=weight[own]), 1e-12)
    assert (found.least, found.most) == (weight[weight > 0].min(), weight.max())
    whole = found.as_one()
    assert whole.lengths == [90]
    same_numbers(whole.totals, found.totals.sum(axis=0)[None])


def test_a_block_of_one_class_adds_to_the_others():
    X, y = np.ones((6, N)), np.array(list("bbbbba"))
    parts = [survey(X[:5], y[:5], None, n=N), survey(X[5:], y[5:], None, n=N)]
    np.testing.assert_array_equal(Survey.joined(parts).counts, [[0, 5], [1, 0]])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": np.ones((3, 2))}, "one label per row"),
        ({"y": np.ones(2)}, "X has 3 rows, y has 2"),
        ({"y": np.array([1.0, np.nan, 1.0])}, "missing or infinite labels"),
        ({"weight": np.array([1.0, -2.0, 1.0])}, "sample weight of row 1 .* is -2.0"),
        ({"weight": np.ones(2)}, "sample_weight has 2"),
        ({"x": np.array([[1.0] * N, [1.0, np.inf, 1.0, 1.0], [1.0] * N])}, "row 1 .* column 1"),
        ({"x": sp.csr_array([[0.0] * N, [0.0] * N, [0.0, 0.0, np.nan, 0.0]])}, "row 2 .* column 2"),
    ],
)
def test_what_is_wrong_is_named(change, sentence):
    given = {"x": np.ones((3, N)), "y": np.array([0, 1, 0]), "weight": None, **change}
    with pytest.raises(BlockError, match=sentence):
        survey(given["x"], given["y"], given["weight"], n=N)


def test_a_block_knows_its_length():
    assert length(np.ones((3, 2)), None, None) == [3]
