"""Which lines of the package were reached at all: what fuzzing takes for progress.

Each line is told of once and then never again, so that watching costs nothing; the interpreter can
do that from Python 3.12 on.  Before, nothing is watched and nothing is kept.
"""

from __future__ import annotations

import os
import sys
from typing import Any

INSIDE = f"{os.sep}lincent{os.sep}"
_state = {"lines": 0, "on": 0}


def start() -> None:
    """Watch from now on."""
    if _state["on"] or not hasattr(sys, "monitoring"):
        return
    _state["on"] = 1
    monitoring = sys.monitoring
    monitoring.use_tool_id(monitoring.COVERAGE_ID, "campaigns")

    def line(code: Any, number: int) -> Any:
        if INSIDE in code.co_filename:
            _state["lines"] += 1
        return monitoring.DISABLE

    monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, line)
    monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)


def reached() -> int:
    """How many lines were reached so far."""
    return _state["lines"]
