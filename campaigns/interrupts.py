"""SIGINT at random moments of `lincent fit`, `predict` and `explain`: exit code 130, whole files.

Every trial is a process of its own with a real signal.  One in four starts a new interpreter, as a
shell does, and is interrupted from 0.05 seconds after its start on; the others are forked from a
process that has imported everything, so that the moments are those of the work.  Moments are in
processor time, so that they do not depend on what else runs.  Asked of each:

    exit code 130 and at most one message, or 0 where the command was done already
    before the interpreter runs `lincent.__main__`: the signal itself, or Python's own exit
    no traceback after that; no partial file; every output old, absent or whole
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from campaigns import commands, corpus, guarded
from campaigns.outcome import Outcome

COMMANDS = {
    "fit, quick": "fit t.csv --target target --method quick -o out.lincent",
    "fit, linear": "fit t.csv --target target --method linear -o out.lincent --report",
    "fit, auto": "fit t.csv --target target -o out.lincent",
    "predict": "predict m.lincent large.csv -o out.csv",
    "predict, all": "predict m.lincent large.csv -o out.parquet --all-columns --contributions",
    "explain": "explain m.lincent large.csv -o out.html",
}
SOONEST = 0.05  # seconds of processor time after the start
FRESH = 1 / 4
ROWS, LARGE_ROWS = 200, 4_000
OLD = b"old"


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    names = list(COMMANDS)
    name = names[rng.integers(len(names))]
    fresh = bool(rng.random() < FRESH)
    fraction = 0.0 if fresh and rng.random() < 0.2 else float(rng.random())
    old = bool(rng.random() < 0.5)
    return check({"command": name, "fraction": fraction, "old": old, "fresh": fresh})


def check(instance: dict[str, Any]) -> Outcome:
    """Run a command, interrupt it, and look at what it left."""
    name, fresh = instance["command"], instance["fresh"]
    soonest = SOONEST if fresh else 0.0
    after = soonest + instance["fraction"] * max(duration(name, fresh) - soonest, 0.0)
    with tempfile.TemporaryDirectory(prefix="lincent-interrupt-") as place:
        folder = Path(place)
        outputs = [word for word in COMMANDS[name].split() if word.startswith("out.")]
        if instance["old"]:
            (folder / outputs[0]).write_bytes(OLD)
        child = start(name, folder, fresh)
        while -1.0 < spent(child) < after:
            time.sleep(0.001)
        os.kill(child, signal.SIGINT)
        code = commands.waited(child)[0]
        err = (folder / ".err").read_text(errors="replace")
        kind, fault = _ended(code, err)
        fault = fault or _files(folder, outputs[0], kind, err)
    fault = f"{name} after {after:.3f} s of processor time: {fault}" if fault else ""
    return Outcome(f"{name.partition(',')[0]}: {kind}", fault, instance if fault else {})


def _ended(code: int, err: str) -> tuple[str, str]:
    if code == 130:
        one = err.count("lincent: interrupted; ") <= 1
        broken = "Traceback" in err or "ignored" in err
        return "interrupted", "" if one and not broken else f"130 with {err[-600:]!r}"
    if code == 0:
        return "done before", "" if "Traceback" not in err else f"done with {err[-600:]!r}"
    # Python imports the package before it runs `__main__`, which handles the interrupt.
    importing = "in _get_module_details" in err
    reached = "lincent: " in err or ("/lincent/" in err and not importing)
    if not reached and code in (-signal.SIGINT, 1):
        return "before Python was ready", ""
    return "other", f"exit code {code}: {err[-600:]!r}"


def _files(folder: Path, output: str, kind: str, err: str) -> str:
    partial = [path.name for path in folder.iterdir() if "partial" in path.name]
    if partial:
        return f"left {partial}"
    path = folder / output
    if kind == "done before" and not (path.exists() and _is_whole(path)):
        return f"done, and {output} is not whole"
    for path in folder.glob("out.*"):
        if path.read_bytes() != OLD and not _is_whole(path):
            return f"{path.name} is not whole ({path.stat().st_size} bytes): {err[-300:]!r}"
    return ""


def _is_whole(path: Path) -> bool:
    """Return whether an output is complete."""
    import pyarrow.parquet

    from lincent.export.model_file import load_model

    if path.suffix == ".lincent":
        return len(load_model(path).classes) == 2
    if path.suffix == ".parquet":
        return int(pyarrow.parquet.read_metadata(path).num_rows) == LARGE_ROWS
    data = path.read_bytes()
    if path.suffix == ".csv":
        return data.count(b"\n") == LARGE_ROWS + 1 and data.endswith(b"\n")
    return data.rstrip().endswith(b"</html>")


@cache
def inputs() -> Path:
    """Return a folder with the tables and the model that the commands take."""
    place = tempfile.TemporaryDirectory(prefix="lincent-interrupts-")
    _places.append(place)
    folder = Path(place.name)
    for name, rows in (("t.csv", ROWS), ("large.csv", LARGE_ROWS)):
        cells = corpus.cells(np.random.default_rng(rows), rows)
        (folder / name).write_text("\n".join(map(",".join, cells)) + "\n")
    (folder / "m.lincent").write_bytes(corpus.fitted(method="linear"))
    return folder


_places: list[Any] = []


@cache
def duration(name: str, fresh: bool) -> float:
    """Return the seconds of processor time that a command takes."""
    with tempfile.TemporaryDirectory() as place:
        child, last = start(name, Path(place), fresh), 0.0
        while (now := spent(child)) > -1.0:
            last = now
            time.sleep(0.001)
        if commands.waited(child)[0]:
            raise RuntimeError(f"{name} does not end well: {(Path(place) / '.err').read_text()}")
        return last


def spent(child: int) -> float:
    """Return the seconds of processor time of a process, whatever else runs; -1 at its end.

    Those of its main thread, to the microsecond, and of Linux: this campaign runs nowhere else.
    """
    try:
        text = Path(f"/proc/{child}/schedstat").read_text()
        state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return -1.0
    return -1.0 if state == "Z" else int(text.split()[0]) / 1e9


def start(name: str, folder: Path, fresh: bool) -> int:
    """Start a command in a folder; return the number of its process."""
    for path in inputs().iterdir():
        os.link(path, folder / path.name)
    line = [*COMMANDS[name].split(), "--force"]
    # A process that a shell starts in the background ignores the signal, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if fresh:
        # Absolute paths: the same code as here, also in another folder.
        env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with open(folder / ".err", "wb") as err:
            return subprocess.Popen(
                [sys.executable, "-m", "lincent", *line], cwd=folder, env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
            ).pid  # fmt: skip
    child = commands.forked(folder, line)
    while not (folder / guarded.LOG).exists():  # not yet at the command
        time.sleep(0.001)
    return child
