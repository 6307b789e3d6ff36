"""Every estimator with default settings at five shapes, beside its scikit-learn counterpart.

    python benchmarks/estimator_defaults.py                       about ten minutes
    python benchmarks/estimator_defaults.py 200x6 2000x20         some of the shapes
    python benchmarks/estimator_defaults.py KernelLCC LCC         some estimators, printed only

Each table is drawn with clean labels and with one training label in ten flipped; accuracy is that
on clean test rows.  Log loss is that of ``probability="sigmoid"`` on clean labels, beside that of
the class frequencies.  Times are processor seconds of one fit; "silent" is the longest time
without a line under ``verbose=1``.  The tables go into doc/measured/defaults.md.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.svm import SVC, LinearSVC

import lincent
from lincent.estimators.registry import ESTIMATORS

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "defaults.md"
SHAPES = {(200, 6): 10, (2_000, 20): 10, (20_000, 30): 20, (2_000, 500): 10, (400, 3_000): 10}
"""Rows and columns, and the seconds that a fit may take."""
TEST_ROWS = 2_000
COUNTERPARTS = {
    "LCC": LinearSVC, "LCCCV": LogisticRegressionCV, "FQCC": LinearSVC, "KernelLCC": SVC,
    "RegularizedLCC": LogisticRegression, "RegularizedLCCCV": LogisticRegressionCV,
    "StructuredLCC": SVC, "StructuredLCCCV": SVC, "AdditiveLCC": HistGradientBoostingClassifier,
    "AdditiveLCCCV": HistGradientBoostingClassifier, "AutoLCC": HistGradientBoostingClassifier,
}  # fmt: skip


class Lines(io.StringIO):
    """A stream that knows the longest time between two lines."""

    def __init__(self) -> None:
        super().__init__()
        self.last, self.longest = time.process_time(), 0.0

    def write(self, text: str) -> int:
        now = time.process_time()
        self.last, self.longest = now, max(self.longest, now - self.last)
        return super().write(text)


def table(rows, columns, seed=0):
    """Training and test rows; the widest table is sparse, as counts of words are."""
    rng = np.random.default_rng(seed)
    total = rows + TEST_ROWS
    if columns < 3_000:
        informative = min(columns - 1, 8)
        X, y = make_classification(
            total, columns, n_informative=informative, n_redundant=1, n_clusters_per_class=3,
            flip_y=0.0, random_state=seed,
        )  # fmt: skip
    else:
        y = rng.integers(0, 2, total)
        rate = rng.gamma(0.3, 0.05, size=columns) * np.exp(
            0.9 * rng.normal(size=columns) * (2 * y[:, None] - 1) * (rng.random(columns) < 0.2)
        )
        X = sp.csr_array(np.log1p(rng.poisson(rate)))
    flipped = np.where(rng.random(total) < 0.1, 1 - y, y)
    return X[:rows], y[:rows], flipped[:rows], X[rows:], y[rows:]


def fitted(model, X, y):
    """Return the fitted model, the processor seconds, and the longest silence."""
    lines = Lines()
    with contextlib.redirect_stdout(lines):
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        lines.write("end")
    return model, seconds, lines.longest


def measure(name, X, y, flipped, X_test, y_test):
    """Return the numbers of one estimator at one shape, or why there are none."""
    kind, other = getattr(lincent, name), COUNTERPARTS[name]
    try:
        model, seconds, silent = fitted(kind(verbose=1), X, y)
    except (ValueError, TypeError) as error:
        return str(error).split(":")[0]
    dense = X.toarray() if sp.issparse(X) and other is HistGradientBoostingClassifier else X
    dense_test = X_test.toarray() if dense is not X else X_test
    theirs, their_seconds, _ = fitted(other(), dense, y)
    noisy = kind().fit(X, flipped).score(X_test, y_test)
    their_noisy = other().fit(dense, flipped).score(dense_test, y_test)
    calibrated = model
    if not hasattr(model, "predict_proba"):
        calibrated, _, longer = fitted(kind(verbose=1, probability="sigmoid"), X, y)
        silent = max(silent, longer)
    loss = log_loss(y_test, calibrated.predict_proba(X_test))
    return {
        "seconds": seconds, "theirs": their_seconds, "silent": silent, "loss": loss,
        "clean": (model.score(X_test, y_test), theirs.score(dense_test, y_test)),
        "flipped": (noisy, their_noisy),
        "base": log_loss(y_test, np.tile(np.bincount(y) / len(y), (len(y_test), 1))),
    }  # fmt: skip


def main():
    names = [name for name in sys.argv[1:] if name in ESTIMATORS] or list(ESTIMATORS)
    shapes = [shape for shape in SHAPES if "x".join(map(str, shape)) in sys.argv] or list(SHAPES)
    for rows, columns in shapes:
        start, data = time.monotonic(), table(rows, columns)
        lines = [
            "| estimator | s | counterpart | s | accuracy, clean | counterpart | accuracy, flipped "
            "| counterpart | log loss | base rate | silent s |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for name in names:
            found = measure(name, *data)
            other = COUNTERPARTS[name].__name__
            if isinstance(found, str):
                lines.append(f"| {name} | refused: {found} | {other} |" + " |" * 8)
            else:
                bold = "**" if found["seconds"] > SHAPES[rows, columns] else ""
                lines.append(
                    f"| {name} | {bold}{found['seconds']:.2f}{bold} | {other} "
                    f"| {found['theirs']:.2f} | {found['clean'][0]:.3f} | {found['clean'][1]:.3f} "
                    f"| {found['flipped'][0]:.3f} | {found['flipped'][1]:.3f} "
                    f"| {found['loss']:.3f} | {found['base']:.3f} | {found['silent']:.1f} |"
                )
            print(lines[-1], flush=True)
        if len(names) == len(ESTIMATORS):
            threads = os.environ.get("OMP_NUM_THREADS", "all")
            took = f"in {time.monotonic() - start:.0f} s, OMP_NUM_THREADS={threads}"
            foot = f"Measured {datetime.date.today()} on {os.cpu_count()} shared CPU cores {took}."
            write_section(f"{rows}x{columns}", [*lines, "", foot])


def write_section(name, lines):
    """Replace the lines between the marks of a section of the page."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    head, rest = PAGE.read_text("utf-8").split(begin)
    PAGE.write_text("\n".join([head + begin, "", *lines, "", end]) + rest.split(end)[1], "utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
