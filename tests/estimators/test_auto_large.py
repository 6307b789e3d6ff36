"""More samples than the ensemble is fitted to: the best few are fitted to all of them."""

import numpy as np
import pytest

from lincent import AutoLCC
from lincent.estimators import auto, tabular
from lincent.estimators.auto_candidates import FEATURE_MAPS, fit_path
from lincent.estimators.tabular import Costs
from lincent.model_selection import selection
from lincent.solvers.solution import Controls


@pytest.fixture
def small_samples(monkeypatch):
    """Sizes at which 900 rows are many."""
    monkeypatch.setattr(auto, "SEARCH_ROWS", 150)
    monkeypatch.setattr(auto, "FIT_ROWS", 300)
    monkeypatch.setattr(auto, "COMPARED_ROWS", 300)
    monkeypatch.setattr(auto, "START_ROWS", 400)
    monkeypatch.setattr(tabular, "READ_ROWS", 128)
    monkeypatch.setattr(auto, "READ_ROWS", 128)


def table(classes=2, m=900, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, m)
    X = rng.normal(size=(m, 3)) + np.stack([y, np.sin(2.0 * y), 0.0 * y], axis=1)
    X[:, 2] += X[:, 0] ** 2
    return X, y


def model(**settings):
    return AutoLCC(feature_maps=["columns", "splines", "landmarks 1"], **settings)


def from_scratch(found, X, y):
    """Solve the models of the ensemble on all samples at once and in memory."""
    Z, codes = (X - found._center) / found._scale, np.searchsorted(found.classes_, y)
    weight = np.ones(len(y))
    shares = np.full(len(found.classes_), 1.0 / len(found.classes_))
    loss = Costs(shares, (-1.0, 3.0)).loss(codes, weight)
    for one in found.ensemble_:
        parts = [
            Z if name == "columns" else found._blocks[name]._transform(Z)
            for name in FEATURE_MAPS[one["feature_map"]]
        ]
        path = fit_path(
            np.concatenate(parts, axis=1),
            loss,
            [one["C"] * len(y)],
            Controls(1e-11, 500),
        )
        yield parts, path[0].rules


@pytest.mark.parametrize("classes", [2, 3])
def test_ensemble_are_those_of_all_rows(small_samples, classes):
    X, y = table(classes)
    found = model().fit(X, y)
    assert 1 <= len(found.ensemble_) <= auto.N_FEW
    assert found.duality_gap_ <= found.tol
    assert sum(found.cv_results_["weight"] > 0) == len(found.ensemble_)
    total = found.decision_function(X).reshape(len(X), -1) - found._shift
    # Decision values are means over models, each normalized: a combination of these solutions.
    columns = []
    for parts, rules in from_scratch(found, X, y):
        scores = np.concatenate(parts, axis=1) @ rules[:-1] + rules[-1]
        if classes > 2:  # what all outputs have in common is arbitrary
            scores = scores - scores.mean(axis=1, keepdims=True)
        columns.append(scores.reshape(-1))
    if classes > 2:
        total = total - total.mean(axis=1, keepdims=True)
    basis = np.stack(columns, axis=1)
    amounts, *_ = np.linalg.lstsq(basis, total.reshape(-1), rcond=None)
    np.testing.assert_allclose(basis @ amounts, total.reshape(-1), atol=1e-4)
    assert np.all(amounts > 0)


def test_samples_that_choose_are_held_out(small_samples):
    X, y = table()
    found = model().fit(X, y)
    held_out = np.isfinite(found.out_of_fold_scores_)
    assert auto.COMPARED_ROWS // 2 <= held_out.sum() <= auto.COMPARED_ROWS
    assert np.isfinite(found.out_of_fold_probabilities_[held_out]).all()
    again = model().fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(np.isfinite(again.out_of_fold_scores_)[::-1], held_out)
    np.testing.assert_allclose(again.decision_function(X), found.decision_function(X), atol=1e-6)


def test_weights_are_frequencies(small_samples):
    X, y = table()
    weight = 1.0 + (np.arange(len(y)) % 3 == 0)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    one, other = model().fit(X, y, sample_weight=weight), model().fit(X[rows], y[rows])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


def test_a_class_without_further_rows_leaves_the_ensemble_of_the_sample(small_samples):
    X, y = table()
    y[10:22] = 2  # all of them are in every sample
    found = model().fit(X, y)
    assert len(found.ensemble_) == auto.ENSEMBLE_SIZE_MANY


def test_the_threshold_is_that_of_the_few(small_samples, monkeypatch):
    monkeypatch.setattr(selection, "N_THRESHOLDS", 15)
    X, y = table()
    y = (y + (X[:, 1] > 0.3) > 1).astype(int)
    found = model(scoring="f1").fit(X, y)
    plain = model().fit(X, y)
    assert found._shift.shape == plain._shift.shape == (1,)
    relative = plain.predict_proba(X) / np.bincount(y)
    np.testing.assert_array_equal(plain.predict(X), relative.argmax(axis=1))
    assert found.score(X, y) > 0.6


def test_leaves_are_fitted_to_more_samples_and_weighted_by_others(small_samples, monkeypatch):
    monkeypatch.setattr(auto, "LEAF_ROWS", 700)
    X, y = table()
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0)).astype(int)
    found = AutoLCC(feature_maps=["columns", "forest leaves"]).fit(X, y)
    weights = {one["feature_map"]: one["weight"] for one in found.ensemble_}
    assert weights["forest leaves"] > 0.3
    assert found.duality_gap_ <= found.tol
    assert found.score(X, y) > 0.95
    held_out = np.isfinite(found.out_of_fold_scores_)
    assert auto.COMPARED_ROWS // 2 <= held_out.sum() <= auto.COMPARED_ROWS


def test_too_little_time_for_all_samples_fits_and_certifies_some(small_samples, monkeypatch):
    X, y = table()
    whole = model().fit(X, y)
    monkeypatch.setattr(Controls, "out_of_time", lambda self, ahead=0.0: ahead > 0.0)
    fitted, fit = [], auto.fit_in_place
    monkeypatch.setattr(auto, "fit_in_place", lambda *given: fitted.append(given) or fit(*given))
    found = model(time_limit=1.0).fit(X, y)
    assert {len(samples.codes) for samples, *_ in fitted} == {auto.START_ROWS}
    assert found.duality_gap_ <= found.tol
    assert np.abs(found.decision_function(X) - whole.decision_function(X)).max() > 1e-4
    assert found.score(X, y) > whole.score(X, y) - 0.05


def test_threads_of_a_pass_change_no_digit(small_samples):
    X, y = table()
    one, two = (model(n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.ensemble_ == two.ensemble_
