"""Kernels by name, their widths, and a data set seen through one."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from lincent import KernelLCC
from lincent.estimators import kernel as kernel_module
from lincent.estimators.kernel import KernelFunction, KernelSource, kernel_gamma
from lincent.estimators.problem import HostTraining

X = np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "sigmoid", "laplacian"])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sp.csr_array])
def test_names_are_those_of_scikit_learn(name, kind):
    rows = kind(np.abs(X).round(3))
    found = KernelFunction(name, 0.5, 2.0, 1.0)(rows, rows[:5])
    extra = {
        "rbf": {"gamma": 0.5},
        "laplacian": {"gamma": 0.5},
        "poly": {"gamma": 0.5, "degree": 2.0, "coef0": 1.0},
        "sigmoid": {"gamma": 0.5, "coef0": 1.0},
    }
    double = rows.astype(np.float64)
    wanted = pairwise_kernels(double, double[:5], metric=name, **extra.get(name, {}))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_a_large_offset_costs_no_digits():
    far = X + 2.0**30
    np.testing.assert_allclose(
        KernelFunction("rbf", 0.5, 3, 0)(far, far), rbf_kernel(X, gamma=0.5), 1e-6
    )


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_width_of_a_weighted_set_is_that_of_repeated_rows(kind):
    weight = np.arange(30) % 3
    repeated = np.repeat(X, weight, axis=0)
    variance = HostTraining(kind(X), None, weight.astype(float), None).variance()
    assert kernel_gamma("scale", 4, variance) == pytest.approx(1 / (4 * repeated.var()))
    assert kernel_gamma("auto", 4, variance) == 0.25
    assert kernel_gamma(0.7, 4, variance) == 0.7
    assert kernel_gamma("scale", 4, 0.0) == 1.0


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"kernel": "cubic"}, r"'kernel' parameter .* Got 'cubic'"),
        ({"gamma": -1.0}, r"'gamma' parameter .* Got -1.0"),
        ({"gamma": "wide"}, r"'gamma' parameter .* Got 'wide'"),
        ({"coef0": np.inf}, r"'coef0' parameter .* Got inf"),
        ({"degree": 0}, r"'degree' parameter .* Got 0"),
    ],
)
def test_what_is_unusable_is_named(wrong, told):
    with pytest.raises(ValueError, match=told):
        KernelLCC(**wrong).fit(X, np.arange(30) % 2)


@pytest.mark.parametrize(
    ("function", "told"),
    [(lambda A, B: np.ones((1, 1)), "shape"), (lambda A, B: A @ B.T * np.inf, "not finite")],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_function_that_returns_no_kernel_is_refused(function, told):
    with pytest.raises(ValueError, match=told):
        KernelFunction(function, 1.0, 3, 0)(X, X)


@pytest.mark.parametrize("block", [2**25, 100])
def test_the_matrix_is_made_in_parts(block, monkeypatch):
    monkeypatch.setattr(kernel_module, "BLOCK_BYTES", block)
    source = KernelSource.of(X, KernelFunction("rbf", 0.5, 3, 0))
    rows, columns = np.array([3, 9, 1]), np.arange(20)
    np.testing.assert_allclose(source.matrix(rows, columns), rbf_kernel(X[rows], X[:20], gamma=0.5))
    some = source[np.arange(10, 20)]
    np.testing.assert_allclose(some.matrix(rows, rows), rbf_kernel(X[10:20][rows], gamma=0.5))
    K = rbf_kernel(X)
    given = KernelSource.of(K, KernelFunction("precomputed", 1.0, 3, 0))[np.arange(10, 20)]
    np.testing.assert_array_equal(given.matrix(rows, columns[:4]), K[10:20, 10:20][rows][:, :4])


def test_the_origin_of_a_linear_kernel_moves_the_line_alone():
    far = X + 2.0**20
    source = KernelSource.of(far, KernelFunction("linear", 1.0, 3, 0))
    alpha = np.random.default_rng(1).normal(size=30)
    line = source.matrix(np.arange(30), np.arange(30)) @ alpha + source.shift(alpha)
    np.testing.assert_allclose(line, far @ (far.T @ alpha), rtol=1e-9)


def test_landmarks_are_known_by_their_places():
    rows = np.random.default_rng(1).normal(size=(80, 2))
    model = KernelLCC(n_components=20).fit(rows, rows[:, 0] * rows[:, 1] > 0)
    np.testing.assert_array_equal(model.support_vectors_, rows[model.support_])
