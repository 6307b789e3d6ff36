"""The command line in a cage: a write beyond the folders that are allowed is remembered.

    python -m campaigns.guarded FOLDER predict model.lincent new.csv -o out.csv

Every opening for writing, renaming, removing and making of folders passes through the hook of the
interpreter (PEP 578), also where a package does it.  What happens outside of FOLDER is written to
FOLDER/beyond.txt.  Native code that opens files by itself is not seen here; the folder is compared
as well.
"""

from __future__ import annotations

import os
import sys
from typing import Any

LOG = "beyond.txt"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MOVING = {
    "os.remove": 1, "os.rename": 2, "os.rmdir": 1, "os.mkdir": 1, "os.link": 2, "os.symlink": 2,
    "os.truncate": 1, "os.chmod": 1, "os.chown": 1, "shutil.rmtree": 1, "shutil.move": 2,
}  # fmt: skip
"""Events that change a file, and how many of their arguments are paths."""
STARTING = (
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "subprocess.Popen",
    "socket.connect",
)
HARMLESS = ("/dev/null", "/dev/tty", "/dev/shm", "/proc/self")


def watch(folder: str) -> None:
    """Write down what leaves the folder from now on."""
    inside = os.path.realpath(folder)
    fonts = os.path.realpath(os.environ.get("MPLCONFIGDIR", folder))  # matplotlib's own folder
    log = os.open(os.path.join(inside, LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def told(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = given
            touched = [path] if isinstance(flags, int) and flags & WRITING else []
        elif event in MOVING:
            touched = list(given[: MOVING[event]])
        elif event in STARTING:
            os.write(log, f"{event} {given!r}"[:300].encode() + b"\n")
            return
        else:
            return
        for path in touched:
            if isinstance(path, (str, bytes, os.PathLike)) and not _allowed(path, (inside, fonts)):
                os.write(log, f"{event} {os.fsdecode(path)}"[:300].encode() + b"\n")

    sys.addaudithook(told)


def _allowed(path: Any, folders: tuple[str, ...]) -> bool:
    real = os.path.realpath(os.fsdecode(path))
    inside = any(real == folder or real.startswith(folder + os.sep) for folder in folders)
    return inside or real.startswith(HARMLESS) or "__pycache__" in real


def main() -> None:
    """Run the command line under watch."""
    watch(sys.argv[1])
    sys.argv[:2] = ["lincent"]
    from lincent.__main__ import main as commands

    commands()


if __name__ == "__main__":
    main()
