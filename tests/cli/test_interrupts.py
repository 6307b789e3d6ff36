"""A real signal in the middle of real work: exit code 130, one message, nothing half-written."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("typer")

from lincent.cli import _report_thread, options  # noqa: E402
from support.endless import BEGUN  # noqa: E402

PATIENCE = 300.0
"""Seconds for anything on a busy machine; what does not stop does not stop in these either."""
STOPPED = 3.0
"""Seconds to stop: one on a quiet machine."""
ENDLESS = """
import lincent
from support.endless import endless
for kind in (lincent.AutoLCC, lincent.RegularizedLCCCV, lincent.LCCCV):
    endless(kind)
"""
"""Makes fits that no machine finishes before it is interrupted."""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=4000) > 0, "u", "v")
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(30)]).assign(y=y)
    path = tmp_path_factory.mktemp("interrupts") / "t.csv"
    frame.to_csv(path, index=False)
    return path


def interrupt(process, begun):
    """Interrupt a command shortly after its work has begun, and return the time."""
    ends = time.monotonic() + PATIENCE
    while not begun() and time.monotonic() < ends and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.3)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGINT)
    return time.monotonic()


def interrupted(arguments, begun, folder):
    """Run a command in a fresh interpreter and interrupt it; its code, words, seconds."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "lincent", *map(str, arguments)], cwd=folder, text=True,
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        sent = interrupt(process, begun)
        said = process.communicate(timeout=PATIENCE)[1]
        return process.returncode, said, time.monotonic() - sent
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def parts_in(folder):
    return lambda: any(path.stat().st_size for path in folder.glob("runs.jsonl"))


def stopped_well(outcome, *words):
    code, said, seconds = outcome
    assert seconds < STOPPED, f"{seconds:.1f} s to stop"
    assert code == 130, said
    assert "Traceback" not in said, said
    last = said.strip().splitlines()[-1]
    assert last.startswith("lincent: interrupted; "), said
    for word in words:
        assert word in last


@pytest.mark.parametrize("method", ["auto", "linear", "lcccv"])
def test_fit(table, tmp_path, warm, method):
    arguments = ("fit", table, "--target", "y", "-o", "m.lincent", "--method", method)
    folder, begun = tmp_path / "work", tmp_path / "begun"
    folder.mkdir()
    place = {BEGUN: str(begun)}
    with warm.start(*arguments, folder=folder, before=ENDLESS, environment=place) as process:
        sent = interrupt(process, begun.exists)
        said = process.read_error()
        outcome = process.wait(), said, time.monotonic() - sent
    stopped_well(outcome, "nothing was written")
    assert os.listdir(folder) == []


def test_compare_goes_on_from_what_is_kept(table, tmp_path):
    out = tmp_path / "out"
    arguments = ("compare", table, "--target", "y", "--methods", "LCC,LogReg-bal,SVC-RBF", "--runs",
                 "400", "--jobs", "1", "-o", out)  # fmt: skip
    outcome = interrupted(arguments, parts_in(out), tmp_path)
    stopped_well(outcome, str(out), "goes on from there")
    kept = (out / "runs.jsonl").read_text().count("\n")
    assert kept > 0
    assert not (out / "report.html").exists()


def test_reproduce(tmp_path):
    out = tmp_path / "out"
    arguments = ("reproduce", "--quick", "--sets", "circles", "--parts", "procedure1", "--runs",
                 "400", "--jobs", "1", "-o", out)  # fmt: skip

    try:
        outcome = interrupted(arguments, parts_in(out), tmp_path)
    except AssertionError as error:
        if "not one of the paper's" in str(error) or "no such" in str(error):
            pytest.skip("the paper's data sets are not on this machine")
        raise
    stopped_well(outcome, str(out))


def test_the_code_does_not_hang_on_where_the_interrupt_came(tmp_path):
    (tmp_path / "started.py").write_text(
        "from lincent import cli\nimport lincent.cli.models\n"
        "def check_exists(path): exec('raise KeyboardInterrupt')\n"
        "lincent.cli.models.check_exists = check_exists\ncli.main()"
    )
    line = [sys.executable, "-m", "started", "fit", "t.csv", "--target", "y", "-o", "m"]
    done = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr == (
        "lincent: interrupted; nothing was written; the same command starts again.\n"
    )


def test_an_interrupt_that_native_code_made_another_error_of_is_one(capsys):
    """NumPy's reading of a buffer's format does so, and the start of an extension module."""
    import os
    import signal

    import typer

    from lincent.cli.options import errors_as_messages

    def native():
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("no valid buffer format") from None

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # A command has one around its options and one around its work.
        with pytest.raises(typer.Exit) as left, errors_as_messages(), errors_as_messages():
            native()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert left.value.exit_code == 130
    assert capsys.readouterr().err == "lincent: interrupted; nothing was written.\n"


def test_an_interrupt_that_python_could_not_raise_is_sent_again():
    """Python swallows exceptions in callbacks of weak references."""
    import sys
    import time
    import weakref

    from lincent.cli import _repeat_interrupt

    class Thing:
        pass

    def interrupted(_):
        raise KeyboardInterrupt

    thing, before = Thing(), sys.unraisablehook
    sys.unraisablehook = _repeat_interrupt
    try:
        things = [thing]
        kept = weakref.ref(things[0], interrupted)
        del thing
        with pytest.raises(KeyboardInterrupt):
            things.clear() or time.sleep(10)
        assert kept() is None
    finally:
        sys.unraisablehook = before


@pytest.mark.parametrize("was_interrupted", [False, True])
def test_errors_of_threads_after_an_interrupt_are_not_printed(capsys, monkeypatch, was_interrupted):
    """Killed workers make the threads that wait for them fail."""
    monkeypatch.setattr(options, "interrupted", threading.Event())
    if was_interrupted:
        options.interrupted.set()
    _report_thread(threading.ExceptHookArgs((OSError, OSError("handle is closed"), None, None)))
    assert ("handle is closed" in capsys.readouterr().err) != was_interrupted
