"""Small folders of synthetic segments; no test touches the user's cache."""

import os
from pathlib import Path

import pytest

from support.benchmarks import load_benchmark

write_synthetic = load_benchmark("synthetic_eeg").write_synthetic
GIVEN_FOLDER = os.environ.get("LINCENT_DATA")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LINCENT_CACHE", str(tmp_path / "cache"))
    if GIVEN_FOLDER:  # the recordings are read where they lie
        monkeypatch.setenv("LINCENT_DATA", GIVEN_FOLDER)


@pytest.fixture(scope="session")
def seizure_data() -> Path:
    folder = Path(GIVEN_FOLDER or "nowhere") / "seizure"
    if not folder.is_dir():
        pytest.skip("LINCENT_DATA is not set to a folder with seizure recordings")
    return folder


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory) -> Path:
    """Twelve ictal and twenty interictal seconds of 16 channels; read only."""
    return write_synthetic(tmp_path_factory.mktemp("eeg"), "Dog_1", ictal=12, interictal=20)


@pytest.fixture
def folder(tmp_path) -> Path:
    """The same, to be damaged."""
    return write_synthetic(tmp_path / "raw", "Dog_1", ictal=12, interictal=20)
