"""FQCC: its objective, its steps, and why one would use it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from lincent import FQCC, LCC
from lincent.estimators import quadratic


def two_groups(seed=0, m=100):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal([-2, 0], 1, (m, 2)), rng.normal([2, 0], 1, (m, 2))])
    return X, np.repeat([0, 1], m)


def with_outliers(seed):
    X, y = two_groups(seed)
    far = np.random.default_rng(seed + 100).normal([20, 10], 0.7, (8, 2))
    return X, y, np.vstack([X, far]), np.append(y, np.zeros(8, dtype=int))


def paper_objective(model, X, y, C=2.0, margin=0.01):
    line = X @ model.coef_[0]
    low, high = line[y == 0].mean(), line[y == 1].mean()
    sign = np.where(y == 1, 1, -1)
    slack = np.maximum(-margin, sign * (np.abs(line - high) - np.abs(line - low)))
    return -abs(high - low) + C * slack.sum()


def test_objective_is_the_paper_s():
    X, y = two_groups(m=30)
    model = FQCC().fit(X, y)
    assert model.duality_gap_ <= model.tol
    assert model.objective_ == pytest.approx(paper_objective(model, X, y), abs=1e-9)


def test_history_falls_to_the_objective():
    X, y = make_classification(300, 6, flip_y=0.2, random_state=0)
    model = FQCC(margin=0.05).fit(X, y)
    history = model.objective_history_
    assert np.all(np.diff(history) <= 0)
    assert history[-1] == model.objective_
    assert len(history) == model.n_iter_ + 1
    lcc = LCC(margin=0.05).fit(X, y)
    assert history[0] == pytest.approx(paper_objective(lcc, X, y, margin=0.05), abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_far_outliers_hurt_lcc_and_not_fqcc(seed):
    X, y, X_bad, y_bad = with_outliers(seed)
    lcc = LCC().fit(X_bad, y_bad).score(X, y)
    fqcc = FQCC(n_init=2).fit(X_bad, y_bad).score(X, y)
    clean = LCC().fit(X, y).score(X, y)
    assert lcc < clean - 0.08
    assert fqcc > clean - 0.05
    assert fqcc > lcc + 0.05


def test_an_outlier_costs_the_same_however_far_it_is():
    *_, X_bad, y_bad = with_outliers(0)
    model = FQCC(n_init=2).fit(X_bad, y_bad)
    beyond = X_bad[-1:] + np.array([[50.0, 0.0]])
    near, far = (model.misclassification_impact(rows, [0])[0] for rows in (X_bad[-1:], beyond))
    reach = float(np.ptp(model.centers_ @ model.coef_[0]))
    assert near == far == pytest.approx(model.C * (reach + model.margin))
    lcc = LCC().fit(X_bad, y_bad)
    assert lcc.misclassification_impact(beyond, [0]) > lcc.misclassification_impact(X_bad[-1:], [0])


def test_impact_sums_to_the_objective():
    X, y = two_groups(3)
    model = FQCC().fit(X, y)
    reach = float(np.ptp(model.centers_ @ model.coef_[0]))
    expected = model.objective_ + reach + model.C * model.margin * len(y)
    assert model.misclassification_impact(X, y).sum() == pytest.approx(expected, abs=1e-9)


def test_more_starts_never_raise_the_objective():
    X, y = make_classification(150, 5, flip_y=0.25, class_sep=0.5, random_state=1)
    one, several = FQCC().fit(X, y), FQCC(n_init=6, random_state=0).fit(X, y)
    assert several.objective_ <= one.objective_
    again = FQCC(n_init=6, random_state=0).fit(X, y)
    np.testing.assert_array_equal(several.coef_, again.coef_)


def test_shift_and_label_swap():
    X, y = make_classification(200, 4, flip_y=0.1, random_state=0)
    model = FQCC().fit(X, y)
    np.testing.assert_allclose(FQCC().fit(X + 7.0, y).coef_, model.coef_, atol=1e-7)
    np.testing.assert_allclose(FQCC().fit(X, 1 - y).coef_, -model.coef_, atol=1e-7)


def test_weight_two_is_a_repeated_row():
    X, y = make_classification(80, 3, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 80)
    repeated = np.repeat(np.arange(80), weight)
    first = FQCC().fit(X, y, sample_weight=weight)
    second = FQCC().fit(X[repeated], y[repeated])
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-7)


def test_sparse_rows_give_the_same_model():
    X, y = make_classification(100, 6, random_state=0)
    X[np.abs(X) < 0.5] = 0
    dense, sparse = FQCC().fit(X, y), FQCC().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-7)


def test_an_unfinished_descent_warns(monkeypatch):
    X, y = make_classification(300, 6, flip_y=0.2, random_state=0)
    assert FQCC(margin=0.05).fit(X, y).n_iter_ > 1
    monkeypatch.setattr(quadratic, "MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="ended it after 1 steps"):
        FQCC(margin=0.05).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_init": 0}, "'n_init' parameter .* Got 0"),
        ({"C": np.inf}, "'C' parameter .* Got inf"),
        ({"margin": 1e6}, "largest feasible margin"),
    ],
)
def test_bad_input_gives_a_sentence(parameters, words):
    with pytest.raises(ValueError, match=words):
        FQCC(**parameters).fit(*two_groups(m=10))


@pytest.mark.parametrize("power", [-100, -30, 40])
def test_data_of_another_unit_has_the_same_optimum(power):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((150, 4))
    y = (X[:, 0] + 1.5 * rng.standard_normal(150) > 0).astype(int)
    unit = 2.0**power
    plain, scaled = FQCC().fit(X, y), FQCC(margin=0.01 * unit).fit(X * unit, y)
    assert scaled.objective_ / unit == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-6, atol=1e-9)
