"""RegularizedLCC: what it promises beyond the scikit-learn contract."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from lincent import RegularizedLCC
from support.labeled import two_classes


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def test_weights_are_repetitions():
    X, y = two_classes()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = RegularizedLCC(tol=1e-12).fit(X, y, sample_weight=weight)
    repeated = RegularizedLCC(tol=1e-12).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-6)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, atol=1e-12)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)


def test_weights_are_repetitions_with_few_columns():
    X, y = two_classes(150, 12)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    model = RegularizedLCC(0.1, norm="l1", tol=1e-12)
    weighted = model.fit(X, y, sample_weight=weight)
    coef, objective = weighted.coef_.copy(), weighted.objective_
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(coef, repeated.coef_, atol=1e-6)
    np.testing.assert_array_equal(coef == 0, repeated.coef_ == 0)
    assert objective == pytest.approx(repeated.objective_, rel=1e-10)


def test_objective_is_the_stated_one(cancer):
    X, y = cancer
    model = RegularizedLCC(C=0.7, margin_range=(-0.5, 2.0)).fit(X, y)
    sign = np.where(y == 1, 1.0, -1.0)
    z = sign * model.decision_function(X)
    phi = np.where(z <= -0.5, 0.75 - z, np.maximum(2.0 - z, 0) ** 2 / 5.0)
    share = np.where(y == 1, 0.5 / np.mean(y == 1), 0.5 / np.mean(y == 0))
    value = np.sum(model.coef_**2) / 2 + 0.7 * np.sum(share * phi)
    assert model.objective_ == pytest.approx(value, rel=1e-12)
    gap = (model.objective_ - model.dual_objective_) / max(1.0, model.objective_)
    assert gap == pytest.approx(model.duality_gap_, abs=1e-12)
    assert model.duality_gap_ <= 1e-9


def test_objective_with_few_columns_is_the_stated_one(cancer):
    X, y = cancer
    model = RegularizedLCC(C=0.02, norm="l1").fit(X, y)
    z = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    phi = np.where(z <= -1, 1 - z, np.maximum(3 - z, 0) ** 2 / 8)
    share = np.where(y == 1, 0.5 / np.mean(y == 1), 0.5 / np.mean(y == 0))
    value = np.sum(np.abs(model.coef_)) + 0.02 * np.sum(share * phi)
    assert model.objective_ == pytest.approx(value, rel=1e-12)
    assert model.duality_gap_ <= 1e-9
    assert 0 < np.count_nonzero(model.coef_) < X.shape[1] / 2
    assert model.score(X, y) > 0.93


def test_few_columns_in_every_form_and_for_many_classes():
    X, y = load_iris(return_X_y=True)
    X = np.hstack([scale(X), np.random.default_rng(0).standard_normal((150, 30))])
    X[np.abs(X) < 0.3] = 0.0
    dense = RegularizedLCC(0.2, norm="l1").fit(X, y)
    assert np.count_nonzero(dense._coef) < dense._coef.size / 2
    for form in (sp.csr_array(X), np.asfortranarray(X), X.astype(np.float32)):
        other = RegularizedLCC(0.2, norm="l1").fit(form, y)
        np.testing.assert_allclose(other._coef, dense._coef, atol=1e-5)
    assert dense.duality_gap_ <= 1e-9


def test_costs_too_small_for_any_column_leave_all_out():
    X, y = two_classes()
    model = RegularizedLCC(1e-6, norm="l1").fit(X, y)
    assert not np.any(model.coef_)
    assert len(np.unique(model.predict(X))) == 1


def test_the_threshold_is_between_the_centers(cancer):
    X, y = cancer
    model = RegularizedLCC().fit(X, y)
    middle = model.centers_.mean(axis=0) @ model.coef_[0]
    half = (model.centers_[1] - model.centers_[0]) @ model.coef_[0] / 2
    assert 0 < abs(model.intercept_[0] + middle) < half  # between the centers
    model = RegularizedLCC(fit_intercept=False).fit(X, y)
    assert -model.intercept_[0] == pytest.approx(model.centers_.mean(axis=0) @ model.coef_[0])


def test_shift_changes_nothing_but_the_intercept(cancer):
    X, y = cancer
    here, there = RegularizedLCC(tol=1e-12).fit(X, y), RegularizedLCC(tol=1e-12).fit(X + 7.0, y)
    np.testing.assert_allclose(here.coef_, there.coef_, atol=1e-7)


def test_sparse_and_single_precision_are_the_same_problem():
    X, y = two_classes(300, 8)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0.0
    dense = RegularizedLCC(tol=1e-12).fit(X, y)
    for form in (sp.csr_array(X), sp.csr_matrix(X), np.asfortranarray(X)):
        np.testing.assert_allclose(
            RegularizedLCC(tol=1e-12).fit(form, y).coef_, dense.coef_, atol=1e-7
        )
    single = X.astype(np.float32)
    np.testing.assert_allclose(
        RegularizedLCC().fit(single, y).coef_,
        RegularizedLCC().fit(single.astype(float), y).coef_,
        atol=1e-6,
    )


def test_large_sets_start_from_a_sample_and_end_at_the_optimum():
    X, y = two_classes(30_000, 12)
    first, second = (RegularizedLCC(random_state=seed).fit(X, y) for seed in (0, 1))
    assert max(first.duality_gap_, second.duality_gap_) <= 1e-9
    assert first.objective_ == pytest.approx(second.objective_, rel=2e-9)


def test_wide_sparse_text_like_rows():
    rng = np.random.default_rng(0)
    X = sp.random(60, 4000, density=0.01, random_state=rng, format="csr")
    y = rng.integers(0, 2, 60)
    model = RegularizedLCC(C=10.0).fit(X, y)
    assert model.duality_gap_ <= 1e-9
    assert model.score(X, y) == 1.0


def test_balanced_costs_find_the_small_class():
    X, y = two_classes(600, 4, share=0.05)
    balanced = np.mean(RegularizedLCC().fit(X, y).predict(X)[y == 1])
    plain = np.mean(RegularizedLCC(class_weight=None).fit(X, y).predict(X)[y == 1])
    assert balanced > plain + 0.2


def test_class_weights_move_the_threshold():
    X, y = two_classes()
    shares = [
        RegularizedLCC(class_weight={0: 1, 1: k}).fit(X, y).predict(X).mean() for k in (0.1, 1, 10)
    ]
    assert shares[0] < shares[1] < shares[2]


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_many_classes(strategy):
    X, y = load_iris(return_X_y=True)
    model = RegularizedLCC(multi_class=strategy).fit(scale(X), y)
    assert model._coef.shape == (3, 4)
    assert model.centers_.shape == (3, 2, 4)
    assert model.duality_gap_ <= 1e-9
    assert model.score(scale(X), y) > 0.8


def test_about_as_accurate_as_balanced_logistic_regression(cancer):
    X, y = cancer
    ours = roc_auc_score(y[300:], RegularizedLCC().fit(X[:300], y[:300]).decision_function(X[300:]))
    other = LogisticRegression(class_weight="balanced").fit(X[:300], y[:300])
    assert ours > roc_auc_score(y[300:], other.decision_function(X[300:])) - 0.01


def test_impact_is_the_loss_of_each_row():
    X, y = two_classes()
    model = RegularizedLCC().fit(X, y)
    z = np.where(y == 1, 1, -1) * model.decision_function(X)
    phi = np.where(z <= -1, 1 - z, np.maximum(3 - z, 0) ** 2 / 8)
    np.testing.assert_allclose(model.misclassification_impact(X, y), phi, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0.0}, r"'C' parameter .* Got 0\.0"),
        ({"C": np.inf}, r"'C' parameter .* Got inf"),
        ({"margin_range": (1.0, 1.0)}, "low < high"),
        ({"margin_range": (2.0, 1.0)}, "low < high"),
        ({"margin_range": 3.0}, "two numbers"),
        ({"norm": "l0"}, r"'norm' parameter .* Got 'l0'"),
    ],
)
def test_a_bad_parameter_is_named(parameters, words):
    X, y = two_classes()
    with pytest.raises(ValueError, match=words):
        RegularizedLCC(**parameters).fit(X, y)


@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
def test_an_entry_that_is_not_finite_is_found(norm, value, form):
    X, y = two_classes()
    X[7, 3] = value
    X = X.astype(form) if form is np.float32 else form(X)
    for weight in (None, np.where(np.arange(len(y)) == 7, 0.0, 1.0)):
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            RegularizedLCC(norm=norm).fit(X, y, weight)


def test_an_early_end_is_told(cancer):
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = RegularizedLCC(max_iter=1).fit(*cancer)
    assert model.duality_gap_ > 1e-9


# Cross-validated.


@pytest.mark.parametrize("seed", [18, 19, 20])
def test_a_few_heavy_rows_do_not_make_the_steps_creep(seed):
    """One of twelve positive rows counts as much as sixty others: its curvature must be current."""
    rng = np.random.default_rng(seed)
    y = (np.arange(800) < 12).astype(int)
    X = rng.standard_normal((800, 11)) + 0.8 * y[:, None] * rng.standard_normal(11)
    model = RegularizedLCC(C=100.0).fit(X, y)
    assert model.duality_gap_ <= 1e-9
    assert model.n_iter_ <= 60
