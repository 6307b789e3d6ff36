"""AutoLCC on blocks, batches, sparse and device arrays: chosen on a sample, fitted to all."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

import lincent
from lincent import AutoLCC
from lincent.estimators import auto
from lincent.sources.dask.schedule import Schedule

da = pytest.importorskip("dask.array", reason="dask is not installed")
dask = pytest.importorskip("dask")

M, N = 500, 4
MAPS = ["columns", "splines", "centers", "landmarks 1"]


@pytest.fixture(scope="module", autouse=True)
def small_ensembles():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto, "ENSEMBLE_SIZE", 3)
        patch.setattr(auto, "ENSEMBLE_SIZE_MANY", 3)
        yield


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def make(classes=2, m=M):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, N)) * [1.0, 20.0, 0.1, 1.0]
    X[rng.random((m, N)) < 0.3] = 0.0
    score = X[:, 0] ** 2 + X[:, 1] / 20 + X[:, 3] + 0.5 * rng.standard_normal(m)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return X, y, rng.integers(0, 3, m).astype(float)


def model(**how):
    return AutoLCC(**({"feature_maps": MAPS, "cv": 2} | how))


def batches(X, y):
    return lincent.batches(lambda: ((X[k::3], y[k::3]) for k in range(3)))


def torch_array(X):
    return pytest.importorskip("torch").asarray(X)


PLACES = {
    "blocks": lambda X, y: (da.from_array(X, chunks=(170, N)), y),
    "odd blocks": lambda X, y: (da.from_array(X, chunks=((1, 0, M - 1), (1, N - 1))), y),
    "sparse blocks": lambda X, y: (da.from_array(X, chunks=(170, N)).map_blocks(sp.csr_array), y),
    "batches": lambda X, y: ((b := batches(X, y)), b.target),
    "sparse": lambda X, y: (sp.csr_array(X), y),
    "sparse columns": lambda X, y: (sp.csc_matrix(X), y),
    "device": lambda X, y: (torch_array(X), y),
}


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def reference(request):
    X, y, _ = make(request.param)
    return X, y, model().fit(X, y)


@pytest.mark.parametrize("place", PLACES)
def test_the_same_ensemble_everywhere(reference, place):
    X, y, plain = reference
    found = model().fit(*PLACES[place](X, y))
    assert [(m["feature_map"], m["C"]) for m in found.ensemble_] == [
        (m["feature_map"], m["C"]) for m in plain.ensemble_
    ]
    assert found.duality_gap_ <= 1e-9
    objectives = [[m["objective"] for m in model.ensemble_] for model in (found, plain)]
    np.testing.assert_allclose(*objectives, rtol=1e-9)
    # Two points with a gap of 1e-9 differ by more: the gap bounds the square of their distance.
    assert found.nested_score_ == pytest.approx(plain.nested_score_, abs=1e-6)
    np.testing.assert_allclose(found.predict_proba(X), plain.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    rows = PLACES[place](X, y)[0]
    if place == "batches":
        np.testing.assert_array_equal(found.predict(rows), plain.predict(np.vstack(
            [X[k::3] for k in range(3)]
        )))  # fmt: skip
    elif place != "sparse blocks":
        np.testing.assert_array_equal(np.asarray(found.predict(rows)), plain.predict(X))


def test_weights():
    X, y, weight = make()
    found = model().fit(da.from_array(X, chunks=(170, N)), y, weight)
    np.testing.assert_array_equal(found.predict(X), model().fit(X, y, weight).predict(X))


@pytest.fixture
def small_samples(monkeypatch):
    """Sizes at which 500 rows are many."""
    for name, count in (("FIT_ROWS", 150), ("SEARCH_ROWS", 150), ("COMPARED_ROWS", 200)):
        monkeypatch.setattr(auto, name, count)


@pytest.mark.parametrize("place", PLACES)
def test_of_many_samples_others_choose_the_few_that_are_fitted_to_all(
    small_samples, reference, place
):
    X, y, _ = reference
    plain, found = model().fit(X, y), model().fit(*PLACES[place](X, y))
    assert len(plain.ensemble_) <= auto.N_FEW
    assert [(m["feature_map"], m["C"]) for m in found.ensemble_] == [
        (m["feature_map"], m["C"]) for m in plain.ensemble_
    ]
    objectives = [[m["objective"] for m in one.ensemble_] for one in (found, plain)]
    np.testing.assert_allclose(*objectives, rtol=1e-9)
    assert found.duality_gap_ <= 1e-9
    # Models are certified, not equal: a gap of 1e-9 leaves the decision values some digits.
    assert found.nested_score_ == pytest.approx(plain.nested_score_, abs=1e-6)
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    np.testing.assert_allclose(found.predict_proba(X), plain.predict_proba(X), atol=1e-4)


def test_where_others_cannot_choose_all_ensemble_are_fitted_to_all_rows(small_samples, monkeypatch):
    """Begun on a sample, certified on all: better there than those of the sample."""
    monkeypatch.setattr(auto, "COMPARED_ROWS", 10_000)  # there are not as many
    X, y, _ = make()
    objectives = []
    fit = auto.fit_in_place

    def watched(training, costs, limits, *given):
        begin = fit(training, costs, replace(limits, max_iter=0), *given)
        found = fit(training, costs, limits, *given)
        objectives.append([[one.objective[0] for one in path] for path in (begin, found)])
        return found

    monkeypatch.setattr(auto, "fit_in_place", watched)
    models = [model().fit(da.from_array(X, chunks=(c, N)), y) for c in (M, 77)]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
    assert len(models[0].ensemble_) == 3
    assert models[0].duality_gap_ <= 1e-9
    for before, after in objectives:
        assert np.all(np.array(after) < np.array(before))


def test_where_sums_are_too_large_ensemble_stay_those_of_the_sample(monkeypatch):
    monkeypatch.setattr(auto, "MAX_SUM_BYTES", 0)
    X, y, _ = make()
    found = model().fit(da.from_array(X, chunks=(170, N)), y)
    np.testing.assert_array_equal(found.predict(X), model().fit(X, y).predict(X))


def test_all_feature_maps_share_the_passes_over_the_data(monkeypatch):
    reads, original = [], Schedule.read_all

    def counted(self, requests, halt):
        reads.append({request.verb for request in requests})
        original(self, requests, halt)

    monkeypatch.setattr(Schedule, "read_all", counted)
    X, y, _ = make()
    monkeypatch.setattr(auto, "ENSEMBLE_SIZE", 6)
    model().fit(da.from_array(X, chunks=(170, N)), y)
    assert reads[0] == {"survey"}
    assert reads[1] == {"sample"}
    assert len(reads) <= 9


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"categorical_features": [1]}, "categorical_features needs X as a table in memory"),
        ({"cv": KFold(3)}, "no positions to index"),
    ],
)
def test_what_needs_memory_is_refused(how, message):
    X, y, _ = make()
    with pytest.raises(ValueError, match=message):
        model(**how).fit(da.from_array(X, chunks=(170, N)), y)
