"""A real interrupt in the middle of real work stays one, wherever the estimator is.

The work has no end (see ``support.endless``), so that no machine is done before the interrupt; and
nothing depends on how fast the machine is: what does not stop runs into the limit of the process.
"""

import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE = 300.0
"""For starting, and for nine interrupts, on a machine that does ten other things."""

CODE = """
import os, signal, sys, tempfile, threading
import numpy as np
from pathlib import Path
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.endless import BEGUN, EndlessAutoLCC, EndlessLCC, EndlessLCCCV, once_begun

def around(model, within):
    if within == "alone":
        return model
    model = make_pipeline(StandardScaler(), model)
    if within == "pipeline":
        return model
    key = model.steps[-1][0] + "__random_state"
    jobs = 2 if within == "two jobs" else None
    return GridSearchCV(model, {key: [0, 1]}, cv=2, n_jobs=jobs, error_score="raise")

def everybody():
    # As a terminal does it: all processes of the group.
    os.killpg(os.getpgrp(), signal.SIGINT)

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 4))
y = (X[:, 0] + rng.standard_normal(120) > 0).astype(int)
for within in sys.argv[1:]:
    kinds = EndlessLCC(), EndlessLCCCV(margins=3), EndlessAutoLCC(feature_maps=["columns"])
    # Two jobs fit clones in processes of their own: one kind of estimator is enough.
    for kind in kinds[-1:] if within == "two jobs" else kinds:
        model = around(kind, within)
        os.environ[BEGUN] = str(Path(tempfile.mkdtemp()) / "begun")
        threading.Thread(target=once_begun, args=(0.3, everybody), daemon=True).start()
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            left = [name for name in vars(kind) if "callback" in name or name.endswith("_")]
            print(within, type(kind).__name__, "interrupted", left, flush=True)
        del os.environ[BEGUN]
        if within != "two jobs":  # a second run starts clean
            print(model.fit(X, y).predict(X).shape, flush=True)
"""


@pytest.mark.parametrize("places", [["alone", "pipeline", "search"], ["two jobs"]])
def test_it_stays_one(places):
    tests = Path(__file__).resolve().parents[1]
    code = f"import sys; sys.path.insert(0, {str(tests)!r})\n{CODE}"
    done = subprocess.run(
        [sys.executable, "-c", code, *places], start_new_session=True,
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    expected = []
    for within in places:
        if within == "two jobs":
            expected += [f"{within} EndlessAutoLCC interrupted []"]
            continue
        for name in ("EndlessLCC", "EndlessLCCCV", "EndlessAutoLCC"):
            expected += [f"{within} {name} interrupted []", "(120,)"]
    assert done.stdout.splitlines() == expected, done.stderr
