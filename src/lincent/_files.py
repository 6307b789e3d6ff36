"""Write files atomically.

What is written goes to a temporary file beside its destination, which replaces the destination in
one step at the end.  An error, a full disk or an interrupt leaves the destination unchanged.  A
process that is killed leaves its temporary file behind.

A link is followed: its target is replaced and the link stays.  A device or a pipe (``/dev/null``, a
FIFO) cannot be replaced and is written directly.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO

from lincent._errors import AppError, first_line

STREAM = "-"
PARTIAL = ".lincent-partial"  # suffix of temporary files

PathLike = str | os.PathLike[str]


class OutputError(OSError, AppError):
    """A file could not be written; the message gives the reason."""


def is_stream(path: PathLike) -> bool:
    """Return whether a path means standard input or output."""
    return os.fspath(path) == STREAM


def reason(error: OSError) -> str:
    """Return the message of the operating system, without number and path."""
    return (error.strerror or first_line(error)).lower()


def check_output(path: PathLike, *, force: bool, others: Sequence[Any] = ()) -> None:
    """Raise an error for a destination that exists or that cannot be written.

    ``others`` are the other files of a command, which may not be replaced, not even by force.
    """
    if is_stream(path) or _is_special(path):
        return
    given = Path(path)
    for other in others:
        if isinstance(other, (str, os.PathLike)) and _is_same(given, Path(other)):
            raise OutputError(f"{given} is another file of this command: name a new one to write.")
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
def atomic_write(path: PathLike, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a binary file that is at ``path`` only after the block has ended without an error."""
    check_output(path, force=force)
    if is_stream(path):
        writer: Any = _standard_output()
    elif _is_special(path):
        writer = open(path, "wb")  # noqa: SIM115
    else:
        writer = _replace(Path(os.path.realpath(path)))
    try:
        with writer as file:
            yield file
    except OutputError:
        raise
    except OSError as error:
        name = "Standard output" if is_stream(path) else path
        raise OutputError(f"{name} was not written: {reason(error)}.") from error


def write_file(path: PathLike, content: str | bytes, *, force: bool = True) -> Path:
    """Write a file atomically, in place of one that exists; text is UTF-8 with plain newlines."""
    with atomic_write(path, force=force) as file:
        if isinstance(content, str):  # bytes of file names that are no UTF-8 are escaped
            content = content.encode(errors="backslashreplace")
        file.write(content)
    return Path(path)


@cache
def read_toml(package: str, name: str) -> dict[str, Any]:
    """Return the contents of a TOML file that is part of a package."""
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))


@contextmanager
def _replace(target: Path) -> Iterator[BinaryIO]:
    # A long name is truncated, so that the longest name that the system allows can be written.
    # `tempfile` would not give the file the permissions of a new file.
    name = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}{PARTIAL}")
    try:
        with open(name, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(name, stat.S_IMODE(target.stat().st_mode))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(name)
        raise


def _is_same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


def _is_special(path: PathLike) -> bool:
    """Return whether a path is a device, a pipe or a socket."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def _standard_output() -> Iterator[Any]:
    stream = sys.stdout.buffer
    if not stream.writable():
        raise OutputError("Standard output is closed: name a file to write.")
    yield stream
    stream.flush()
