"""The table of runs on disk: rows are added as they come, a killed study loses seconds.

    FOLDER/runs.parquet        the table so far, in a fixed order
    FOLDER/parts/*.parquet     rows that came after it, a few seconds' worth in each file

Each file is there whole or not at all. `compact` writes the joined table first and removes the
parts after, so a kill in between leaves rows twice, which reading undoes by their key.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from lincent._errors import AppError
from lincent._files import remove_abandoned, whole_file
from lincent.paper.study.metrics import METRICS

TABLE = "runs.parquet"
PARTS = "parts"
MEASURED = ("fit_seconds", "score_seconds", "finished", "versions", "machine")
"""Columns that differ between two runs of the same cell; all others must not."""


def _schema() -> Any:
    pyarrow = _pyarrow()
    text = ["key", "procedure", "dataset", "digest", "method", "settings", "params"]
    fields = [(name, pyarrow.string()) for name in text]
    fields += [(name, pyarrow.int64()) for name in ("split", "seed")]
    fields += [(name, pyarrow.string()) for name in ("status", "error", "warnings", "chosen")]
    fields += [(name, pyarrow.int64()) for name in ("n_train", "n_test")]
    fields += [
        (f"{part}_{name}", pyarrow.float64()) for part in ("train", "test") for name in METRICS
    ]
    fields += [(name, pyarrow.float64()) for name in ("gap", "fit_seconds", "score_seconds")]
    fields += [(name, pyarrow.string()) for name in ("finished", "versions", "machine")]
    return pyarrow.schema(fields)


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError('A study needs pyarrow: pip install "lincent[app]".') from error
    return pyarrow


class FolderInUseError(AppError, RuntimeError):
    """Another process writes to the same folder."""


class RunStore:
    """Rows of a study in a folder.

    Parameters
    ----------
    folder : str or path-like
        Where the table is kept.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._lock: IO[str] | None = None

    @property
    def table_path(self) -> Path:
        """The joined table."""
        return self.folder / TABLE

    @property
    def _parts(self) -> list[Path]:
        return sorted((self.folder / PARTS).glob("*.parquet"))

    @contextlib.contextmanager
    def writing(self) -> Iterator[RunStore]:
        """Hold the folder for one writer; the operating system lets go when the process ends.

        Yields
        ------
        None
            While the folder is locked for others.
        """
        (self.folder / PARTS).mkdir(parents=True, exist_ok=True)
        remove_abandoned(self.folder / PARTS)
        lock = open(self.folder / PARTS / "lock", "w")  # noqa: SIM115
        try:
            _lock_file(lock, self.folder)
            yield self
        finally:
            lock.close()

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Add rows as one file.

        Parameters
        ----------
        rows : list of dict[str, object]
            Rows to add.
        """
        if rows:
            number = len(self._parts)
            path = self.folder / PARTS / f"{number:06d}-{uuid.uuid4().hex[:12]}.parquet"
            _write(_pyarrow().Table.from_pylist(rows, schema=_schema()), path)

    def read(self) -> dict[str, dict[str, Any]]:
        """Return all rows by key; of rows with the same key the first counts.

        Returns
        -------
        dict[str, dict[str, object]]
            All rows so far.
        """
        pyarrow = _pyarrow()
        rows: dict[str, dict[str, Any]] = {}
        for path in [self.table_path, *self._parts]:
            if path.is_file():
                for row in pyarrow.parquet.read_table(path, schema=_schema()).to_pylist():
                    rows.setdefault(row["key"], row)
        return rows

    def compact(self, order: Iterable[str] = ()) -> None:
        """Join all files to one table: the rows of ``order`` first, in that order, others after.

        Parameters
        ----------
        order : Iterable of str, default=()
            Keys in the order of the table.
        """
        done = self._parts
        rows = self.read()
        keys = [key for key in dict.fromkeys(order) if key in rows]
        known = set(keys)
        keys += sorted(key for key in rows if key not in known)
        table = _pyarrow().Table.from_pylist([rows[key] for key in keys], schema=_schema())
        _write(table, self.table_path)
        for path in done:
            path.unlink()

    def forget(self, unwanted: Callable[[dict[str, Any]], bool]) -> None:
        """Take rows out of the table.

        Parameters
        ----------
        unwanted : Callable[[dict[str, object]], bool]
            Says of a row whether it goes.
        """
        self.compact()
        rows = [row for row in self.read().values() if not unwanted(row)]
        _write(_pyarrow().Table.from_pylist(rows, schema=_schema()), self.table_path)

    def clean(self) -> None:
        """Remove the folder of parts when it is no longer needed."""
        with contextlib.suppress(OSError):
            (self.folder / PARTS / "lock").unlink(missing_ok=True)
            (self.folder / PARTS).rmdir()


def read_runs(path: str | os.PathLike[str]) -> Any:
    """Return a table of runs as a pandas DataFrame.

    Parameters
    ----------
    path : str or path-like
        A folder of a study, or its table.

    Returns
    -------
    pandas.DataFrame
        One row per fit.
    """
    return _pyarrow().parquet.read_table(Path(path), schema=_schema()).to_pandas()


def frame_of(rows: Iterable[dict[str, Any]]) -> Any:
    """Return rows as a pandas DataFrame with the columns of the table."""
    return _pyarrow().Table.from_pylist(list(rows), schema=_schema()).to_pandas()


def _write(table: Any, path: Path) -> None:
    with whole_file(path, force=True) as sink:
        _pyarrow().parquet.write_table(table, sink)


def _lock_file(lock: IO[str], folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on this system; names of parts are unique, so nothing is lost
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise FolderInUseError(
            f"Another run writes to {folder}: wait for it, or choose another folder with -o."
        ) from error
