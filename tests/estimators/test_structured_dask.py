"""StructuredLCC on rows in Dask blocks: the same centers and the same optimum."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse as sp

from lincent import StructuredLCC
from lincent.sources.dask.schedule import Schedule


def make(m=3_000, n=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.8)
    radius = (X[:, :2] ** 2).sum(axis=1) + 0.3 * rng.standard_normal(m)
    y = np.digitize(radius, np.quantile(radius, np.arange(1, classes) / classes))
    return X, y, rng.integers(0, 4, m).astype(float)


@pytest.mark.parametrize("chunks", [3_000, 701, (1, 2_000, 0, 999)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_same_model_for_any_chunking(chunks, weighted, kind):
    X, y, weight = make()
    weight = weight if weighted else None
    rows = da.from_array(X, chunks=(chunks, X.shape[1])).map_blocks(kind)
    found = StructuredLCC(n_centers=8).fit(rows, y, weight)
    plain = StructuredLCC(n_centers=8).fit(X, y, weight)
    np.testing.assert_allclose(found.local_centers_, plain.local_centers_, atol=1e-12)
    np.testing.assert_allclose(found.local_sizes_, plain.local_sizes_)
    np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)
    assert found.duality_gap_ <= 1e-9
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    if kind is np.asarray:
        np.testing.assert_array_equal(found.predict(rows).compute(), plain.predict(X))


def test_repeated_rows_and_three_classes():
    X, y, _ = make(classes=3)
    X, y = np.vstack([X, X[::2]]), np.append(y, y[::2])
    found = StructuredLCC(n_centers=5).fit(da.from_array(X, chunks=(999, X.shape[1])), y)
    plain = StructuredLCC(n_centers=5).fit(X, y)
    np.testing.assert_allclose(found.local_centers_, plain.local_centers_, atol=1e-12)
    np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)


def test_a_large_class_is_sampled_by_its_values(monkeypatch):
    """Any chunking gives the same sample; what is not drawn stays where it is."""
    monkeypatch.setattr("lincent.estimators.problem.SAMPLE_ROWS", 200)
    X, y, _ = make()
    models = [
        StructuredLCC(n_centers=5).fit(da.from_array(X, chunks=(c, X.shape[1])), y)
        for c in (500, 3_000)
    ]
    np.testing.assert_allclose(models[0].local_centers_, models[1].local_centers_)
    np.testing.assert_allclose(models[0].objective_, models[1].objective_, rtol=1e-9)
    np.testing.assert_allclose(models[0].local_sizes_.sum(), len(y))
    assert models[0].score(X, y) > 0.8


def test_reads(monkeypatch):
    reads = []
    run = Schedule.run
    monkeypatch.setattr(Schedule, "run", lambda *a, **k: reads.append(a[1]) or run(*a, **k))
    X, y, _ = make(20_000)
    StructuredLCC(random_state=0).fit(da.from_array(X, chunks=(3_000, X.shape[1])), y)
    assert reads[:4] == ["survey", "sample", "survey", "draw"]
    assert len(reads) <= 10
