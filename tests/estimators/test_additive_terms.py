"""Terms: features of columns and of pairs, and who owns them."""

from dataclasses import replace

import numpy as np

from lincent.estimators.additive import LEADING, Terms

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
    assert np.count_nonzero(terms.owners == 2) == LEADING**2


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
    features = terms.apply(four)
    assert terms.best_pairs(features, push, 2)[0] == (1, 3)
    assert len(terms.best_pairs(features, push, 100)) == 6


def test_products_are_held_far_out():
    terms = learned(pairs=[(0, 1)])
    found = terms.apply(np.array([[100.0, -50.0, 0.0]]))[0, terms.owners == 2]
    assert found[0] == -9.0
    assert np.abs(found).max() == 9.0


def test_the_order_of_pairs_is_that_of_their_products():
    push = RNG.normal(size=(400, 2))
    more = Terms.learn(
        np.hstack([Z, Z**2]), np.arange(400, dtype=np.uint64), np.ones(400),
        np.array([0, 1, 1, 2, 3, 3]), 5, np.zeros(4),
    )  # fmt: skip
    features = more.apply(np.hstack([Z, Z**2]))
    starts = np.searchsorted(more.owners, range(4))

    def worth(first, second):
        parts = (features[:, starts[k] : starts[k] + LEADING] for k in (first, second))
        a, b = (part.clip(-3, 3) for part in parts)
        found = (a[:, :, None] * b[:, None]).reshape(len(a), -1)
        return ((found.T @ push) ** 2).sum() / (found**2).mean(axis=0).sum()

    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    assert more.best_pairs(features, push, 6) == sorted(pairs, key=lambda pair: -worth(*pair))


def test_smoothing_is_a_factor_on_each_feature():
    rough, smooth = learned(), replace(learned(), smoothing=2.0)
    ratio = smooth.factors / rough.factors
    np.testing.assert_allclose(smooth.apply(Z), rough.apply(Z) * ratio, atol=1e-10)
    assert ratio.min() < 0.9
    assert ratio.max() == 1.0
