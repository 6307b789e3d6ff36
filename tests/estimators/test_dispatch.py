"""Arrays of any library to NumPy; ``tests/test_array_api.py`` has dispatch itself."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent.sources.source import is_foreign, to_numpy
from support.devices import torch_far_away  # noqa: F401


@pytest.mark.parametrize(
    "values", [None, 3.0, [1, 2], "abc", np.ones(3), sp.eye_array(2), np.int8(1)]
)
def test_what_is_no_array_of_another_library_stays_as_it_is(values):
    assert not is_foreign(values)
    assert to_numpy(values) is values


def test_tensors_come_here(torch_far_away):  # noqa: F811
    found = to_numpy(torch_far_away.asarray([1.0, 2.0]))
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, [1.0, 2.0])


def test_arrays_of_a_device_that_numpy_does_not_know_come_here():
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    there = strict.asarray([1.0, 2.0], device=strict.Device("device1"))
    found = to_numpy(there)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, [1.0, 2.0])
