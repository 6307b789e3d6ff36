"""Settings of the suite: data folder, deterministic hypothesis, a list of what was skipped."""

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# The real data sets, where a folder with them lies beside the checkout.
_BESIDE = REPOSITORY.parent / "shared" / "data"
if "LINCENT_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["LINCENT_DATA"] = str(_BESIDE)

# A process that was started in the background ignores interrupts, and the tests send some.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # tests that use hypothesis skip themselves
    pass
else:
    # The same examples on every run: a red suite must be red for everyone.
    settings.register_profile(
        "deterministic",
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("deterministic")


# Tests of one group run one after another in one process of ``make test``.  A file is a group, so
# that its fixtures are made once; clusters wait for each other, and so do browsers, since each
# starts processes of its own; tests of a file named here may run anywhere.  Groups with a slow test
# come first, and what may run anywhere last, so that no core is idle at the end.
SPREAD = ("test_sklearn_contract.py",)
GROUPS = {"support.own_cluster": "cluster", "LocalCluster": "cluster", "support.browser": "browser"}


def pytest_configure(config: pytest.Config) -> None:
    """Keep the order below: xdist would start groups of many tests first, however short."""
    config.option.loadscopereorder = False


def group_of(path: Path) -> str:
    """Return the name of the group in which the tests of a file run."""
    if path.suffix == ".py":
        text = path.read_text("utf-8")
        for word, group in GROUPS.items():
            if word in text:
                return group
    return path.as_posix()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Assign tests to groups, and leave those of SciPy's array API to a process of their own."""
    groups: dict[Path, str] = {}
    for item in items:
        if "check_array_api" in item.name:  # scikit-learn's own
            item.add_marker(pytest.mark.array_api)
        if item.path.name not in SPREAD and config.pluginmanager.hasplugin("xdist"):
            if item.path not in groups:
                groups[item.path] = group_of(item.path)
            item.add_marker(pytest.mark.xdist_group(groups[item.path]))
    slow = {groups.get(item.path) for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name in SPREAD, groups.get(item.path) not in slow))
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        deselected = [item for item in items if item.get_closest_marker("array_api")]
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item.get_closest_marker("array_api") is None]


@pytest.fixture
def in_process():
    """Run experiments without worker processes."""
    from support.in_process import without_workers

    with without_workers():
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the optional parts that did not run: a green suite without them proves less."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1
    terminalreporter.section("optional parts")
    if not reasons:
        terminalreporter.line("nothing was skipped")
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"skipped {count:4d}  {reason}")
    if "LINCENT_DATA" not in os.environ:
        terminalreporter.line("LINCENT_DATA is not set: tests on real data sets may be among them")
