"""CPU tensors that simulate those of a GPU: NumPy cannot read them without an explicit copy."""

import pytest


@pytest.fixture
def torch_far_away(monkeypatch):
    """torch, whose tensors refuse to be converted on the quiet, as those of a GPU do."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")

    def refuse(tensor, *rest, **named):
        raise TypeError("can't convert a tensor of a device to numpy")

    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    return torch
