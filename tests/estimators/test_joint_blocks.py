"""The sample of rows that are read in place is that of memory; all rows measure the columns."""

import numpy as np
import pytest

from lincent import AdditiveLCC
from lincent.estimators import tabular
from lincent.estimators.base import open_training
from lincent.estimators.tabular import TrainingRows
from lincent.sources.hashing import row_hashes
from lincent.tables.weighted import mean_and_deviation

da = pytest.importorskip("dask.array", reason="dask is not installed")


def on_device(X):
    return pytest.importorskip("torch", reason="torch is not installed").asarray(X)


PLACES = {
    "one block": da.from_array,
    "blocks": lambda X: da.from_array(X, chunks=(130, 3)),
    "device": on_device,
    "device, single": lambda X: on_device(X.astype(np.float32)),
}


@pytest.mark.parametrize("count", [60, 100_000])
@pytest.mark.parametrize("place", PLACES)
def test_the_same_rows_as_in_memory(count, place):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((400, 3)) * 4) / 4
    y, weight = (rng.random(400) < 0.1).astype(int), rng.integers(0, 3, 400).astype(float)
    model = AdditiveLCC()
    training = open_training(model, PLACES[place](X), y, weight)
    rows, columns = tabular.sample_of_remote(training, 7, count)
    data = TrainingRows(X, row_hashes(X, 7), y, weight, None)
    expected = data[data.sample(count, data.totals)].merged()
    np.testing.assert_array_equal(rows.keys, expected.keys)
    np.testing.assert_array_equal(rows.Z, expected.Z)
    np.testing.assert_array_equal(rows.weight, expected.weight)
    mean, deviation = mean_and_deviation(X, weight)
    np.testing.assert_allclose(columns.mean, mean, atol=1e-12)
    np.testing.assert_allclose(columns.deviation, deviation)
    counted = X[weight > 0]  # as in memory, rows without weight do not stretch a column
    assert np.any(counted.max(axis=0) < X.max(axis=0))
    np.testing.assert_array_equal(columns.low, counted.min(axis=0))
    np.testing.assert_array_equal(columns.high, counted.max(axis=0))
    assert model._column_names() == ["x0", "x1", "x2"]
