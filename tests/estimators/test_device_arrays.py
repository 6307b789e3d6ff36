"""Estimators on torch arrays (the CPU simulates a GPU): the optimum and labels of NumPy arrays."""

import functools

import numpy as np
import pytest

from lincent import (
    LCCCV,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    StructuredLCCCV,
)
from lincent.sources import device
from lincent.sources.hashing import row_hashes, smallest_distinct
from support.devices import torch_far_away  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
pytestmark = pytest.mark.usefixtures("torch_far_away")

M, N = 600, 4

MEMBERS = {
    "search": lambda: LCCCV(margins=3, cv=3, random_state=0),
    "regularized": lambda: RegularizedLCC(random_state=0),
    "structured": lambda: StructuredLCC(n_centers=5),
    "kernel": lambda: KernelLCC(n_components=20, random_state=0),
    "committee": lambda: RegularizedLCCCV((0.01, 0.1), cv=3),
    "structured committee": lambda: StructuredLCCCV(4, Cs=(0.01, 0.1), cv=3),
}


def make(classes=2):
    rng = np.random.default_rng(0)
    # Quarters of whole numbers, so that single precision has them exactly; equal rows, and zeros.
    X = np.round(rng.standard_normal((M, N)) * 4) / 4
    radius = (X[:, :2] ** 2).sum(axis=1) + X[:, 2] + 0.3 * rng.standard_normal(M)
    y = np.digitize(radius, np.quantile(radius, np.arange(1, classes) / classes))
    return X, y, rng.integers(0, 3, M).astype(float)


@pytest.fixture(params=["one part", "many parts"])
def parts(request, monkeypatch):
    monkeypatch.setattr(
        device, "CONVERT_BYTES", {"one part": 2**30, "many parts": 2_000}[request.param]
    )


@functools.cache
def fit_in_memory(member, weighted, classes):
    X, y, weight = make(classes)
    return MEMBERS[member]().fit(X, y, weight if weighted else None)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize(
    ("dtype", "weighted", "parts"),
    [
        ("float64", False, "one part"),
        ("float64", True, "one part"),
        ("float32", False, "one part"),
        ("float32", True, "one part"),
        ("float32", True, "many parts"),
    ],
    indirect=["parts"],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_same_model(member, dtype, weighted, classes, parts):
    X, y, weight = make(classes)
    plain = fit_in_memory(member, weighted, classes)
    rows = torch.asarray(X, dtype=getattr(torch, dtype))
    found = MEMBERS[member]().fit(rows, torch.asarray(y), weight if weighted else None)
    if hasattr(plain, "objective_"):
        np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)
    predicted = found.predict(rows)
    assert isinstance(predicted, torch.Tensor)
    np.testing.assert_array_equal(predicted.numpy(), plain.predict(X))
    scores = found.decision_function(rows)
    np.testing.assert_allclose(scores.numpy(), plain.decision_function(X), atol=2e-5)
    intercept = getattr(found, "intercept_", getattr(found, "_intercept", None))
    assert isinstance(intercept, np.ndarray)  # a model loads where torch is not


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear"])
def test_kernels(kernel):
    X, y, _ = make()
    how = {"kernel": kernel, "n_components": 15, "gamma": 0.2, "coef0": 0.5, "random_state": 0}
    plain, found = (KernelLCC(**how).fit(x, y) for x in (X, torch.asarray(X)))
    np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)
    np.testing.assert_array_equal(found.predict(torch.asarray(X)).numpy(), plain.predict(X))


def test_what_needs_memory_says_so():
    X, y, _ = make()
    with pytest.raises(TypeError, match="KernelLCC reads arrays in memory only"):
        KernelLCC(kernel=lambda a, b: a @ b.T, n_components=9).fit(torch.asarray(X), y)
    with pytest.raises(ValueError, match="use norm='l2' to read X in place"):
        KernelLCC(norm="linf").fit(torch.asarray(X), y)


@pytest.mark.parametrize("seed", [0, 12345678901])
def test_keys_are_those_of_memory(seed, parts):
    X, _, _ = make()
    X[3] = -0.0
    np.testing.assert_array_equal(row_hashes(torch.asarray(X), seed), row_hashes(X, seed))
    single = torch.asarray(X, dtype=torch.float32)
    np.testing.assert_array_equal(row_hashes(single, seed), row_hashes(X, seed))
    across = torch.asarray(np.ascontiguousarray(X.T)).T
    np.testing.assert_array_equal(row_hashes(across, seed), row_hashes(X, seed))


@pytest.mark.parametrize("kinds", [5, 300, 5_000])
def test_the_smallest_keys_without_sorting_all(kinds):
    rng = np.random.default_rng(kinds)
    names = rng.integers(0, 2**64, kinds, dtype=np.uint64)
    keys, weight = rng.choice(names, 6_000), rng.random(6_000)
    index, total = smallest_distinct(keys, weight, 20)
    expected = np.unique(keys)[:20]
    np.testing.assert_array_equal(keys[index], expected)
    np.testing.assert_allclose(total, [weight[keys == key].sum() for key in expected])
