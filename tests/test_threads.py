"""BLAS threads: one ledger for all fits of the process, and a user's own limit stands."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from lincent import LCC, _threads


def counts():
    return [library.get_num_threads() for library in _threads._libraries("blas")]


@pytest.fixture
def several():
    """A process whose BLAS has four threads, whatever the machine has."""
    with ThreadpoolController().limit(limits=4, user_api="blas"):
        if not counts() or counts()[0] != 4:
            pytest.skip("this BLAS does not let its threads be set")
        yield


def test_little_data_gets_one_thread_and_much_data_a_second(monkeypatch):
    monkeypatch.setattr(_threads, "cores", lambda: 16)
    assert _threads.threads_that_pay(462, 255) == 1
    assert _threads.threads_that_pay(20_000, 30) == 1
    assert _threads.threads_that_pay(1_000_000, 10) == 1
    assert _threads.threads_that_pay(10_000, 500) == 2
    assert _threads.threads_that_pay(1_000_000, 50) == 2
    monkeypatch.setattr(_threads, "cores", lambda: 1)
    assert _threads.threads_that_pay(1_000_000, 50) == 1


def test_the_number_from_before_comes_back(several):
    before = counts()
    with _threads.at_most(2):
        assert set(counts()) == {2}
        with _threads.at_most(1):
            assert set(counts()) == {1}
        with _threads.at_most(3):
            assert set(counts()) == {2}, "the smallest number asked for holds"
        assert set(counts()) == {2}
    assert counts() == before


def test_fits_side_by_side_do_not_leave_the_limit_of_the_other_behind(several):
    """The first to come is the first to go: saving and restoring alone would end at one thread."""
    before, inside, leave = counts(), threading.Event(), threading.Event()

    def longer():
        with _threads.at_most(1):
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=longer)
    with _threads.at_most(2):
        other.start()
        assert inside.wait(10)
        assert set(counts()) == {1}
    assert set(counts()) == {1}, "the other fit still runs"
    leave.set()
    other.join()
    assert counts() == before


def test_a_limit_of_the_user_is_not_raised():
    with ThreadpoolController().limit(limits=1), _threads.at_most(8):
        assert set(counts()) <= {1}


def test_a_fit_that_fails_gives_the_threads_back(several):
    before = counts()
    with pytest.raises(ValueError):
        LCC().fit(np.full((20, 3), np.nan), np.arange(20) % 2)
    assert counts() == before


def test_tasks_side_by_side_share_the_cores(several, monkeypatch):
    monkeypatch.setattr(_threads, "cores", lambda: 4)
    with _threads.side_by_side(2, tasks=5):
        assert set(counts()) == {2}
    with _threads.side_by_side(8, tasks=3):
        assert set(counts()) == {1}
    with _threads.side_by_side(None, tasks=3):
        assert set(counts()) == {4}
