"""How soon does an interrupt end real work?

    python benchmarks/interrupts.py                 # every case after 0.5 s; three minutes
    python benchmarks/interrupts.py --after 0.5 2 --only GridSearchCV

Each case is a process of its own on data that takes it several seconds.  ``--after`` seconds after
its work has begun it gets a real SIGINT, as Ctrl-C sends it: to the process and its workers.
Printed: seconds until the interrupt is seen by the caller (``except KeyboardInterrupt``; for a
command: until its process has ended), processor seconds of the process in between (on a busy
machine only these mean anything), and whether the way out is clean: KeyboardInterrupt and a clean
estimator that can be fitted again, or exit code 130 and nothing half-written.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BAR = 1.0
SHAPES = {"tall": (300_000, 100), "wide": (2_000, 6_000), "medium": (5_822, 85)}
ESTIMATORS = {"LCC, tall": ("LCC()", "tall"), "LCC, wide": ("LCC()", "wide"),
              "LCCCV": ("LCCCV()", "medium"), "AutoLCC": ("AutoLCC()", "medium")}  # fmt: skip
PLACES = {
    "alone": "{0}",
    # A step that takes no time: an interrupt of scikit-learn's scaler leaves it half fitted.
    "Pipeline": "make_pipeline(FunctionTransformer(), {0})",
    "GridSearchCV": "GridSearchCV({0}, {{}}, cv=5)",
    "GridSearchCV, 2 jobs": "GridSearchCV({0}, {{}}, cv=5, n_jobs=2)",
}
WORK = """
import json, sys, time
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from lincent import LCC, LCCCV, AutoLCC
def data(rows, columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    return X, (X[:, 0] + rng.normal(size=rows) > 0).astype(int)
X, y = data({rows}, {columns})
model = {model}
print("begun", flush=True)
try:
    for _ in range(1000):
        model.fit(X, y)
except KeyboardInterrupt:
    seen, spent = time.monotonic(), time.process_time()
    ours = model[-1] if hasattr(model, "steps") else getattr(model, "estimator", model)
    left = [name for name in vars(ours) if name.endswith("_") and name[0] != "_"]
    model.fit(*data(200, 5))
    print(json.dumps({{"seen": seen, "spent": spent, "clean": not left}}), flush=True)
"""
COMMANDS = {
    "fit": "fit t.csv --target y -o m.lincent",
    "compare": "compare t.csv --target y --methods LCC,AutoLCC,SVC-RBF --jobs 2 -o out",
    "reproduce": "reproduce --quick --jobs 2 -o out",
}
"""``reproduce`` needs the sets of the paper (LINCENT_DATA)."""


def spent_by(process):
    """Processor seconds of a running process; NaN where the system does not say."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(line, folder, begun, after, **streams):
    """A process that gets its interrupt; when that was sent, and what it had spent by then."""
    process = subprocess.Popen(line, cwd=folder, text=True, start_new_session=True, **streams)
    begun(process)
    time.sleep(after)
    if process.poll() is not None:
        raise SystemExit(f"{line} ended before its interrupt: {process.communicate()}")
    spent = spent_by(process)
    sent = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    return process, sent, spent


def of_an_estimator(model, shape, after):
    rows, columns = SHAPES[shape]
    line = [sys.executable, "-c", WORK.format(rows=rows, columns=columns, model=model)]
    process, sent, spent = interrupted(
        line, None, lambda p: p.stdout.readline(), after,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    said = process.communicate(timeout=300)[0]
    if process.returncode or not said:
        return float("nan"), float("nan"), False
    found = json.loads(said)
    return found["seen"] - sent, found["spent"] - spent, found["clean"]


def of_a_command(words, after):
    with tempfile.TemporaryDirectory() as folder:
        rows, columns = SHAPES["medium"]
        rng = np.random.default_rng(0)
        X = rng.normal(size=(rows, columns))
        table = np.column_stack([X, X[:, 0] + rng.normal(size=rows) > 0])
        names = ",".join([*(f"c{j}" for j in range(columns)), "y"])
        np.savetxt(Path(folder) / "t.csv", table, "%.6g", ",", header=names, comments="")

        def begun(process):  # the command has spoken, and imports and reading are over
            process.stderr.readline()
            time.sleep(2.0)

        line = [sys.executable, "-m", "lincent", *words.split()]
        process, sent, spent = interrupted(line, folder, begun, after, stderr=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL)  # fmt: skip
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT) is None:
            pass
        ended, used = time.monotonic(), spent_by(process)
        said = process.communicate()[1]
        half = [path.name for path in Path(folder).rglob("*partial*")]
        clean = process.returncode == 130 and "interrupted; " in said and not half
        return ended - sent, used - spent, clean and not (Path(folder) / "m.lincent").exists()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--after", type=float, nargs="+", default=[0.5])
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    asked = parser.parse_args()
    cases = {
        f"{name}, {place}": (of_an_estimator, form.format(model), shape)
        for name, (model, shape) in ESTIMATORS.items()
        for place, form in PLACES.items()
    }
    cases |= {f"lincent {name}": (of_a_command, words) for name, words in COMMANDS.items()}
    worst = 0.0
    for name, (measure, *arguments) in cases.items():
        for after in asked.after if asked.only in name else ():
            wall, processor, clean = measure(*arguments, after)
            worst = max(worst, min(wall, processor) if clean else float("inf"))
            print(f"{name}, after {after:g} s: {wall:.2f} s, {processor:.2f} of processor time"
                  f"{'' if clean else '; NOT CLEAN'}", flush=True)  # fmt: skip
    print(f"worst {worst:.2f} s (bar {BAR:g})")


if __name__ == "__main__":
    main()
