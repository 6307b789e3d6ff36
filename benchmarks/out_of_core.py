"""More data than the workers' memory: a certified fit on two workers of 1 GB each.

    python benchmarks/out_of_core.py --rows 5_000_000
    python benchmarks/out_of_core.py                       50,000,000 x 20 float32, 4 GB on disk
    python benchmarks/out_of_core.py --model StructuredLCC --rows 10_000_000
    python benchmarks/out_of_core.py --model RegularizedLCC --kill 2     a worker dies in read 3

Prints each read, then a table: reads, gap, time, largest memory of a worker and of the client.
The data is written once into ``--folder`` and kept there for the next run.
"""

import argparse
import contextlib
import datetime
import io
import os
import re
import resource
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zarr
from distributed import Client, LocalCluster

import lincent


def block(number, rows, n):
    """One block: normal rows, labels from a noisy linear score."""
    rng = np.random.default_rng([7, number])
    X = rng.standard_normal((rows, n), dtype=np.float32)
    direction = np.random.default_rng(7).standard_normal(n).astype(np.float32)
    score = X @ direction
    y = score + np.float32(score.std()) * rng.standard_normal(rows, dtype=np.float32) > 0
    return X, y.astype(np.int8)


def write(kind, folder, m, n, size):
    """The data as Zarr, Parquet or a NumPy file, block by block."""
    blocks = [(k, min(size, m - k * size)) for k in range(-(-m // size))]
    if kind == "parquet":
        for k, rows in blocks:
            X, y = block(k, rows, n)
            columns = {f"x{j}": X[:, j] for j in range(n)} | {"label": y}
            pq.write_table(pa.table(columns), folder / f"part-{k:05d}.parquet", compression="none")
        return
    if kind == "zarr":
        how = {"compressors": None}
        X = zarr.create_array(str(folder / "X"), shape=(m, n), chunks=(size, n), dtype="f4", **how)
        y = zarr.create_array(str(folder / "y"), shape=(m,), chunks=(size,), dtype="i1", **how)
    else:
        X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (m, n))
        y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int8, (m,))
    for k, rows in blocks:
        part = slice(k * size, k * size + rows)
        X[part], y[part] = block(k, rows, n)


def mapped(path, begin, end):
    return np.asarray(np.load(path, mmap_mode="r")[begin:end])


def from_file(path, size):
    """A NumPy file as a Dask array, mapped again by each worker."""
    stored = np.load(path, mmap_mode="r")
    from dask import delayed

    parts = []
    for begin in range(0, len(stored), size):
        end = min(begin + size, len(stored))
        part = delayed(mapped)(str(path), begin, end)
        parts.append(da.from_delayed(part, (end - begin, *stored.shape[1:]), stored.dtype))
    return da.concatenate(parts)


def read(kind, folder, n, size):
    if kind == "zarr":
        return da.from_zarr(str(folder / "X")), da.from_zarr(str(folder / "y"))
    if kind == "npy":
        return from_file(folder / "X.npy", size), from_file(folder / "y.npy", size)
    table = dd.read_parquet(folder / "*.parquet")
    return table[[f"x{j}" for j in range(n)]], table["label"]


def largest_memory():
    """The largest resident memory of this process so far, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


class Tee(io.StringIO):
    """Keeps what is printed, and prints the lines about reads; ``after`` a read calls ``then``."""

    def __init__(self, out, after, then):
        super().__init__()
        self.out, self.after, self.then = out, after, then

    def write(self, text):
        if text.startswith(f"read {self.after},"):
            threading.Timer(1.0, self.then).start()
        if text.startswith(("read", "round", "newton", "look", "check", "survey", "s")):
            self.out.write(text + "\n")
            self.out.flush()
        return super().write(text)


def kill_one(client, killed):
    """End a worker's process, without a word, in the middle of its work."""
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)
    killed.append(pid)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--block", type=int, default=500_000, help="rows in a block")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="1GB", help="limit of each worker")
    parser.add_argument("--format", choices=["zarr", "parquet", "npy"], default="zarr")
    parser.add_argument("--model", default="LCC", help="the name of an estimator")
    parser.add_argument("--kill", type=int, help="a worker dies one second after this read")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    settings = parser.parse_args()
    m, n, size, kind = settings.rows, settings.columns, settings.block, settings.format
    folder = settings.folder / f"lincent-{kind}-{m}-{n}-{size}"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.perf_counter()
        write(kind, folder, m, n, size)
        (folder / "complete").touch()
        print(f"wrote {m} x {n} as {kind} in {time.perf_counter() - begin:.1f} s", flush=True)
    with (
        LocalCluster(
            n_workers=settings.workers,
            threads_per_worker=1,
            memory_limit=settings.memory,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = read(kind, folder, n, size)
        before = largest_memory()
        killed = []
        out = Tee(sys.stdout, settings.kill, lambda: kill_one(client, killed))
        begin = time.perf_counter()
        with contextlib.redirect_stdout(out):
            model = getattr(lincent, settings.model)(random_state=0, verbose=1).fit(X, y)
        took = time.perf_counter() - begin
        workers = client.run(largest_memory)
    reads = len(re.findall(r"^read \d+", out.getvalue(), flags=re.M))
    gap = model.duality_gap_
    names = [
        "date", "model", "rows x columns", "format", "reads", "seconds", "objective",
        "relative gap", "largest worker MB", "client MB (before the fit)",
        "workers killed",
    ]  # fmt: skip
    cells = [
        str(datetime.date.today()), settings.model, f"{m:,} x {n}", kind, str(reads), f"{took:.1f}",
        f"{model.objective_:.9f}", f"{gap:.1e}", f"{max(workers.values()):.0f}",
        f"{largest_memory():.0f} ({before:.0f})", str(len(killed)),
    ]  # fmt: skip
    print("\n| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
