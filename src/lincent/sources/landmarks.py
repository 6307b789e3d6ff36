"""Rows through a feature map, mapped when they are read; Nystroem's map of landmarks.

With landmarks z_1..z_q and their kernel matrix K_qq = U S U', the map

    phi(x) = k(x, z) U S^(-1/2)                (one coordinate per eigenvalue above rounding)

reproduces the kernel between landmarks exactly and approximates it at other points (Williams and
Seeger, 2001).  It is scikit-learn's ``Nystroem`` up to a rotation, without the directions of
rounding noise.  A linear problem in these coordinates has as many columns as there are landmarks,
whatever the number of rows.

A mapped data set can be much larger than X.  Where it is, it is never held: each product maps a
block, uses it and frees it, and only the rows that a solver takes are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lincent.problems.arrays import Index, Matrix, Rows, Vector
from lincent.sources.dense import DenseRows
from lincent.sources.rows import Source
from lincent.sources.source import namespace_of, open_source

HOLD_BYTES = 2**28
"""A mapped data set up to this size (256 MiB) is held; a larger one is mapped in each pass."""

Kernel = Callable[[Any, Any], Matrix]


class RowMapping(Protocol):
    """A map from rows to features."""

    @property
    def columns(self) -> int:
        """The columns of the rows."""

    @property
    def width(self) -> int:
        """The number of features."""

    def __call__(self, X: Any) -> Matrix: ...


@dataclass(frozen=True)
class NystroemMap:
    """The map phi(x) = kernel(x, landmarks) @ basis."""

    kernel: Kernel
    landmarks: Any
    basis: Matrix

    @classmethod
    def of(cls, kernel: Kernel, landmarks: Any, between: Matrix, least: float = 0.0) -> NystroemMap:
        """Return the map of these landmarks; ``between`` is the kernel between them.

        Coordinates of an eigenvalue up to ``least`` are left out.
        """
        values, vectors = np.linalg.eigh(between)
        # Smaller ones carry no digits.
        kept = values > max(1e-12 * float(values[-1]), min(least, 0.5 * float(values[-1])), 0.0)
        return cls(kernel, landmarks, vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def columns(self) -> int:
        return int(self.landmarks.shape[1])

    @property
    def width(self) -> int:
        return int(self.basis.shape[1])

    def kernel_rows(self, X: Any) -> Matrix:
        """Return the kernel between rows and landmarks."""
        return self.kernel(X, self.landmarks)

    def __call__(self, X: Any) -> Any:
        return self.kernel_rows(X) @ namespace_of(X).send(self.basis)


@dataclass(frozen=True)
class MappedRows:
    """Rows, possibly those of a block on a worker, that are mapped when some are indexed."""

    X: Any
    mapping: RowMapping

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), self.mapping.width

    def __getitem__(self, rows: Any) -> Matrix:
        X = self.X[rows]
        # Kernel functions do not accept an empty array.
        return self.mapping(X) if X.shape[0] else np.empty((0, self.mapping.width))

    def only(self, rows: Any) -> MappedRows:
        """Return some rows, not mapped yet."""
        return MappedRows(self.X[rows], self.mapping)

    def source(self) -> Source:
        """Return the rows as a source: mapped at once, unless products are cheaper without."""
        if isinstance(self.mapping, NystroemMap):
            return NystroemSource(self.X, self.mapping)
        return open_source(self[:])


def mapped_rows(X: Any, mapping: RowMapping) -> Any:
    """Return the mapped rows: held, or mapped in each pass where landmarks make them large."""
    if not isinstance(mapping, NystroemMap):
        return mapping(X)
    source = NystroemSource(X, mapping)
    return source.array() if X.shape[0] * mapping.width * 8 <= HOLD_BYTES else source


class NystroemSource(Source):
    """X through Nystroem's map, a block at a time."""

    block_bytes = 2**23  # calls of a kernel take a while

    def __init__(self, X: Any, mapping: NystroemMap) -> None:
        self.X, self.map = X, mapping
        self.shape: tuple[int, int] = (int(X.shape[0]), mapping.width)

    def __getitem__(self, rows: Any) -> NystroemSource:
        return NystroemSource(self.X[rows], self.map)

    def _kernel_blocks(self) -> Any:
        """Yield parts of the rows, and the kernel between them and the landmarks."""
        return ((p, self.map.kernel_rows(self.X[p])) for p in self.blocks())

    def block(self, part: Any) -> Matrix:
        return np.asarray(self.map(self.X[part]))

    def local_project(self, v: Vector) -> Vector:
        # k(x, z) (basis v): the map itself need not be formed.
        weights = self.map.basis @ v
        out = np.empty(self.shape[0])
        for part, kernel in self._kernel_blocks():
            out[part] = kernel @ weights
        return out

    def local_combine(self, w: Vector) -> Vector:
        total = np.zeros((self.map.basis.shape[0], *w.shape[1:]))
        for part, kernel in self._kernel_blocks():
            total += kernel.T @ w[part]
        return np.asarray(self.map.basis.T @ total)

    def gram(self, w: Vector) -> Matrix:
        total = np.zeros((self.map.basis.shape[0],) * 2)
        for part, kernel in self._kernel_blocks():
            scaled = kernel * np.sqrt(w[part])[:, None]
            total += scaled.T @ scaled
        return self.map.basis.T @ total @ self.map.basis

    def take(self, index: Index, sign: Vector, center: Vector) -> Rows:
        rows = self.gather(index)
        rows -= center
        rows *= sign[index, None]
        return DenseRows(rows)
