"""BLAS threads: one ledger for all fits of the process, and a user's own limit stands."""

import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from lincent import LCC, _threads


class Library:
    """A BLAS of a machine with four cores."""

    def __init__(self, threads=4):
        self.threads = threads

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, threads):
        self.threads = threads


@pytest.fixture
def libraries(monkeypatch):
    found = [Library(), Library()]
    monkeypatch.setattr(_threads, "_libraries", lambda api: found if api == "blas" else [])
    return found


def counts(libraries):
    return {library.threads for library in libraries}


def test_little_data_gets_one_thread_and_much_data_a_second(monkeypatch):
    monkeypatch.setattr(_threads, "cores", lambda: 16)
    assert _threads.threads_that_pay(462, 255) == 1
    assert _threads.threads_that_pay(20_000, 30) == 1
    assert _threads.threads_that_pay(1_000_000, 10) == 1
    assert _threads.threads_that_pay(10_000, 500) == 2
    assert _threads.threads_that_pay(1_000_000, 50) == 2
    monkeypatch.setattr(_threads, "cores", lambda: 1)
    assert _threads.threads_that_pay(1_000_000, 50) == 1


def test_the_number_from_before_comes_back(libraries):
    before = counts(libraries)
    with _threads.at_most(2):
        assert counts(libraries) == {2}
        with _threads.at_most(1):
            assert counts(libraries) == {1}
        with _threads.at_most(3):
            assert counts(libraries) == {2}, "the smallest number asked for holds"
        assert counts(libraries) == {2}
    assert counts(libraries) == before


def test_fits_side_by_side_do_not_leave_the_limit_of_the_other_behind(libraries):
    """The first to come is the first to go: saving and restoring alone would end at one thread."""
    before, inside, leave = counts(libraries), threading.Event(), threading.Event()

    def longer():
        with _threads.at_most(1):
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=longer)
    with _threads.at_most(2):
        other.start()
        assert inside.wait(10)
        assert counts(libraries) == {1}
    assert counts(libraries) == {1}, "the other fit still runs"
    leave.set()
    other.join()
    assert counts(libraries) == before


def test_a_limit_of_the_user_is_not_raised(libraries):
    libraries[0].threads = 1
    with _threads.at_most(8):
        assert [library.threads for library in libraries] == [1, 4]


def test_the_libraries_of_this_process_obey():
    """Also from a thread that was not the first to set a number (see ``_Ledger``)."""
    seen = []

    def inside():
        with _threads.at_most(1):
            seen.extend(entry["num_threads"] for entry in ThreadpoolController().info())

    with ThreadpoolController().limit(limits=2):
        other = threading.Thread(target=inside)
        other.start()
        other.join()
    assert seen
    assert set(seen) == {1}


def test_a_fit_that_fails_gives_the_threads_back(libraries):
    before = counts(libraries)
    with pytest.raises(ValueError):
        LCC().fit(np.full((20, 3), np.nan), np.arange(20) % 2)
    assert counts(libraries) == before


def test_tasks_side_by_side_share_the_cores(libraries, monkeypatch):
    monkeypatch.setattr(_threads, "cores", lambda: 4)
    with _threads.side_by_side(2, tasks=5):
        assert counts(libraries) == {2}
    with _threads.side_by_side(8, tasks=3):
        assert counts(libraries) == {1}
    with _threads.side_by_side(None, tasks=3):
        assert counts(libraries) == {4}
    assert [_threads.running(n_jobs) for n_jobs in (None, 1, 3, -1, -2)] == [1, 1, 3, 4, 3]
    with joblib.parallel_config(n_jobs=2):
        assert _threads.running(None) == 2
