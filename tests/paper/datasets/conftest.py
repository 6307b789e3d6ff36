"""Every test starts without a cache and without a network; one that needs the data asks for it."""

import os
from pathlib import Path

import pytest

from lincent.paper.datasets import loader

GIVEN_FOLDER = os.environ.get("LINCENT_DATA")


@pytest.fixture(autouse=True)
def sealed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(address: str) -> str:
        raise OSError("no network in tests")

    monkeypatch.delenv("LINCENT_DATA", raising=False)
    monkeypatch.setenv("LINCENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loader, "download_text", refuse)


@pytest.fixture
def data_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the published files, as LINCENT_DATA."""
    if not GIVEN_FOLDER or not Path(GIVEN_FOLDER).is_dir():
        pytest.skip("LINCENT_DATA is not set to a folder with the data sets")
    monkeypatch.setenv("LINCENT_DATA", GIVEN_FOLDER)
    return Path(GIVEN_FOLDER)
