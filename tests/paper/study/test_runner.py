import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from lincent._files import PARTIAL
from lincent.paper.study.procedures import procedure1, procedure2
from lincent.paper.study.runner import run_plan
from lincent.paper.study.store import MEASURED, FolderInUseError, RunStore, frame_of, read_runs
from support import awkward

pytest.importorskip("pyarrow")
TESTS = Path(awkward.__file__).parent.parent


def outcome(rows):
    """What must be equal between two runs of the same study."""
    frame = frame_of(rows) if isinstance(rows, list) else rows
    return frame.drop(columns=list(MEASURED))


def test_rows_carry_everything(problem, tmp_path):
    plan = procedure1([problem], ["LCC", ("majority", awkward.Majority())], runs=3)
    rows = run_plan(plan, RunStore(tmp_path))
    assert [row["status"] for row in rows] == ["ok"] * 6
    row = rows[0]
    assert json.loads(row["versions"])["scikit-learn"]
    assert json.loads(row["machine"])["cores"] >= 1
    assert row["fit_seconds"] > 0
    assert (row["n_train"], row["n_test"]) == (42, 18)
    assert row["seed"] == 0
    assert len(read_runs(tmp_path / "runs.parquet")) == 6
    assert not (tmp_path / "parts").exists()


def test_same_scores_as_by_hand(problem, tmp_path):
    import numpy as np
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.preprocessing import StandardScaler

    from lincent.estimators.linear import LCC
    from lincent.paper.study.splits import holdout

    row = run_plan(procedure1([problem], ["LCC"], runs=2), RunStore(tmp_path))[1]
    train, test = holdout(problem.y, 1)
    scaler = StandardScaler().fit(problem.X[train])
    model = LCC().fit(scaler.transform(problem.X[train]), problem.y[train])
    predicted = model.predict(scaler.transform(problem.X[test]))
    assert row["test_paper_auc"] == pytest.approx(
        balanced_accuracy_score(problem.y[test], predicted)
    )
    assert np.isfinite(row["test_score_auc"])


def test_misbehaving_methods_are_marked_and_stop_nobody(problem, tmp_path):
    methods = [
        ("sleeper", awkward.Sleeper()),
        ("failing", awkward.Failing()),
        ("dying", awkward.Dying()),
        ("chatty", awkward.Chatty()),
        ("majority", awkward.Majority()),
    ]
    plan = procedure1([problem], methods, runs=1)
    start = time.monotonic()
    rows = run_plan(plan, RunStore(tmp_path), time_limit=4)
    by_method = {}
    for row in rows:
        by_method.setdefault(row["method"], []).append(row)
    assert [row["status"] for row in by_method["failing"]] == ["failed"]
    assert by_method["failing"][0]["error"] == "ValueError: no solution for 42 rows"
    assert {row["status"] for row in by_method["dying"]} == {"died"}
    assert "code -9" in by_method["dying"][0]["error"]
    assert {row["status"] for row in by_method["chatty"]} == {"ok"}
    assert {row["status"] for row in by_method["majority"]} == {"ok"}
    assert {row["status"] for row in by_method["sleeper"]} == {"timeout"}
    assert by_method["sleeper"][0]["error"] == "the fit passed the limit of 4 s"
    assert time.monotonic() - start < 100


def test_a_method_that_is_always_late_is_given_up(problem, tmp_path):
    warm = [("majority", awkward.Majority()), ("sleeper", awkward.Sleeper())]
    rows = run_plan(procedure1([problem], warm, runs=5), RunStore(tmp_path), time_limit=2)
    status = [row["status"] for row in rows if row["method"] == "sleeper"]
    assert status == ["timeout"] * 3 + ["skipped"] * 2
    assert all(row["status"] == "ok" for row in rows if row["method"] == "majority")


def test_two_workers_give_the_same_table(problem, new_problem, tmp_path):
    problems = [problem, new_problem("other", seed=1)]
    plan = procedure1(problems, ["LCC", ("majority", awkward.Majority())], runs=4)
    one = run_plan(plan, RunStore(tmp_path / "one"), jobs=1)
    two = run_plan(plan, RunStore(tmp_path / "two"), jobs=2)
    assert outcome(one).equals(outcome(two))


def test_more_runs_go_on_from_fewer(problem, tmp_path):
    store = RunStore(tmp_path)
    methods = [("majority", awkward.Majority())]
    few = run_plan(procedure1([problem], methods, runs=2), store)
    calls = []
    more = run_plan(
        procedure1([problem], methods, runs=5), store, progress=lambda *call: calls.append(call)
    )
    assert [call[0] for call in calls] == [3, 4, 5]
    assert [row["finished"] for row in more[:2]] == [row["finished"] for row in few]


def test_other_data_or_settings_are_other_cells(problem, new_problem):
    first = procedure1([problem], [("m", awkward.Majority())], runs=1)
    second = procedure1([new_problem(seed=9)], [("m", awkward.Majority())], runs=1)
    third = procedure1([problem], [("m", awkward.Majority(shift=1.0))], runs=1)
    keys = {plan.cells[0].key for plan in (first, second, third)}
    assert len(keys) == 3


