"""Fold ensembles on Dask blocks and batches have the folds, models and weights of memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold, PredefinedSplit

import lincent
from lincent import RegularizedLCCCV, StructuredLCCCV
from lincent.sources import batches as batches_module
from lincent.sources import hashing
from lincent.sources.dask.schedule import Schedule

da = pytest.importorskip("dask.array", reason="dask is not installed")
dask = pytest.importorskip("dask")

M, N = 1_500, 4
CS = (0.001, 0.01, 0.1)


@pytest.fixture(autouse=True)
def without_repeats(monkeypatch):
    monkeypatch.setattr(RegularizedLCCCV, "_n_repeats", 1)
    monkeypatch.setattr(StructuredLCCCV, "_n_repeats", 1)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def make(classes=2, m=M, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((m, N)) * 8) / 8
    radius = (X[:, :2] ** 2).sum(axis=1) + X[:, 2] + 0.3 * rng.standard_normal(m)
    y = np.digitize(radius, np.quantile(radius, np.arange(1, classes) / classes))
    return X, y, rng.integers(0, 3, m).astype(float)


MODELS = {
    "linear": lambda **how: RegularizedLCCCV(CS, **how),
    "structured": lambda **how: StructuredLCCCV(5, Cs=CS, **how),
}


def assert_same(found, plain, X):
    # Both are within 1e-9 of the optimum.
    np.testing.assert_allclose(found.objectives_, plain.objectives_, rtol=2e-9, atol=2e-9)
    one, other = found.cv_results_, plain.cv_results_
    np.testing.assert_allclose(one["mean_test_score"], other["mean_test_score"], atol=1e-6)
    np.testing.assert_allclose(one["weight"], other["weight"], atol=1e-3)
    # Ensembles on local centers are not linear in the columns: their coefficients are private.
    ours, theirs = (getattr(m, "coef_", None) for m in (found, plain))
    if theirs is None:
        ours, theirs = found._coef, plain._coef
    np.testing.assert_allclose(ours, theirs, atol=1e-4 * np.abs(theirs).max())
    assert found.duality_gap_ <= 1e-9
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("chunks", [M, 701, (1, 1_000, 0, 499)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_ensemble_for_any_chunking(kind, chunks, weighted):
    X, y, weight = make()
    weight = weight if weighted else None
    rows = da.from_array(X, chunks=(chunks, N))
    assert_same(MODELS[kind](cv=3).fit(rows, y, weight), MODELS[kind](cv=3).fit(X, y, weight), X)


@pytest.mark.parametrize("kind", ["linear", "structured"])
def test_sparse_blocks(kind):
    X, y, _ = make()
    rows = da.from_array(X, chunks=(500, N)).map_blocks(sp.csr_array)
    assert_same(MODELS[kind](cv=3).fit(rows, y), MODELS[kind](cv=3).fit(X, y), X)


@pytest.mark.parametrize("kind", ["linear", "structured"])
def test_a_sparse_matrix(kind):
    X, y, weight = make()
    X[::2, 1] = 0.0
    plain = MODELS[kind](cv=3).fit(X, y, weight)
    found = MODELS[kind](cv=3).fit(sp.csr_array(X), y, weight)
    assert_same(found, plain, X)
    np.testing.assert_array_equal(found.predict(sp.csr_array(X)), plain.predict(X))


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_three_classes(strategy):
    X, y, _ = make(classes=3)
    y = np.array(["one", "three", "two"])[y]
    how = {"cv": 3, "multi_class": strategy}
    found = MODELS["structured"](**how).fit(da.from_array(X, chunks=(400, N)), y)
    assert_same(found, MODELS["structured"](**how).fit(X, y), X)


def test_repeats(monkeypatch):
    monkeypatch.setattr(RegularizedLCCCV, "_n_repeats", 2)
    X, y, _ = make(m=400)
    rows = da.from_array(X, chunks=(150, N))
    found, plain = (RegularizedLCCCV(CS).fit(x, y) for x in (rows, X))
    assert len(found.objectives_) == len(plain.objectives_) == 2 * 5 * len(CS)
    assert_same(found, plain, X)


@pytest.mark.parametrize("kind", MODELS)
def test_batches(kind):
    X, y, _ = make()

    def start():
        for k in range(0, M, 400):
            yield X[k : k + 400], y[k : k + 400]

    stream = lincent.batches(start)
    found = MODELS[kind](cv=3).fit(stream, stream.target)
    assert_same(found, MODELS[kind](cv=3).fit(X, y), X)


def test_large_classes_are_assigned_and_compared_by_hash(monkeypatch):
    """The rule for classes with too many hashes holds in memory, too."""
    monkeypatch.setattr(hashing, "RANKED", 100)
    monkeypatch.setattr(hashing, "SCORED", 300)
    X, y, _ = make()
    X += 1e-6 * np.random.default_rng(1).standard_normal(X.shape)  # no two rows are equal
    plain = MODELS["linear"](cv=3).fit(X, y)
    for chunks in (M, 333):
        found = MODELS["linear"](cv=3).fit(da.from_array(X, chunks=(chunks, N)), y)
        assert_same(found, plain, X)


def test_folds_by_number():
    X, y, _ = make()
    numbers = np.arange(M) % 3
    plain = MODELS["linear"](cv=PredefinedSplit(numbers)).fit(X, y)
    rows = da.from_array(X, chunks=(400, N))
    for cv in (numbers, da.from_array(numbers, chunks=400), PredefinedSplit(numbers)):
        assert_same(MODELS["linear"](cv=cv).fit(rows, y), plain, X)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (KFold(3), "no positions to index"),
        (1, r"'cv' .* an int in the range \[2, inf\)"),
        (np.zeros(M, dtype=int), "fold 1 have none of class 0"),
    ],
)
def test_invalid_folds_are_refused(cv, message):
    X, y, _ = make()
    with pytest.raises(ValueError, match=message):
        MODELS["linear"](cv=cv).fit(da.from_array(X, chunks=(400, N)), y)


@pytest.mark.parametrize(("kind", "most"), [("linear", 9), ("structured", 13)])
@pytest.mark.parametrize("place", ["dask", "batches"])
def test_one_pass_serves_all_folds_maps_and_costs(monkeypatch, kind, most, place):
    reads = []
    schedule = {"dask": Schedule, "batches": batches_module.BatchSchedule}[place]
    original = schedule.read_all

    def counted(self, requests, halt):
        reads.append(len(requests))
        original(self, requests, halt)

    monkeypatch.setattr(schedule, "read_all", counted)
    X, y, _ = make(m=20_000)
    rows, labels = da.from_array(X, chunks=(3_000, N)), y
    if place == "batches":
        rows = lincent.batches(lambda: ((X[k::7], y[k::7]) for k in range(7)))
        labels = rows.target
    MODELS[kind]().fit(rows, labels)
    assert len(reads) <= most
    assert max(reads) == (5 if kind == "linear" else 15)
