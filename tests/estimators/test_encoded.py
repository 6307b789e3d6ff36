"""Rows that a model encodes: on a device they stay there, unless there is something to encode."""

import numpy as np
import pytest

from lincent import AdditiveLCC, AutoLCC
from lincent.sources import array_namespace, device
from support.devices import torch_far_away  # noqa: F401

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
pytestmark = pytest.mark.usefixtures("torch_far_away")

M, N = 300, 3

MODELS = {
    "additive": lambda: AdditiveLCC(interactions=1),
    "monotone": lambda: AdditiveLCC(monotonic_cst=[1, 0, -1]),
    "auto": lambda: AutoLCC(feature_maps=["splines", "centers", "relevant landmarks 1"], cv=2),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((M, N)) * 16) / 16
    X[:, 1] = rng.integers(0, 4, M)
    y = (X[:, 0] + X[:, 1] ** 2 - X[:, 2] + rng.standard_normal(M) > 2).astype(int)
    return MODELS[request.param]().fit(X, y), X


@pytest.fixture
def brought(monkeypatch):
    """The shapes of what is brought from the device."""
    shapes, original = [], array_namespace.to_host
    monkeypatch.setattr(
        array_namespace,
        "to_host",
        lambda values: shapes.append(tuple(values.shape)) or original(values),
    )
    return shapes


@pytest.mark.parametrize("part", [2**30, 4_000], ids=["one part", "many parts"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_answers_of_memory_made_on_the_device(fitted, brought, monkeypatch, part, dtype):
    monkeypatch.setattr(device, "CONVERT_BYTES", part)
    model, X = fitted
    scores = model.decision_function(torch.asarray(X, dtype=dtype))
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.numpy(), model.decision_function(X), rtol=1e-9, atol=1e-9)
    assert brought
    assert all(shape[1:] in ((), (1,)) for shape in brought)  # scores, never rows or features


def test_missing_numbers_are_filled_as_in_memory(fitted):
    model, X = fitted
    X = np.where(np.arange(M)[:, None] == 7, np.nan, X)
    scores = model.decision_function(torch.asarray(X))
    np.testing.assert_allclose(scores.numpy(), model.decision_function(X), atol=1e-12)


def test_what_is_no_row_is_refused(fitted):
    model, X = fitted
    with pytest.raises(ValueError, match="X has 2 features, but"):
        model.predict(torch.asarray(X[:, :2]))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(torch.asarray(np.where(X[0, 0] == X, np.inf, X)))


def test_contributions_add_up_there():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 3)), rng.integers(0, 3, 200)
    model = AdditiveLCC().fit(X, y)
    parts = model.contributions(torch.asarray(X)).numpy()
    assert parts.shape == (200, 3, 3)
    expected = model.decision_function(X)
    np.testing.assert_allclose(parts.sum(axis=1) + model._intercept, expected, atol=1e-10)
