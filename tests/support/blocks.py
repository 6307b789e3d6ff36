"""Rows cut into blocks as Dask hands them to the functions that work on one."""

import itertools

import numpy as np
import pytest

from lincent.sources.dask.blocks import Setting

M, N = 90, 4
CUTS = (0, 13, 13, 60, 90)
"""One block is empty."""


def labeled():
    """Rows, labels of three classes, weights of which some are zero."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, M)
    weight[::11] = 0.0
    return rng.normal(size=(M, N)), np.array(["a", "b", "c"])[np.arange(M) % 3], weight


def setting(**changes):
    """The class a against b; c takes no part."""
    terms = np.array(["a", "b", "c"]), np.array([-1, 1, 0]), np.array([2.0, 3.0, 0.0])
    return Setting(*terms, np.linspace(-0.2, 0.2, N), 0.3, **changes)


def in_blocks(*arrays):
    """The arrays, block by block."""
    for low, high in itertools.pairwise(CUTS):
        yield tuple(None if a is None else a[low:high] for a in arrays)


def taking_part():
    """The signed rows, signs and costs that the setting leaves."""
    X, y, weight = labeled()
    part = (y != "c") & (weight > 0)
    sign = np.where(y == "a", -1.0, 1.0)[part]
    costs = (weight * np.where(y == "a", 2.0, 3.0))[part]
    return sign[:, None] * (X[part] - setting().center), sign, costs


def same_numbers(found, wanted):
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-11)
