"""Every failure that a campaign found is tried again."""

import importlib
from pathlib import Path

import pytest

INSTANCES = sorted((Path(__file__).parent / "instances").glob("*.json"))
campaigns = pytest.importorskip("campaigns", reason="campaigns are not part of the package")


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: path.stem)
def test_a_failure_of_a_campaign_is_mended(path):
    from campaigns.outcome import load

    campaign, instance = load(path)
    outcome = importlib.import_module(f"campaigns.{campaign}").check(instance)
    assert not outcome.fault


@pytest.fixture(scope="module")
def few_models():
    """Three files to start from: the others are for the campaign itself."""
    from campaigns import corpus, models

    with pytest.MonkeyPatch.context() as patch:
        few = {name: corpus.KINDS[name] for name in ("quick", "lcc", "dates")}
        patch.setattr(corpus, "KINDS", few)
        patch.setenv(corpus.FOLDER, "")
        patch.delenv(corpus.FOLDER)
        patch.setenv("MPLCONFIGDIR", "")
        corpus.make()
        yield
        patch.undo()
        corpus.model_files.cache_clear()
        models.seeds.cache_clear()


@pytest.mark.usefixtures("few_models")
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("programs", 25),
        ("certificates", 25),
        ("models", 25),
        ("tables", 50),
        ("commands", 5),
        ("dialects", 20),
        ("exports", 3),
        ("interrupts", 2),
        ("labels", 20),
        ("frames", 10),
        ("selection", 3),
        ("surroundings", 1),
        ("extremes", 10),
        ("invariances", 5),
    ],
)
def test_a_few_trials_of_each_campaign(name, count):
    import numpy as np

    trial = importlib.import_module(f"campaigns.{name}").trial
    for number in range(count):
        outcome = trial(np.random.default_rng([0, number]))
        assert not outcome.fault, outcome.fault


@pytest.mark.usefixtures("few_models")
def test_what_the_guided_fuzzer_starts_from_and_changes():
    """Its bytes stand for files that are read, and a change of JSON is JSON."""
    import json

    from campaigns import guided

    starts = guided.model_starts()
    for start in (starts[0], starts[1], starts[-1]):
        assert guided.check_model(start).kind.startswith("read")
        other = guided.changed(start, 1 << 20, 1, None)
        assert other[:1] == start[:1]
        json.loads(other[1:])
    assert guided.changed(starts[0], 9, 2, lambda data, most: data[:most]) == starts[0][:9]
    assert all(not guided.check_table(start).fault for start in guided.table_starts()[:40:5])


def test_instances_come_back_digit_for_digit(tmp_path, monkeypatch):
    import numpy as np

    from campaigns import outcome

    monkeypatch.setattr(outcome, "INSTANCES", tmp_path)
    kept = {"X": np.random.default_rng(0).normal(size=(3, 2)) * 1e-300, "data": b"\0\xff", "C": 0.1}
    path = outcome.save("programs", outcome.Outcome("x", "y", kept), "1")
    campaign, again = outcome.load(path)
    assert campaign == "programs"
    np.testing.assert_array_equal(again["X"], kept["X"])
    assert (again["data"], again["C"]) == (kept["data"], kept["C"])


def test_a_write_beyond_the_folder_is_seen(tmp_path):
    """The watch of the commands campaign is no test that cannot fail."""
    import subprocess
    import sys

    from campaigns import guarded

    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    script = (
        "import os, sys; from campaigns.guarded import watch; watch(sys.argv[1]); "
        "open(sys.argv[1] + '/ok', 'w').close(); open(sys.argv[2], 'w').close(); "
        "os.rename(sys.argv[2], sys.argv[2] + '2'); open(os.devnull, 'w').close()"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(inside), str(outside)], check=True, timeout=60
    )
    lines = (inside / guarded.LOG).read_text().splitlines()
    # A process that measures coverage writes its own file, too.
    assert [line for line in lines if str(tmp_path) in line] == [
        f"open {outside}",
        f"os.rename {outside}",
        f"os.rename {outside}2",
    ]


@pytest.mark.slow
def test_a_worker_that_dies_or_hangs_is_a_failure_and_the_others_go_on(monkeypatch):
    from campaigns import workers

    monkeypatch.setattr(workers, "LONGEST_TRIAL", 4.0)
    name = "support.killed_trials"
    found = workers.run(((name, 12.0),), seed=0, jobs=1)[name]
    assert any("dies (-9)" in failure for failure in found.failures)
    assert any("hangs" in failure for failure in found.failures)
    assert found.counts["fine"] > 0


def test_a_run_that_is_stopped_has_kept_its_counts(monkeypatch):
    from campaigns import workers

    class Done:
        def __init__(self, *_):
            self.pipe, self.rounds = None, 0

        def look(self, total):
            self.rounds += 1
            total["x"].counts["fine"] += 1
            return self if self.rounds < 3 else None

    monkeypatch.setattr(workers, "_Worker", Done)
    monkeypatch.setattr(workers, "KEEP_EVERY", -1.0)
    monkeypatch.setattr(workers.multiprocessing.connection, "wait", lambda *_, **__: None)
    kept = []
    workers.run((("x", 1.0),), 0, 1, lambda found: kept.append(found["x"].counts["fine"]))
    assert kept == [1, 2, 3]


def test_counts_of_runs_add_up(tmp_path):
    import json

    from campaigns import counts

    run = {
        "tables": {"counts": {"read": 3, "FAILED": 1}, "seeds": [1], "last": "a", "machine": "b"}
    }
    path = tmp_path / "counts.json"
    counts.add(path, run)
    counts.add(path, {"tables": run["tables"] | {"seeds": [2], "last": "c"}})
    found = json.loads(path.read_text())["tables"]
    assert found == {
        "counts": {"read": 6, "FAILED": 2}, "seeds": [1, 2], "last": "c", "machine": "b"
    }  # fmt: skip
