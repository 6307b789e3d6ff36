"""Rows in batches: Parquet files, Arrow record batches, or a generator that can be restarted.

Data larger than memory needs no cluster, only to be read again.  A ``Batches`` object can be
iterated from its beginning any number of times, with the same batches each time.  A pass is one
iteration: every batch is reduced to a few numbers and freed, by the very functions that work on the
blocks of a Dask collection (``sources.dask``), so that the optimum is the same.
"""

from __future__ import annotations

import glob
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lincent import _threads
from lincent._memory import available_memory
from lincent.sources.shared_reads import (
    ENCODE,
    Alter,
    BaseSchedule,
    BlockError,
    Log,
    ReadCancelled,
    ReadRequest,
    TreeReducer,
)

BATCH_ROWS = 2**16
"""Rows of a batch of a Parquet file: large beside the overhead of a batch, small in memory."""

Batch = tuple[Any, Any, Any]
"""Rows, labels and weights (or None) of a batch."""
Read = Callable[[], Iterator[Batch]]


class Batches:
    """Rows, labels and weights in batches that can be iterated any number of times.

    Give it to ``fit`` as X, and its ``target`` as y: ``model.fit(rows, rows.target)``.  ``alter``
    changes each batch when it is read; batches with the same ``read`` share their passes.
    """

    def __init__(self, read: Read, names: list[str] | None, alter: Alter | None = None) -> None:
        self.read, self.names, self.alter = read, names, alter or (lambda *batch: batch)
        self.target = Target(self)

    def start(self) -> Iterator[Batch]:
        """Return an iterator over the batches, from the beginning."""
        return (self.alter(*batch) for batch in self.read())

    @property
    def ndim(self) -> int:
        return 2

    def first(self) -> Any:
        """Return the rows of the first batch."""
        for rows, _, _ in self.start():
            return rows
        raise ValueError("X has no batches: there is nothing to fit or to predict.")

    def rows(self) -> Iterator[Any]:
        """Return an iterator over the rows of each batch."""
        return (rows for rows, _, _ in self.start())


