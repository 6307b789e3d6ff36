"""Kills a study with signal 9 at random moments, resumes it, and compares with an undisturbed run.

    python benchmarks/study_kills.py --kills 20

Every kill hits the command itself; its workers end on their own. At the end the table must be the
same but for times: same rows, same order, no key twice.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas

from lincent.model_selection import read_runs
from lincent.paper.study import load_problem

COMMAND = [
    sys.executable, "-m", "lincent", "compare", "circles.csv", "--runs", "60", "--jobs", "2",
    "--methods", "LogReg,LogReg-bal,LDA,SVM,DLS,SMP,WSV,TSV,DEL,LCC",
]  # fmt: skip


# Columns that differ between two executions of the same run; all others must not.
MEASURED = ("fit_seconds", "score_seconds", "finished", "versions", "machine")


def run(folder):
    return subprocess.Popen(
        [*COMMAND, "-o", folder.name], cwd=folder.parent,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        whole, killed = Path(name) / "whole", Path(name) / "killed"
        circles = load_problem("circles")
        table = pandas.DataFrame(circles.X, columns=["x", "y"]).assign(circle=circles.y)
        table.to_csv(Path(name) / "circles.csv", index=False)
        start = time.monotonic()
        assert run(whole).wait() == 0
        alone = time.monotonic() - start
        print(f"undisturbed: {alone:.0f} s", flush=True)
        rows = []
        for _ in range(options.kills):
            process = run(killed)
            # Anywhere from before the first row to well after it.
            time.sleep(rng.uniform(0.05, 0.6) * alone)
            done_before = process.poll() is not None
            if not done_before:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
            log, table = killed / "runs.jsonl", killed / "runs.parquet"
            rows.append(log.read_text().count("\n") if log.exists() else 0)
            rows[-1] += len(read_runs(table)) if table.exists() else 0
            print(
                f"killed{' (was done)' if done_before else ''}: {rows[-1]} rows on disk", flush=True
            )
        assert run(killed).wait() == 0
        a, b = (read_runs(folder / "runs.parquet") for folder in (whole, killed))
        same = a.drop(columns=list(MEASURED)).equals(b.drop(columns=list(MEASURED)))
        print(f"rows {len(b)} of {len(a)}, keys unique: {b['key'].is_unique}, same table: {same}")
        return 0 if same and b["key"].is_unique else 1


if __name__ == "__main__":
    sys.exit(main())