def test_retry_runs_marked_cells_again(problem, tmp_path):
    store = RunStore(tmp_path)
    plan = procedure1([problem], [("f", awkward.Failing()), ("m", awkward.Majority())], runs=1)
    first = run_plan(plan, store)
    again = run_plan(plan, store, retry=True)
    assert [row["status"] for row in again] == ["failed", "ok"]
    assert again[1]["fit_seconds"] == first[1]["fit_seconds"]  # not run again


def test_one_writer_per_folder(tmp_path):
    first, second = RunStore(tmp_path).writing(), RunStore(tmp_path).writing()
    with first, pytest.raises(FolderInUseError, match="Another run writes"), second:
        pass


def test_a_budget_ends_the_run_and_the_next_goes_on(problem, tmp_path):
    plan = procedure1([problem], [("m", awkward.Napping())], runs=40)
    store = RunStore(tmp_path)
    first = run_plan(plan, store, budget=0.5)
    assert 0 < len(first) < 40
    assert [row["split"] for row in first] == list(range(len(first)))  # in order, none left out
    assert len(run_plan(plan, store)) == 40
    assert len(run_plan(plan, store, budget=0.0)) == 40  # nothing was left to begin


def test_torn_and_double_files_do_no_harm(problem, tmp_path):
    store = RunStore(tmp_path)
    plan = procedure1([problem], [("m", awkward.Majority())], runs=3)
    rows = run_plan(plan, store)
    with store.writing():
        store.append(rows[:2])  # as after a kill between compaction and removal
        half = tmp_path / "parts" / f".000001-x.parquet.0{PARTIAL}"
        half.write_bytes(b"PAR1 half")
    again = run_plan(plan, store)
    assert not half.exists()
    assert outcome(again).equals(outcome(rows))
    assert len(read_runs(tmp_path / "runs.parquet")) == 3


def test_nested_selection_does_not_see_the_test_rows(problem):
    from dataclasses import replace

    from lincent.paper.study.cells import make_cell, run_cell
    from lincent.paper.study.methods import find_method
    from lincent.paper.study.splits import holdout

    train, test = holdout(problem.y, 0)
    X = problem.X.copy()
    X[test] = 1e6  # would spoil every scale and every choice
    spoiled = replace(problem, X=X, digest="")
    method = find_method("SVC-RBF")
    rows = [
        run_cell(make_cell(part, method, "nested", 0, 0), part, method)
        for part in (problem, spoiled)
    ]
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert rows[0]["chosen"] == rows[1]["chosen"] != ""
    assert rows[0]["train_score_auc"] == rows[1]["train_score_auc"]
    assert rows[0]["test_accuracy"] != rows[1]["test_accuracy"]
    assert len(train) == rows[0]["n_train"]


def test_procedure_2_ranks_the_best_value_of_the_grid(problem, tmp_path):
    from lincent.paper.study.summary import best_of_grids

    rows = run_plan(procedure2([problem], ["LCC", "SMP"], folds=3, every=7), RunStore(tmp_path))
    frame = frame_of(rows)
    best = {b.method: b for b in best_of_grids(frame)}
    assert best["SMP"].params == "{}"
    lcc = frame[(frame["method"] == "LCC") & (frame["status"] == "ok")]
    means = lcc.groupby("params")["test_paper_auc"].mean()
    assert best["LCC"].score == pytest.approx(means.max())
    # margins beyond the distance of the centers are marked, not fatal
    assert (frame[frame["method"] == "LCC"]["status"] == "failed").any()


STUDY = """
    import sys
    sys.path.insert(0, {tests!r})
    from support import awkward
    import numpy as np
    from lincent.paper.study import Problem, RunStore, procedure1, run_plan
    from lincent.paper.study import runner
    runner.FLUSH_SECONDS = 0.2
    runner.PARTS_BEFORE_COMPACTION = 3
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 3 == 0, "b", "a")
    problem = Problem("toy", rng.standard_normal((60, 3)), y)
    methods = ["LCC", ("napping", awkward.Napping()), ("failing", awkward.Failing())]
    run_plan(procedure1([problem], methods, runs=40), RunStore(sys.argv[1]), jobs=2)
"""


@pytest.mark.slow
def test_killed_three_times_the_table_is_the_same(tmp_path):
    script = tmp_path / "study.py"
    script.write_text(textwrap.dedent(STUDY.format(tests=str(TESTS))))
    command = [sys.executable, str(script)]
    subprocess.run([*command, str(tmp_path / "whole")], check=True, timeout=120)
    rng = random.Random(0)
    for _ in range(3):
        process = subprocess.Popen([*command, str(tmp_path / "killed")])
        time.sleep(rng.uniform(1.2, 4.0))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*command, str(tmp_path / "killed")], check=True, timeout=120)
    whole, killed = (read_runs(tmp_path / name / "runs.parquet") for name in ("whole", "killed"))
    assert len(killed) == 120
    assert killed["key"].is_unique
    assert outcome(killed).equals(outcome(whole))
