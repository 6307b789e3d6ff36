"""Fitting an additive model: certified rules, pairs, and bands by resampling."""

import numpy as np

from lincent.estimators.additive import AdditiveProblem, Terms
from lincent.estimators.tabular import Costs, TrainingRows
from lincent.solvers.solution import Controls

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(300, 3))
CODES = (Z[:, 0] + Z[:, 1] * Z[:, 2] > 0).astype(int)
KEYS = np.arange(300, dtype=np.uint64)


def problem():
    rows = TrainingRows(Z, KEYS, CODES, np.ones(300), None)
    costs = Costs(np.array([0.5, 0.5]), (0.0, 2.0))
    return AdditiveProblem(rows, costs, Controls(1e-9, 200))


def terms(ways=(0, 0, 0)):
    return Terms.learn(Z, KEYS, np.ones(300), np.arange(3), 5, np.array(ways))


def test_a_path_is_certified_with_and_without_monotone_columns():
    for ways in ((0, 0, 0), (1, 0, 0)):
        some = terms(ways)
        found = problem().seen_by(some).path([0.01, 1.0])
        for one in found:
            assert one.relative_gap.max() <= 1e-9
            assert np.all(one.rules[:-1][some.held] >= 0)


def test_the_pair_that_made_the_classes_is_found():
    whole = problem()
    assert whole.seen_by(terms()).with_pairs(1.0, 1).pairs == [(1, 2)]
