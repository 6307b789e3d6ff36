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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what needs SciPy's array API to the process that test_array_api starts for it."""
    for item in items:
        if "check_array_api" in item.name:  # scikit-learn's own
            item.add_marker(pytest.mark.array_api)
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        kept = [item for item in items if item.get_closest_marker("array_api") is None]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


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
