"""The same optimum wherever the rows are: every member in every place, beside NumPy.

    python benchmarks/everywhere.py              prints the table
    python benchmarks/everywhere.py --write      and puts it into doc/scale.md

Each cell has the deviation of the objective from that in memory, relative (for committees, which
have many, that of the scores), and a mark where a prediction differs; a member that does not go to
a place says so itself.  CuPy is among the places where it is installed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import tempfile
import warnings
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import dask.array as da
import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster

import lincent
from lincent import (
    LCC,
    LCCCV,
    AdditiveLCC,
    AdditiveLCCCV,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    StructuredLCCCV,
)

PAGE = Path(__file__).resolve().parent.parent / "doc" / "scale.md"
BEGIN, END = "<!-- everywhere.py begins -->", "<!-- everywhere.py ends -->"
ROWS, COLUMNS = 10_000, 8
MAPS = ["columns", "splines", "landmarks 1"]

MEMBERS = {
    "LCC": LCC(random_state=0),
    "LCCCV": LCCCV(margins=6, random_state=0),
    "RegularizedLCC": RegularizedLCC(random_state=0),
    "RegularizedLCCCV": RegularizedLCCCV(),
    "StructuredLCC": StructuredLCC(n_centers=10),
    "StructuredLCCCV": StructuredLCCCV(10),
    "AdditiveLCC": AdditiveLCC(n_resamples=2),
    "AdditiveLCCCV": AdditiveLCCCV(n_resamples=2),
    "KernelLCC(n_components=50)": KernelLCC(n_components=50, random_state=0),
    "AutoLCC": AutoLCC(maps=MAPS, n_members=4),
}


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    # Whole numbers of 2^-10, so that single precision and text would hold them exactly, too.
    X = np.round(X * 2**10) / 2**10
    score = X[:, 0] ** 2 + X @ rng.standard_normal(COLUMNS) + rng.standard_normal(ROWS)
    return X, (score > np.median(score)).astype(int)


def memory_map(X):
    folder = Path(tempfile.mkdtemp())
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def batches(X, y):
    def start():
        for k in range(0, len(X), 3_000):
            yield X[k : k + 3_000], y[k : k + 3_000]

    return lincent.batches(start)


def torch_array(X):
    import torch

    return torch.asarray(X, device="cuda" if torch.cuda.is_available() else "cpu")


def cupy_array(X):
    import cupy

    return cupy.asarray(X)


PLACES = {
    "CSR": lambda X, y: (sp.csr_array(X), y),
    "Dask": lambda X, y: (da.from_array(X, chunks=(3_000, COLUMNS)), y),
    "Dask, odd chunks": lambda X, y: (
        da.from_array(X, chunks=((1, 4_999, 0, 3_500, 1_500), (3, COLUMNS - 3))), y),
    "Dask, sparse blocks": lambda X, y: (
        da.from_array(X, chunks=(3_000, COLUMNS)).map_blocks(sp.csr_array), y),
    "memory map": lambda X, y: (memory_map(X), y),
    "float32": lambda X, y: (X.astype(np.float32), y),
    "batches": lambda X, y: ((b := batches(X, y)), b.target),
    "torch": lambda X, y: (torch_array(X), y),
    "two processes": lambda X, y: (da.from_array(X, chunks=(3_000, COLUMNS)), y),
}  # fmt: skip


def value(model, X):
    """What is compared: the objectives, or the scores of some rows."""
    found = getattr(model, "objective_", None)
    return np.atleast_1d(model.decision_function(X[:2_000]) if found is None else found)


def cell(model, place, X, y, expected, predicted):
    rows, labels = PLACES[place](X, y)
    processes = (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=":0")
        if place == "two processes"
        else nullcontext()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with processes as cluster, Client(cluster) if cluster else nullcontext():
            try:
                model.fit(rows, labels)
            except (TypeError, ValueError):
                return "refused"
    differ = np.mean(model.predict(X) != predicted)
    away = np.abs(value(model, X) - expected).max() / max(1.0, np.abs(expected).max())
    return f"{away:.0e}" + (f", {differ:.1e} differ" if differ else "")


def table():
    X, y = data()
    if find_spec("cupy"):
        PLACES["CuPy"] = lambda X, y: (cupy_array(X), y)
    lines = ["| member | " + " | ".join(PLACES) + " |", "|---|" + "---|" * len(PLACES)]
    for name, model in MEMBERS.items():
        model.fit(X, y)
        expected, predicted = value(model, X), model.predict(X)
        cells = [cell(model, place, X, y, expected, predicted) for place in PLACES]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}"
    note = f"{ROWS:,} x {COLUMNS}, {datetime.date.today()}, {machine}, `benchmarks/everywhere.py`."
    return "\n".join([*lines, "", note])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into doc/scale.md")
    settings = parser.parse_args()
    text = table()
    print(text)
    if settings.write:
        page = PAGE.read_text("utf-8")
        before, rest = page.split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
