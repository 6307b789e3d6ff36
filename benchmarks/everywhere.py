"""The same optimum wherever the rows are: every member in every place, beside NumPy.

    python benchmarks/everywhere.py                      prints the table
    python benchmarks/everywhere.py --write              and puts it into doc/measured/scale.md
    python benchmarks/everywhere.py --json cells.json    keeps it, for --from cells.json --write
    python benchmarks/everywhere.py --only LCC torch     some members, or some places

Each cell has the deviation of the objective from that in memory, relative, the largest where a
member has several, and how many predictions, made in that place, differ; a member that does not go
to a place says so itself.  On a machine with a GPU torch is there, and CuPy where it is installed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
import warnings
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path

import dask.array as da
import numpy as np
import scipy.sparse as sp

if not find_spec("array_api_compat"):  # scikit-learn carries a copy
    from sklearn.externals import array_api_compat

    sys.modules["array_api_compat"] = array_api_compat

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

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "scale.md"
BEGIN, END = "<!-- everywhere.py begins -->", "<!-- everywhere.py ends -->"
ROWS, COLUMNS = 10_000, 8
MAPS = ["columns", "splines", "landmarks 1"]
PROCESSES = "two processes"

MEMBERS = {
    "LCC": LCC(random_state=0),
    "LCCCV": LCCCV(margins=6, random_state=0),
    "RegularizedLCC": RegularizedLCC(random_state=0),
    "RegularizedLCCCV": RegularizedLCCCV(),
    "StructuredLCC": StructuredLCC(n_centers=10),
    "StructuredLCCCV": StructuredLCCCV(10),
    "AdditiveLCC": AdditiveLCC(),
    "AdditiveLCCCV": AdditiveLCCCV(),
    "KernelLCC(norm='linf', n_components=50)": KernelLCC(norm="linf", n_components=50),
    "AutoLCC": AutoLCC(feature_maps=MAPS),
}


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS))
    # Whole numbers of 2^-10, so that single precision and text would hold them exactly, too.
    X = np.round(X * 2**10) / 2**10
    score = X[:, 0] ** 2 + X @ rng.standard_normal(COLUMNS) + rng.standard_normal(ROWS)
    return X, (score > np.median(score)).astype(int)


def memory_map(X, folder):
    np.save(Path(folder) / "X.npy", X)
    return np.load(Path(folder) / "X.npy", mmap_mode="r")


def batches(X, y):
    def start():
        for k in range(0, len(X), 3_000):
            yield X[k : k + 3_000], y[k : k + 3_000]

    return lincent.batches(start)


def blocks(X, chunks=3_000):
    return da.from_array(X, chunks=(chunks, COLUMNS))


def places(folder):
    """From X and y in memory to X and y in each place."""
    odd = ((1, 4_999, 0, 3_500, 1_500), (3, COLUMNS - 3))
    found = {
        "CSR": lambda X, y: (sp.csr_array(X), y),
        "Dask": lambda X, y: (blocks(X), y),
        "Dask, odd chunks": lambda X, y: (da.from_array(X, chunks=odd), y),
        "Dask, sparse blocks": lambda X, y: (blocks(X).map_blocks(sp.csr_array), y),
        PROCESSES: lambda X, y: (blocks(X), blocks_of_labels(y)),
        "memory map": lambda X, y: (memory_map(X, folder), y),
        "float32": lambda X, y: (X.astype(np.float32), y),
        "batches": lambda X, y: ((b := batches(X, y)), b.target),
    }
    if not find_spec("distributed"):
        del found[PROCESSES]
    if find_spec("torch"):
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        found[f"torch ({device})"] = lambda X, y: tuple(
            torch.asarray(part, device=device) for part in (X, y)
        )
    if find_spec("cupy"):
        import cupy

        found["CuPy"] = lambda X, y: (cupy.asarray(X), cupy.asarray(y))
    return found


def blocks_of_labels(y):
    return da.from_array(y, chunks=3_000)


def objectives(model):
    """Those of all rules that the member has fitted."""
    if hasattr(model, "ensemble_"):
        return np.array([member["objective"] for member in model.ensemble_])
    found = getattr(model, "objectives_", None)
    return np.atleast_1d(model.objective_ if found is None else found)


def here(labels):
    """Predictions from any place, in NumPy."""
    if hasattr(labels, "compute"):
        return np.asarray(labels.compute())
    if hasattr(labels, "cpu"):
        return labels.cpu().numpy()
    return np.asarray(labels.get() if hasattr(labels, "get") else labels)


def cell(model, make, X, y, expected, predicted):
    rows, labels = make(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(rows, labels)
        except (TypeError, ValueError):
            return "refused"
        differ = np.count_nonzero(here(model.predict(rows)) != predicted)
    found = objectives(model)
    if found.shape != expected.shape:
        return "another choice"
    away = np.max(np.abs(found - expected) / np.maximum(1.0, np.abs(expected)))
    return f"{away:.0e}" + (f", {differ} of {len(X):,} differ" if differ else "")


@contextmanager
def two_processes(wanted):
    """A cluster of two worker processes, where it is wanted; otherwise threads read blocks."""
    if not wanted:
        yield None
        return
    from distributed import Client, LocalCluster

    how = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with LocalCluster(**how) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def cells(wanted):
    """For each member and place, what the table says."""
    X, y = data()
    with tempfile.TemporaryDirectory() as folder:
        found = {name: make for name, make in places(folder).items() if wanted(name)}
        with two_processes(PROCESSES in found) as client:
            for name, model in MEMBERS.items():
                if not wanted(name):
                    continue
                model.fit(X, y)
                fitted = objectives(model), model.predict(X)
                row = {}
                for place, make in found.items():
                    with client.as_current() if place == PROCESSES else nullcontext():
                        row[place] = cell(model, make, X, y, *fitted)
                print(name, row, flush=True)
                yield name, row


def table(result):
    """The cells of a result as Markdown."""
    rows = result["cells"]
    names = list(next(iter(rows.values())))
    lines = ["| member | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    lines += [f"| `{member}` | " + " | ".join(row.values()) + " |" for member, row in rows.items()]
    return "\n".join([*lines, "", result["note"]])


def note():
    machine = [f"{os.cpu_count()} cores", platform.machine()]
    if find_spec("torch"):
        import torch

        machine += [torch.cuda.get_device_name()] if torch.cuda.is_available() else []
    today = datetime.date.today()
    return f"{ROWS:,} x {COLUMNS}, {today}, {', '.join(machine)}, `benchmarks/everywhere.py`."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--write", action="store_true", help="put the table into doc/measured/scale.md"
    )
    parser.add_argument("--json", type=Path, help="keep the table in this file")
    parser.add_argument("--from", dest="kept", type=Path, help="take the table from such a file")
    parser.add_argument("--only", nargs="+", help="members and places that begin with these words")
    settings = parser.parse_args()
    if settings.kept:
        result = json.loads(settings.kept.read_text("utf-8"))
    else:
        words = settings.only or []
        members = [w for w in words if any(m.startswith(w) for m in MEMBERS)]

        def wanted(name):
            among = members if name in MEMBERS else [w for w in words if w not in members]
            return not among or name.startswith(tuple(among))

        result = {"note": note(), "cells": dict(cells(wanted))}
    text = table(result)
    print(text)
    if settings.json:
        settings.json.write_text(json.dumps(result, indent=1), "utf-8")
    if settings.write:
        page = PAGE.read_text("utf-8")
        before, rest = page.split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
