"""Functions that worker processes import by name: blocks that are slow or cannot be read."""

import os
import signal
import time
from pathlib import Path


def slowly(block, seconds=0.0):
    time.sleep(seconds)
    return block


def corrupt(block, block_info=None, number=3):
    if block_info[0]["chunk-location"][0] == number:
        raise OSError("checksum does not match")
    return block


def deadly(block, folder, at, block_info=None, number=3):
    """Kill the process that opens one block for the ``at``-th time (counted from 0), and no other.

    The openings are counted by files in a folder, as processes share nothing else.
    """
    if block_info[0]["chunk-location"][0] == number:
        opened = len(list(Path(folder).iterdir()))
        Path(folder, str(opened)).touch(exist_ok=False)
        if opened == at:
            os.kill(os.getpid(), signal.SIGKILL)
    return block


def lincent_tasks(dask_scheduler):
    """How many of our tasks a scheduler still knows."""
    return sum(str(key).startswith("lincent") for key in dask_scheduler.tasks)
