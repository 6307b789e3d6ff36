"""The Nyström map: exact between landmarks, and the same held or mapped on the way."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from lincent.sources import landmarks
from lincent.sources.dense import DenseSource
from lincent.sources.landmarks import MappedRows, NystroemMap, NystroemSource, mapped_rows
from support.layouts import same


def rows(m=90, n=3):
    return np.random.default_rng(0).normal(size=(m, n))


def nystroem(X, count=12):
    points = X[:count]
    return NystroemMap.of(rbf_kernel, points, rbf_kernel(points))


def test_the_kernel_between_landmarks_is_reproduced():
    X = rows()
    mapping = nystroem(X)
    phi = mapping(X[:12])
    np.testing.assert_allclose(phi @ phi.T, rbf_kernel(X[:12]), atol=1e-10)
    approximate = mapping(X)
    # At other points it is never above: the rest of the kernel is positive semidefinite.
    assert np.all((approximate**2).sum(axis=1) <= 1 + 1e-10)


def test_directions_of_rounding_are_left_out():
    X = rows()
    twice = np.vstack([X[:6], X[:6]])
    assert NystroemMap.of(rbf_kernel, twice, rbf_kernel(twice)).width == 6


@pytest.mark.parametrize("block", [2**23, 8 * 12 * 7])
def test_every_verb_on_the_way_is_that_of_the_mapped_rows(block, monkeypatch):
    monkeypatch.setattr(NystroemSource, "block_bytes", block)
    X = rows()
    mapping = nystroem(X)
    source, known = NystroemSource(X, mapping), DenseSource(mapping(X))
    rng = np.random.default_rng(1)
    sign, w = np.where(np.arange(90) % 2, 1.0, -1.0), rng.random(90)
    v, center = rng.normal(size=mapping.width), rng.normal(size=mapping.width)
    same(source.project(v), known.project(v))
    same(source.combine(w), known.combine(w))
    same(source.gram(w), known.gram(w))
    same(source.class_means(sign, w), known.class_means(sign, w))
    same(source.column_scale(center), known.column_scale(center))
    index = np.array([40, 3])
    same(source.take(index, sign, center).dense(), known.take(index, sign, center).dense())
    same(source.columns(index[1:], sign, center).dense(),
         known.columns(index[1:], sign, center).dense())  # fmt: skip
    np.testing.assert_array_equal(source.constant_columns(np.arange(3)), [False] * 3)


def test_few_rows_are_held_and_many_are_not(monkeypatch):
    X = rows()
    assert isinstance(mapped_rows(X, nystroem(X)), np.ndarray)
    monkeypatch.setattr(landmarks, "HOLD_BYTES", 100)
    assert isinstance(mapped_rows(X, nystroem(X)), NystroemSource)


def test_nothing_is_mapped_to_nothing():
    X = rows()
    seen = MappedRows(X, nystroem(X))
    assert seen[:0].shape == (0, seen.shape[1])
    assert seen.only(np.arange(90) < 5).shape == (5, seen.shape[1])
    same(seen.source().array(), seen[:])
