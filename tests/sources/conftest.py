"""X in every layout, and the source that reads it."""

import pytest

from lincent.sources import dense as dense_module
from lincent.sources.source import open_source
from support.layouts import LAYOUTS, plain


@pytest.fixture(params=LAYOUTS)
def layout(request, tmp_path):
    return LAYOUTS[request.param](plain(), tmp_path)


@pytest.fixture
def source(layout):
    return open_source(layout)


@pytest.fixture(params=[2**20, 256], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(dense_module, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(dense_module.DenseSource, "block_bytes", request.param)
