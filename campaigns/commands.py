"""`lincent fit`, `predict`, `explain` and `export` themselves, on damaged tables and models.

A command runs in a process of its own, in an empty folder that is its home, its working folder and
its place for temporary files.  One in thirty starts a new interpreter, as a shell does; the others
are forked from a process that has imported everything, which is fifty times as fast.  Asked of
each:

    exit code 0 (done), 1 (done, not certified) or 2 (refused); no signal, no traceback
    refused: one error message on the error stream, and no output; done: the output is there
    nothing that steers a terminal on either stream
    no file made, changed or removed but the output, in any folder; no process, no connection
    at most 1 GB of memory
"""

from __future__ import annotations

import atexit
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stderr, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from campaigns import corpus, guarded, models, tables
from campaigns.outcome import Outcome

MOST_MEMORY = 1 << 30
SECONDS, FRESH = 120, 1 / 30
ROOT = Path(__file__).resolve().parent.parent
METHODS = ("quick", "quick", "quick", "lcc", "linear", "LDA", "FQCC", "kernel")


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check(draw(rng))


def draw(rng: np.random.Generator) -> dict[str, Any]:
    """A command, and the files that it is given."""
    names = sorted(corpus.make().glob("*.lincent"))
    what = ("fit", "predict", "explain", "export")[rng.integers(4)]
    if rng.random() < 0.5 and what != "fit":
        model = models.draw(rng)[1]
    else:
        model = names[rng.integers(len(names))].read_bytes()
    kind = tables.FORMATS[rng.integers(len(tables.FORMATS))]
    table = f"t.{kind}"
    if what == "fit":
        method = METHODS[rng.integers(len(METHODS))]
        given = ["fit", table, "--target", "target", "--method", method, "-o", "out.lincent"]
        given += ["--report"] if rng.random() < 0.1 else []
    elif what == "predict":
        given = ["predict", "m.lincent", table, "-o", ("out.csv", "out.parquet")[rng.integers(2)]]
        given += ["--all-columns"] if rng.random() < 0.3 else []
    elif what == "explain":
        given = ["explain", "m.lincent", *([table] if rng.random() < 0.5 else [])]
        given += ["-o", "out.html"] if rng.random() < 0.2 else []
    else:
        given = ["export", "m.lincent", ("out.sql", "out.py", "out.onnx")[rng.integers(3)]]
    given += ["--force"] if rng.random() < 0.3 else []
    files = {table: tables.draw(kind, rng, fitting=rng.random() < 0.8)}
    if what != "fit":
        files["m.lincent"] = model
    if rng.random() < 0.2:
        files["out.csv"] = b"old"
    return {"arguments": given, "files": files, "fresh": bool(rng.random() < FRESH)}


def check(instance: dict[str, Any]) -> Outcome:
    """Run the command, and look at everything that it left."""
    given, files = instance["arguments"], instance["files"]
    with tempfile.TemporaryDirectory(prefix="lincent-command-") as place:
        folder = Path(place)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        before = _digests(folder)
        run = started if instance["fresh"] else forked
        code, memory = waited(run(folder, given))
        told = (folder / ".out").read_bytes(), (folder / ".err").read_bytes()
        faults = [
            _of_the_end(code, given, folder, before, *told),
            _of_the_files(folder, given, before),
        ]
        if memory > MOST_MEMORY:
            faults.append(f"{memory >> 20} MB of memory")
    fault = "; ".join(entry for entry in faults if entry)
    kind = f"{given[0]}: {'refused' if code == 2 else 'done'}"
    return Outcome(kind, f"{' '.join(given)}: {fault}" if fault else "", instance if fault else {})


def _of_the_end(
    code: int, given: list[str], folder: Path, before: dict[str, str], out: bytes, err: bytes
) -> str:
    text = err.decode(errors="replace")
    if code not in (0, 1, 2) or "Traceback" in text or "Error: " in text.replace("lincent: ", ""):
        return f"exit code {code}: {text[-800:]}"
    if any(not line.isprintable() for line in (out.decode(errors="replace") + text).splitlines()):
        return f"a character that steers a terminal: {out[-300:]!r} {text[-300:]!r}"
    made = next((name for name in given if name.startswith("out.")), None)
    if code == 2:
        lines = [line for line in text.splitlines() if line.startswith("lincent: ")]
        if not lines or len(lines[-1]) < 20:
            return f"no sentence: {text[-300:]!r}"
        if made and _digests(folder).get(made) != before.get(made):
            return f"refused, and {made} is changed"
    elif made and not (folder / made).exists():
        return f"done, and {made} is not there"
    return ""


def _of_the_files(folder: Path, given: list[str], before: dict[str, str]) -> str:
    after = _digests(folder)
    outputs = {name for name in given if name.startswith("out.")}
    if "--report" in given:
        outputs.add("out.html")
    log = folder / guarded.LOG
    beyond = log.read_text(errors="replace") if log.exists() else "the watch did not start"
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    others = sorted(changed - outputs - {guarded.LOG, ".out", ".err"})
    told = [f"changed: {others}"] if others else []
    return "; ".join([*told, f"beyond: {beyond.strip()}"] if beyond.strip() else told)


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def _surroundings(folder: Path) -> dict[str, str]:
    """A home and a place for temporary files inside the folder."""
    return {"HOME": str(folder), "TMPDIR": str(folder)}


def started(folder: Path, given: list[str]) -> int:
    """Start the command in a new interpreter, as a shell does; return its process."""
    paths = os.pathsep.join([*filter(None, sys.path), str(ROOT)])
    env = os.environ | _surroundings(folder) | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "campaigns.guarded", str(folder), *given]
    with open(folder / ".out", "wb") as out, open(folder / ".err", "wb") as err:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        return process.pid


def forked(folder: Path, given: list[str]) -> int:
    """Start the command in a copy of this process, which has imported everything already."""
    _imported()
    child = os.fork()
    if child == 0:
        _be_the_command(folder, given)
    return child


@cache
def _imported() -> None:
    """Do once what the commands do, so that every module is there before the fork."""
    import lincent.cli
    from lincent._errors import AppError
    from lincent.export.code import export_bytes
    from lincent.export.model_file import dump_model, parse_model
    from lincent.report.model_report import model_report
    from lincent.workflow import explain_model, fit_table, predict_table

    table = corpus.table(np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = parse_model(dump_model(fit_table(table, "target", method="quick")))
        predict_table(model, table)
        model_report(explain_model(model))
        for kind in ("sql", "python", "onnx"):
            with suppress(AppError):  # a package that is not there
                export_bytes(model, kind)
    with suppress(SystemExit), redirect_stderr(io.StringIO()):
        lincent.cli.make_app()(["explain", os.devnull])


def _be_the_command(folder: Path, given: list[str]) -> None:
    """Become the command; this does not come back."""
    import traceback

    atexit._clear()  # the folders of the campaign are not those of the command
    code = 70
    try:
        os.chdir(folder)
        os.environ.update(_surroundings(folder))
        tempfile.tempdir = None
        for number, name in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
        sys.argv = ["campaigns.guarded", str(folder), *given]
        guarded.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def waited(child: int) -> tuple[int, int]:
    """The exit code (or minus the signal) and the most memory of a child, which may not hang."""
    end = time.monotonic() + SECONDS
    while True:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            unit = 1 if sys.platform == "darwin" else 1024
            return os.waitstatus_to_exitcode(status), used.ru_maxrss * unit
        if time.monotonic() > end:
            os.kill(child, 9)
            end = float("inf")
        time.sleep(0.002)
