"""Full disks, protected folders, and a kill at every write: a file is whole, old, or not there."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from campaigns.outcome import Outcome
from lincent._errors import AppError
from lincent._files import PARTIAL, atomic_write

KILLED = """
import os, sys, builtins
from lincent._files import atomic_write
left = int(sys.argv[2])
def dies(real):
    def call(*given, **named):
        global left
        left -= 1
        if left == 0:
            os._exit(9)
        return real(*given, **named)
    return call
for name in ("open", "write", "fsync", "replace", "rename", "chmod", "close"):
    setattr(os, name, dies(getattr(os, name)))
with atomic_write(sys.argv[1], force=True) as file:
    for _ in range(4):
        file.write(b"new " * 5000)
        file.flush()
"""
NEW, OLD = b"new " * 20_000, b"old"


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.bin"
        exists = rng.random() < 0.5
        if exists:
            target.write_bytes(OLD)
        if rng.random() < 0.5:
            return _killed(target, exists, int(rng.integers(1, 14)))
        return _full(target, exists, int(rng.integers(1, 6)))


def _killed(target: Path, exists: bool, place: int) -> Outcome:
    command = [sys.executable, "-c", KILLED, str(target), str(place)]
    done = subprocess.run(command, capture_output=True, env=os.environ, check=False)
    fault = _state(target, exists, finished=done.returncode == 0)
    with atomic_write(target, force=True) as file:
        file.write(NEW)
    for path in target.parent.glob(f".*{PARTIAL}"):  # what a killed writer leaves
        path.unlink()
    if not fault and sorted(target.parent.iterdir()) != [target]:
        fault = f"{[path.name for path in target.parent.iterdir()]} is left after the clean-up"
    return Outcome("killed" if done.returncode else "survived", fault)


def _full(target: Path, exists: bool, place: int) -> Outcome:
    finished = False
    try:
        with atomic_write(target, force=True) as file:
            for k in range(4):
                if k == place - 1:
                    raise OSError(errno.ENOSPC, "No space left on device")
                file.write(NEW[: len(NEW) // 4])
            finished = True
    except AppError as error:
        if "space" not in str(error):
            return Outcome("full", f"the sentence does not say why: {error}")
    left = [p.name for p in target.parent.iterdir() if p.name.endswith(PARTIAL)]
    fault = _state(target, exists, finished) or (f"{left} is left" if left else "")
    return Outcome("written" if finished else "full", fault)


def _state(target: Path, exists: bool, finished: bool) -> str:
    found = target.read_bytes() if target.exists() else None
    allowed = [NEW] if finished else [NEW, OLD if exists else None]
    if found in allowed:
        return ""
    return f"{0 if found is None else len(found)} bytes are there instead of all or none"
