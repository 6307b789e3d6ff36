"""More rows than members are fitted to at first: the best few are those of all rows."""

import numpy as np
import pytest

from lincent import AutoLCC
from lincent.estimators import auto, auto_large
from lincent.estimators.auto_members import fit_path
from lincent.estimators.auto_search import Costs
from lincent.estimators.portfolio import MAPS


@pytest.fixture
def small_samples(monkeypatch):
    """Sizes at which 900 rows are many."""
    monkeypatch.setattr(auto, "SEARCH_ROWS", 150)
    monkeypatch.setattr(auto, "FIT_ROWS", 300)
    monkeypatch.setattr(auto_large, "JUDGES", 300)
    monkeypatch.setattr(auto_large, "READ_ROWS", 128)


def table(classes=2, m=900, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, m)
    X = rng.normal(size=(m, 3)) + np.stack([y, np.sin(2.0 * y), 0.0 * y], axis=1)
    X[:, 2] += X[:, 0] ** 2
    return X, y


def model(**settings):
    return AutoLCC(maps=["columns", "splines", "landmarks 1"], **settings)


def from_scratch(found, X, y):
    """The rules of the members, solved on all rows at once and in memory."""
    Z, codes = (X - found.center_) / found.scale_, np.searchsorted(found.classes_, y)
    weight = np.ones(len(y))
    shares = np.full(len(found.classes_), 1.0 / len(found.classes_))
    coupling = Costs(shares, (-1.0, 3.0)).coupling(codes, weight)
    for member in found.members_:
        parts = [
            Z if name == "columns" else found.blocks_[name].apply(Z) for name in MAPS[member["map"]]
        ]
        path = fit_path(
            np.concatenate(parts, axis=1),
            coupling,
            [member["C"] * len(y)],
            1e-11,
            500,
            lambda: False,
        )
        yield parts, path[0].rules


@pytest.mark.parametrize("classes", [2, 3])
def test_members_are_those_of_all_rows(small_samples, classes):
    X, y = table(classes)
    found = model().fit(X, y)
    assert 1 <= len(found.members_) <= auto_large.FEW
    assert found.duality_gap_ <= found.tol
    assert sum(found.cv_results_["weight"] > 0) == len(found.members_)
    total = found.decision_function(X).reshape(len(X), -1)
    # Scores are means of the members', each in a unit of its own: a combination of these solutions.
    columns = []
    for parts, rules in from_scratch(found, X, y):
        scores = np.concatenate(parts, axis=1) @ rules[:-1] + rules[-1]
        if classes > 2:  # what all rules have in common says nothing
            scores = scores - scores.mean(axis=1, keepdims=True)
        columns.append(scores.reshape(-1))
    if classes > 2:
        total = total - total.mean(axis=1, keepdims=True)
    basis = np.stack(columns, axis=1)
    amounts, *_ = np.linalg.lstsq(basis, total.reshape(-1), rcond=None)
    np.testing.assert_allclose(basis @ amounts, total.reshape(-1), atol=1e-4)
    assert np.all(amounts > 0)


def test_rows_that_choose_are_not_among_those_fitted_to_first(small_samples):
    X, y = table()
    found = model().fit(X, y)
    judges = np.isfinite(found.out_of_fold_scores_)
    assert auto_large.JUDGES // 2 <= judges.sum() <= auto_large.JUDGES
    assert np.isfinite(found.out_of_fold_probabilities_[judges]).all()
    again = model().fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(np.isfinite(again.out_of_fold_scores_)[::-1], judges)
    np.testing.assert_allclose(again.decision_function(X), found.decision_function(X), atol=1e-6)


def test_a_weight_of_two_is_a_repeated_row(small_samples):
    X, y = table()
    weight = 1.0 + (np.arange(len(y)) % 3 == 0)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    one, other = model().fit(X, y, sample_weight=weight), model().fit(X[rows], y[rows])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


def test_a_class_without_further_rows_leaves_the_members_of_the_sample(small_samples):
    X, y = table()
    y[10:22] = 2  # all of them are in every sample
    found = model().fit(X, y)
    assert len(found.members_) == auto.MEMBERS_MANY


def test_the_cut_is_that_of_the_few(small_samples):
    X, y = table()
    y = (y + (X[:, 1] > 0.3) > 1).astype(int)
    found = model(scoring="f1").fit(X, y)
    plain = model().fit(X, y)
    assert found.shift_.shape == plain.shift_.shape == (1,)
    assert plain.shift_[0] == 0.0
    assert found.score(X, y) > 0.6
