"""Memory that is left, and a start that spares it."""

import os
import subprocess
import sys

import pytest

from lincent import _memory

VARIABLES = ("ARROW_DEFAULT_MEMORY_POOL", "MALLOC_ARENA_MAX", "OPENBLAS_NUM_THREADS")


@pytest.fixture
def started(monkeypatch):
    """What the process would be replaced by, for an environment without settings."""
    found = []
    monkeypatch.setattr(os, "execve", lambda *how: found.append(how))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return found


def test_a_sample_is_what_there_is_room_for(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: float("inf"))
    assert _memory.sample_entries(10**9) == 10**9
    monkeypatch.setattr(_memory, "available_memory", lambda: 64e6)
    assert _memory.sample_entries(10**9) == 10**6
    monkeypatch.setattr(_memory, "available_memory", lambda: -1.0)
    assert _memory.sample_entries(10**9) == _memory.LEAST
    assert _memory.sample_entries(1_000) == 1_000


def test_a_tight_limit_is_worth_a_second_start(monkeypatch, started):
    monkeypatch.setattr(_memory, "_address_limit", lambda: 2.5 * 2**30)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "7")
    _memory.spare_addresses()
    (program, command, environment), *_ = started
    assert program == command[0] == sys.executable
    assert command[1:] == sys.orig_argv[1:]
    found = [environment[name] for name in VARIABLES]
    assert found == ["system", "7", "2"]  # a user's own word stands
    for name in VARIABLES:
        monkeypatch.setenv(name, "1")
    _memory.spare_addresses()
    assert len(started) == 1  # and no third


def test_without_a_limit_nothing_is_started(monkeypatch, started):
    monkeypatch.setattr(_memory, "_address_limit", lambda: float("inf"))
    _memory.spare_addresses()
    assert not started


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_addresses_that_are_taken_are_no_room(monkeypatch):
    taken = _memory._fields(_memory.Path("/proc/self/status"))["VmSize"]
    monkeypatch.setattr(_memory, "_address_limit", lambda: taken + 1e9)
    assert 0 < _memory.available_memory() <= 1e9


UNDER_A_LIMIT = """
import resource, sys
import numpy, scipy.linalg
from lincent import _memory
limit = int(_memory._size()) + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    print(_memory.available_memory() < int(sys.argv[1]) - _memory.BUFFERS)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("left", "said"), [(300 * 10**6, "True"), (10**7, "no room for the buffers of BLAS")]
)
def test_blas_has_its_buffers_before_memory_is_short(left, said):
    """Else it would ask for them without end."""
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, str(left)], capture_output=True, text=True,
        timeout=100, env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
    )  # fmt: skip
    assert said in done.stdout, done.stderr
