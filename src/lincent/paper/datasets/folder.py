"""Places one and two: a folder of CSV files named by the user, and the user's cache.

The folder is given by the environment variable ``LINCENT_DATA``; its files must be the listed ones
byte for byte. The cache is where tables from the network are kept: ``LINCENT_CACHE`` if set,
otherwise the place the platform has for such things. Files appear whole or not at all, whoever
writes at the same time.
"""

import os
import sys
from pathlib import Path

from lincent._files import write_whole
from lincent.paper.datasets.errors import DatasetChecksumError, DatasetNotFoundError
from lincent.paper.datasets.registry import Entry
from lincent.paper.datasets.table import (
    DataTable,
    canonical_text,
    groups_text,
    parse_groups,
    parse_table,
)
from lincent.paper.datasets.verify import verify_bytes, verify_table

DATA_VARIABLE = "LINCENT_DATA"
CACHE_VARIABLE = "LINCENT_CACHE"


def data_folder() -> Path | None:
    """Return the folder named by ``LINCENT_DATA``, or None where it is not set."""
    name = os.environ.get(DATA_VARIABLE)
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DatasetNotFoundError(
            f"{DATA_VARIABLE} names {str(folder)!r}, which is not a folder; "
            "correct or unset the variable."
        )
    return folder


def cache_folder() -> Path:
    """Return the folder in which downloaded tables are kept; it need not exist.

    Returns
    -------
    pathlib.Path
        The folder; it need not exist.
    """
    name = os.environ.get(CACHE_VARIABLE)
    if name:
        return Path(name).expanduser()
    return _platform_cache() / "lincent" / "datasets"


def _platform_cache() -> Path:
    home = Path.home()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else home / "AppData" / "Local"
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    return Path(xdg) if os.path.isabs(xdg) else home / ".cache"


def read_data_folder(entry: Entry) -> tuple[DataTable, str] | None:
    """Read a set from the user's folder, byte for byte the listed file."""
    folder = data_folder()
    if folder is None or not (folder / entry.file).is_file():
        return None
    path = folder / entry.file
    advice = f"replace the file, or unset {DATA_VARIABLE}"
    text = _checked_text(path, entry.file_sha256, advice)
    groups = None
    if entry.groups_file and (folder / entry.groups_file).is_file():
        groups_path = folder / entry.groups_file
        groups = parse_groups(_checked_text(groups_path, entry.groups_file_sha256, advice))
    return verify_table(parse_table(text, groups), entry, str(path), advice), str(path)


def _checked_text(path: Path, expected: str, advice: str) -> str:
    content = path.read_bytes()
    verify_bytes(content, expected, f"File {path}", advice)
    return content.decode("utf-8")


def read_cache(entry: Entry) -> tuple[DataTable, str] | None:
    """Read a set from the cache; a damaged file is an error that says which file to delete."""
    path = cache_folder() / entry.file
    if not path.is_file():
        return None
    advice = "delete the file to have it fetched again"
    groups_path = cache_folder() / entry.groups_file if entry.groups_file else None
    try:
        groups = None
        if groups_path is not None and groups_path.is_file():
            groups = parse_groups(groups_path.read_text(encoding="utf-8"))
        table = parse_table(path.read_text(encoding="utf-8"), groups)
    except (ValueError, KeyError) as error:
        raise DatasetChecksumError(f"File {path} cannot be read ({error}); {advice}.") from error
    return verify_table(table, entry, f"File {path}", advice), str(path)


def write_cache(entry: Entry, table: DataTable) -> Path:
    """Keep a table in the cache, groups first: the table's file then implies the groups' file."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if entry.groups_file and table.groups is not None:
        write_whole(folder / entry.groups_file, groups_text(table.groups.tolist()))
    write_whole(folder / entry.file, canonical_text(table))
    return folder / entry.file
