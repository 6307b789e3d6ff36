"""Preconditioned conjugate gradients (Hestenes and Stiefel 1952; Nocedal and Wright, chapter 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lincent.problems.arrays import Matrix, Vector


def conjugate_gradients(
    multiply: Callable[[Matrix], Matrix],
    b: Matrix,
    precondition: Callable[[Matrix], Matrix],
    done: Callable[[Matrix, Any], Any],
    max_iter: int,
    *,
    x: Matrix | None = None,
    inner: Callable[[Matrix, Matrix], Any] = np.dot,
) -> Matrix:
    """Return an approximate solution of ``multiply(x) = b``.

    Parameters
    ----------
    multiply, precondition : callable
        Products with the matrix and with an approximation of its inverse.
    b : array
        Right-hand side; with ``x`` the residual ``b - multiply(x)`` of that starting point.
    done : callable
        Called before each product with the residual r and with its squared preconditioned norm
        r'Mr; the iteration ends where it returns True.
    max_iter : int
        Largest number of products.
    x : array, optional
        Starting point; zero by default.
    inner : callable
        Inner product.  One that returns an array solves independent systems in lockstep, whose
        columns ``b`` has side by side.
    """
    x, residual = np.zeros_like(b) if x is None else x.copy(), b.copy()
    direction = precondition(residual).copy()  # which may return its argument
    size = inner(residual, direction)
    single = b.ndim == 1  # plain numbers then: calls count in small systems
    for _ in range(max_iter):
        if done(residual, size):
            break
        product = multiply(direction)
        curvature = inner(direction, product)
        if not (curvature > 0.0 if single else np.any(curvature > 0.0)):
            break
        length = size / (curvature if single else np.maximum(curvature, 1e-300))
        x += length * direction
        residual -= length * product
        scaled = precondition(residual)
        previous, size = size, inner(residual, scaled)
        direction *= size / (previous if single else np.maximum(previous, 1e-300))
        direction += scaled
    return x


def absolute_residual(
    b: Vector, share: float, is_late: Callable[[], bool] = lambda: False
) -> Callable[[Vector, Any], bool]:
    """Return a ``done`` that ends where the absolute sum of the residual is a ``share`` of b's.

    ``is_late`` is asked every 32 iterations, as the clock costs more than a short product.
    """
    goal, calls = share * float(np.abs(b).sum()), 0

    def done(residual: Vector, _: Any) -> bool:
        nonlocal calls
        calls += 1
        return float(np.abs(residual).sum()) <= goal or (calls % 32 == 0 and is_late())

    return done
