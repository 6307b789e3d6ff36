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


@pytest.mark.parametrize("name", ["programs", "certificates", "models", "tables"])
def test_a_few_trials_of_each_campaign(name):
    import numpy as np

    trial = importlib.import_module(f"campaigns.{name}").trial
    for number in range(25):
        outcome = trial(np.random.default_rng([0, number]))
        assert not outcome.fault, outcome.fault


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
