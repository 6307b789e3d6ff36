"""What a map is made of does not depend on how the data is cut."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from lincent.solvers.solution import silent
from lincent.sources.dask.table import open_dask
from lincent.sources.hashing import row_hashes, smallest_distinct
from lincent.sources.landmarks import NystroemMap
from support.blocks import M, N, labeled

da = pytest.importorskip("dask.array")


def table(chunks, rows=None):
    X, y, weight = labeled()
    X = np.round(X) if rows is None else rows
    return open_dask(da.from_array(X, chunks=(chunks, N)), y, weight, N, silent), X


@pytest.mark.parametrize("chunks", [M, 7, (1, 50, 0, 39)])
def test_the_landmarks_are_those_of_rows_in_memory(chunks):
    blocks, X = table(chunks)
    weight = labeled()[2]
    found = blocks.draw_distinct(10, seed=3)
    wanted, _ = smallest_distinct(row_hashes(X, 3), weight > 0, 10)
    np.testing.assert_array_equal(found.rows, X[wanted])
    np.testing.assert_array_equal(found.index, wanted)


@pytest.mark.parametrize("chunks", [M, 7])
def test_a_sample_of_each_class_weighs_what_its_equal_rows_weigh(chunks):
    blocks, X = table(chunks)
    _, y, weight = labeled()
    sample = blocks.sample_classes(1000, seed=1)  # more than there are: all of them
    for k, label in enumerate("abc"):
        own = (y == label) & (weight > 0)
        assert len(sample.classes[k].rows) == len(np.unique(X[own], axis=0))
        for row, total in zip(sample.classes[k].rows, sample.classes[k].weights, strict=True):
            equal = own & (row == X).all(axis=1)
            assert total == pytest.approx(weight[equal].sum())
    mean = np.average(X, axis=0, weights=weight)
    np.testing.assert_allclose(sample.spread.squares, weight @ (X - mean) ** 2)
    counted = X[weight > 0]
    np.testing.assert_allclose(sample.spread.mean, mean)
    np.testing.assert_array_equal(sample.spread.low, counted.min(axis=0))
    np.testing.assert_array_equal(sample.spread.high, counted.max(axis=0))
    few = blocks.sample_classes(4, seed=1)
    np.testing.assert_array_equal(few.classes[1].rows, sample.classes[1].rows[:4])
    kinds = sum(len(drawn.keys) for drawn in sample.classes)
    whole = blocks.sample_classes(kinds, 1, [1, 2, 3])
    assert sum(len(drawn.keys) for drawn in whole.classes) == kinds
    shared = blocks.sample_classes(kinds - 1, 1, [1, 2, 3])
    assert [len(drawn.keys) for drawn in shared.classes] == [1, 2, 3]
    for k in range(3):
        np.testing.assert_array_equal(shared.classes[k].weights, sample.classes[k].weights[: k + 1])


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_variance_is_that_of_all_entries(offset):
    X, _, weight = labeled()
    blocks, X = table(20, X + offset)
    mean = np.average(X.mean(axis=1), weights=weight)
    wanted = weight @ ((X - mean) ** 2).sum(axis=1) / (weight.sum() * N)
    assert blocks.sample_classes(0, 0).spread.variance(blocks.totals.sum()) == pytest.approx(
        wanted, rel=1e-6
    )


def test_mapped_rows_are_surveyed_as_if_they_were_held():
    blocks, X = table(20)
    points = blocks.draw_distinct(5, seed=0).rows
    mapping = NystroemMap.of(rbf_kernel, points, rbf_kernel(points))
    mapped = blocks.mapped(mapping)
    _, y, weight = labeled()
    held = open_dask(da.from_array(mapping(X), chunks=(9, 5)), y, weight, 5, silent)
    sums = [one.survey.sums + np.outer(one.totals, one.survey.origin) for one in (mapped, held)]
    np.testing.assert_allclose(*sums)
