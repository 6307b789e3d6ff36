"""Arrays on a device (torch on the CPU): the same optimum, the same kind of arrays out."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from lincent import LCC
from support.samples import along_a_line

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")

M, N = 9_000, 6


def make(m=M, n=N, **how):
    return along_a_line(m, n, **how)


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.fixture(scope="module")
def reference(data):
    return LCC(random_state=0).fit(*data)


def assert_same(model, reference, coef=1e-9):
    np.testing.assert_allclose(model.objective_, reference.objective_, rtol=1e-9)
    assert model.duality_gap_ <= 1e-9
    size = np.abs(reference._coef).max()
    assert isinstance(model._coef, np.ndarray)
    np.testing.assert_allclose(model._coef, reference._coef, atol=coef * size)
    np.testing.assert_allclose(model._intercept, reference._intercept, atol=coef * size)
    np.testing.assert_array_equal(model.classes_, reference.classes_)
    # Remote rows are not transferred to the client for simplex steps.
    pairs = zip(np.ravel(model.solver_), np.ravel(reference.solver_), strict=True)
    assert all(there == here or here == "simplex" != there for there, here in pairs)


@pytest.mark.parametrize("labels", ["torch", "numpy", "text"])
def test_the_same_optimum(data, reference, labels):
    X, y = data
    if labels == "text":
        y = np.where(y == 1, "b", "a")
        reference = LCC(random_state=0).fit(X, y)
    model = LCC(random_state=0).fit(torch.asarray(X), torch.asarray(y) if labels == "torch" else y)
    assert_same(model, reference)
    predicted = model.predict(torch.asarray(X))
    assert isinstance(predicted, np.ndarray if labels == "text" else torch.Tensor)
    np.testing.assert_array_equal(np.asarray(predicted), reference.predict(X))


def test_the_same_kind_of_arrays_out(data, reference):
    X = torch.asarray(data[0])
    for method in ("predict", "decision_function", "transform"):
        answer = getattr(reference, method)(X)
        expected = getattr(reference, method)(data[0])
        assert isinstance(answer, torch.Tensor)
        assert answer.device == X.device
        assert tuple(answer.shape) == expected.shape
        np.testing.assert_allclose(answer.numpy(), expected, rtol=0, atol=1e-14)
    assert reference.transform(X.to(torch.float32)).dtype == torch.float32


def test_single_precision_and_whole_numbers(data):
    X = data[0].astype(np.float32)
    model = LCC(random_state=0).fit(torch.asarray(X), data[1])
    assert_same(model, LCC(random_state=0).fit(X, data[1]))
    whole = np.round(4 * data[0]).astype(np.int64)
    model = LCC(random_state=0).fit(torch.asarray(whole), torch.asarray(data[1]))
    assert_same(model, LCC(random_state=0).fit(whole, data[1]), coef=1e-7)


def test_one_vs_rest_and_one_vs_one():
    X, y = make(classes=3, seed=3)
    for strategy in ("ovr", "ovo"):
        model = LCC(multi_class=strategy, random_state=0).fit(torch.asarray(X), torch.asarray(y))
        reference = LCC(multi_class=strategy, random_state=0).fit(X, y)
        assert_same(model, reference, coef=1e-8)
        scores = model.decision_function(torch.asarray(X))
        np.testing.assert_allclose(scores.numpy(), reference.decision_function(X), atol=1e-8)


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 3.0}},
        {"discriminator": "nearest"},
        {"discriminator": "svm"},
        {"solver": "interior-point"},
        {"solver": "highs", "C": 0.1},
    ],
    ids=str,
)
def test_parameters_mean_the_same(parameters):
    X, y = make(5_000 if "solver" not in parameters else 600)
    model = LCC(random_state=0, **parameters).fit(torch.asarray(X), torch.asarray(y))
    reference = LCC(random_state=0, **parameters).fit(X, y)
    assert_same(model, reference, coef=1e-7)
    np.testing.assert_array_equal(model.predict(torch.asarray(X)).numpy(), reference.predict(X))


def test_weights_that_differ_and_vanish(data):
    X, y = data
    w = np.random.default_rng(5).integers(0, 4, M).astype(float)
    reference = LCC(random_state=0).fit(X, y, sample_weight=w)
    for weight in (w, torch.asarray(w)):
        assert_same(LCC(random_state=0).fit(torch.asarray(X), y, weight), reference)


def test_hard_margin():
    X, y = make(seed=4)
    X = X + 6.0 * (2 * y - 1)[:, None]
    model = LCC(C=np.inf, random_state=0).fit(torch.asarray(X), torch.asarray(y))
    assert_same(model, LCC(C=np.inf, random_state=0).fit(X, y), coef=1e-6)


def test_many_rows_in_pieces(monkeypatch, reference, data):
    """Batched products and converted pieces, as on data of real size."""
    monkeypatch.setattr("lincent.sources.array_namespace.LONG", 100)
    monkeypatch.setattr("lincent.sources.device.CONVERT_BYTES", 8 * N * 1_000)
    assert_same(LCC(random_state=0).fit(torch.asarray(data[0]), data[1]), reference)
    X = data[0].astype(np.float32)
    model = LCC(random_state=0).fit(torch.asarray(X), data[1])
    assert_same(model, LCC(random_state=0).fit(X, data[1]))


def test_nothing_as_long_as_the_data_leaves_the_device(monkeypatch, data):
    from lincent.sources import array_namespace

    moved = []
    original = array_namespace.to_host

    def watched(values):
        answer = original(values)
        moved.append(np.size(answer))
        return answer

    X, y = make(60_000)
    monkeypatch.setattr(array_namespace, "to_host", watched)
    LCC(random_state=0).fit(torch.asarray(X), torch.asarray(y))
    assert moved
    assert max(moved) < 60_000


def test_a_model_from_a_device_loads_without_torch(data, tmp_path):
    X, y = data
    model = LCC(random_state=0).fit(torch.asarray(X), torch.asarray(y))
    file = tmp_path / "model.pickle"
    file.write_bytes(pickle.dumps(model))
    code = (
        "import sys, pickle, pathlib\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'array_api_compat', 'dask'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        f"model = pickle.loads(pathlib.Path({str(file)!r}).read_bytes())\n"
        "print(model.predict([[0.0] * 6])[0])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert out.stdout.strip() == str(model.predict(np.zeros((1, N)))[0])


def test_a_missing_package_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(ImportError, match=r"lincent\[gpu\]"):
        LCC().fit(torch.asarray(data[0]), data[1])


def test_bad_input_is_named(data, reference):
    X, y = torch.asarray(data[0].copy()), data[1]
    with pytest.raises(ValueError, match="X has 9000 rows and y has shape"):
        LCC().fit(X, y[:-1])
    with pytest.raises(ValueError, match="only one class"):
        LCC().fit(X, torch.zeros(M))
    with pytest.raises(ValueError, match="5 features, but LCC is expecting 6"):
        reference.predict(X[:, :5])
    with pytest.raises(ValueError, match=r"1 dimension\(s\)"):
        LCC().fit(X[0], y)
    X[17, 2] = float("inf")
    with pytest.raises(ValueError, match="row 17, column 2"):
        LCC().fit(X, y)
