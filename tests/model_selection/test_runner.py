"""Running plans: time limits, worker processes that die, resumed and interrupted experiments."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from lincent.model_selection import Problem, plan_runs, read_runs, run_plan, runner
from lincent.model_selection.experiment import empty_row
from lincent.model_selection.runner import FolderInUseError, open_log
from support import awkward
from support.in_process import InProcess, without_workers

TESTS = Path(awkward.__file__).parent.parent
MAJORITY = ("majority", awkward.Majority())


def make_problem(name="toy", seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(60) % 3 == 0, "b", "a")
    return Problem(name, rng.standard_normal((60, 3)) + 1.5 * (y == "b")[:, None], y)


@pytest.fixture
def problem():
    return make_problem()


def outcome(frame):
    """Return what must be equal between two executions of the same plan."""
    times = ["fit_seconds", "score_seconds", "finished", "versions", "machine"]
    return frame.drop(columns=times)


def test_misbehaving_methods_are_marked_and_stop_nobody(problem, tmp_path, capfd):
    methods = [
        ("failing", awkward.Failing()),
        ("chatty", awkward.Chatty()),
        ("locked", awkward.Majority(shift=threading.Lock())),
        ("dying", awkward.Dying()),
        MAJORITY,
        ("sleeper", awkward.Sleeper()),
    ]
    start = time.monotonic()
    frame = run_plan(plan_runs([problem], methods, n_splits=1), tmp_path, time_limit=4)
    assert time.monotonic() - start < 300  # not the ten minutes that the sleeper would take
    rows = frame.set_index("method")
    assert rows["status"].to_dict() == {
        "failing": "failed", "chatty": "ok", "locked": "failed", "dying": "died", "majority": "ok",
        "sleeper": "timeout",
    }  # fmt: skip
    assert rows["error"]["sleeper"] == "the fit exceeded the limit of 4 s"
    assert rows["error"]["failing"] == "ValueError: no solution for 42 rows"
    assert "-9" in rows["error"]["dying"]
    assert "pickle" in rows["error"]["locked"]
    assert capfd.readouterr().out == ""  # what a method prints is not our output
    row = rows.loc["majority"]
    assert json.loads(row["versions"])["scikit-learn"]
    assert json.loads(row["machine"])["cores"] >= 1
    assert row["fit_seconds"] > 0
    assert (row["n_train"], row["n_test"], row["seed"]) == (42, 18, 0)
    assert len(read_runs(tmp_path / "runs.parquet")) == len(read_runs(tmp_path)) == 6
    assert not (tmp_path / "runs.jsonl").exists()


def test_a_method_that_is_always_late_is_given_up(problem, monkeypatch):
    class Late(InProcess):
        def run(self, run):
            late = run.method == "sleeper"
            return empty_row(run, "timeout", "late") if late else super().run(run)

    monkeypatch.setattr(runner, "_Worker", Late)
    methods = [MAJORITY, ("sleeper", awkward.Sleeper())]
    frame = run_plan(plan_runs([problem], methods, n_splits=5), time_limit=2)
    rows = frame[frame["method"] == "sleeper"]
    assert list(rows["status"]) == ["timeout"] * 3 + ["skipped"] * 2
    assert rows["error"].iloc[-1] == "3 earlier fits exceeded the limit of 2 s"
    assert (frame[frame["method"] == "majority"]["status"] == "ok").all()


def test_two_workers_give_the_same_table(problem, in_process, tmp_path):
    plan = plan_runs([problem, make_problem("other", 1)], ["LCC", MAJORITY], n_splits=4)
    one, two = (run_plan(plan, tmp_path / str(n_jobs), n_jobs=n_jobs) for n_jobs in (1, 2))
    assert len(one) == 16
    assert outcome(one).equals(outcome(two))


def test_more_splits_go_on_from_fewer(problem, in_process, tmp_path):
    few = run_plan(plan_runs([problem], [MAJORITY], n_splits=2), tmp_path)
    calls = []
    more = run_plan(
        plan_runs([problem], [MAJORITY], n_splits=5),
        tmp_path,
        progress=lambda *call: calls.append(call),
    )
    assert [call[:2] for call in calls] == [(3, 5), (4, 5), (5, 5)]
    assert more["fit_seconds"][:2].tolist() == few["fit_seconds"].tolist()


def test_other_data_or_settings_are_other_runs(problem):
    plans = [
        plan_runs([problem], [("m", awkward.Majority())], n_splits=1),
        plan_runs([make_problem(seed=9)], [("m", awkward.Majority())], n_splits=1),
        plan_runs([problem], [("m", awkward.Majority(shift=1.0))], n_splits=1),
    ]
    assert len({plan.runs[0].key for plan in plans}) == 3


def test_retry_repeats_marked_runs_only(problem, in_process, tmp_path):
    plan = plan_runs([problem], [("f", awkward.Failing()), ("m", awkward.Majority())], n_splits=1)
    first = run_plan(plan, tmp_path)
    calls = []
    again = run_plan(plan, tmp_path, retry=True, progress=lambda *call: calls.append(call))
    assert again["status"].tolist() == ["failed", "ok"]
    assert [call[2]["method"] for call in calls] == ["f"]
    assert again["fit_seconds"][1] == first["fit_seconds"][1]


def test_one_writer_per_folder(tmp_path):
    with (
        open_log(tmp_path),
        pytest.raises(FolderInUseError, match="Another run writes"),
        open_log(tmp_path),
    ):
        pass


def test_an_interrupt_keeps_what_is_done(problem, in_process, tmp_path):
    plan = plan_runs([problem], [MAJORITY], n_splits=6)

    def interrupt(done, total, row):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, tmp_path, progress=interrupt)
    calls = []
    frame = run_plan(plan, tmp_path, progress=lambda *call: calls.append(call))
    assert len(calls) == 3
    assert frame["split"].tolist() == list(range(6))


def test_torn_and_double_rows_do_no_harm(problem, in_process, tmp_path):
    plan = plan_runs([problem], [MAJORITY], n_splits=3)
    frame = run_plan(plan, tmp_path)
    log = tmp_path / "runs.jsonl"
    # as after a kill between the table and the log, and one in the middle of a line
    double = json.dumps(frame.iloc[0].to_dict(), default=int)
    log.write_text(f'{double}\n{{"key": "half", "meth')
    again = run_plan(plan_runs([problem], [MAJORITY], n_splits=4), tmp_path)
    assert not log.exists()
    assert outcome(again[:3]).equals(outcome(frame))
    assert len(read_runs(tmp_path / "runs.parquet")) == 4


def test_wrong_options_are_named(problem):
    plan = plan_runs([problem], [MAJORITY], n_splits=1)
    with pytest.raises(ValueError, match="n_jobs == 0"):
        run_plan(plan, n_jobs=0)
    with pytest.raises(ValueError, match=r"time_limit .* above 0, got 0"):
        run_plan(plan, time_limit=0)


STUDY = """
    import sys
    sys.path.insert(0, {tests!r})
    from model_selection.test_runner import killed_plan, runner
    runner.run_plan(killed_plan(sys.argv[2]), sys.argv[1], n_jobs=2)
