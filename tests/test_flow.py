"""A plain fit can be followed: few files, few calls between them."""

import importlib.util
from pathlib import Path

import pytest

MOST_FILES, MOST_CALLS = 12, 46


@pytest.fixture(scope="module")
def flow():
    path = Path(__file__).resolve().parent.parent / "benchmarks" / "flow.py"
    spec = importlib.util.spec_from_file_location("flow", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_small_fit_of_lcc_can_be_followed(flow):
    seen = flow.flow_of(flow.job_of("LCC"))
    assert len(seen.files) <= MOST_FILES, seen.files
    assert len(seen.calls) <= MOST_CALLS, str(seen)
    # What is counted is the fit: it opens the data, solves and proves.
    assert {"estimators/problem", "solvers/lp/dispatch", "problems/rounding"} <= set(seen.files)
