"""Files that appear whole or not at all: the one writer of the package.

What is written goes to a temporary file beside its destination and takes its name at the end, in
one step.  An error, a full disk or an interrupt on the way leaves the destination as it was.  A
process that is killed cannot tidy up: it leaves its temporary file, and the next write to that
folder removes it.  A temporary file is locked while its writer lives, which is how the two are
told apart; the system lets go of the lock when the process ends, however it ends.

A link is followed: its target is replaced and the link stays.  A device, a pipe or a descriptor
(``/dev/null``, a FIFO, ``/dev/stdout``) cannot be replaced and is written through.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from lincent._errors import AppError, first_line

STREAM = "-"
PARTIAL = ".lincent-partial"
"""How the name of a temporary file ends."""

PathLike = str | os.PathLike[str]


class OutputError(OSError, AppError):
    """A file could not be written; the sentence says why."""


def is_stream(path: PathLike) -> bool:
    """Whether a path means standard input or output."""
    return os.fspath(path) == STREAM


def check_output(path: PathLike, *, force: bool) -> None:
    """Refuse a destination that exists or that cannot be written, before any work is done."""
    if is_stream(path) or _written_through(path):
        return
    given = Path(path)
    if given.is_dir():
        raise OutputError(f"{given} is a folder: name a file to write.")
    if given.exists() and not force:
        raise OutputError(f"{given} exists already: give --force to replace it, or another name.")
    target = Path(os.path.realpath(given))
    if not target.parent.is_dir():
        raise OutputError(f"The folder {target.parent} does not exist: make it first.")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"The folder {target.parent} cannot be written to: choose another one.")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{given} is write-protected: lift the protection, or name another file.")


@contextmanager
def whole_file(path: PathLike, *, force: bool = False) -> Iterator[BinaryIO]:
    """A binary file that is at ``path`` only after the block has ended well."""
    check_output(path, force=force)
    if is_stream(path):
        place = _standard_output()
    elif _written_through(path):
        place = _through(path)
    else:
        place = _replacing(Path(os.path.realpath(path)))
    try:
        with place as file:
            yield file
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{path} was not written: {reason(error)}.") from error


def write_whole(path: PathLike, content: str | bytes) -> Path:
    """Write a file at once, in place of one that exists; text is UTF-8 with plain newlines."""
    with whole_file(path, force=True) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return Path(path)


def reason(error: OSError) -> str:
    """What the system says, without number and path."""
    return (error.strerror or first_line(error)).lower()


# ------------------------------------------------------------------------ a file that is replaced


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    remove_abandoned(target.parent)
    file = _temporary(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if target.exists():
                os.chmod(file.name, stat.S_IMODE(target.stat().st_mode))
            if not _OPEN_IS_LOCKED:
                os.replace(file.name, target)  # under the lock: nobody takes it for abandoned
        if _OPEN_IS_LOCKED:
            os.replace(file.name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(file.name)
        raise


def _temporary(target: Path) -> BinaryIO:
    """A locked temporary file beside its destination, with the rights of any new file."""
    while True:
        # A long name is cut, so that the longest name that the system allows can be written.
        name = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}{PARTIAL}")
        file = open(name, "xb")  # noqa: SIM115
        with contextlib.suppress(OSError):  # a file system without locks: nothing is ever removed
            _lock(file, wait=True)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # another process took it for abandoned before it was locked


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of writers that are no more."""
    for name in folder.glob(f".*{PARTIAL}"):
        with contextlib.suppress(OSError):
            with open(name, "rb") as file:
                _lock(file, wait=False)
                if not _OPEN_IS_LOCKED:
                    os.remove(name)
            if _OPEN_IS_LOCKED:
                os.remove(name)


try:
    import fcntl
except ImportError:  # Windows: an open file can be neither removed nor renamed
    _OPEN_IS_LOCKED = True

    def _lock(file: BinaryIO, *, wait: bool) -> None:
        """Nothing to do."""

else:
    _OPEN_IS_LOCKED = False

    def _lock(file: BinaryIO, *, wait: bool) -> None:
        """Lock an open file; an error where another writer holds it and ``wait`` is false."""
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


# ------------------------------------------------------------------ what cannot be replaced


def _written_through(path: PathLike) -> bool:
    """Whether a path is a descriptor, a device, a pipe or a socket."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _descriptor(path: PathLike) -> int | None:
    """The number of the own descriptor that a path such as /dev/stdout leads to."""
    name = os.path.abspath(path)
    for _ in range(40):  # as many links as the system follows
        found = re.fullmatch(rf"/(?:proc/(?:self|{os.getpid()})|dev)/fd/(\d+)", name)
        if found:
            return int(found[1])
        if not os.path.islink(name):
            return None
        name = os.path.normpath(os.path.join(os.path.dirname(name), os.readlink(name)))
    return None


@contextmanager
def _through(path: PathLike) -> Iterator[Any]:
    own = _descriptor(path)
    # A second handle on the same opening goes on where the first one stands, also with `>>`.
    with open(path if own is None else os.dup(own), "wb") as file:
        yield file


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
        raise OutputError("The reader of the output closed it before the end.") from error