"""


def killed_plan(folder):
    """Many short fits, a failing method, and at last fits that do not end."""
    methods = ["LCC", ("napping", awkward.Napping()), ("failing", awkward.Failing())]
    plan = plan_runs([make_problem()], methods, n_splits=15)
    return plan + plan_runs([make_problem()], [("endless", awkward.Endless(folder))], n_splits=2)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the process table of Linux")
def test_a_killed_experiment_is_resumed_and_its_workers_end(tmp_path):
    script, marks, killed = (tmp_path / name for name in ("study.py", "marks", "killed"))
    marks.mkdir()
    script.write_text(textwrap.dedent(STUDY.format(tests=str(TESTS))))
    command = [sys.executable, str(script), str(killed), str(marks)]

    def kill_when(condition):
        process = subprocess.Popen(command)
        end = time.monotonic() + 60
        try:
            while not condition():
                assert time.monotonic() < end, "the experiment did not get so far"
                assert process.poll() is None
                time.sleep(0.01)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()

    # Half of the short fits are there already: the experiment goes on from them.
    plan = killed_plan(str(marks))
    with without_workers():
        run_plan(runner.Plan(plan.runs[:20], plan.problems, plan.methods), killed)
    kill_when(lambda: len(list(marks.iterdir())) == 2)  # both workers are inside a fit
    assert (killed / "runs.jsonl").stat().st_size > 0
    workers = [int(path.name) for path in marks.iterdir()]
    end = time.monotonic() + 10
    while any(map(is_running, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in workers if is_running(pid)]
    # The rest in this process, without the endless fits.
    plan = runner.Plan(plan.runs[:45], plan.problems, plan.methods)
    with without_workers():
        whole, resumed = run_plan(plan), run_plan(plan, killed)
    assert len(resumed) == 45
    assert resumed["key"].is_unique
    assert outcome(resumed).equals(outcome(whole))
