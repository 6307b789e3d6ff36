"""BLAS threads: the limits of nested and parallel fits, and of the user."""

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


def test_a_second_thread_is_used_for_large_data_only(monkeypatch):
    monkeypatch.setattr(_threads, "cores", lambda: 16)
    assert _threads.useful_threads(462, 255) == 1
    assert _threads.useful_threads(20_000, 30) == 1
    assert _threads.useful_threads(1_000_000, 10) == 1
    assert _threads.useful_threads(10_000, 500) == 2
    assert _threads.useful_threads(1_000_000, 50) == 2
    monkeypatch.setattr(_threads, "cores", lambda: 1)
    assert _threads.useful_threads(1_000_000, 50) == 1


def test_the_number_from_before_comes_back(libraries):
    before = counts(libraries)
    with _threads.limit_threads(2):
        assert counts(libraries) == {2}
        with _threads.limit_threads(1):
            assert counts(libraries) == {1}
        with _threads.limit_threads(3):
            assert counts(libraries) == {2}, "the smallest number asked for holds"
        assert counts(libraries) == {2}
    assert counts(libraries) == before


def test_fits_in_parallel_threads_do_not_leave_a_limit_behind(libraries):
    """The first to come is the first to go: saving and restoring in each would end at one."""
    before, inside, leave = counts(libraries), threading.Event(), threading.Event()

    def longer():
        with _threads.limit_threads(1):
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=longer)
    with _threads.limit_threads(2):
        other.start()
        assert inside.wait(10)
        assert counts(libraries) == {2}, "the first fit sets the number of the process"
    assert counts(libraries) == before
    leave.set()
    other.join()
    assert counts(libraries) == before


def test_a_limit_of_the_user_is_not_raised(libraries):
    libraries[0].threads = 1
    with _threads.limit_threads(8):
        assert [library.threads for library in libraries] == [1, 4]


def test_the_libraries_of_this_process_obey():
    _threads._libraries.cache_clear()  # other tests have loaded more of them
    with ThreadpoolController().limit(limits=2), _threads.limit_threads(1):
        counts = {entry["num_threads"] for entry in ThreadpoolController().info()}
    assert counts == {1}


def test_a_fit_that_fails_gives_the_threads_back(libraries):
    before = counts(libraries)
    with pytest.raises(ValueError):
        LCC().fit(np.full((20, 3), np.nan), np.arange(20) % 2)
    assert counts(libraries) == before


def test_tasks_side_by_side_share_the_cores(libraries, monkeypatch):
    monkeypatch.setattr(_threads, "cores", lambda: 4)
    with _threads.share_cores(2, tasks=5):
        assert counts(libraries) == {2}
    with _threads.share_cores(8, tasks=3):
        assert counts(libraries) == {1}
    with _threads.share_cores(None, tasks=3):
        assert counts(libraries) == {4}
    with joblib.parallel_config(n_jobs=2), _threads.share_cores(None, tasks=3):
        assert counts(libraries) == {2}
