"""A real signal in the middle of real work: exit code 130, one sentence, nothing half-written."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("typer")

PATIENCE = 60.0
"""For starting on a busy machine; how long stopping may take is another matter."""
STOPPED = 3.0
"""A second on a quiet machine."""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=4000) > 0, "u", "v")
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(30)]).assign(y=y)
    path = tmp_path_factory.mktemp("interrupts") / "t.csv"
    frame.to_csv(path, index=False)
    return path


def interrupted(arguments, sign, folder, more=0.3):
    """Start a command, wait for a sign of work, interrupt it; its code, words, seconds to stop."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "lincent", *map(str, arguments)],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=folder, text=True,
    )  # fmt: skip
    said = ""
    ends = time.monotonic() + PATIENCE
    try:
        while not sign(said) and time.monotonic() < ends and process.poll() is None:
            if callable(getattr(sign, "wait", None)):
                time.sleep(0.05)
            else:
                said += process.stderr.readline()
        assert process.poll() is None, said + process.stderr.read()
        time.sleep(more)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
        code = process.wait(PATIENCE)
        return code, said, time.monotonic() - sent
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def stopped_well(outcome, *words):
    code, said, seconds = outcome
    assert code == 130, said
    assert "Traceback" not in said
    last = said.strip().splitlines()[-1]
    assert last.startswith("lincent: interrupted; "), said
    for word in words:
        assert word in last
    assert seconds < STOPPED, f"{seconds:.1f} s to stop"


@pytest.mark.parametrize("method", ["auto", "linear", "lcc"])
def test_fit(table, tmp_path, method):
    arguments = ("fit", table, "--target", "y", "-o", "m.lincent", "--method", method)
    arguments += ("--tune",) if method == "lcc" else ()
    outcome = interrupted(arguments, lambda said: "fitting" in said, tmp_path)
    stopped_well(outcome, "nothing was written")
    assert os.listdir(tmp_path) == []


def test_compare_goes_on_from_what_is_kept(table, tmp_path):
    out = tmp_path / "out"
    arguments = ("compare", table, "--target", "y", "--methods", "LCC,LogReg-bal,SVC-RBF", "--runs",
                 "40", "--jobs", "1", "-o", out)  # fmt: skip

    def begun(said):
        return any(out.glob("**/*.parquet"))

    begun.wait = lambda: None
    stopped_well(interrupted(arguments, begun, tmp_path), str(out), "goes on from there")
    kept = sum(len(pandas.read_parquet(part)) for part in out.rglob("*.parquet"))
    assert kept > 0
    assert not (out / "report.html").exists()


def test_reproduce(tmp_path):
    out = tmp_path / "out"
    arguments = ("reproduce", "--quick", "--sets", "circles", "--parts", "procedure1", "--runs",
                 "400", "--jobs", "1", "-o", out)  # fmt: skip

    def begun(said):
        return any(out.glob("**/*.parquet"))

    begun.wait = lambda: None
    try:
        outcome = interrupted(arguments, begun, tmp_path)
    except AssertionError as error:
        if "not one of the paper's" in str(error) or "no such" in str(error):
            pytest.skip("the paper's data sets are not on this machine")
        raise
    stopped_well(outcome, str(out))
