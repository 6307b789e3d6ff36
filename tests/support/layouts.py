"""The same numbers in every layout that X can have in memory."""

import numpy as np
import scipy.sparse as sp

M, N = 57, 6


def plain():
    """Rounded to single precision, so that every layout holds exactly the same numbers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, N)) * (rng.random((M, N)) < 0.6)
    return X.astype(np.float32).astype(np.float64)


def memory_mapped(X, folder):
    path = folder / "X.dat"
    X.tofile(path)
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


def strided(X, _):
    wide = np.full((2 * M, 2 * N), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def read_only(X, _):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "C": lambda X, _: np.ascontiguousarray(X),
    "Fortran": lambda X, _: np.asfortranarray(X),
    "float32": lambda X, _: X.astype(np.float32),
    "float32 Fortran": lambda X, _: np.asfortranarray(X.astype(np.float32)),
    "strided": strided,
    "reversed": lambda X, _: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "memory-mapped": memory_mapped,
    "sparse matrix": lambda X, _: sp.csr_matrix(X),
    "sparse array": lambda X, _: sp.csr_array(X),
    "sparse by columns": lambda X, _: sp.csc_array(X),
    "sparse float32": lambda X, _: sp.csr_array(X.astype(np.float32)),
}


def same(found, expected):
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def signs():
    return np.where(np.random.default_rng(1).random(M) < 0.4, 1.0, -1.0)


def weights(size=M):
    return np.random.default_rng(2).exponential(size=size)
