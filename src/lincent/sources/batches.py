"""Rows in batches: Parquet files, Arrow record batches, or a generator that can be restarted.

Data larger than memory needs no cluster, only to be read again.  A ``Batches`` object can be
iterated from its beginning any number of times, with the same batches each time.  A pass is one
iteration: every batch is reduced to a few numbers and freed, by the very functions that work on the
blocks of a Dask collection (``sources.dask``), so that the optimum is the same.
"""

from __future__ import annotations

import glob
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lincent.sources.shared_reads import (
    ENCODE,
    BaseSchedule,
    BlockError,
    Each,
    Log,
    Merge,
    ReadCancelled,
    ReadRequest,
    TreeReducer,
)

BATCH_ROWS = 2**16
"""Rows of a batch of a Parquet file: large beside the overhead of a batch, small in memory."""

Batch = tuple[Any, Any, Any]
"""Rows, labels and weights (or None) of a batch."""


class Batches:
    """Rows, labels and weights in batches that can be iterated any number of times.

    Give it to ``fit`` as X, and its ``target`` as y: ``model.fit(rows, rows.target)``.
    """

    def __init__(self, start: Callable[[], Iterator[Batch]], names: list[str] | None) -> None:
        self.start, self.names = start, names
        self.target = Target(self)

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
    data : str, path, list of them, sequence of Arrow record batches, or callable
        Parquet files (also a pattern such as ``"part-*.parquet"``); record batches or tables of
        pyarrow; or a function without arguments that returns an iterator, each time from the
        beginning, over X, (X, y) or (X, y, weight).
    target : str, default=None
        The column with the labels, for Parquet and Arrow.
    weight : str, default=None
        The column with the sample weights.
    columns : sequence of str, default=None
        The columns of X. None takes all but target and weight.
    rows : int, default=65536
        Rows of a batch of a Parquet file.

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
    if callable(data):
        return Batches(lambda: _whole(data()), None)
    if isinstance(data, str | Path) or (
        isinstance(data, list | tuple) and data and isinstance(data[0], str | Path)
    ):
        return _parquet(_files(data), target, weight, columns, rows)
    return _arrow(list(data), target, weight, columns)


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


def _arrow(parts: list[Any], target: Any, weight: Any, columns: Any) -> Batches:
    if not parts or not hasattr(parts[0], "schema"):
        raise TypeError(
            "batches takes Parquet files, Arrow record batches, or a function that returns an "
            f"iterator over batches, not {type(parts[0]).__name__ if parts else 'nothing'}."
        )
    names = _split(list(parts[0].schema.names), target, weight, columns)
    return Batches(lambda: (_of_arrow(part, names, target, weight) for part in parts), names)


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

    def __init__(
        self,
        data: Batches,
        log: Log,
        alter: Callable[..., tuple[Any, ...]] | None = None,
        each: Each = None,
    ) -> None:
        super().__init__(log)
        self.data, self._alter, self._each = data, alter, each
        self.count: int | None = None if each is None else len(each)

    def altered(
        self,
        alter: Callable[..., tuple[Any, ...]],
        each: Each = None,
        name: str = "",
    ) -> BatchSchedule:
        """Return the same batches, each changed by a function (with ``each``) when read."""
        before, given = self._alter, self._each

        def both(*block: Any) -> tuple[Any, ...]:
            fixed = len(block) - (0 if each is None else len(each[0]))
            first = block[:fixed] if before is None else before(*block[:fixed])
            return alter(*first, *block[fixed:])

        joined = each if given is None else given
        if given is not None and each is not None:
            joined = [(*one, *more) for one, more in zip(given, each, strict=True)]
        return BatchSchedule(self.data, self.named_log(name), both, joined)

    def request(
        self,
        verb: str,
        work: Callable[..., Any],
        each: Each,
        merge: Merge,
    ) -> StreamRequest:
        def on_batch(i: int, batch: Batch) -> Any:
            block: Any = batch
            if self._alter is not None:
                block = self._alter(*block, *(self._each[i] if self._each else ()))
            return work(*block, *(each[i] if each else ()))

        return StreamRequest(
            verb=verb, log=self.log, schedule=self, work=on_batch, results=TreeReducer(merge)
        )


@dataclass(kw_only=True)
class StreamRequest(ReadRequest):
    """A function of the number of a batch and the batch, and its results."""

    schedule: BatchSchedule
    work: Callable[[int, Batch], Any]
    results: TreeReducer

    def read_all(self, requests: Sequence[StreamRequest], halt: threading.Event) -> None:
        """Iterate once over the batches."""
        i, stream = 0, self.schedule.data.start()
        try:
            while (batch := _next(stream, i)) is not None:
                for request in requests:
                    request.check_count(i + 1)
                    request.results.put(request.work(i, batch))
                i += 1
                if halt.is_set():
                    raise ReadCancelled(f"The read '{self.verb}' is not needed any more.")
        except BlockError as error:
            raise ValueError(f"In batch {i} (counted from 0): {error}") from error
        finally:
            if hasattr(stream, "close"):  # a generator that is left early closes its files
                stream.close()
        for request in requests:
            request.check_count(i, end=True)
            request.count = request.schedule.count = i
            request.answers = request.results.answers

    def check_count(self, seen: int, *, end: bool = False) -> None:
        """Raise an error unless there are as many batches as in earlier passes."""
        if seen == 0:
            raise ValueError("X has no batches: there is nothing to fit.")
        known = self.schedule.count
        if known is not None and (seen > known or (end and seen < known)):
            raise ValueError(
                f"X gave {known} batches when it was read first and {seen} now: what starts the "
                "batches must start from the beginning each time and give the same."
            )


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
