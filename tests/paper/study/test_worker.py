"""Workers do not outlive the study that started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("typer")


def children(process):
    """Whatever thread has started them."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(pid) for path in lists for pid in path.read_text().split()]


def runs(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def seconds(process):
    """Processor time, as the system counts it."""
    found = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(found[11]) + int(found[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the process table of Linux")
def test_workers_end_in_the_middle_of_a_fit_when_compare_is_killed(tmp_path):
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        rng.standard_normal((20_000, 20)), columns=[f"c{k}" for k in range(20)]
    )
    table["y"] = rng.integers(2, size=len(table))
    table.to_csv(tmp_path / "t.csv", index=False)
    command = [sys.executable, "-m", "lincent", "compare", "t.csv", "--target", "y", "--jobs", "2",
               "--methods", "SVC-RBF", "--runs", "4", "--time-limit", "900", "--quiet"]  # fmt: skip
    study = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    workers: list[int] = []
    try:
        end = time.monotonic() + 300
        while len(workers) < 2 or min(map(seconds, workers)) < 4:  # imports are done: they fit
            assert time.monotonic() < end, "the workers did not start"
            time.sleep(0.2)
            workers = children(study.pid)
    finally:
        os.kill(study.pid, signal.SIGKILL)
        study.wait()
    end = time.monotonic() + 10
    while any(map(runs, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    left = [pid for pid in workers if runs(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left
