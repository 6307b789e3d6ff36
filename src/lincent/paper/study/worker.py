"""The process that fits: reads work from its standard input, writes rows to its standard output.

A process of its own can be killed when a fit takes too long,
and its numerical libraries are held to one thread by the environment it is started with. It ends
when its input ends, and in the middle of a fit when the process that started it is gone: it does
not outlive the study.

Messages are pickles with their length in front: ``("problem", Problem)`` and ``("method", Method)``
to keep, ``("cell", Cell)`` to run; the answer to a cell is its row.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from typing import IO, Any

_LENGTH = struct.Struct("!Q")
LOOK_EVERY = 0.2
"""Seconds between two looks whether the parent is there."""
READY = "ready"
"""The first answer of a worker: its imports are done, the clock of the first fit may start."""


def send(stream: IO[bytes], message: bytes) -> None:
    """Write one message."""
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; raise EOFError when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return pickle.loads(body)


def end_with(parent: int) -> None:
    """End this process, whatever it is doing, when its parent is another one than this."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)


def main() -> None:
    """Work until the input ends."""
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    from lincent.paper.study.cells import FAILED, empty_row, run_cell

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a method prints must not mix in
    send(answers, pickle.dumps(READY))
    kept: dict[tuple[str, str], Any] = {}
    while True:
        try:
            kind, name, value = receive(sys.stdin.buffer)
        except EOFError:
            return
        if kind != "cell":
            kept[kind, name] = value
            continue
        try:
            problem, method = kept["problem", value.digest], kept["method", value.method]
            row = run_cell(value, problem, method)
        except MemoryError:
            row = empty_row(value, FAILED, "MemoryError: not enough memory for this fit")
        try:
            send(answers, pickle.dumps(row))
        except BrokenPipeError:  # the study was killed
            os._exit(1)
