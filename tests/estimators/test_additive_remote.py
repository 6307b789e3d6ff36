"""Additive models on rows in Dask blocks and in batches: the curves of memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

import lincent
from lincent import AdditiveLCC, AdditiveLCCCV
from lincent.sources import array_namespace, device
from lincent.sources.dask.schedule import Schedule

da = pytest.importorskip("dask.array", reason="dask is not installed")
dask = pytest.importorskip("dask")

M, N = 2_000, 4


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def make(classes=2, m=M):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((m, N)) * 64) / 64
    X[:, 3] = rng.integers(0, 3, m)
    score = X[:, 0] ** 2 + X[:, 1] * X[:, 2] + X[:, 3] + 0.5 * rng.standard_normal(m)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return X, y, rng.integers(0, 3, m).astype(float)


def assert_same(found, plain, X):
    np.testing.assert_allclose(found.objective_, plain.objective_, rtol=1e-9)
    assert found.duality_gap_ <= 1e-9
    assert found.term_names_.tolist() == plain.term_names_.tolist()
    np.testing.assert_allclose(found._means, plain._means, atol=1e-9)
    np.testing.assert_allclose(found._resampled, plain._resampled, atol=1e-4)
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    for name in ("x", "value"):
        one, other = (model.shape(0)[name] for model in (found, plain))
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("chunks", [M, 701, (1, 1_000, 0, 999)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_same_curves_for_any_chunking(chunks, weighted, classes):
    X, y, weight = make(classes)
    weight = weight if weighted else None
    rows = da.from_array(X, chunks=(chunks, N))
    model = AdditiveLCC(interactions=1)
    plain = AdditiveLCC(interactions=1).fit(X, y, weight)
    assert_same(model.fit(rows, y, weight), plain, X)
    np.testing.assert_array_equal(model.predict(rows).compute(), plain.predict(X))
    np.testing.assert_allclose(
        model.contributions(rows).compute(), plain.contributions(X), atol=1e-5
    )


def test_a_search():
    X, y, _ = make()
    plain = AdditiveLCCCV(interactions=1, cv=3).fit(X, y)
    found = AdditiveLCCCV(interactions=1, cv=3)
    found.fit(da.from_array(X, chunks=(600, N)), y)
    assert_same(found, plain, X)
    scores = (model.cv_results_["mean_test_score"] for model in (found, plain))
    np.testing.assert_allclose(*scores)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_a_sparse_matrix(kind):
    X, y, weight = make()
    X[::2, 1] = 0.0
    plain = AdditiveLCC().fit(X, y, weight)
    found = AdditiveLCC().fit(kind(X), y, weight)
    assert_same(found, plain, X)
    np.testing.assert_array_equal(found.predict(kind(X)), plain.predict(X))


@pytest.mark.parametrize(
    ("kind", "classes", "dtype"),
    [(AdditiveLCC, 2, "float64"), (AdditiveLCC, 3, "float32"), (AdditiveLCCCV, 2, "float64")],
)
def test_a_device_array(monkeypatch, kind, classes, dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr("lincent.estimators.additive.SAMPLE_ROWS", 400)
    X, y, weight = make(classes)
    plain = kind(interactions=1).fit(X, y, weight)
    fetched, fetch = [], array_namespace.to_host
    monkeypatch.setattr(
        array_namespace,
        "to_host",
        lambda values: fetched.append(tuple(values.shape)) or fetch(values),
    )
    monkeypatch.setattr(device, "CONVERT_BYTES", 2**17)  # several parts
    rows = torch.asarray(X, dtype=getattr(torch, dtype))
    found = kind(interactions=1).fit(rows, torch.asarray(y), weight)
    # The sample of each class, and sums; of all rows keys and labels, which are one number each.
    assert max(shape[0] for shape in fetched if len(shape) == 2) <= 400
    assert_same(found, plain, X)
    assert isinstance(found.predict(rows), torch.Tensor)
    np.testing.assert_array_equal(found.predict(rows).numpy(), plain.predict(X))


@pytest.mark.parametrize("kind", [AdditiveLCC, AdditiveLCCCV])
def test_probabilities(kind):
    X, y, _ = make()
    rows = da.from_array(X, chunks=(600, N))
    found, plain = (kind(probability="sigmoid").fit(x, y) for x in (rows, X))
    expected = plain.predict_proba(X)
    np.testing.assert_allclose(found.predict_proba(rows).compute(), expected, atol=1e-6)
    assert not hasattr(found, "out_of_fold_scores_")


def test_batches_and_sparse_blocks():
    X, y, _ = make()
    plain = AdditiveLCC().fit(X, y)
    stream = lincent.batches(lambda: ((X[k::3], y[k::3]) for k in range(3)))
    assert_same(AdditiveLCC().fit(stream, stream.target), plain, X)
    rows = da.from_array(X, chunks=(600, N)).map_blocks(sp.csr_array)
    assert_same(AdditiveLCC().fit(rows, y), plain, X)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_sample_chooses_and_all_rows_fit(monkeypatch, classes):
    """Above so many different rows everything is chosen on a sample, in memory as in blocks."""
    monkeypatch.setattr("lincent.estimators.additive.SAMPLE_ROWS", 400)
    X, y, weight = make(classes)
    X[:, 0] += 1e-6 * np.random.default_rng(1).standard_normal(M)
    plain = AdditiveLCC(interactions=1).fit(X, y, weight)
    for chunks in (M, 333):
        found = AdditiveLCC(interactions=1)
        assert_same(found.fit(da.from_array(X, chunks=(chunks, N)), y, weight), plain, X)


def test_bands_of_a_sample_are_those_of_all_rows(monkeypatch):
    """A sample of a quarter varies twice as much, and its band is brought back to that of all."""
    X, y, _ = make(m=8_000)
    X[:, 0] += 1e-6 * np.random.default_rng(1).standard_normal(len(X))
    spread = []
    for rows in (8_000, 2_000):
        monkeypatch.setattr("lincent.estimators.additive.SAMPLE_ROWS", rows)
        curve = AdditiveLCC().fit(X, y).shape(0)
        spread.append(np.median(curve["high"] - curve["low"]))
    assert 0.6 < spread[1] / spread[0] < 1.6


def test_few_reads(monkeypatch):
    reads, original = [], Schedule.read_all

    def counted(self, requests, halt):
        reads.append(requests[0].verb)
        original(self, requests, halt)

    monkeypatch.setattr(Schedule, "read_all", counted)
    X, y, _ = make(m=12_000)
    AdditiveLCC().fit(da.from_array(X, chunks=(3_000, N)), y)
    assert reads[:3] == ["survey", "sample", "sums"]
    assert reads[-1] == "survey"
    assert len(reads) <= 8


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (AdditiveLCC(monotonic_cst=[1, 0, 0, 0]), "monotonic_cst needs X in memory"),
        (AdditiveLCC(categorical_features=[3]), "categorical_features needs X as a table"),
        (AdditiveLCCCV(cv=KFold(3)), "no positions to index"),
    ],
)
def test_what_needs_memory_says_so(model, sentence):
    X, y, _ = make()
    with pytest.raises(ValueError, match=sentence):
        model.fit(da.from_array(X, chunks=(600, N)), y)


def test_a_gap_in_the_data_is_named():
    X, y, _ = make()
    X[700, 2] = np.nan
    with pytest.raises(ValueError, match=r"partition 1 of 4 .*row 100 of the partition, column 2"):
        AdditiveLCC().fit(da.from_array(X, chunks=(600, N)), y)
