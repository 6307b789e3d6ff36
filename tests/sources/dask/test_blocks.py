"""One block: what takes part in it, and sentences about what is wrong in it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lincent.sources.dask import blocks as block
from lincent.sources.dask.blocks import Partition, Taken, apart, opened, sliced, tidy
from lincent.sources.shared_reads import BlockError
from support.blocks import in_blocks, labeled, setting, taking_part


def test_rows_without_part_or_weight_are_left_out():
    X, y, weight = labeled()
    A, sign, costs = taking_part()
    for rows in (X, sp.csr_array(X)):
        found = opened(rows, y, weight, setting())
        np.testing.assert_array_equal(found.sign, sign)
        np.testing.assert_allclose(found.costs, costs)
        signed = found.taken(slice(None)).signed(setting().center)
        np.testing.assert_allclose(signed.dense(), A, atol=1e-12)


def test_one_cost_is_not_repeated_in_memory():
    X, y, _ = labeled()
    found = opened(X, y, None, setting(cost=2.5))
    assert found.costs.strides == (0,)
    assert set(found.costs) == {2.5}


def test_an_origin_is_taken_off_what_is_taken():
    X, y, _ = labeled()
    origin = np.arange(4.0)
    found = opened(X, y, None, setting(origin=origin)).taken(np.array([0, 1]))
    np.testing.assert_allclose(found.rows, X[y != "c"][:2] - origin)


def test_what_several_blocks_took_is_joined_in_order():
    X, y, weight = labeled()
    parts = [opened(*some, setting()).taken(slice(None)) for some in in_blocks(X, y, weight)]
    assert min(len(part.sign) for part in parts) == 0
    joined = Taken.joined(parts)
    A, sign, costs = taking_part()
    np.testing.assert_array_equal(joined.sign, sign)
    np.testing.assert_allclose(joined.costs, costs)
    np.testing.assert_allclose(joined.signed(setting().center).dense(), A, atol=1e-12)


def test_labels_and_weights_may_be_columns_of_the_frame():
    X, y, weight = labeled()
    frame = pd.DataFrame(X, columns=list("pqrs")).assign(label=y, w=weight)
    rows, labels, weights = apart(
        Partition(frame, (*"pqrs", "label", "w"), ("label", "w")), None, None
    )
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(weights, weight)


def test_columns_in_another_order_are_put_right_and_others_refused():
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=["b", "a", "c"])
    assert list(Partition(frame, ("a", "b", "c")).in_order().columns) == ["a", "b", "c"]
    with pytest.raises(BlockError, match=r"the same columns"):
        Partition(frame, ("a", "b", "d")).in_order()


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (np.array([["1", "two"]], dtype=object), r"'two' in column 1 \(counted from 0\); blocks"),
        (np.ones((2, 3)), r"shape \(2, 3\), where 2 columns"),
        (np.ones(2), "where 2 columns"),
    ],
)
def test_a_block_that_cannot_be_read_says_why(x, sentence):
    with pytest.raises(BlockError, match=sentence):
        tidy(x, 2)


def test_whole_numbers_become_floats_and_floats_stay():
    assert tidy(np.ones((1, 2), dtype=int), 2).dtype == np.float64
    single = np.ones((1, 2), dtype=np.float32)
    assert tidy(single, 2) is single


@pytest.mark.parametrize("rows", [0, 1, 89, 90])
def test_a_block_is_worked_on_in_slices(rows, monkeypatch):
    monkeypatch.setattr(block, "SLICE_ROWS", 8)
    X, y, weight = (part[:rows] for part in labeled())
    seen = []

    @sliced
    def total(x, y, weight):
        seen.append(len(x))
        return x.sum(axis=0), float(weight.sum())

    sums, all_weight = total(X, y, weight)
    np.testing.assert_allclose(sums, X.sum(axis=0))
    assert all_weight == pytest.approx(weight.sum())
    assert max(seen) <= 8
    assert len(seen) == max(1, -(-rows // 8))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_from_a_message_are_brought_to_where_numbers_begin(dtype, order, monkeypatch):
    """BLAS does not take an array that begins at any byte, as a block that was sent does."""
    monkeypatch.setattr(block, "SLICE_ROWS", 8)
    X, y, weight = labeled()
    X = X.astype(dtype)
    message = bytearray(X.nbytes + 3)
    sent = np.frombuffer(message, dtype, X.size, offset=3).reshape(X.shape, order=order)
    sent[...] = X
    assert not sent.flags.aligned

    @sliced
    def total(x, y, weight):
        assert x.flags.aligned
        return x.sum(axis=0), float(len(x))

    sums, count = total(sent, y, weight)
    np.testing.assert_allclose(sums, X.sum(axis=0, dtype=np.float64), rtol=1e-5)
    assert count == len(X)
