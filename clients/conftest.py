"""Collect what was run with which version of which package, for the page "Works with".

``pytest clients --write-page doc/measured/works_with.md`` writes the table of the page.
"""

import platform
import sqlite3
from datetime import date
from importlib.metadata import version
from pathlib import Path

import pytest

RESULTS = pytest.StashKey()
HEADER = """\
| package | version | what was run | result |
|---|---|---|---|
"""


def pytest_addoption(parser):
    parser.addoption("--write-page", metavar="FILE", help="write the table of results to FILE")


def pytest_configure(config):
    config.addinivalue_line("markers", "client(package, what): a package, and what is run with it")
    config.stash[RESULTS] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    marker = item.get_closest_marker("client")
    if marker is None:
        return
    package, what = marker.args
    results = item.config.stash[RESULTS]
    if report.failed or report.skipped:
        reason = str(call.excinfo.value).splitlines()[0] if call.excinfo else report.outcome
        results[package, what] = f"{report.outcome}: {reason}"
    elif report.when == "call":
        results.setdefault((package, what), "works")


def pytest_sessionfinish(session):
    path = session.config.getoption("--write-page")
    if path is None:
        return
    rows = sorted(session.config.stash[RESULTS].items(), key=lambda row: row[0][0].lower())
    lines = []
    for (package, what), result in rows:
        number = sqlite3.sqlite_version if package == "sqlite3" else version(package)
        lines.append(f"| {package} | {number} | {what} | {result} |\n")
    where = f"{len(lines)} rows, run on {date.today()} with Python {platform.python_version()}."
    Path(path).write_text(f"{HEADER}{''.join(lines)}\n{where}\n")
