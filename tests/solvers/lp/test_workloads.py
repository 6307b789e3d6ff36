"""Every kind of the library of workloads, small, tall and wide: certified, and without HiGHS."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from lincent import LCC

ROOT = Path(__file__).resolve().parents[3]


def library(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


workloads, reads = library("workloads"), library("reads")
SHAPES = {"small": (150, 5), "tall": (6000, 8), "wide": (60, 90)}


@pytest.mark.parametrize("size", SHAPES)
@pytest.mark.parametrize("kind", workloads.KINDS)
def test_certified_without_highs(kind, size):
    if reason := workloads.missing(kind):
        pytest.skip(reason)
    X, y = workloads.make(kind, *SHAPES[size], seed=1)
    model = LCC(random_state=0).fit(X, y)
    assert model.duality_gap_ <= 1e-9
    assert model.solver_ != "highs"


@pytest.mark.parametrize("kind", ["outlier cells", "heavy correlated skewed", "real: page_blocks0"])
def test_the_seed_does_not_matter(kind):
    if reason := workloads.missing(kind):
        pytest.skip(reason)
    X, y = workloads.make(kind, 8000, 8, seed=0)
    models = [LCC(random_state=seed).fit(X, y) for seed in range(5)]
    objectives = [model.objective_ for model in models]
    assert np.ptp(objectives) <= 2e-9 * max(1.0, abs(objectives[0]))
    assert max(model.n_iter_ for model in models) <= 5 * min(model.n_iter_ for model in models)


def test_hundreds_of_dependent_features_are_certified_in_any_order():
    X, y = workloads.make("one-hot", 2000, 1000, seed=0)
    model = LCC(random_state=0).fit(X[:, np.random.default_rng(0).permutation(1000)], y)
    assert model.solver_ == "interior-point"
    assert model.duality_gap_ <= 1e-9
    assert model.n_iter_ <= 25


def test_tall_data_is_read_a_dozen_times():
    """A read may be of a million rows: their number must not depend on the kind, nor on chance."""
    counts = {}
    for kind in workloads.DENSE:
        if not workloads.missing(kind):
            X, y = workloads.make(kind, 36_000, 20, seed=2)
            with reads.counted(len(X)) as found:
                model = LCC(random_state=2).fit(X, y)
            assert model.solver_ == "screening"
            counts[kind] = found.count
    assert len(counts) >= len(workloads.SYNTHETIC)
    assert np.quantile(list(counts.values()), 0.9) <= 12, counts
    assert max(counts.values()) <= 16, counts


@pytest.mark.parametrize("shape", [(20_000, 30), (50_000, 100), (300_000, 10)])
@pytest.mark.parametrize("kind", ["normal", "t(3)", "one-hot"])
def test_tall_data_needs_half_of_its_memory_again(kind, shape):
    X, y = workloads.make(kind, *shape, seed=0)
    held = reads.extra_bytes(lambda: LCC(random_state=0).fit(X, y))
    assert held <= 0.5 * X.nbytes


def test_reads_are_counted_once_and_memory_is_measured():
    X, y = workloads.make("normal", 9_000, 80, seed=0)
    with reads.counted(len(X)) as found:
        LCC(random_state=0).fit(X, y)
    assert 3 <= found.count <= 12
    with reads.counted(len(X) + 1) as nothing:
        LCC(random_state=0).fit(X, y)
    assert nothing.count == 0
    assert reads.extra_bytes(lambda: np.ones(10_000).sum()) >= 80_000


def test_a_kind_is_a_function_of_its_seed():
    first, labels = workloads.make("outlier rows", 500, 4, seed=7)
    again, same = workloads.make("outlier rows", 500, 4, seed=7)
    other, _ = workloads.make("outlier rows", 500, 4, seed=8)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(labels, same)
    assert not np.array_equal(first, other)
    assert len(workloads.SYNTHETIC) >= 16
