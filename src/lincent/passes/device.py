"""Rows in the memory of a device: torch tensors and CuPy arrays, through the array API.

The data and everything as long as it (distances, masks, signs, costs that differ) stay on the
device, in float64.  What crosses over is as wide as the data, or a vector of the rows an exact
solve works on: the interior point keeps its iterate in NumPy and leaves products with the rows,
the Gram matrix above all, to the device.

A row-major X of many rows and few columns is an awkward shape for X'w: the sum runs over the long
side, and libraries give it to a handful of threads.  Here it is cut into pieces along the long
side, multiplied as one batch, and the pieces are added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.passes.band import (
    Deferred,
    Whole,
)
from lincent.programs.arrays import (
    Matrix,
    Rows,
    Vector,
)

PIECES = 1024
LONG = 2**12
"""X'w is cut into at most so many pieces, of at least so many rows."""
CONVERT_BYTES = 2**30
"""float32 data is converted piece by piece of this size, never as a whole."""


def is_device_array(X: Any) -> bool:
    """Whether X is a torch or CuPy array; neither is imported to find out."""
    return type(X).__module__.split(".")[0] in ("torch", "cupy")


def namespace(X: Any) -> Any:
    """The array API of X, or a sentence about what to install."""
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        raise ImportError(
            'Arrays on a device are read through array-api-compat: pip install "lincent[gpu]".'
        ) from error
    return array_namespace(X)


def to_host(values: Any) -> Any:
    """The same values as a NumPy array."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach"):  # torch
        return values.detach().cpu().numpy()
    if hasattr(values, "get"):  # CuPy
        return values.get()
    return np.asarray(values)


class Device:
    """Where an array lives, and how NumPy vectors get there."""

    def __init__(self, like: Any) -> None:
        self.xp = namespace(like)
        from array_api_compat import device

        self.place = device(like)

    def send(self, values: Any, dtype: Any = None) -> Any:
        if is_device_array(values):
            return values
        values = np.ascontiguousarray(values)
        if not values.flags.writeable:  # torch wants to be able to write
            values = values.copy()
        return self.xp.asarray(values, dtype=dtype, device=self.place)

    def doubles(self, values: Any) -> Any:
        return self.xp.astype(self.send(values), self.xp.float64, copy=False)


def combined(X: Any, w: Any, xp: Any) -> Any:
    """X'w with the long side cut into pieces; w is one vector or a few columns."""
    m = X.shape[0]
    columns = w if w.ndim == 2 else w[:, None]
    pieces = min(PIECES, m // LONG)
    if pieces < 2:
        total = X.T @ columns
    else:
        size = m // pieces
        head = size * pieces
        batch = xp.reshape(X[:head], (pieces, size, X.shape[1]))
        weights = xp.reshape(columns[:head], (pieces, size, columns.shape[1]))
        total = xp.sum(xp.matmul(xp.permute_dims(weights, (0, 2, 1)), batch), axis=0).T
        if head < m:
            total = total + X[head:].T @ columns[head:]
    return total if w.ndim == 2 else total[:, 0]


class DeviceTable:
    """An array on a device as something with the attributes of a NumPy array that are asked for."""

    def __init__(self, X: Any) -> None:
        self.device = Device(X)
        xp = self.device.xp
        self.X = X if X.dtype in (xp.float64, xp.float32) else xp.astype(X, xp.float64)
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = np.dtype(np.float64 if self.X.dtype == xp.float64 else np.float32)

    def check_finite(self) -> None:
        xp = self.device.xp
        for part in parts_of(self.shape):
            finite = xp.isfinite(self.X[part])
            if not bool(xp.all(finite)):
                row, column = (int(k[0]) for k in xp.nonzero(~finite))
                raise ValueError(
                    f"X has NaN or an infinite value (row {part.start + row}, column {column}); "
                    "fill or drop such rows first."
                )


def parts_of(shape: tuple[int, int]) -> list[slice]:
    """Pieces of rows small enough to convert or check one at a time."""
    step = max(1, CONVERT_BYTES // (8 * max(1, shape[1])))
    return [slice(k, min(k + step, shape[0])) for k in range(0, shape[0], step)]


class DeviceRows:
    """Signed rows held on the device, for vectors that are NumPy's."""

    sparse = False

    def __init__(self, array: Any, device: Device) -> None:
        self.array, self.device = array, device
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))

    def whole(self, costs: Any, margin: float) -> DeviceWhole:
        return DeviceWhole(self, costs, margin)

    def measure(self, beta: Vector) -> Any:
        return self.array @ self.device.send(beta)

    def gather(self, alpha: Any) -> Vector:
        return np.asarray(to_host(combined(self.array, alpha, self.device.xp)))

    def dot(self, beta: Vector) -> Vector:
        return np.asarray(to_host(self.measure(beta)))

    def tdot(self, alpha: Vector) -> Vector:
        return self.gather(self.device.send(alpha))

    def gram(self, weight: Vector) -> Matrix:
        scaled = self.array * self.device.send(np.sqrt(weight))[:, None]
        return np.array(to_host(scaled.T @ scaled))

    def outer(self, weight: Vector) -> Matrix:
        scaled = self.array * self.device.send(np.sqrt(weight))
        return np.array(to_host(scaled @ scaled.T))

    def take(self, index: Any) -> Rows:
        return DeviceRows(self.array[self.device.send(index)], self.device)

    def materialize(self) -> Rows:
        return self

    def dense(self) -> Matrix:
        return np.asarray(to_host(self.array))

    def factors(self) -> tuple[Any, Vector, Vector]:
        return self.dense(), np.zeros(self.shape[0]), np.zeros(self.shape[1])

    def column_scale(self) -> Vector:
        xp = self.device.xp
        scale = np.sqrt(to_host(xp.mean(self.array * self.array, axis=0)))
        scale[scale == 0] = 1.0
        return np.asarray(scale)


