"""Conjugate gradients solve, stop where they are told to, and see the clock."""

import numpy as np

from lincent.solvers.conjugate_gradients import absolute_residual, conjugate_gradients


def system(n=60):
    A = np.random.default_rng(0).standard_normal((3 * n, n))
    return A.T @ A, np.arange(1.0, n + 1)


def test_the_residual_is_what_was_asked_for():
    H, b = system()
    for share in (0.3, 1e-9):
        done = absolute_residual(b, share)
        x = conjugate_gradients(lambda v: H @ v, b, (1 / H.diagonal()).__mul__, done, 500)
        assert np.abs(H @ x - b).sum() <= 1.001 * share * np.abs(b).sum()


def test_steps_are_limited_and_the_clock_ends_them():
    H, b = system()
    calls = []

    def product(v):
        calls.append(1)
        return H @ v

    conjugate_gradients(product, b, lambda r: r, absolute_residual(b, 0.0), 5)
    assert len(calls) == 5
    calls.clear()
    conjugate_gradients(product, b, lambda r: r, absolute_residual(b, 0.0, lambda: True), 500)
    assert len(calls) == 31


def test_a_direction_without_curvature_ends_them():
    b = np.ones(3)
    done = absolute_residual(b, 1e-9)
    x = conjugate_gradients(lambda v: 0.0 * v, b, lambda r: r, done, 10)
    np.testing.assert_array_equal(x, 0.0)


def test_a_start_is_improved_and_systems_are_solved_in_lockstep():
    H, b = system(20)
    x0 = np.linalg.solve(H, b) + 1.0
    x = conjugate_gradients(
        lambda v: H @ v, b - H @ x0, lambda r: r, lambda _, size: size < 1e-20, 200, x=x0
    )
    np.testing.assert_allclose(H @ x, b, rtol=1e-8)
    B = np.stack([b, np.zeros(20), -b], axis=1)
    X = conjugate_gradients(
        lambda v: H @ v,
        B,
        lambda r: r,
        lambda _, size: np.all(size < 1e-20),
        200,
        inner=lambda a, c: np.einsum("ij,ij->j", a, c),
    )
    np.testing.assert_allclose(H @ X, B, atol=1e-8)
