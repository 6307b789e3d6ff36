"""Leaves of tree ensembles as features: partitions, names, missing values, weights."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.metrics import roc_auc_score

from lincent import RegularizedLCC
from lincent.features import TreeLeaves
from lincent.features.tree_leaves import MAX_LEVELS, _rounded

KINDS = ("extra_trees", "random_forest", "hist_gradient_boosting")


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.3, random_state=0)


@pytest.mark.parametrize("kind", KINDS)
def test_every_sample_has_one_leaf_of_every_tree(kind, moons):
    X, y = moons
    leaves = TreeLeaves(kind, 12, max_leaf_nodes=8).fit(X, y)
    Z = leaves.transform(X).toarray()
    assert Z.shape == (300, leaves.n_leaves_.sum())
    ends = np.cumsum(leaves.n_leaves_)
    for start, end in zip(ends - leaves.n_leaves_, ends, strict=True):
        np.testing.assert_array_equal(np.count_nonzero(Z[:, start:end], axis=1), 1)
        assert (Z[:, start:end].max(axis=0) > 0).all()  # no leaf without a training sample
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1)
    np.testing.assert_array_equal(
        TreeLeaves(kind, 12, max_leaf_nodes=8).fit_transform(X, y).toarray(), Z
    )


@pytest.fixture(scope="module", params=[2, 3])
def classes(request):
    return make_classification(
        400, 6, n_informative=4, n_classes=request.param, n_clusters_per_class=1, random_state=0
    )


@pytest.mark.parametrize("kind", ["extra_trees", "random_forest"])
def test_leaves_of_new_samples_are_those_of_the_forest(kind, classes):
    leaves = TreeLeaves(kind, 10, max_leaf_nodes=8).fit(*classes)
    new = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    columns = leaves.transform(new).indices.reshape(200, -1)
    for ours, theirs in zip(columns.T, leaves.ensemble_.apply(new).T, strict=True):
        assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs))


def test_boosting_is_linear_in_its_leaves(classes):
    leaves = TreeLeaves("hist_gradient_boosting", 10, max_leaf_nodes=8).fit(*classes)
    new = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    expected = leaves.ensemble_.decision_function(new).reshape(200, -1)
    Z = leaves.transform(new).toarray()
    values = np.linalg.lstsq(Z, expected, rcond=None)[0]
    assert np.linalg.matrix_rank(Z) < 150
    np.testing.assert_allclose(Z @ values, expected, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_name_of_a_leaf_is_its_rule(kind, moons):
    pandas = pytest.importorskip("pandas")
    X, y = moons
    frame = pandas.DataFrame(X.astype(np.float32), columns=["age", "income"])
    leaves = TreeLeaves(kind, 3, max_leaf_nodes=6).fit(frame, y)
    Z = leaves.transform(frame).toarray() > 0
    names = leaves.get_feature_names_out()
    assert len(set(names)) == Z.shape[1]
    for column, name in enumerate(names):
        tree, rule = name.split(": ")
        inside = np.ones(len(frame), dtype=bool)
        for condition in rule.split(" and "):
            feature, sign, threshold = condition.split(" ")
            values = frame[feature].to_numpy()
            inside &= values <= float(threshold) if sign == "<=" else values > float(threshold)
        # Thresholds are printed with three digits: samples between are few.
        assert np.mean(inside != Z[:, column]) < 0.02, (tree, rule)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_go_to_a_leaf(kind, moons):
    X, y = moons
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    leaves = TreeLeaves(kind, 5).fit(X, y)
    np.testing.assert_array_equal(np.diff(leaves.transform(X).indptr), len(leaves.n_leaves_))


def test_a_random_forest_is_grown_on_quantiles():
    rng = np.random.default_rng(0)
    X = np.stack([rng.exponential(size=900), np.arange(900) == 7, rng.normal(size=900)], axis=1)
    X = X.astype(np.float32)
    X[:50, 2] = np.nan
    rounded = _rounded(X)
    np.testing.assert_array_equal(rounded[:, 1], X[:, 1])  # a rare value stays
    np.testing.assert_array_equal(np.isnan(rounded), np.isnan(X))
    levels = np.unique(rounded[:, 0])
    assert len(levels) == MAX_LEVELS
    distance = np.abs(X[:, :1] - levels)
    np.testing.assert_allclose(np.abs(rounded[:, 0] - X[:, 0]), distance.min(axis=1), atol=1e-6)
    y = (X[:, 0] > 1).astype(int)
    forest = TreeLeaves("random_forest", 5, max_leaf_nodes=8).fit(X[:, :1], y).ensemble_
    thresholds = np.concatenate([tree.tree_.threshold for tree in forest.estimators_])
    for threshold in thresholds[thresholds > 0]:  # as well for values as for their quantiles
        np.testing.assert_array_equal(X[:, 0] <= threshold, rounded[:, 0] <= threshold)


@pytest.mark.parametrize("kind", KINDS)
def test_a_certified_linear_classifier_on_the_leaves_is_at_least_as_good_as_the_trees(kind):
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(900, 8))
        y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=900) > 0).astype(int)
        leaves = TreeLeaves(kind, 30).fit(X[:600], y[:600])
        model = RegularizedLCC(C=0.1).fit(leaves.transform(X[:600]), y[:600])
        assert np.max(model.duality_gap_) < 1e-6
        linear = model.decision_function(leaves.transform(X[600:]))
        trees = leaves.ensemble_.predict_proba(X[600:])[:, 1]
        gains.append(roc_auc_score(y[600:], linear) - roc_auc_score(y[600:], trees))
    assert np.mean(gains) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_order_and_repetition_do_not_matter(kind, moons):
    X, y = moons
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(y))
    weighted = TreeLeaves(kind, 5).fit(X, y, weight)
    order = rng.permutation(np.repeat(np.arange(len(y)), weight))
    repeated = TreeLeaves(kind, 5).fit(X[order], y[order])
    assert (weighted.transform(X) != repeated.transform(X)).nnz == 0


def test_the_result_does_not_depend_on_n_jobs(moons):
    X, y = moons
    one, two = (TreeLeaves(n_estimators=8, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert (one.transform(X) != two.transform(X)).nnz == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"kind": "forest"}, "kind"), ({"n_estimators": 0}, "n_estimators")],
)
def test_unusable_parameters(parameters, message, moons):
    with pytest.raises(ValueError, match=message):
        TreeLeaves(**parameters).fit(*moons)
