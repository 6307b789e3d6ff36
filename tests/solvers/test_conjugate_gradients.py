"""Conjugate gradients solve, stop where they are told to, and see the clock."""

import numpy as np

from lincent.solvers.conjugate_gradients import LOOK_EVERY, conjugate_gradients


def system(n=60):
    A = np.random.default_rng(0).standard_normal((3 * n, n))
    return A.T @ A, np.arange(1.0, n + 1)


def test_the_residual_is_what_was_asked_for():
    H, b = system()
    for share in (0.3, 1e-9):
        x = conjugate_gradients(lambda v: H @ v, b, 1 / H.diagonal(), share, 500)
        assert np.abs(H @ x - b).sum() <= 1.001 * share * np.abs(b).sum()


def test_steps_are_limited_and_the_clock_ends_them():
    H, b = system()
    calls = []

    def product(v):
        calls.append(1)
        return H @ v

    conjugate_gradients(product, b, np.ones(len(b)), 0.0, 5)
    assert len(calls) == 5
    calls.clear()
    conjugate_gradients(product, b, np.ones(len(b)), 0.0, 500, late=lambda: True)
    assert len(calls) == LOOK_EVERY - 1


def test_a_direction_without_curvature_ends_them():
    x = conjugate_gradients(lambda v: 0.0 * v, np.ones(3), np.ones(3), 1e-9, 10)
    np.testing.assert_array_equal(x, 0.0)
