"""KernelLCC with a Nyström map on rows in Dask blocks: the same landmarks, the same optimum."""

import numpy as np
import pytest
import scipy.sparse as sp

from lincent import KernelLCC
from lincent.sources.dask import blocks as block
from lincent.sources.landmarks import NystroemMap

da = pytest.importorskip("dask.array", reason="dask is not installed")
dask = pytest.importorskip("dask")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

M, N, Q = 6_000, 4, 12


def make(m=M, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, N))
    radius = np.linalg.norm(X, axis=1) + 0.4 * rng.standard_normal(m)
    return X, np.digitize(radius, np.quantile(radius, np.arange(1, classes) / classes))


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture(scope="module")
def data():
    return make()


def in_blocks(X, chunks=1_700):
    return da.from_array(X, chunks=(chunks, N))


def box_form(**options):
    """Return the paper's form, whose coefficients are found to many digits."""
    return KernelLCC(**{"norm": "linf", "class_weight": None, **options})


def assert_same(model, reference, X):
    np.testing.assert_allclose(model.gamma_, reference.gamma_, rtol=1e-12)
    np.testing.assert_array_equal(model.support_, reference.support_)
    here, there = model.support_vectors_, reference.support_vectors_
    if sp.issparse(here):
        here, there = here.toarray(), there.toarray()
    np.testing.assert_array_equal(here, there)
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    assert model.duality_gap_ <= 1e-9
    size = np.abs(reference.dual_coef_).max()
    np.testing.assert_allclose(model.dual_coef_, reference.dual_coef_, atol=1e-7 * size)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))


@pytest.mark.parametrize("chunks", [M, 611, (1, 3_000, 0, 2_998, 1)], ids=str)
def test_the_same_optimum_for_any_chunking(data, chunks):
    X, y = data
    rows = in_blocks(X, chunks)
    model = box_form(n_components=Q, random_state=0).fit(rows, da.from_array(y, chunks=999))
    reference = box_form(n_components=Q, random_state=0).fit(X, y)
    assert_same(model, reference, X)
    for method in ("predict", "decision_function", "transform"):
        lazy = getattr(model, method)(rows)
        assert isinstance(lazy, da.Array)
        np.testing.assert_allclose(lazy.compute(), getattr(model, method)(X), atol=1e-13)
    assert not hasattr(model, "_mapping")


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": "auto"},
        {"kernel": "laplacian", "gamma": 0.3},
        {"discriminator": "nearest"},
        {"discriminator": "svm"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 3.0}},
        {"solver": "interior-point"},
    ],
    ids=str,
)
def test_parameters_mean_the_same(data, options):
    X, y = data
    options = {"n_components": Q, "random_state": 0, **options}
    assert_same(box_form(**options).fit(in_blocks(X), y), box_form(**options).fit(X, y), X)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_three_classes(strategy):
    X, y = make(classes=3, seed=2)
    y = np.array(["in", "mid", "out"])[y]
    options = {"n_components": Q, "multi_class": strategy, "random_state": 0}
    model = box_form(**options).fit(in_blocks(X), da.from_array(y, chunks=1_700))
    assert_same(model, box_form(**options).fit(X, y), X)


def test_weights_repetitions_and_single_precision(data):
    X, y = data
    X = np.concatenate([X, X[:500]]).astype(np.float32)
    y = np.concatenate([y, y[:500]])
    weight = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    options = {"n_components": Q, "random_state": 0}
    model = box_form(**options).fit(in_blocks(X), y, sample_weight=weight)
    assert_same(model, box_form(**options).fit(X, y, sample_weight=weight), X)


def test_frames_and_sparse_blocks(data):
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    X, y = data
    options = {"n_components": Q, "random_state": 0}
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=np.where(y == 1, "b", "a"))
    table = dd.from_pandas(frame, npartitions=3)
    model = box_form(**options).fit(table[list("abcd")], table["label"])
    assert_same(
        model, box_form(**options).fit(frame[list("abcd")], frame["label"]), frame[list("abcd")]
    )
    assert list(model.predict(table[list("abcd")]).compute()[:3]) == list(
        model.predict(frame[list("abcd")])[:3]
    )
    X = np.where(np.abs(X) < 0.6, 0.0, X)
    model = box_form(**options).fit(in_blocks(X).map_blocks(sp.csr_matrix), y)
    assert_same(model, box_form(**options).fit(sp.csr_array(X), y), X)


def test_a_slice_is_mapped_at_a_time(monkeypatch, data):
    monkeypatch.setattr(block, "SLICE_ROWS", 300)
    mapped = []
    original = NystroemMap.kernel_rows

    def watched(self, X):
        mapped.append(X.shape[0])
        return original(self, X)

    monkeypatch.setattr(NystroemMap, "kernel_rows", watched)
    X, y = data
    box_form(n_components=Q, random_state=0).fit(in_blocks(X), da.from_array(y, chunks=1_700))
    assert len(mapped) > 50
    # Rows of the sample and of the band are mapped where they are taken.
    assert np.median(mapped) <= 300
    assert max(mapped) < 1_700


@pytest.mark.parametrize(
    "options", [{}, {"class_weight": {0: 1.0, 1: 3.0}}, {"discriminator": "svm"}]
)
def test_default_form(data, options):
    X, y = data
    options = {"n_components": 3 * Q, **options}
    model = KernelLCC(**options).fit(in_blocks(X), da.from_array(y, chunks=999))
    reference = KernelLCC(**options).fit(X, y)
    np.testing.assert_array_equal(model.support_, reference.support_)
    assert model.objective_ == pytest.approx(reference.objective_, rel=1e-9)
    assert model.duality_gap_ <= 1e-9
    scores = reference.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-3 * np.abs(scores).max())
    assert KernelLCC().fit(in_blocks(X[:600]), y[:600]).n_components_ == 175


def test_small_data_and_fewer_rows_than_landmarks():
    X, y = make(60)
    options = {"n_components": 100, "random_state": 0}
    model = box_form(**options).fit(in_blocks(X, 25), y)
    assert_same(model, box_form(**options).fit(X, y), X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_kernel_that_overflows_is_named(data):
    X, y = data[0].copy(), data[1]
    X[2_000] = 1e200
    model = box_form(kernel="poly", degree=2, gamma=1.0, n_components=5, random_state=0)
    with pytest.raises(ValueError, match=r"partition 1 of 4 .*kernel has values that are not fin"):
        model.fit(in_blocks(X), y)
