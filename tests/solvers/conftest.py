"""Figures that belong in the output of a green run too."""

import pytest

FIGURES: list[str] = []


@pytest.fixture(scope="module")
def publish():
    """Add a line to the end of the run."""
    return FIGURES.append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if FIGURES:
        terminalreporter.section("solvers")
        for line in FIGURES:
            terminalreporter.line(line)
