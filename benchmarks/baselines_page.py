"""Write measured sections of doc/measured/baselines.md."""

import datetime
import os
import platform
from pathlib import Path

import numpy
import scipy
import sklearn

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "baselines.md"


def stamp(command):
    """The line that says when, where and how a figure was measured."""
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (numpy, scipy, sklearn))
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"Measured {datetime.date.today()} on {os.cpu_count()} shared CPU cores "
        f"({platform.machine()}), "
        f"OMP_NUM_THREADS={threads}, Python {platform.python_version()}, {versions}: `{command}`."
    )


def write_section(script, lines):
    """Replace what stands between the marks of the script."""
    begin, end = f"<!-- begin {script} -->", f"<!-- end {script} -->"
    text = PAGE.read_text("utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"{PAGE.name} has no single pair of marks {begin} {end}; put them back.")
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    PAGE.write_text("\n".join([head + begin, "", *lines, "", end]) + tail, "utf-8")
    print(f"\nwritten into {PAGE.name}")
