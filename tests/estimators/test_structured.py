"""StructuredLCC: local centers as features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from lincent import RegularizedLCC, StructuredLCC, StructuredLCCCV
from lincent.features import similarity
from lincent.features.similarity import find_local_centers, squared_distances
from support.labeled import ring


def test_features_are_the_stated_ones():
    X, y = ring()
    model = StructuredLCC(n_centers=6, gamma=0.7).fit(X, y)
    c, n = model.local_centers_, X.shape[1]
    near = np.exp(-0.7 * ((X[:, None] - c) ** 2).sum(axis=2) / n)
    G = np.exp(-0.7 * ((c[:, None] - c) ** 2).sum(axis=2) / n)
    values, vectors = np.linalg.eigh(G)
    root = vectors @ np.diag(np.maximum(values, 1e-6) ** -0.5) @ vectors.T
    expected = np.hstack([X, np.sqrt(n) * near @ root])
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-6)


def test_it_is_regularized_lcc_on_the_features():
    X, y = ring()
    model = StructuredLCC().fit(X, y)
    rule = RegularizedLCC(0.1, (0.0, 2.0)).fit(model.transform(X), y)
    np.testing.assert_allclose(
        model.decision_function(X), rule.decision_function(model.transform(X)), atol=1e-8
    )
    assert model.objective_ == pytest.approx(rule.objective_, rel=1e-8)
    assert model.duality_gap_ <= 1e-9


def test_local_centers_belong_to_their_classes():
    X, y = ring()
    model = StructuredLCC().fit(X, np.array(["in", "out"])[1 - y])
    assert len(model.local_centers_) == 40  # a quarter of 80 rows, twice
    radius = np.linalg.norm(model.local_centers_, axis=1)
    assert radius[model.local_classes_ == "in"].max() < radius[model.local_classes_ == "out"].min()
    assert model.local_sizes_.sum() == pytest.approx(160)


def test_a_ring_needs_structure():
    X, y = ring()
    assert RegularizedLCC().fit(X, y).score(X, y) < 0.75
    assert StructuredLCC().fit(X, y).score(X, y) > 0.95
    assert StructuredLCCCV().fit(X, y).score(X, y) > 0.95


def test_coefficients_of_centers_have_on_the_whole_the_sign_of_their_class():
    X, y = ring()
    model = StructuredLCC().fit(X, y)
    mean = [model.local_coef_[0, model.local_classes_ == label].mean() for label in model.classes_]
    assert mean[0] < 0 < mean[1]


def test_score_is_linear_part_and_similarities():
    X, y = ring()
    model = StructuredLCC(gamma=0.5).fit(X, y)
    near = np.exp(-0.5 * squared_distances(X, model.local_centers_) / X.shape[1])
    score = X @ model._coef[0] + near @ model.local_coef_[0] + model._intercept[0]
    np.testing.assert_allclose(model.decision_function(X), score, atol=1e-8)


def test_width_follows_the_scale_of_x():
    X, y = ring()
    one, many = (find_local_centers(k * X, y, np.ones(len(y)), 10, 0) for k in (1.0, 100.0))
    assert one.variance == pytest.approx(X.shape[1])  # standardized columns
    assert many.variance == pytest.approx(1e4 * one.variance)
    assert StructuredLCC().fit(100 * X, y).score(100 * X, y) > 0.95


@pytest.mark.parametrize("estimator", [StructuredLCC(), StructuredLCCCV()])
def test_weights_are_repetitions_and_order_is_nothing(estimator):
    X, y = ring(100)
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 3, 100)
    order = rng.permutation(weight.sum())
    weighted = estimator.fit(X, y, sample_weight=weight).decision_function(X)
    repeated = estimator.fit(
        np.repeat(X, weight, axis=0)[order], np.repeat(y, weight)[order]
    ).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-4)


def test_many_classes_share_the_local_centers():
    X, y = load_iris(return_X_y=True)
    model = StructuredLCC().fit(scale(X), y)
    assert len(model.local_centers_) == 36  # a quarter of 50 rows, three times
    assert model.local_coef_.shape == (3, 36)
    assert model.score(scale(X), y) > 0.93


def test_many_rows_go_through_mini_batches(monkeypatch):
    X, y = ring(2000)
    weight = np.random.default_rng(0).integers(1, 4, 2000)

    def spread(found):
        nearest = [
            squared_distances(X[y == code], found.centers[found.classes == code]).min(axis=1)
            for code in (0, 1)
        ]
        return float(np.concatenate(nearest).mean())

    monkeypatch.setattr(similarity, "SAMPLE_ROWS", 60)
    found = find_local_centers(X, y, np.ones(2000), 10, 0)
    assert found.sizes.sum() == pytest.approx(2000)
    monkeypatch.setattr(
        similarity, "_means", lambda points, counts, k, seed: sample(points, k, seed)
    )

    def sample(points, k, seed):
        means = KMeans(k, n_init=1, random_state=seed).fit(points[:60])
        return means.cluster_centers_, means.predict(points)

    assert spread(found) < 0.95 * spread(find_local_centers(X, y, np.ones(2000), 10, 0))
    monkeypatch.undo()
    monkeypatch.setattr(similarity, "SAMPLE_ROWS", 60)
    order = np.random.default_rng(1).permutation(int(weight.sum()))
    weighted = find_local_centers(X, y, weight.astype(float), 10, 0)
    again = find_local_centers(
        np.repeat(X, weight, axis=0)[order], np.repeat(y, weight)[order], np.ones(len(order)), 10, 0
    )
    np.testing.assert_allclose(weighted.centers, again.centers, atol=1e-9)
    np.testing.assert_allclose(weighted.sizes, again.sizes)
    assert StructuredLCC().fit(X, y).score(X, y) > 0.93


def test_the_search_takes_sparse_rows():
    X, y = ring()
    plain, found = (
        StructuredLCCCV(Cs=(0.01, 0.1), cv=2).fit(rows, y) for rows in (X, sp.csr_array(X))
    )
    np.testing.assert_array_equal(found.predict(sp.csr_array(X)), plain.predict(X))


def test_distances_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, c = rng.standard_normal((20, 3)) + 1e6, rng.standard_normal((4, 3)) + 1e6
    np.testing.assert_allclose(
        squared_distances(X, c), ((X[:, None] - c) ** 2).sum(axis=2), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_centers": 0}, r"'n_centers' parameter .* Got 0"),
        ({"gamma": -1.0}, r"'gamma' parameter .* Got \-1\.0"),
        ({"C": 0.0}, r"'C' parameter .* Got 0\.0"),
    ],
)
def test_a_bad_parameter_is_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        StructuredLCC(**parameters).fit(*ring())


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_give_the_model_of_dense_ones(container, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 9)) * (rng.random((700, 9)) < 0.3)
    y = ((X[:, :4] ** 2).sum(axis=1) + 0.3 * rng.standard_normal(700) > 1).astype(int)
    weight = rng.integers(0, 3, 700).astype(float) if weighted else None
    plain = StructuredLCC(n_centers=6).fit(X, y, weight)
    found = StructuredLCC(n_centers=6).fit(container(X), y, weight)
    np.testing.assert_allclose(found.local_centers_, plain.local_centers_, atol=1e-12)
    np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-10)
    np.testing.assert_array_equal(found.predict(container(X)), plain.predict(X))
    features = found.transform(container(X))
    assert sp.issparse(features)
    np.testing.assert_allclose(features.toarray(), plain.transform(X), atol=1e-9)


def test_columns_are_selected_by_the_linear_part():
    """coef_ has a column for each feature, as SelectFromModel and RFE expect."""
    from sklearn.feature_selection import RFE, SelectFromModel

    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 6))
    X[:, 2] += 3 * y
    model = StructuredLCC(n_centers=4)
    assert SelectFromModel(model, threshold="mean").fit(X, y).get_support()[2]
    assert RFE(model, n_features_to_select=1).fit(X, y).get_support().tolist().index(True) == 2
    fitted = model.fit(X, y)
    np.testing.assert_array_equal(fitted._coef, fitted.extended_coef_[:, :6])
    score = fitted.transform(X) @ fitted.extended_coef_[0] + fitted._intercept[0]
    np.testing.assert_allclose(score, fitted.decision_function(X), atol=1e-8)
