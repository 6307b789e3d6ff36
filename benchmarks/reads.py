"""What a fit asks of the data: how often it reads all rows, and how much it holds beside them.

    with counted(len(X)) as reads:
        LCC().fit(X, y)
    print(reads.count)

Every verb of a source (``lincent.sources.rows``) is one read of all its rows; a verb that uses
another one is counted once.  Rows taken by their numbers are not a read.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest import mock

from lincent.sources.dense import DenseSource
from lincent.sources.sparse import SparseSource

VERBS = (
    "project", "combine", "sweep", "local_sizes", "gram", "class_means", "column_scale", "array",
    "columns", "signed",
)  # fmt: skip


@dataclass
class Reads:
    """How many there were."""

    count: int = 0
    inside: bool = False


@contextmanager
def counted(rows: int) -> Iterator[Reads]:
    """Count the reads of a source with so many rows; samples and bands have fewer."""
    reads = Reads()
    with ExitStack() as stack:
        for kind in (DenseSource, SparseSource):
            stack.enter_context(mock.patch.multiple(kind, **_watched(kind, rows, reads)))
        yield reads


def _watched(kind: type, rows: int, reads: Reads) -> dict[str, Any]:
    return {verb: _watch(getattr(kind, verb), rows, reads) for verb in VERBS}


def _watch(verb: Callable[..., Any], rows: int, reads: Reads) -> Callable[..., Any]:
    @wraps(verb)
    def watched(source: Any, *args: Any, **named: Any) -> Any:
        if reads.inside or source.shape[0] != rows:
            return verb(source, *args, **named)
        reads.inside = True
        reads.count += 1
        try:
            return verb(source, *args, **named)
        finally:
            reads.inside = False

    return watched


def extra_bytes(fit: Callable[[], Any]) -> int:
    """The most that was held at once during ``fit`` beyond what was held before.

    What NumPy and Python allocate; BLAS has a few megabytes of its own.
    """
    tracemalloc.start()
    try:
        fit()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
