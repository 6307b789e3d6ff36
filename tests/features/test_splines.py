"""Splines: unit variance, no correlation, ordered bends, straight ends."""

import numpy as np
import pytest

from lincent.features import SplineFeatures
from lincent.features.splines import curvature, learn_curve, natural


def skewed(m=3000, seed=0):
    return np.random.default_rng(seed).lognormal(size=m)


def test_terms_are_uncorrelated_and_of_unit_variance():
    x = skewed()
    features = learn_curve(x, np.ones(len(x)), 8).values(x, 0.0)
    np.testing.assert_allclose(features.T @ features / len(x), np.eye(7), atol=1e-6)
    np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=1e-6)


def test_linear_beyond_the_knots():
    curve = learn_curve(skewed(), np.ones(3000), 6)
    ends = curve.knots[[0, -1]] * curve.deviation + curve.mean
    for start, way in zip(ends, (-1.0, 1.0), strict=True):
        out = curve.values(start + way * np.arange(0.0, 5.0), 0.0)
        np.testing.assert_allclose(np.diff(out, 2, axis=0), 0.0, atol=1e-8)


def test_a_value_very_far_out_is_on_the_line():
    curve = learn_curve(skewed(), np.ones(3000), 6)
    near, far = curve.values(np.array([1e3, 1e4]), 0.0)
    slope = (far - near) / 9e3
    for x in (1e9, 1e120):
        np.testing.assert_allclose(curve.values(np.array([x]), 0.0)[0], slope * x, rtol=1e-5)


def test_curvature_is_the_integral_of_second_derivatives():
    knots = np.array([-1.0, -0.3, 0.2, 0.9, 2.0])
    x = np.linspace(knots[0], knots[-1], 20_001)
    second = np.gradient(np.gradient(natural(x, knots)[:, 2:], x, axis=0), x, axis=0)
    expected = (second[:-1].T @ second[:-1]) * (x[1] - x[0])
    np.testing.assert_allclose(curvature(knots), expected, rtol=2e-3)


def test_roughness_rises_and_smoothing_shrinks_the_rough():
    x = skewed()
    curve = learn_curve(x, np.ones(len(x)), 8)
    assert curve.roughness[0] == 1.0
    assert np.all(np.diff(curve.roughness) > 0)
    plain, smooth = curve.values(x, 0.0), curve.values(x, 1.0)
    share = smooth.std(axis=0) / plain.std(axis=0)
    np.testing.assert_allclose(share[1:], 1 / np.sqrt(1 + curve.roughness))


def test_few_values_get_indicators_and_two_are_left_alone():
    X = np.stack([np.arange(60) % 3, np.arange(60) % 2, np.linspace(0, 1, 60)], axis=1)
    names = list(SplineFeatures(4).fit(X).get_feature_names_out())
    assert names == ["x0", "x0=0", "x0=1", "x0=2", "x1", "x2", "x2 bend 1", "x2 bend 2"]


def test_a_constant_column_is_zero():
    X = np.stack([np.full(50, 7.0), np.linspace(0, 1, 50)], axis=1)
    np.testing.assert_allclose(SplineFeatures().fit_transform(X)[:, 0], 0.0, atol=1e-12)


def test_weights_are_repetitions_and_blocks_are_nothing():
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(9000, 2)), rng.integers(0, 3, 9000)
    weighted = SplineFeatures().fit(X, sample_weight=w)
    repeated = SplineFeatures().fit(np.repeat(X, w, axis=0))
    whole = weighted.transform(X)
    np.testing.assert_allclose(whole, repeated.transform(X), atol=1e-9)
    np.testing.assert_allclose(whole[5000:5010], weighted.transform(X[5000:5010]), atol=1e-12)


@pytest.mark.parametrize("wrong", [{"n_knots": 2}, {"smoothing": -1.0}])
def test_unusable_parameters(wrong):
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter"):
        SplineFeatures(**wrong).fit(np.eye(4))
