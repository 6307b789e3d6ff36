"""Files that appear whole or not at all.

What is written goes to a temporary file beside its destination and takes its name at the end, in
one step.  An error, a full disk or an interrupt on the way leaves the destination as it was.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from lincent.app.errors import AppError, first_line

STREAM = "-"


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path means standard input or output."""
    return os.fspath(path) == STREAM


def check_output(path: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse a destination that exists or that cannot be written, before any work is done."""
    if is_stream(path):
        return
    target = Path(path)
    if target.is_dir():
        raise AppError(f"{target} is a folder: name a file to write.")
    if target.exists() and not force:
        raise AppError(f"{target} exists already: give --force to replace it, or another name.")
    if not target.parent.is_dir():
        raise AppError(f"The folder {target.parent} does not exist: make it first.")
    if not os.access(target.parent, os.W_OK):
        raise AppError(f"The folder {target.parent} cannot be written to: choose another one.")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[BinaryIO]:
    """A binary file that is at ``path`` only after the block has ended well."""
    check_output(path, force=force)
    if is_stream(path):
        with _standard_output() as stream:
            yield stream
        return
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise AppError(f"{target} cannot be written: {reason(error)}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _keep_mode(target, name)
        os.replace(name, target)
    except OSError as error:
        _remove(name)
        raise AppError(f"{target} was not written: {reason(error)}.") from error
    except BaseException:
        _remove(name)
        raise


@contextmanager
def _standard_output() -> Iterator[Any]:
    stream = sys.stdout.buffer
    try:
        yield stream
        stream.flush()
    except BrokenPipeError as error:
        # The interpreter would try to flush once more at exit and complain; there is nobody left.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
        raise AppError("The reader of the output closed it before the end.") from error


def _keep_mode(target: Path, name: str) -> None:
    """The rights of the file that is replaced, or those that a new file would have."""
    if target.exists():
        os.chmod(name, target.stat().st_mode & 0o777)
        return
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)


def _remove(name: str) -> None:
    if os.path.exists(name):
        os.remove(name)


def reason(error: OSError) -> str:
    """What the system says, without number and path."""
    return (error.strerror or first_line(error)).lower()
