"""One small comparison with hostile names, and its report, shared by all tests of this folder."""

import numpy as np
import pytest

from support.model_fixtures import *  # noqa: F403

HOSTILE = "<script>alert(1)</script>"
HOSTILE_CLASS = 'yes"><img src=x onerror=alert(2)>'


def hostile_table(folder):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 120
    y = np.where(rng.random(n) < 0.3, HOSTILE_CLASS, "no | **bold** `x`")
    signal = y == HOSTILE_CLASS
    frame = pandas.DataFrame(
        {
            "row": np.arange(n),
            HOSTILE: rng.normal(size=n) + 1.2 * signal,
            "cost $x_1$ [a](http://b)": rng.normal(size=n) + 0.8 * signal,
            "city": rng.choice(["ulm", "köln", "</td>"], n),
            "class & more": y,
        }
    )
    path = folder / "data & 'more'.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def hostile(tmp_path):
    """A table, and the names of a column and a class that are markup."""
    return hostile_table(tmp_path), HOSTILE, HOSTILE_CLASS


@pytest.fixture(scope="session")
def comparison(tmp_path_factory):
    for package in ("jinja2", "matplotlib", "pyarrow", "pandas"):
        pytest.importorskip(package)
    from lincent.model_selection import compare
    from support import awkward
    from support.in_process import without_workers

    folder = tmp_path_factory.mktemp("comparison")
    path = hostile_table(folder)
    methods = [
        "LCC",
        "LogReg-bal",
        "SMP",
        (HOSTILE, awkward.Majority()),
        ("bad", awkward.Failing()),
    ]
    with without_workers():
        result = compare(
            str(path), "class & more", methods=methods, n_splits=5, folder=folder / "out"
        )
    result.save(folder / "out")
    return result, folder / "out"


@pytest.fixture(scope="session")
def report(comparison):
    from lincent.report.comparison import comparison_page
    from lincent.report.rendering import write_page

    result, folder = comparison
    write_page(comparison_page(result), folder)
    return folder


@pytest.fixture(scope="session")
def browser():
    from support.browser import one_browser

    yield from one_browser()
