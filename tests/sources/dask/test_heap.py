"""Workers keep their buffers, where Dask alone has said otherwise."""

import os
import platform
import subprocess
import sys

import pytest

from lincent.sources.dask.heap import keep_buffers

CODE = """
import resource, sys
import numpy as np
from lincent.sources.dask.heap import keep_buffers
assert keep_buffers() == (sys.argv[1] == "65536")
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(200):
    np.ones(2**17)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_pages_are_not_cleared_for_every_buffer():
    faults = {}
    for word in ("65536", "65537"):  # Dask's, and a user's own
        environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": word}
        done = subprocess.run(
            [sys.executable, "-c", CODE, word], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        faults[word] = int(done.stdout)
    assert faults["65536"] < 2_000 < 20_000 < faults["65537"]


def test_without_the_setting_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    keep_buffers.cache_clear()
    assert not keep_buffers()
