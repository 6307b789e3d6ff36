"""Does ``lincent fit`` go through a file four times larger than its memory?

    python benchmarks/large_file.py                            4.9 GB under 1.2 GB: 15 minutes
    python benchmarks/large_file.py --rows 2000000 --columns 20    a file that would fit

Writes a Parquet file of random numbers with a label, runs the command under ``ulimit -v`` and
without, and compares the scores of some of the rows by the two models: rows in memory have tree
leaves among the candidates, too.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lincent.export.model_file import load_model

GROUP = 50_000
"""Rows that are written, and later read, together."""
COMPARED = 10
"""Such groups whose scores are compared."""


def write(path: Path, rows: int, columns: int) -> None:
    """Normal columns; a line, a curve and noise say which label a row has."""
    rng = np.random.default_rng(0)
    weights, names = rng.standard_normal(columns), [f"c{j}" for j in range(columns)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("label", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=["label"]) as file:
        for _ in range(rows // GROUP):
            X = rng.standard_normal((GROUP, columns))
            score = X @ weights / np.sqrt(columns) + 0.5 * np.sin(2 * X[:, 0])
            label = np.where(score + 0.7 * rng.standard_normal(GROUP) > 0.2, "yes", "no")
            arrays = [*(pa.array(column) for column in X.T), pa.array(label)]
            file.write_table(pa.table(arrays, schema=schema))


def fit(data: Path, output: Path, limit: int | None) -> None:
    """The command, with so many MB of addresses."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit * 1_000_000,) * 2)

    command = [sys.executable, "-m", "lincent", "fit", data, "--target", "label"]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--output", output], check=True, preexec_fn=limited)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"limit {limit} MB: {time.perf_counter() - began:.0f} s, {processor:.0f} processor s; "
        f"resident at most {used.ru_maxrss / 1e3:.0f} MB (of all runs so far)", flush=True
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=6_150_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--limit", type=int, default=1_200, help="MB of addresses")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, *models = (Path(folder) / name for name in ("rows.parquet", "limited", "whole"))
        write(data, arguments.rows, arguments.columns)
        print(f"{arguments.rows:,} x {arguments.columns}, {data.stat().st_size / 1e9:.2f} GB")
        for model, limit in zip(models, (arguments.limit, None), strict=True):
            fit(data, model, limit)
        one, two = (load_model(model).pipeline for model in models)
        file = pq.ParquetFile(data)
        apart, other = 0.0, 0
        for group in range(min(COMPARED, file.num_row_groups)):
            rows = file.read_row_group(group).to_pandas().drop(columns="label")
            difference = one.decision_function(rows) - two.decision_function(rows)
            apart = max(apart, float(np.abs(difference).max()))
            other += int((one.predict(rows) != two.predict(rows)).sum())
        print(f"scores apart by {apart:.1e} at most; {other} rows of another class")


if __name__ == "__main__":
    main()
