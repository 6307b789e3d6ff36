"""Multipliers that stay with the rows are fetched when an array is asked for, and not before."""

import numpy as np

from lincent.sources.evaluation import Deferred, Multipliers


def test_values_are_fetched_on_demand():
    fetched = []

    def fetch():
        fetched.append(1)
        return np.arange(3.0)

    values = Multipliers((3,), fetch, np.array([2.0]), 3.0)
    assert isinstance(values, Deferred)
    assert values.shape == (3,)
    assert fetched == []
    np.testing.assert_array_equal(np.asarray(values), [0.0, 1.0, 2.0])
    assert np.asarray(values, dtype=np.float32).dtype == np.float32
    assert len(fetched) == 2
