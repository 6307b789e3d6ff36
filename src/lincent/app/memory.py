"""How much memory a process may still take, and how much a table would."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lincent._files import is_stream
from lincent.tables.source import CSV, PARQUET, kind_by_name

COPIES = 6
"""A fit in memory holds a table about so often: as read, as a frame, as numbers, and its folds."""
TEXT_COPIES = 8
"""The same for a text file, by its size on disk: cells are read as text first."""


def room() -> float:
    """Bytes that this process may still take; infinite where nothing says so."""
    return min(_free(), _cgroup(), _address_space())


def _free() -> float:
    found = _fields(Path("/proc/meminfo")).get("MemAvailable")
    return float("inf") if found is None else found


def _cgroup() -> float:
    """What the control group of the process leaves, version 2 or 1."""
    for folder, most, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            limit, taken = ((Path(folder) / name).read_text().strip() for name in (most, used))
            return float("inf") if limit == "max" else float(limit) - float(taken)
        except (OSError, ValueError):
            continue
    return float("inf")


def _address_space() -> float:
    """What ``ulimit -v`` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except ImportError:  # not on Windows
        return float("inf")
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    return float(limit) - _fields(Path("/proc/self/status")).get("VmSize", 0.0)


def _fields(path: Path) -> dict[str, float]:
    """``name: number kB`` lines in bytes."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    parts = [line.split() for line in lines if line.endswith(" kB")]
    return {part[0].rstrip(":"): 1024.0 * float(part[1]) for part in parts}


def needed(data: Any, format: str | None = None) -> float:
    """About how many bytes a fit to this table takes in memory; 0 where it is there already."""
    if not isinstance(data, str | os.PathLike) or is_stream(data):
        return 0.0
    kind = format or kind_by_name(data)
    try:
        if kind == PARQUET:
            from pyarrow.parquet import read_metadata

            found = read_metadata(data)
            return float(COPIES * 8 * found.num_rows * found.num_columns)
        if kind == CSV and Path(data).suffix.lower() not in (".gz", ".bz2", ".xz", ".zip"):
            return float(TEXT_COPIES * os.path.getsize(data))
    except Exception:  # whatever is wrong with the file, reading it says so
        return 0.0
    return 0.0
