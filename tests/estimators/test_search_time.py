"""The time of a search is shared by its paths, with some kept for the refit."""

import numpy as np
import pytest

from lincent.estimators.search_time import REFIT_SHARE, FoldTime, search_ends
from lincent.solvers.solution import Controls
from support.clock import Clock


def test_refit_has_its_share():
    limits = Controls(deadline=110.0)
    assert search_ends(limits, 10.0, refit=True) == 110.0 - REFIT_SHARE * 100.0
    assert search_ends(limits, 10.0, refit=False) == 110.0
    assert search_ends(Controls(), 10.0, refit=True) == np.inf


def test_time_a_path_does_not_need_goes_to_those_after_it(monkeypatch):
    clock = Clock(monkeypatch)
    times = FoldTime(clock.now + 90.0, 3, np.zeros(1, dtype=bool))
    assert times.next_path() == pytest.approx(clock.now + 30.0)
    clock.pass_by(10.0)
    assert times.next_path() == pytest.approx(clock.now + 40.0)
    clock.pass_by(70.0)  # too long: what is left is for the last
    assert times.next_path() == pytest.approx(clock.now + 10.0)
    clock.pass_by(20.0)
    assert times.next_path() < clock.now


def test_without_a_limit_no_path_ends(monkeypatch):
    Clock(monkeypatch)
    assert FoldTime(np.inf, 2, np.zeros(1, dtype=bool)).next_path() == np.inf
