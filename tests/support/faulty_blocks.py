"""Functions that worker processes import by name: blocks that are slow or cannot be read."""

import time


def slowly(block, seconds=0.0):
    time.sleep(seconds)
    return block


def corrupt(block, block_info=None, number=3):
    if block_info[0]["chunk-location"][0] == number:
        raise OSError("checksum does not match")
    return block


def lincent_tasks(dask_scheduler):
    """How many of our tasks a scheduler still knows."""
    return sum(str(key).startswith("lincent") for key in dask_scheduler.tasks)
