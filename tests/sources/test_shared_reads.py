"""Threads that wait for each other: one read for all, and no one waits for who has left."""

import threading
import time
from functools import partial

import pytest

from lincent.sources.shared_reads import (
    BaseSchedule,
    ReadCancelled,
    ReadRequest,
    perform_read,
    run_concurrently,
)


class Counted(BaseSchedule):
    """Blocks of which any pass answers with the name of its request; passes are counted."""

    def __init__(self, passes):
        super().__init__(print)
        self.passes = passes

    def read_all(self, requests, halt):
        self.passes.append(sorted(request.verb for request in requests))
        for request in requests:
            request.answers = [request.verb]


def asks(passes, verb, count):
    for _ in range(count):
        request = ReadRequest(Counted(passes), verb, print)
        perform_read(request)
        assert request.answers == [verb]
    return count


def test_a_read_for_all_that_wait():
    passes = []
    found = run_concurrently([partial(asks, passes, str(k), k) for k in (2, 5, 0)], 3)
    assert found == [2, 5, 0]
    assert passes[-1] == ["5"]  # no one waits for the others any more
    assert len(passes) == 5


def test_fewer_threads_than_jobs_read_together_as_well():
    passes = []
    jobs = [partial(asks, passes, "a", 3) for _ in range(6)]
    assert run_concurrently(jobs, 2) == [3] * 6
    assert len(passes) == 9


@pytest.mark.parametrize("most", [0, 1, 2])
def test_threads_that_cannot_start_are_not_waited_for(monkeypatch, most):
    """As under a limit on addresses: each thread needs some for its stack."""
    start, started, passes = threading.Thread.start, [], []

    def limited(self):
        if len(started) >= most:
            raise RuntimeError("can't start new thread")
        started.append(self)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", limited)

    def outer(name):
        asks(passes, name, 1)
        return run_concurrently([partial(asks, passes, f"{name}{k}", 2) for k in range(3)], 3)

    assert run_concurrently([partial(outer, name) for name in "ab"], 2) == [[2] * 3] * 2
    assert sum(map(len, passes)) == 14


def test_work_within_work_joins_the_same_reads():
    passes = []

    def outer(name):
        asks(passes, name, 1)
        run_concurrently([partial(asks, passes, f"{name}{k}", 2) for k in range(3)], 3)
        asks(passes, name, 1)

    run_concurrently([partial(outer, name) for name in "ab"], 2)
    assert passes[0] == passes[-1] == ["a", "b"]
    assert passes[1:3] == [["a0", "a1", "a2", "b0", "b1", "b2"]] * 2
    assert len(passes) == 4


def test_an_error_in_a_read_is_raised_and_ends_the_others():
    class Broken(Counted):
        def read_all(self, requests, halt):
            raise OSError("disk on fire")

    def one():
        perform_read(ReadRequest(Broken([]), "look", print))

    with pytest.raises(OSError, match="disk on fire"):
        run_concurrently([one, one], 2)


def test_an_error_in_one_job_ends_those_that_wait():
    ended = []

    def fails():
        time.sleep(0.05)
        raise ValueError("no")

    def waits():
        try:
            asks([], "look", 1)
            asks([], "look", 5)
        except ReadCancelled:
            ended.append(True)
            raise

    def asks_late():
        time.sleep(0.3)
        asks([], "look", 1)

    with pytest.raises(ValueError, match="no"):
        run_concurrently([fails, waits, asks_late], 3)


def test_alone_a_request_is_read_at_once():
    passes = []
    assert asks(passes, "look", 2) == 2
    assert passes == [["look"], ["look"]]
