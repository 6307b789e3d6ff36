"""What a source has by default is what the sources that know better give."""

import numpy as np
import pytest

from lincent.sources.dense import DenseSource
from lincent.sources.rows import SignedRows, Source
from support.layouts import M, N, plain, same, signs, weights


class Least(Source):
    """A source with what it must have, and the defaults for the rest."""

    block_bytes = 256

    def __init__(self, known):
        self.known, self.shape = known, known.shape

    def block(self, part):
        return self.known.block(part)

    def take(self, index, sign, center):
        return self.known.take(index, sign, center)


@pytest.fixture
def sources():
    known = DenseSource(plain())
    return Least(known), known


def test_the_way_to_take_rows_must_be_there():
    with pytest.raises(TypeError, match="abstract"):
        type("Nothing", (Source,), {})()


def test_products_that_have_a_default(sources):
    least, known = sources
    ruler, center = np.random.default_rng(0).normal(size=(N, 2)), weights(N)
    same(least.local_sizes(ruler, center), known.local_sizes(ruler, center))
    same(least.outer(weights(N)), known.outer(weights(N)))
    same(least.signed(signs()), signs()[:, None] * plain())
    same(least.project(weights(N)), plain() @ weights(N))
    same(least.combine(weights()), weights() @ plain())
    same(least.gram(weights()), (plain().T * weights()) @ plain())
    same(least.column_scale(center), known.column_scale(center))
    same(least.class_means(signs(), weights()), known.class_means(signs(), weights()))
    same(least.array(), plain())
    columns = np.array([3, 0])
    same(least.columns(columns, signs(), center).dense(),
         known.columns(columns, signs(), center).dense())  # fmt: skip
    np.testing.assert_array_equal(least.constant_columns(columns), [False, False])
    arguments = signs(), center, weights(N), lambda _, z: np.maximum(z, 0)
    for one, other in zip(least.sweep(*arguments), known.sweep(*arguments), strict=True):
        same(one, other)


def test_all_rows_are_drawn_once_where_there_are_no_more(sources):
    least, _ = sources
    rows = SignedRows(least, signs(), weights(N))
    drawn, sign, cost = least.draw(rows, weights(), M, np.random.default_rng(0))
    assert drawn.shape == (M, N)
    np.testing.assert_array_equal(sign, signs())
    same(cost, weights())
