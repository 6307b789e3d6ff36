"""Fit AutoLCC to a DuckDB query and write its scores back, in memory bounded by the batch.

    python benchmarks/duckdb_stream.py [--rows 1000000] [--columns 20]

Needs DuckDB (extra [clients]). The table is made by DuckDB itself, in a file of its own; prints the
seconds of the fit and of the scoring, the AUC on the table and the peak memory of the process.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.metrics import roc_auc_score

from lincent import AutoLCC, batches


def make_table(connection, rows, columns):
    """Make columns of random numbers and a class that depends on four of them."""
    names = [f"x{k}" for k in range(columns)]
    numbers = ", ".join(f"random() * 2 - 1 as {name}" for name in names)
    connection.execute("select setseed(0.5)")
    connection.execute(f"create table numbers as select {numbers} from range({rows})")
    score = "x0 + x1 * x1 - abs(x2) + x0 * x3 + 0.8 * (random() + random() - 1)"
    connection.execute(f"create table training as select *, ({score} > 0)::int as y from numbers")
    connection.execute("drop table numbers")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect(str(Path(folder) / "table.duckdb"))
        connection.execute("set memory_limit = '500MB'")
        names = make_table(connection, given.rows, given.columns)

        def query(what):
            return lambda: connection.cursor().sql(f"select {what} from training")

        start = time.perf_counter()
        stream = batches(query("*"), target="y")
        model = AutoLCC().fit(stream, stream.target)
        fitted = time.perf_counter()
        writer, scores, truth = connection.cursor(), [], []
        writer.execute("create table scores (score double)")
        for rows, labels, _ in stream.start():
            score = model.decision_function(pd.DataFrame(rows, columns=names))
            batch = pa.table({"score": score})  # noqa: F841 (read by DuckDB)
            writer.execute("insert into scores select * from batch")
            scores.append(score.astype(np.float32))
            truth.append(np.asarray(labels, dtype=np.int8))
        done = time.perf_counter()
        [(stored,)] = writer.execute("select count(*) from scores").fetchall()
    auc = roc_auc_score(np.concatenate(truth), np.concatenate(scores))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{given.rows:,} x {len(names)}: fit {fitted - start:.0f} s, {stored:,} scores in")
    print(f"{done - fitted:.0f} s, AUC {auc:.4f} on the training rows, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
