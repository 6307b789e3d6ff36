"""The generators: shapes, noise, separation, determinism; the covariances of the worked example."""

import numpy as np
import pytest

from lincent.paper.datasets import (
    load_dataset,
    make_noisy_classes,
    make_paper_example,
    paper_covariances,
)
from lincent.paper.datasets.generators import PAPER_MATRICES, PAPER_MEANS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_standardized_and_of_the_type_asked_for(dtype: type) -> None:
    X, y = make_noisy_classes(100_001, 3, dtype=dtype, random_state=0)  # more than one block
    assert X.dtype == dtype
    np.testing.assert_allclose(X.mean(axis=0, dtype=np.float64), 0, atol=1e-6)
    np.testing.assert_allclose(X.std(axis=0, dtype=np.float64), 1, rtol=1e-5)
    assert set(y.tolist()) == {0, 1}


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.25])
def test_noise_is_the_share_of_wrong_labels(noise: float) -> None:
    X, y = make_noisy_classes(2000, 4, noise=noise, separation=50, random_state=1)
    _, clean = make_noisy_classes(2000, 4, noise=0, separation=50, random_state=1)
    assert (y != clean).sum() == round(noise * 2000)
    direction = X[clean == 1].mean(axis=0) - X[clean == 0].mean(axis=0)
    assert (((X @ direction) > 0) == (clean == 1)).all()  # far apart: a line tells them


def test_without_separation_the_classes_are_one_cloud() -> None:
    X, y = make_noisy_classes(20_000, 3, noise=0, separation=0, random_state=2)
    assert abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).max() < 0.06


@pytest.mark.parametrize("make", [make_noisy_classes, make_paper_example])
def test_same_seed_same_data(make) -> None:
    for seed in (lambda: 3, lambda: np.random.default_rng(5)):
        first, second = (make(50, random_state=seed()) for _ in range(2))
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(make(50, random_state=0)[0], make(50, random_state=1)[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 1}, "n_samples == 1, must be >= 2"),
        ({"n_features": 0}, "n_features == 0, must be >= 1"),
        ({"noise": 0.5}, "noise == 0.5, must be < 0.5"),
        ({"separation": -1}, "separation == -1, must be >= 0"),
        ({"dtype": "int32"}, "dtype is float32 or float64, got int32"),
    ],
)
def test_bad_parameters(parameters: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_noisy_classes(**parameters)


def test_covariances_of_the_worked_example() -> None:
    for printed, taken in zip(PAPER_MATRICES, paper_covariances(), strict=True):
        np.testing.assert_allclose(taken, taken.T)
        assert np.linalg.eigvalsh(taken).min() > 0
        # The polar factor: printed = rotation x taken, so the printed sizes are kept.
        rotation = printed @ np.linalg.inv(taken)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(2), atol=1e-12)
    # What the docstring says of the second printed matrix.
    assert np.linalg.eigvalsh(PAPER_MATRICES[1] + PAPER_MATRICES[1].T).max() < 0
    np.testing.assert_allclose(
        paper_covariances(),
        [[[0.98, -0.20], [-0.20, 3.77]], [[2.65, 0.42], [0.42, 0.91]]],
        atol=0.005,
    )


def test_numpy_draws_the_worked_example_from_the_covariances_taken() -> None:
    rng = np.random.RandomState(0)
    for mean, printed, taken in zip(PAPER_MEANS, PAPER_MATRICES, paper_covariances(), strict=True):
        drawn = rng.multivariate_normal(mean, printed, size=200_000, check_valid="ignore")
        np.testing.assert_allclose(np.cov(drawn.T), taken, atol=0.05)


def test_paper_example_has_its_means_and_covariances() -> None:
    X, y = make_paper_example(200_000, random_state=0)
    for label, mean, covariance in zip((-1, 1), PAPER_MEANS, paper_covariances(), strict=True):
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.03)
        np.testing.assert_allclose(np.cov(X[y == label].T), covariance, atol=0.05)


def test_synthetic_sets_say_so() -> None:
    for name in ("Circles", "paper_example"):
        bunch = load_dataset(name)
        assert bunch.synthetic
        assert "synthetic" in bunch.DESCR.lower()
        assert bunch.origin == "generated"
    radius = np.linalg.norm(load_dataset("circles").data, axis=1)
    inner = load_dataset("circles").target == "inner"
    assert radius[inner].max() < radius[~inner].min()
