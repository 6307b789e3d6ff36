"""The verbs of a place, in memory and on a device that has them in its own words."""

import numpy as np
import pytest

from lincent.sources.array_namespace import HOST


def on_a_device():
    torch = pytest.importorskip("torch")
    from lincent.sources.source import open_source

    return open_source(torch.zeros((2, 2), dtype=torch.float64)).namespace


@pytest.fixture(params=["memory", "device"])
def place(request):
    return HOST if request.param == "memory" else on_a_device()


def test_what_is_sent_comes_back(place):
    values = np.arange(5.0)
    np.testing.assert_array_equal(place.fetch(place.send(values)), values)


def test_masks_are_counted_and_found(place):
    mask = place.send(np.array([1.0, -1.0, 2.0])) > 0
    assert place.count(mask) == 2
    np.testing.assert_array_equal(place.fetch(place.nonzero(mask)), [0, 2])
    np.testing.assert_array_equal(place.fetch(place.where(mask, 3.0)), [3.0, 0.0, 3.0])
    each = place.send(np.array([4.0, 5.0, 6.0]))
    np.testing.assert_array_equal(place.fetch(place.where(mask, each)), [4.0, 0.0, 6.0])


def test_numbers_that_were_drawn_again_are_counted(place):
    index, count = place.distinct(np.array([3, 1, 3, 3]))
    np.testing.assert_array_equal(place.fetch(index), [1, 3])
    np.testing.assert_array_equal(count, [1.0, 3.0])
