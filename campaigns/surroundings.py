"""Commands in odd surroundings: streams, names, folders and disks that are not as usual.

A command runs in a shell of its own.  Its streams are closed, full or of another encoding, its
files have odd names and stand in odd folders, class names are in any script, files may not grow
beyond a size (a full disk), a FIFO stands where a partial file might, and `--force` names an input
as the output.  Asked of each:

    exit code 0 (done), 1 (done, not certified) or 2 (refused), no traceback, within two minutes
    refused: one message, where the error stream is open; done: the output is there
    an input is never changed; an output is absent, old or whole
    a model that was written is named as written where what comes after it fails
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from campaigns import commands
from campaigns.outcome import Outcome

LABELS = (("no", "yes"), ("été", "日本"), ("да", "نعم"), ("🙂", "a b"))
NAMES = (b"t.csv", b"bad\xff.csv", b"a b.csv", "größe 日本.csv".encode(), b"it's.csv", b"q\"t.csv",
         b"line\nend.csv", b"-o.csv", b"n" * 200 + b".csv", b"\xe2\x80\xae.csv")  # fmt: skip
STREAMS = (
    "", "", "<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full",
    ">/dev/full 2>/dev/full",
)  # fmt: skip
ENCODINGS = ("utf-8", "ascii", "cp1252", "latin-1")
COMMANDS = {
    "fit": "fit {table} --target target --method quick -o {out}.lincent {options} --force",
    "predict": "predict m.lincent {table} -o {out}.csv --force",
    "predict to a stream": "predict m.lincent {table}",
    "predict from a stream": "predict m.lincent - -o {out}.csv --force",
    "explain": "explain m.lincent {table}",
    "page": "explain m.lincent {table} -o {out}.html --force",
    "check": "check m.lincent {table}",
    "export": "export m.lincent {out}.sql --force",
    "datasets": "datasets",
    "help": "fit --help",
    "over its input": "{own} --force",
}
OWN = (
    "fit {table} --target target --method quick -o {table}",
    "fit {table} --target target --method quick -o link.csv",
    "predict m.lincent {table} -o m.lincent",
    "predict m.lincent {table} -o {table}",
    "explain m.lincent {table} -o link.csv",
    "export m.lincent m.lincent --output-format sql",
)
"""Commands whose output is one of their inputs, by its name or by a link."""
OLD = b"old"


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check({"seed": int(rng.integers(2**31))})


def check(instance: dict[str, Any]) -> Outcome:
    """Run the command, and look at its end and its files."""
    rng = np.random.default_rng(instance["seed"])
    name = str(rng.choice([*COMMANDS]))
    labels = int(rng.integers(len(LABELS)))
    table, place = os.fsdecode(NAMES[rng.integers(len(NAMES))]), str(rng.choice(["", "d/"]))
    place = os.fsdecode(b"dir\xff/") if place and rng.random() < 0.5 else place
    streams, encoding = STREAMS[rng.integers(len(STREAMS))], str(rng.choice(ENCODINGS))
    limit = int(rng.integers(1, 200)) if rng.random() < 0.3 else 0  # blocks of 1024 bytes
    options = str(rng.choice(["", "--report", "--report --report-json"]))
    with tempfile.TemporaryDirectory(prefix="lincent-surroundings-") as temporary:
        folder = Path(temporary)
        (folder / (place or ".")).mkdir(exist_ok=True)
        inputs = {f"{place}{table}": _table(labels), "m.lincent": _model(labels)}
        for path, data in inputs.items():
            (folder / path).write_bytes(data)
        (folder / "link.csv").symlink_to(folder / f"{place}{table}")
        old = rng.random() < 0.3
        for suffix in ("lincent", "csv", "html", "sql") if old else ():
            (folder / f"{place}out.{suffix}").write_bytes(OLD)
        if rng.random() < 0.3:
            os.mkfifo(folder / place / ".x.lincent-partial")
            os.mkfifo(folder / place / f".out.csv.{'x' * 8}.lincent-partial")
        own = OWN[rng.integers(len(OWN))]
        line = COMMANDS[name].format(
            own=own, table="./{table}", out=f"./{place}out", options=options
        )
        words = [word.format(table=f"{place}{table}") for word in line.split()]
        code, out, err = run(folder, words, streams, encoding, limit)
        faults = _end(code, out + err, "2>" not in streams, err)
        faults += [
            f"{path!a} is changed" for path, data in inputs.items()
            if (folder / path).read_bytes() != data
        ]  # fmt: skip
        faults += _outputs(folder / place, name, code, old, err, options)
    kind = f"{name}: {'refused' if code == 2 else 'done'}"
    fault = "; ".join(faults)
    told = f"{' '.join(words)!a} {streams} ({encoding}, at most {limit or 'any'} KB): {fault}"
    return Outcome(kind, told if fault else "", instance if fault else {})


def run(
    folder: Path, words: list[str], streams: str, encoding: str, limit: int
) -> tuple[int, str, str]:
    """Run a command line in a shell; return its exit code and what it printed."""
    bound = f"ulimit -f {limit}; " if limit else ""
    shell = f'{bound}exec {shlex.quote(sys.executable)} -m lincent "$@" {streams}'
    paths = os.pathsep.join(filter(None, sys.path))
    env = os.environ | {"PYTHONPATH": paths, "PYTHONIOENCODING": encoding, "HOME": str(folder)}
    try:
        done = subprocess.run(
            ["bash", "-c", shell, "bash", *words], cwd=folder, env=env, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=commands.SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return -9, "", f"no end within {commands.SECONDS} s"
    text = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, *text


def _end(code: int, text: str, told: bool, err: str) -> list[str]:
    if code not in (0, 1, 2) or "Traceback" in text:
        return [f"exit code {code}: {text[-500:]!a}"]
    if code == 2 and told and "lincent: " not in err and "Error: " not in err:
        return [f"refused without a message: {err[-300:]!a}"]
    return []


def _outputs(place: Path, name: str, code: int, old: bool, err: str, options: str) -> list[str]:
    faults = []
    expected = {"fit": "lincent", "predict": "csv", "page": "html", "export": "sql"}.get(name)
    if expected and code in (0, 1) and not _is_new(place / f"out.{expected}"):
        faults.append(f"done, and out.{expected} is not there")
    faults += [
        f"{path.name} is not whole ({path.stat().st_size} bytes)"
        for path in place.glob("out.*")
        if path.read_bytes() != OLD and not _is_whole(path)
    ]
    model = place / "out.lincent"
    if code == 2 and err and _is_new(model) and "was written to" not in err:
        faults.append(f"the model is not named as written: {err[-300:]!a}")
    left = [path.name for path in place.glob(".*partial") if not path.is_fifo()]
    return [*faults, f"left {left}"] if left else faults


def _is_new(path: Path) -> bool:
    return path.exists() and path.read_bytes() != OLD


def _is_whole(path: Path) -> bool:
    from lincent.export.model_file import load_model

    data = path.read_bytes()
    if path.suffix == ".lincent":
        return len(load_model(path).classes) == 2
    ends = {".html": b"</html>", ".csv": b"\n", ".json": b"}", ".md": b"", ".sql": b";"}
    return data.rstrip(b" \n").endswith(ends[path.suffix].strip()) and bool(data)


@cache
def _table(labels: int) -> bytes:
    rng = np.random.default_rng(0)
    lines = [f"{a + k % 2:.3f},{b:.3f},{LABELS[labels][k % 2]}"
             for k, (a, b) in enumerate(rng.normal(size=(60, 2)))]  # fmt: skip
    return "\n".join(["a,b,target", *lines, ""]).encode()


@cache
def _model(labels: int) -> bytes:
    import pandas as pd

    from lincent.export.model_file import dump_model
    from lincent.workflow.fit import fit_table

    rows = [line.split(",") for line in _table(labels).decode().splitlines()[1:]]
    frame = pd.DataFrame(rows, columns=["a", "b", "target"]).astype({"a": float, "b": float})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dump_model(fit_table(frame, "target", method="quick"))