class DevicePass:
    """An array on a device with the signs and weights of one two-class problem."""

    sparse = False

    def __init__(self, X: Any, sign: Any, weight: Any) -> None:
        self.X, self.sign_there, self.weight_given = X, sign, weight
        self.device = Device(X)
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        self._direct = X.dtype == self.device.xp.float64

    @property
    def sign(self) -> Deferred:
        return Deferred((self.shape[0],), lambda: to_host(self.sign_there))

    def class_centers(self) -> Matrix:
        """The weighted means of the two classes, negative first: one read."""
        xp, sign = self.device.xp, self.sign_there
        high = xp.astype(sign > 0, xp.float64)
        split = xp.stack([1.0 - high, high], axis=1)
        if self.weight_given.strides != (0,):
            split = split * self.device.send(self.weight_given)[:, None]
        totals = xp.sum(split, axis=0)
        return np.array(to_host(self.gather(split) / totals).T)

    def signed_rows(self, center: Vector) -> DeviceSignedRows:
        return DeviceSignedRows(self, self.sign_there, center)

    def project(self, v: Vector) -> Vector:
        return np.asarray(to_host(self.measure(v)))

    def measure(self, v: Vector) -> Any:
        there = self.device.send(v)
        if self._direct:
            return self.X @ there
        pieces = [self._piece(part) @ there for part in parts_of(self.shape)]
        return self.device.xp.concat(pieces)

    def gather(self, w: Any) -> Any:
        """X'w on the device."""
        xp = self.device.xp
        if self._direct:
            return combined(self.X, w, xp)
        return sum(combined(self._piece(part), w[part], xp) for part in parts_of(self.shape))

    def rows_at(self, index: Any) -> Any:
        return self.device.doubles(self.X[index])

    def _piece(self, part: slice) -> Any:
        return self.device.doubles(self.X[part])


