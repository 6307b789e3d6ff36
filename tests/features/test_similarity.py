"""Local centers and landmarks: the kernel they stand for, weights, errors."""

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.preprocessing import scale

from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures
from lincent.features.similarity import similarity, triangular_whitening, whitening
from lincent.features.transformer import EncodedSamples
from lincent.sources.hashing import row_hashes


def ring(m=200):
    X, y = make_circles(m, factor=0.5, noise=0.1, random_state=0)
    return scale(X), y


def test_landmark_features_reproduce_the_kernel_between_landmarks():
    X, _ = ring()
    model = KernelLandmarks(40, 2.0, include_columns=False).fit(X)
    points = model.landmarks_
    features = model.transform(points) / np.sqrt(model.variance_)
    distance = ((points[:, None] - points) ** 2).sum(axis=2)
    expected = np.exp(-2.0 * distance / model.variance_)
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-4)


def test_both_roots_give_the_same_inner_products():
    X, _ = ring(60)
    near = similarity(X, X[:20], 0.5)
    one, other = (near @ root(X[:20], 0.5, 2.0) for root in (whitening, triangular_whitening))
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=3e-3)


def test_landmarks_are_drawn_by_values():
    X, _ = ring()
    shuffled = X[np.random.default_rng(0).permutation(len(X))]
    np.testing.assert_array_equal(
        KernelLandmarks(30).fit(X).landmarks_, KernelLandmarks(30).fit(shuffled).landmarks_
    )


def test_local_centers_need_classes():
    X, y = ring()
    assert LocalCenters(5).fit(X, y).center_classes_.tolist() == [0] * 5 + [1] * 5
    with pytest.raises(ValueError, match="requires y"):
        LocalCenters().fit(X)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, "scale", None])
def test_unusable_width(gamma):
    X, _ = ring(20)
    with pytest.raises(ValueError, match="gamma"):
        KernelLandmarks(gamma=gamma).fit(X)


def test_names_stand_for_columns_and_points():
    X, y = ring()
    names = LocalCenters(2).fit(X, y).get_feature_names_out(["a", "b"])
    assert list(names) == ["a", "b", "center 0", "center 1", "center 2", "center 3"]


@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("kind", [KernelLandmarks, LocalCenters, SplineFeatures])
def test_scores_are_the_rules_on_the_features(kind, columns):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3))
    model = kind() if kind is SplineFeatures else kind(20, include_columns=columns)
    model._fit(EncodedSamples(Z, (Z[:, 0] > 0).astype(int), np.ones(200), 0, row_hashes(Z)))
    features = model._transform(Z)
    coef = rng.normal(size=(features.shape[1], 2))
    np.testing.assert_allclose(
        model._scores(Z, coef), features @ coef, atol=1e-9 * np.abs(features).max()
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_similarity_is_that_of_each_pair_wherever_the_rows_are(offset):
    rng = np.random.default_rng(0)
    X, points = rng.normal(size=(300, 4)) + offset, rng.normal(size=(900, 4)) + offset
    points[:300] = X
    near = similarity(X, points, 0.7)
    wanted = np.exp(-0.7 * np.square(X[:, None] - points).sum(axis=2))
    np.testing.assert_allclose(near, wanted, rtol=1e-12)
    assert near.max() <= 1.0
