"""Peak memory of `lincent fit` and `predict` on hostile tables, in processes of their own.

Long texts, many categories, long class names, wide files, far cells of workbooks, compressed files
that unfold, deep JSON: at most ``ABOVE`` above a process that imported the same and read a small
table, and ``TIMES`` times the table as numbers of eight bytes, whatever the text.
"""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from campaigns import commands, corpus
from campaigns.outcome import Outcome

ABOVE, TIMES = 300 << 20, 8
KINDS = (
    "long texts", "long class", "long classes", "categories", "wide", "far cell", "unfolds",
    "long groups", "long names", "one line", "json", "blanks", "different texts", "unfolds to text",
)  # fmt: skip


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    kind = KINDS[rng.integers(len(KINDS))]
    return check({"kind": kind, "seed": int(rng.integers(2**31)), "fit": bool(rng.random() < 0.6)})


def draw(kind: str, rng: np.random.Generator) -> tuple[str, bytes, int, list[str]]:
    """Return the name and the bytes of a table, its numbers, and options of `fit`."""
    rows = int(rng.integers(200, 20_000))
    size = int(10 ** rng.uniform(2, 4))  # characters
    x = np.char.mod("%.3f", rng.normal(size=(rows, 2)))
    label = np.array(["no", "yes"], dtype=object)[np.arange(rows) % 2]
    columns: dict[str, Any] = {"a": x[:, 0], "b": x[:, 1]}
    options: list[str] = []
    few = rng.random(rows) < min(1.0, 5e7 / (rows * size))  # at most 50 MB of text
    if kind in ("long texts", "blanks"):
        letter = " " if kind == "blanks" else "w "
        columns["color"] = [(letter * size)[:size] if long else "red" for long in few]
    elif kind == "different texts":
        text = ("w " * size)[:size]
        columns["note"] = [f"{k} {text}" if long else f"n{k}" for k, long in enumerate(few)]
    elif kind == "unfolds to text":
        rows, size = 24, int(rng.integers(200, 1_000))  # a hundredfold and more, in gzip's window
        x, label = x[:rows], label[:rows]
        words = np.array(["v" * size, "w" * size], dtype=object)
        columns = {"a": x[:, 0], "b": x[:, 1], "color": words[np.arange(rows) // 2 % 2]}
    elif kind == "long class":
        label[0] = "Q" * size
        label[1] = label[0]
    elif kind == "long classes":
        size = min(size, 900, int(2e7 / rows))
        label = np.array(["n" * size, "y" * size], dtype=object)[np.arange(rows) % 2]
    elif kind == "categories":
        columns["color"] = np.array([f"c{k}" * 3 for k in range(rows)])
        options = ["--keep", "color"] if rng.random() < 0.1 and rows < 1000 else []
    elif kind == "wide":
        rows, wide = int(rng.integers(40, 200)), int(rng.integers(500, 4000))
        label = label[:rows]
        numbers = np.char.mod("%.2f", rng.normal(size=(wide, rows)))
        columns = {"a": x[:rows, 0], "b": x[:rows, 1]} | {f"w{k}": c for k, c in enumerate(numbers)}
    elif kind == "long groups":
        columns["g"] = np.where(np.arange(rows) == 0, "g" * size, (np.arange(rows) % 7).astype(str))
        options = ["--group", "g"]
    elif kind == "long names":
        columns["n" * size] = x[:, 0]
    numbers_of_table = rows * (len(columns) + 1)
    if kind == "far cell":
        return "t.xlsx", _workbook(columns, label, rng), numbers_of_table, options
    if kind == "one line":
        return "t.csv", b"a,b,target\n" + b"x" * int(2e7), 3, options
    lines = [",".join([*columns, "target"])]
    lines += map(",".join, zip(*columns.values(), label, strict=True))
    data = ("\n".join(lines) + "\n").encode()
    if kind == "json":
        cells = [
            f'{{"a": {a}, "b": {b}, "target": "{c}"}}' for a, b, c in zip(*x.T, label, strict=True)
        ]
        return "t.jsonl", "\n".join(cells).encode(), numbers_of_table, options
    if kind.startswith("unfolds"):
        most = 60_000_000 if kind == "unfolds" else 200_000_000
        repeats = int(rng.integers(2, most // len(data) + 3))
        head, _, body = data.partition(b"\n")
        data = gzip.compress(head + b"\n" + body * repeats, 1 if kind == "unfolds" else 6)
        return "t.csv.gz", data, numbers_of_table * repeats, options
    return "t.csv", data, numbers_of_table, options


def _workbook(columns: dict[str, Any], label: Any, rng: np.random.Generator) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([*columns, "target"])
    for row in list(zip(*columns.values(), label, strict=True))[:500]:
        sheet.append([float(row[0]), float(row[1]), *map(str, row[2:])])
    sheet.cell(int(10 ** rng.uniform(1, 6)), int(10 ** rng.uniform(0.5, 4.2)), 1)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def check(instance: dict[str, Any]) -> Outcome:
    """Run the command, and compare its peak with that on a small table."""
    rng = np.random.default_rng(instance["seed"])
    name, data, numbers, options = draw(instance["kind"], rng)
    if instance["fit"]:
        words = ["fit", name, "--target", "target", "--method", "quick", "-o", "out.lincent"]
        words += options
    else:
        words = ["predict", "m.lincent", name, "-o", "out.csv", "--all-columns"]
    code, used = _run({name: data, "m.lincent": _model()}, words)
    most = base(words[0]) + ABOVE + TIMES * 8 * numbers
    command = words[0]
    if code == -9 and used <= most:  # hangs are looked for by the campaign of commands
        return Outcome(f"{command}: stopped after {commands.SECONDS} s", checks=0)
    kind = f"{command}: {'done' if code in (0, 1) else 'refused'}"
    fault = ""
    if used > most or code not in (0, 1, 2):
        fault = (
            f"{instance['kind']}, {command}: {used >> 20} MB (at most {most >> 20}), code {code}"
        )
    WORST.append((round(used / most, 3), used >> 20, most >> 20, instance["kind"], command))
    return Outcome(kind, fault, instance if fault else {})


WORST: list[tuple[float, int, int, str, str]] = []


def _run(files: dict[str, bytes], words: list[str]) -> tuple[int, int]:
    with tempfile.TemporaryDirectory(prefix="lincent-memory-") as place:
        folder = Path(place)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        return _waited(commands.started(folder, words))


def _waited(child: int) -> tuple[int, int]:
    """Return the exit code and the peak memory of a process.

    What the system reports at its end includes the memory of the process that started it, so the
    peak is that of the new program, read until it ends.
    """
    status, peak, end = Path(f"/proc/{child}/status"), 0, time.monotonic() + commands.SECONDS
    if not status.exists():
        return commands.waited(child)
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        with suppress(OSError):
            for line in status.read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peak = max(peak, int(line.split()[1]) << 10)
        if time.monotonic() > end:
            os.kill(child, 9)
            end = float("inf")
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(ended[1]), peak


@cache
def _model() -> bytes:
    return corpus.fitted(method="quick", ids=[], drop=["id", "color", "flag", "day", "note"])


@cache
def base(command: str) -> int:
    """Return the peak memory of a command on a small table."""
    small = b"a,b,target\n" + b"1.5,2,no\n0.5,1,yes\n-1,3,no\n2,2.5,yes\n" * 30
    words = ["fit", "t.csv", "--target", "target", "--method", "quick", "-o", "out.lincent"]
    if command == "predict":
        words = ["predict", "m.lincent", "t.csv", "-o", "out.csv", "--all-columns"]
    return _run({"t.csv": small, "m.lincent": _model()}, words)[1]
