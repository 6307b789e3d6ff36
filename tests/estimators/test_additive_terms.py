"""Terms: features of columns and of pairs, and who owns them."""

import numpy as np

from lincent.estimators.additive_terms import PAIR_TERMS, Terms, products

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(400, 3))
SOURCES = np.array([0, 1, 1])  # the third encoded column belongs to the second of the table


def learned(ways=(0, 0), pairs=()):
    terms = Terms.learn(
        Z, np.arange(400, dtype=np.uint64), np.ones(400), SOURCES, 5, np.array(ways)
    )
    return Terms(terms.curves, terms.sources, 0.01, list(pairs))


def test_every_feature_has_an_owner():
    terms = learned(pairs=[(0, 1)])
    features = terms.apply(Z)
    assert features.shape[1] == len(terms.owners) == len(terms.held)
    assert terms.count == 3
    assert set(terms.owners) == {0, 1, 2}
    assert np.count_nonzero(terms.owners == 2) == PAIR_TERMS**2


def test_a_monotone_column_is_held_and_its_companions_are_not():
    terms = learned(ways=(0, 1))
    owners, widths = terms.owners, [curve.width for curve in terms.curves]
    held = np.split(terms.held, np.cumsum(widths)[:-1])
    assert not held[0].any()
    assert held[1].all()
    assert not held[2].any()
    assert len(owners) == sum(widths)
    assert not learned().held.any()


def test_the_pair_that_the_rows_ask_for_is_found_first():
    four = RNG.normal(size=(400, 4))
    terms = Terms.learn(
        four, np.arange(400, dtype=np.uint64), np.ones(400), np.arange(4), 5, np.zeros(4)
    )
    push = four[:, 1] * four[:, 3]
    assert terms.best_pairs(four, push, 2)[0] == (1, 3)
    assert len(terms.best_pairs(four, push, 100)) == 6


def test_products_are_held_far_out():
    found = products(np.array([[100.0, 1.0]]), np.array([[-50.0]]))
    np.testing.assert_array_equal(found, [[-9.0, -3.0]])
