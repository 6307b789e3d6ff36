"""Memory that is left, and a start that spares it."""

import os
import subprocess
import sys

import pytest

from lincent import _memory


def test_a_sample_fits_into_the_available_memory(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: float("inf"))
    assert _memory.sample_entries(10**9) == 10**9
    monkeypatch.setattr(_memory, "available_memory", lambda: 64e6)
    assert _memory.sample_entries(10**9) == 10**6
    monkeypatch.setattr(_memory, "available_memory", lambda: -1.0)
    assert _memory.sample_entries(10**9) == _memory.LEAST
    assert _memory.sample_entries(1_000) == 1_000


def test_libraries_reserve_less_under_a_small_limit(monkeypatch):
    given = {"OPENBLAS_NUM_THREADS": "7", "MALLOC_ARENA_MAX": "4"}
    environment = given.copy()
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(_memory, "_address_limit", lambda: float("inf"))
    _memory.reserve_less()
    assert environment == given
    monkeypatch.setattr(_memory, "_address_limit", lambda: 2.5 * 2**30)
    _memory.reserve_less()
    # Variables of the user take precedence.
    assert environment == given | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    del environment["OPENBLAS_NUM_THREADS"]
    _memory.reserve_less()
    assert environment["OPENBLAS_NUM_THREADS"] == "2"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_addresses_in_use_are_not_available(monkeypatch):
    taken = _memory._fields(_memory.Path("/proc/self/status"))["VmSize"]
    monkeypatch.setattr(_memory, "_address_limit", lambda: taken + 1e9)
    assert 0 < _memory.available_memory() <= 1e9


THREADS = """
import resource, threading
from lincent import _memory
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30,) * 2)
_memory.reserve_less()
threading.stack_size(2**20)
before, wait = _memory._size(), threading.Barrier(5)
def allocate():
    kept = [bytes(1000) for _ in range(100)]
    wait.wait()
    wait.wait()
threads = [threading.Thread(target=allocate) for _ in range(4)]
[thread.start() for thread in threads]
wait.wait()
print((_memory._size() - before) / 1e6)
wait.wait()
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read from /proc")
def test_threads_reserve_no_addresses_under_a_small_limit():
    environment = {k: v for k, v in os.environ.items() if k != "MALLOC_ARENA_MAX"}
    command = [sys.executable, "-c", THREADS]
    taken = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(taken.stdout) < 50  # an arena each would take 256 MB


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
    ("left", "said"), [(300 * 10**6, "True"), (10**7, "too little memory for the buffers of BLAS")]
)
def test_blas_has_its_buffers_before_memory_is_short(left, said):
    """Else it would ask for them without end."""
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, str(left)], capture_output=True, text=True,
        timeout=100, env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
    )  # fmt: skip
    assert said in done.stdout, done.stderr
