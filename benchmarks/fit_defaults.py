"""What does `lincent fit` with defaults cost beside LogisticRegressionCV?

    python benchmarks/fit_defaults.py                   # three seeds of 5,822 x 85; two minutes
    python benchmarks/fit_defaults.py --seeds 5 --rows 2000

A table like an insurer's: whole numbers from 0 to at most 10 that hang together, and 1 row in 17 of
the class that is looked for.  For each seed, in turn: ``LogisticRegressionCV()``, in its defaults,
on the columns as they are and in units of their deviations, and ``lincent fit TABLE --target y`` as
a process of its own, start, reading, judging and report of figures included.  Processor times of
all threads, with one BLAS thread unless ``--threads`` says more (more make the regression spin and
flatter us: 11 s for 0.9); the bar is on the ratio to the regression on the table as it is, and the
ratio to the other stands beside it.  The regression is measured without the start of Python and
the imports, about two seconds of the command; so the work of the command by itself, ``fit_table``
in this process, is measured too, and held against both.  Also: wall and processor seconds until
the command first says something (on a busy machine only the second means anything).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rows", type=int, default=5_822)
parser.add_argument("--columns", type=int, default=85)
parser.add_argument("--seeds", type=int, default=3)
parser.add_argument("--threads", type=int, default=1, help="of BLAS")
asked = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(asked.threads)  # read when BLAS is loaded, here and in the command

import numpy as np  # noqa: E402
from sklearn.linear_model import LogisticRegressionCV  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from lincent.workflow import fit_table  # noqa: E402

BAR, SPEAKS_WITHIN = 15.0, 2.0


def insurer(rows, columns, seed):
    """Whole numbers that hang together, and a rare class that some of them tell about."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(rows, 8))
    hidden = common @ rng.normal(scale=0.5, size=(8, columns)) + rng.normal(size=(rows, columns))
    X = np.empty((rows, columns), dtype=int)
    for j, column in enumerate(hidden.T):
        cuts = np.quantile(column, np.sort(rng.uniform(size=rng.integers(1, 10))))
        X[:, j] = np.searchsorted(cuts, column)
    score = 0.5 * X[:, :6] @ rng.normal(size=6) + np.abs(common[:, 0])
    score = score / score.std() + rng.logistic(size=rows)
    return X, (score > np.quantile(score, 1 - 1 / 17)).astype(int)


def spent(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def regression(X, y):
    before = spent(resource.RUSAGE_SELF)
    LogisticRegressionCV().fit(X, y)
    return spent(resource.RUSAGE_SELF) - before


def work(X, y):
    """The same table, read, judged, fitted and explained in this process, all imported."""
    with tempfile.TemporaryDirectory() as folder:
        table = written(X, y, folder)
        fit_table(table, "y", params={"feature_maps": ["columns"]})  # imports
        before = spent(resource.RUSAGE_SELF)
        fit_table(table, "y")
        return spent(resource.RUSAGE_SELF) - before


def written(X, y, folder):
    table = Path(folder) / "table.csv"
    names = [*(f"c{j}" for j in range(X.shape[1])), "y"]
    np.savetxt(table, np.column_stack([X, y]), "%d", ",", header=",".join(names), comments="")
    return table


def so_far(process):
    """Processor seconds that a running process has spent; NaN where the system does not say."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command(X, y):
    """Processor time of the command; wall and processor seconds to its first words."""
    with tempfile.TemporaryDirectory() as folder:
        table = written(X, y, folder)
        line = [sys.executable, "-m", "lincent", "fit", table, "--target", "y",
                "-o", Path(folder) / "model.lincent"]  # fmt: skip
        before, began = spent(resource.RUSAGE_CHILDREN), time.monotonic()
        run = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        os.read(run.stdout.fileno(), 1)
        first = time.monotonic() - began, so_far(run)
        said = run.communicate()[0].decode()
        if run.returncode:
            sys.exit(f"lincent fit ended with {run.returncode}: {said}")
        return spent(resource.RUSAGE_CHILDREN) - before, first


warnings.simplefilter("ignore")
print(f"{asked.rows:,} x {asked.columns}; processor seconds; {os.cpu_count()} cores, "
      f"{asked.threads} BLAS threads")  # fmt: skip
ratios = []
for seed in range(asked.seeds):
    X, y = insurer(asked.rows, asked.columns, seed)
    plain, scaled = regression(X, y), regression(StandardScaler().fit_transform(X), y)
    ours, (wall, processor) = command(X, y)
    alone = work(X, y)
    ratios.append((ours / plain, ours / scaled, alone / plain, alone / scaled))
    print(f"seed {seed}: LogisticRegressionCV {plain:.2f}, standardized {scaled:.2f}; "
          f"lincent fit {ours:.2f}, first words after {wall:.1f} s ({processor:.1f} of processor "
          f"time; bar {SPEAKS_WITHIN:g}); ratios {ratios[-1][0]:.1f} and {ratios[-1][1]:.1f}; its "
          f"work alone {alone:.2f}: {ratios[-1][2]:.1f} and {ratios[-1][3]:.1f}",
          flush=True)  # fmt: skip
middle = np.median(ratios, axis=0)
print(f"median ratio {middle[0]:.1f} to the regression on the table as it is (bar {BAR:g}), "
      f"{middle[1]:.1f} on standardized columns; of the work alone {middle[2]:.1f} and "
      f"{middle[3]:.1f}")  # fmt: skip
