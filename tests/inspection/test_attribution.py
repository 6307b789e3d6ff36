"""Contributions add up to the score, and are the Shapley values of their game."""

from itertools import combinations, product
from math import factorial

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer, scale
from sklearn.svm import SVC

from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class
from lincent.inspection import attribution, contributions

NAMES = (*ESTIMATORS, *BASELINES)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X)[::2, :6], y[::2]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_contributions_of_every_estimator_are_its_score(wine, name, n_classes):
    X, y = (part[wine[1] < n_classes] for part in wine)
    model = estimator_class(name)().fit(X, y)
    parts = contributions(model, X[:7], background=X)
    assert parts.values.shape == (7, len(parts.names)) + ((n_classes,) if n_classes > 2 else ())
    total = parts.values.sum(axis=1) + (parts.base if n_classes > 2 else parts.base[0])
    np.testing.assert_allclose(total, model.decision_function(X[:7]), atol=1e-8)


def enumerated(score, row, background):
    """Return the Shapley values of one row, columns drawn independently, by their definition."""
    d = len(row)
    draws = np.array(list(product(*background.T)))  # every combination of values of the columns

    def value(subset):
        rows = draws.copy()
        rows[:, list(subset)] = row[list(subset)]
        return score(rows).mean(axis=0)

    values = {s: value(s) for size in range(d + 1) for s in combinations(range(d), size)}
    shapley = []
    for j in range(d):
        total = 0.0
        for subset in values:
            if j not in subset:
                size = len(subset)
                weight = factorial(size) * factorial(d - size - 1) / factorial(d)
                total = total + weight * (values[tuple(sorted((*subset, j)))] - values[subset])
        shapley.append(total)
    return np.array(shapley)


def test_exact_ones_are_the_shapley_values(wine):
    """AutoLCC's by quadrature equal the sum over all subsets of six columns."""
    from lincent import AutoLCC

    X, y = wine
    model, background = AutoLCC(cv=2).fit(X, y), X[:3]
    parts = contributions(model, X[5:7], background=background)
    assert parts.standard_error is None
    for k in (0, 1):
        expected = enumerated(model.decision_function, X[5 + k], background)
        np.testing.assert_allclose(parts.values[k], expected, atol=1e-9)


def test_leaves_are_exact():
    from lincent import AutoLCC

    rng = np.random.default_rng(0)
    X = rng.normal(size=(420, 4))
    y = (X[:, 0] * X[:, 1] + 0.3 * (X[:, 2] > 0.5) > 0).astype(int)
    for name in ("forest leaves", "boosted leaves"):
        model = AutoLCC(feature_maps=[name]).fit(X, y)
        parts = contributions(model, X[5:7], background=X[:4])
        assert parts.standard_error is None
        for k in (0, 1):
            expected = enumerated(model.decision_function, X[5 + k], X[:4])
            np.testing.assert_allclose(parts.values[k], expected.reshape(-1), atol=1e-9)


def test_sampled_ones_are_within_their_stated_error(wine, monkeypatch):
    """A feature map of the user's own and a classifier of scikit-learn have no closed form."""
    from lincent import AutoLCC

    monkeypatch.setattr(attribution, "N_ORDERS", 100)
    X, y = wine
    own = FunctionTransformer(lambda Z: np.hstack([Z, Z[:, :3] * Z[:, 3:]]))
    auto = AutoLCC(feature_maps=[("products", own)]).fit(X, y)
    other = SVC(gamma=0.3).fit(X, y > 0)
    background, errors = X[:3], []
    for model in (auto, other):
        parts = contributions(model, X[20:24], background=background)
        assert parts.standard_error is not None
        for k in range(4):
            expected = enumerated(model.decision_function, X[20 + k], background)
            known = parts.standard_error[k] > 1e-9
            away = parts.values[k] - expected
            np.testing.assert_allclose(away[~known], 0.0, atol=1e-6)
            errors += (away[known] / parts.standard_error[k][known]).tolist()
    errors = np.array(errors)
    assert np.mean(np.abs(errors) < 2) > 0.9
    assert np.abs(errors).max() < 5


def test_frames_with_categories_and_a_classifier_of_another_package():
    pd = pytest.importorskip("pandas")
    from lincent import AutoLCC

    X, y = make_moons(120, noise=0.2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["grade"] = np.arange(120) % 3  # few values, each with a number of its own in splines
    frame["city"] = np.where(y == 1, "ulm", "bonn")
    frame.loc[::9, "city"] = None
    frame.loc[::7, "a"] = np.nan
    model = AutoLCC(cv=2).fit(frame, y)
    parts = contributions(model, frame[:9])
    assert parts.names == ("a", "b", "grade", "city")
    total = parts.values.sum(axis=1) + parts.base[0]
    np.testing.assert_allclose(total, model.decision_function(frame[:9]), atol=1e-8)

    linear = LogisticRegression().fit(X, y)
    parts = contributions(linear, X)
    expected = linear.coef_ * (X - X.mean(axis=0))
    np.testing.assert_allclose(parts.values, expected, atol=1e-9)
    several = SVC(kernel="linear").fit(*load_wine(return_X_y=True))  # coef_ of pairs of classes
    X = load_wine().data[:3]
    parts = contributions(several, X)
    total = parts.values.sum(axis=1) + parts.base
    np.testing.assert_allclose(total, several.decision_function(X), atol=1e-8)