class Target:
    """The labels of batches, which come with their rows."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches

    def array(self) -> np.ndarray[Any, Any]:
        """Return all labels, as one array."""
        return np.concatenate([np.asarray(y).reshape(-1) for _, y, _ in self.batches.start()])


def batches(
    data: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    rows: int = BATCH_ROWS,
) -> Batches:
    """Return rows in batches, as an X for ``fit`` and ``predict`` that need not fit into memory.

    Parameters
    ----------
    data : str, path, list of them, Arrow data, polars lazy frame, or callable
        Parquet files (also a pattern such as ``"part-*.parquet"``); record batches or a table of
        pyarrow; a DuckDB relation or another object with the Arrow stream interface; a lazy frame
        of polars; or a function without arguments, called for each pass, that returns one of
        these from the beginning (such as a ``pyarrow.RecordBatchReader``), or an iterator over X,
        (X, y) or (X, y, weight).
    target : str, default=None
        The column with the labels, where the data has columns with names.
    weight : str, default=None
        The column with the sample weights.
    columns : sequence of str, default=None
        The columns of X. None takes all but target and weight.
    rows : int, default=65536
        The most rows of a batch of Parquet or Arrow.

    Returns
    -------
    Batches
        What ``fit`` takes as X; its attribute ``target`` is the y that goes with it.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent import LCC, batches
    >>> def parts():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(3):
    ...         X = rng.standard_normal((1000, 4))
    ...         yield X, (X[:, 0] > 0).astype(int)
    >>> stream = batches(parts)
    >>> model = LCC().fit(stream, stream.target)
    >>> model.predict(stream).shape
    (3000,)
    """
    if isinstance(data, str | Path) or (
        isinstance(data, list | tuple) and data and isinstance(data[0], str | Path)
    ):
        return _parquet(_files(data), target, weight, columns, rows)
    restart = data if callable(data) else lambda: data
    given = restart()
    if not _is_arrow(given):
        if callable(data):
            return Batches(lambda: _whole(data()), None)
        raise TypeError(
            "batches takes Parquet files, Arrow data (record batches, tables, streams), a lazy "
            "frame of polars, or a function that returns an iterator over batches, not "
            f"{type(data).__name__}."
        )
    first = next(_record_batches(given, rows), None)
    if first is None:
        raise ValueError("X has no batches: there is nothing to fit or to predict.")
    names = _split(list(first.schema.names), target, weight, columns)

    def start() -> Iterator[Batch]:
        for part in _record_batches(restart(), rows):
            yield _of_arrow(part, names, target, weight)

    return Batches(start, names)


def batches_of(X: Any, y: Any, weight: Any) -> Batches:
    """Return a sparse array as batches."""

    def start() -> Iterator[Batch]:
        for begin in range(0, X.shape[0], BATCH_ROWS):
            part = slice(begin, begin + BATCH_ROWS)
            yield X[part], y[part], None if weight is None else weight[part]

    return Batches(start, None)


def _whole(parts: Iterable[Any]) -> Iterator[Batch]:
    """Yield the batches of a user, with missing parts as None."""
    for part in parts:
        given = part if isinstance(part, tuple) else (part,)
        if not 1 <= len(given) <= 3:
            raise BlockError(
                f"a batch has {len(given)} parts: give X, (X, y) or (X, y, weight) for each."
            )
        yield (*given, *(None,) * (3 - len(given)))


def _files(data: Any) -> list[str]:
    given = [data] if isinstance(data, str | Path) else list(data)
    files = []
    for name in map(str, given):
        files += sorted(glob.glob(name)) if glob.has_magic(name) else [name]
    if not files:
        raise FileNotFoundError(f"No file matches {data!r}.")
    return files


def _split(names: list[str], target: str | None, weight: str | None, columns: Any) -> list[str]:
    """Return the columns of X."""
    for name in (target, weight, *(columns or ())):
        if name is not None and name not in names:
            raise ValueError(f"There is no column {name!r}; the columns are {names!r}.")
    return [name for name in names if name not in (target, weight)] if columns is None else columns


def _parquet(files: list[str], target: Any, weight: Any, columns: Any, rows: int) -> Batches:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(files[0]) as first:
        names = _split(list(first.schema_arrow.names), target, weight, columns)
    wanted = [*names, *(name for name in (target, weight) if name is not None)]

    def start() -> Iterator[Batch]:
        for name in files:
            with _named(name), ParquetFile(name) as file:
                for part in file.iter_batches(batch_size=rows, columns=wanted):
                    yield _of_arrow(part, names, target, weight)

    return Batches(start, names)


@contextmanager
def _named(file: str) -> Iterator[None]:
    """Add the name of a file to its errors."""
    try:
        yield
    except MemoryError:
        raise
    except BlockError as error:
        raise BlockError(f"{file}: {error}") from error
    except Exception as error:
        message = f"{file} cannot be read: {type(error).__name__}: {error}"
        raise BlockError(message) from error


def _is_arrow(data: Any) -> bool:
    """Tell whether data is an Arrow stream, a lazy frame of polars or a list of record batches."""
    if isinstance(data, list | tuple):
        return bool(data) and hasattr(data[0], "__arrow_c_stream__")
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "collect_batches")


def _record_batches(data: Any, rows: int) -> Iterator[Any]:
    """Yield record batches of at most so many rows."""
    from pyarrow import RecordBatchReader

    parts = data if isinstance(data, list | tuple) else [data]
    if hasattr(data, "collect_batches"):  # polars, which reads a lazy frame piece by piece
        parts = data.collect_batches(chunk_size=rows, maintain_order=True)
    for part in parts:
        for batch in RecordBatchReader.from_stream(part):
            for begin in range(0, batch.num_rows, rows):
                yield batch.slice(begin, rows)


def _of_arrow(part: Any, names: Sequence[str], target: Any, weight: Any) -> Batch:
    rows = np.empty((part.num_rows, len(names)))
    for k, name in enumerate(names):
        try:
            rows[:, k] = part.column(name).to_numpy(zero_copy_only=False)
        except (TypeError, ValueError) as error:
            raise BlockError(
                f"column {name!r} has values that are not numbers; {ENCODE}."
            ) from error
    labels, weights = (
        None if name is None else part.column(name).to_numpy(zero_copy_only=False)
        for name in (target, weight)
    )
    return rows, labels, weights


class BatchSchedule(BaseSchedule):
    """Batches as blocks that come one after the other."""

    unit = "batches"

    def __init__(self, data: Batches, log: Log) -> None:
        super().__init__(log)
        self.data, self.alter = data, lambda i, batch: data.alter(*batch)

    def read_all(self, requests: Sequence[ReadRequest], halt: threading.Event) -> None:
        """Iterate once over the batches; several requests use all cores."""
        i, stream, pool = 0, self.data.read(), _pool(len(requests))
        schedules: list[Any] = [request.schedule for request in requests]
        results = [TreeReducer(request.merge) for request in requests]
        try:
            while (batch := _next(stream, i)) is not None:
                for schedule in schedules:
                    schedule.check_count(i + 1)
                work = partial(_reduce, i=i, batch=batch)
                list((map if pool is None else pool.map)(work, requests, results))
                i += 1
                if halt.is_set():
                    raise ReadCancelled(f"The read '{requests[0].verb}' is not needed any more.")
        except BlockError as error:
            raise ValueError(f"In batch {i} (counted from 0): {error}") from error
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)
            if hasattr(stream, "close"):  # a generator that is left early closes its files
                stream.close()
        for schedule, request, reduced in zip(schedules, requests, results, strict=True):
            schedule.check_count(i, end=True)
            schedule.count, request.answers = i, reduced.answers

    def check_count(self, seen: int, *, end: bool = False) -> None:
        """Raise an error unless there are as many batches as in earlier passes."""
        if seen == 0:
            raise ValueError("X has no batches: there is nothing to fit.")
        known = self.count
        if known is not None and (seen > known or (end and seen < known)):
            raise ValueError(
                f"X gave {known} batches when it was read first and {seen} now: what starts the "
                "batches must start from the beginning each time and give the same."
            )


def _reduce(request: ReadRequest, results: TreeReducer, i: int, batch: Batch) -> None:
    """Add the result of a batch."""
    results.put(request.work(*request.arguments(i, batch)))


def _pool(requests: int) -> ThreadPoolExecutor | None:
    """Return threads, where there are several requests and cores and memory for the threads."""
    count = min(requests, _threads.cores())
    # 64 MiB for each thread: its stack, some mapped rows, its results.
    if count == 1 or available_memory() < count * 2**26:
        return None
    pool = ThreadPoolExecutor(count)
    try:
        list(pool.map(time.sleep, [1e-3] * count))  # starts all of them
    except RuntimeError:
        pool.shutdown()
        return None
    return pool


def _next(stream: Iterator[Batch], i: int) -> Batch | None:
    """Return the next batch; errors of the source get its number."""
    try:
        return next(stream, None)
    except (BlockError, MemoryError):
        raise
    except Exception as error:
        raise RuntimeError(
            f"X could not be read: batch {i} (counted from 0) failed with "
            f"{type(error).__name__}: {error}"
        ) from error