class DeviceSignedRows:
    """The rows y_i (x_i - l) of a whole data set on a device, never formed."""

    sparse = False

    def __init__(self, source: DevicePass, sign: Any, center: Vector) -> None:
        self.source, self.sign, self.center = source, sign, center
        self.device, self.shape = source.device, source.shape

    def whole(self, costs: Any, margin: float) -> DeviceWhole:
        return DeviceWhole(self, costs, margin)

    def measure(self, beta: Vector) -> Any:
        projected = self.source.measure(beta)
        projected -= float(self.center @ beta)
        projected *= self.sign
        return projected

    def gather(self, alpha: Any) -> Vector:
        signed = alpha * self.sign
        total = float(self.device.xp.sum(signed))
        return np.asarray(to_host(self.source.gather(signed)) - total * self.center)

    def dot(self, beta: Vector) -> Vector:
        return np.asarray(to_host(self.measure(beta)))

    def tdot(self, alpha: Vector) -> Vector:
        return self.gather(self.device.send(alpha))

    def take(self, index: Any) -> Rows:
        there = self.device.send(index)
        rows = self.source.rows_at(there)
        rows -= self.device.send(self.center)
        rows *= self.sign[there][:, None]
        return DeviceRows(rows, self.device)

    def materialize(self) -> Rows:
        return self.take(np.arange(self.shape[0]))

    def gram(self, weight: Vector) -> Matrix:
        return self.materialize().gram(weight)

    def outer(self, weight: Vector) -> Matrix:
        return self.materialize().outer(weight)

    def dense(self) -> Matrix:
        return self.materialize().dense()

    def factors(self) -> tuple[Any, Vector, Vector]:
        return self.materialize().factors()

    def column_scale(self) -> Vector:
        center = self.device.send(self.center)
        total = sum(
            self.device.xp.sum((self.source.rows_at(part) - center) ** 2, axis=0)
            for part in parts_of(self.shape)
        )
        scale = np.sqrt(to_host(total) / self.shape[0])
        scale[scale == 0] = 1.0
        return np.asarray(scale)


class DeviceWhole(Whole):
    """All rows on a device: ``Whole`` on its array namespace."""

    def __init__(self, rows: Any, costs: Any, margin: float) -> None:
        super().__init__(rows, np.asarray(costs), margin)
        self.device: Device = rows.device
        self.xp = self.device.xp
        self.spare_rows = 0  # a read is cheap there
        if not isinstance(self.cost, float):
            self.cost = self.device.send(self.costs)

    def measure(self, beta: Vector) -> Any:
        return self.rows.measure(beta)  # type: ignore[attr-defined]

    def combine(self, alpha: Any) -> Vector:
        gathered: Vector = self.rows.gather(alpha)  # type: ignore[attr-defined]
        return gathered

    def costs_where(self, mask: Any) -> Any:
        return self.xp.astype(mask, self.xp.float64) * self.cost

    def costs_at(self, index: Any) -> Vector:
        if isinstance(self.cost, float):
            return np.full(len(index), self.cost)
        return np.asarray(to_host(self.cost[index]))

    def gram_of(self, index: Any, scale: float) -> Matrix:
        return self.rows.take(index).gram(self.costs_at(index) * scale)

    def index(self, mask: Any) -> Any:
        return self.xp.nonzero(mask)[0]

    def pick(self, index: Any, places: Any) -> Any:
        return index[self.device.send(places)]

    def distinct(self, chosen: Any) -> tuple[Any, Any]:
        rows, count = self.xp.unique_counts(self.device.send(chosen))
        return rows, to_host(count)

    def count(self, mask: Any) -> int:
        return int(self.xp.sum(self.xp.astype(mask, self.xp.int64)))

    def full(self, outside: Any, index: Any, alpha: Vector) -> Deferred:
        def fetch() -> Vector:
            full = np.array(to_host(self.costs_where(outside)))
            full[to_host(index)] = alpha
            return full

        return Deferred((self.rows.shape[0],), fetch)
