"""Rows as features of terms: one path over smoothings and C, and bands by resampling."""

from dataclasses import replace

import numpy as np
import pytest

from lincent.estimators.additive import AdditiveProblem, AdditiveRows, Terms
from lincent.estimators.tabular import Costs, TrainingRows
from lincent.problems.joint import SeparateLoss
from lincent.solvers.newton.joint import Design, solve_path
from lincent.solvers.solution import Controls

SMOOTHINGS, CS, COUNT = [0.01, 0.1, 1.0], [0.001, 0.1, 2.0], 4


def problem(m=240, n=3, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(m, n))
    score = Z[:, 0] ** 2 + Z[:, 1] + 0.5 * rng.normal(size=m)
    codes = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    rows = TrainingRows(Z, np.arange(m, dtype=np.uint64), codes, rng.integers(1, 4, m) * 1.0, None)
    costs = Costs(np.full(classes, 1 / classes), (-1.0, 3.0))
    return AdditiveProblem(rows, costs, Controls(1e-9, 200))


def terms_of(one, ways=None):
    rows, n = one.rows, one.rows.Z.shape[1]
    ways = np.zeros(n, dtype=int) if ways is None else np.array(ways)
    found = Terms.learn(rows.Z, rows.keys, rows.weight, np.arange(n), 6, ways)
    return replace(found, smoothing=SMOOTHINGS[0])


@pytest.mark.parametrize("shape", [(240, 3), (30, 8)], ids=["long", "wide"])
@pytest.mark.parametrize("classes", [2, 3])
def test_to_and_fro_is_every_setting_by_itself(shape, classes):
    one = problem(*shape, classes)
    terms = terms_of(one)
    there = {}
    for s, k, rows, rules in one.seen_by(terms).alternating_path(SMOOTHINGS, CS, 1e-10):
        np.testing.assert_allclose(
            rows.features, replace(terms, smoothing=SMOOTHINGS[s]).apply(one.rows.Z), atol=1e-9
        )
        there[s, k] = rows.features @ rules[:-1] + rules[-1]
    assert len(there) == len(SMOOTHINGS) * len(CS)
    for (s, k), scores in there.items():
        alone = one.seen_by(replace(terms, smoothing=SMOOTHINGS[s]))
        rules = alone.path([CS[k]])[0].rules
        wanted = alone.features @ rules[:-1] + rules[-1]
        wanted, scores = (f - f.mean(axis=1, keepdims=classes > 2) if classes > 2 else f
                          for f in (wanted, scores))  # fmt: skip
        np.testing.assert_allclose(scores, wanted, atol=2e-4)


def test_to_and_fro_with_a_monotone_column():
    one = problem()
    terms = terms_of(one, [0, 1, 0])
    for s, k, _, rules in one.seen_by(terms).alternating_path(SMOOTHINGS, CS, 1e-10):
        alone = one.seen_by(replace(terms, smoothing=SMOOTHINGS[s])).path([CS[k]])[0]
        assert np.all(rules[:-1][terms.held] >= 0)
        np.testing.assert_allclose(rules, alone.rules, atol=2e-4)


def test_pairs_are_not_rescaled_for_another_smoothing():
    one = problem()
    seen = one.seen_by(replace(terms_of(one), pairs=[(0, 1)]))
    with pytest.raises(AssertionError, match="no multiples"):
        seen.smoothed(1.0)


def resolved(seen, C, seed):
    """Every resample as a problem of its own, to the end."""
    one, rng = seen.problem, np.random.default_rng(seed)
    for _ in range(COUNT):
        weight = rng.gamma(one.rows.weight)
        loss = one.costs.loss(one.rows.codes, weight)
        design = Design(seen.features, one.rows.codes, weight)
        yield solve_path(design, loss, [C * weight.sum()], 1e-9, 200)[0].rules


@pytest.mark.parametrize("shape", [(240, 3), (30, 8)], ids=["long", "wide"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_a_band_is_that_of_the_resamples_solved_one_by_one(shape, classes, C):
    one = problem(*shape, classes)
    seen = one.seen_by(terms_of(one))
    own = seen.path([C])[0].rules
    found = seen.band(C, own, COUNT, 7)
    assert found.shape == (COUNT, *own.shape)
    wanted = np.array(list(resolved(seen, C, 7)))
    spread = np.abs(wanted[:, :-1] - own[:-1]).mean()
    assert np.abs(found - wanted)[:, :-1].mean() <= 0.05 * spread


def test_a_band_of_monotone_columns_is_monotone():
    one = problem()
    seen = one.seen_by(terms_of(one, [0, 1, 0]))
    own = seen.path([0.1])[0].rules
    found = seen.band(0.1, own, COUNT, 7)
    assert np.all(found[:, :-1][:, seen.terms.held] >= 0)
    assert np.ptp(found, axis=0).max() > 0


def test_no_resamples_make_no_band():
    one = problem()
    seen = one.seen_by(terms_of(one))
    own = seen.path([0.1])[0].rules
    assert seen.band(0.1, own, 0, 7).shape == (0, *own.shape)


def test_rows_with_weights_of_their_own_are_separate_problems():
    one = problem()
    seen = one.seen_by(terms_of(one))
    assert isinstance(seen.loss, SeparateLoss)
    rng = np.random.default_rng(3)
    weights = rng.random((len(one.rows.codes), 2))
    cost, side = np.repeat(seen.loss.cost, 2, axis=0), np.repeat(seen.loss.side, 2, axis=0)
    both = replace(seen.loss, weight=weights, cost=cost, side=side)
    scores = rng.normal(size=weights.shape)
    for k in range(2):
        alone = replace(seen.loss, weight=weights[:, k])
        np.testing.assert_allclose(
            both.read(scores).slope[:, k], alone.read(scores[:, k : k + 1]).slope[:, 0]
        )
        assert both.read(scores).loss[k] == pytest.approx(alone.read(scores[:, k : k + 1]).loss[0])


def test_means_count_weights():
    one = problem()
    seen = AdditiveRows(one, terms_of(one), one.rows.Z)
    np.testing.assert_allclose(
        seen.means(), np.average(one.rows.Z, axis=0, weights=one.rows.weight)
    )
