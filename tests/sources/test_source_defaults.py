"""What a source has by default is what the sources that know better give."""

import numpy as np
import pytest

from lincent.sources.dense import DenseSource
from lincent.sources.rows import SignedRows, Source
from support.layouts import M, N, plain, same, signs, weights

VERBS = ("project", "combine", "gram", "take", "array", "column_scale", "columns", "class_means",
         "unchanging")  # fmt: skip


class Least(Source):
    """A source with the verbs that it must have, and the defaults for the rest."""

    def __init__(self, known):
        self.known, self.shape = known, known.shape


for _verb in VERBS:
    setattr(Least, _verb, lambda self, *args, _verb=_verb: getattr(self.known, _verb)(*args))
Least.__abstractmethods__ = frozenset()


@pytest.fixture
def sources():
    known = DenseSource(plain())
    return Least(known), known


def test_the_verbs_must_be_there():
    with pytest.raises(TypeError, match="abstract"):
        type("Nothing", (Source,), {})()


def test_products_that_have_a_default(sources):
    least, known = sources
    ruler, center = np.random.default_rng(0).normal(size=(N, 2)), weights(N)
    same(least.local_sizes(ruler, center), known.local_sizes(ruler, center))
    same(least.outer(weights(N)), known.outer(weights(N)))
    same(least.signed(signs()), signs()[:, None] * plain())
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
