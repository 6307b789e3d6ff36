"""Bounds keep the best of both sides and report progress."""

import numpy as np
import pytest

from lincent.solvers.bounds import Bounds


def test_the_best_of_both_sides_is_kept():
    bounds = Bounds()
    assert bounds.relative_gap == np.inf
    assert bounds.offer_primal(10.0, "a")
    assert not bounds.offer_primal(11.0, "b")
    assert not bounds.offer_primal(np.nan, "c")
    assert bounds.offer_dual(4.0, "d")
    assert not bounds.offer_dual(np.nan, "e")
    assert (bounds.primal, bounds.dual, bounds.gap) == ("a", "d", 6.0)
    assert bounds.relative_gap == pytest.approx(0.6)
    assert Bounds(unit=100.0).relative_gap == np.inf


def test_progress_is_a_lower_objective_or_half_the_gap():
    bounds = Bounds()
    assert bounds.offer(10.0, 0.0, 1)
    assert not bounds.offer(10.0, 4.0, 2)
    assert bounds.offer(10.0, 8.0, 3)
    assert bounds.offer(9.0, 8.0, 4)
    assert not bounds.offer(9.0 - 1e-14, 8.0, 5)
    assert (bounds.primal, bounds.dual) == (5, 3)
