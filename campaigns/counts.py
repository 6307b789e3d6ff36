"""The counts of all runs: read, added up, written."""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

COUNTS = Path(__file__).with_name("counts.json")
MOST_SEEDS = 20
Entries = dict[str, Any]


def entry(counts: Counter[str], seed: int) -> Entries:
    """The counts of a run, with where and when it was."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    today = date.today().isoformat()
    return {"counts": dict(counts), "seeds": [seed], "last": today, "machine": machine}


def read(path: Path) -> Entries:
    """What was counted so far, by campaign."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write(path: Path, counts: Entries) -> None:
    path.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", "utf-8")


def added(kept: Entries, run: Entries) -> Entries:
    """The counts with those of a run; date and machine are those of the run."""
    total = dict(kept)
    for name, new in run.items():
        old = kept.get(name, {"counts": {}, "seeds": []})
        counts = dict(Counter(old["counts"]) + Counter(new["counts"]))
        seeds = [*old["seeds"], *new["seeds"]][-MOST_SEEDS:]
        total[name] = {**new, "counts": counts, "seeds": seeds}
    return total


def add(path: Path, run: Entries) -> None:
    """Add the counts of a run to those in a file."""
    write(path, added(read(path), run))
