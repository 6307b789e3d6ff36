"""The counts of all runs: read, added up, written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

COUNTS = Path(__file__).with_name("counts.json")
MOST_SEEDS = 20


def add(path: Path, run: dict[str, Any]) -> None:
    """Add the counts of a run to those in a file; date and machine are those of the run."""
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, new in run.items():
        old = kept.get(name, {"counts": {}, "seeds": []})
        counts = dict(Counter(old["counts"]) + Counter(new["counts"]))
        seeds = [*old["seeds"], *new["seeds"]][-MOST_SEEDS:]
        kept[name] = {**new, "counts": counts, "seeds": seeds}
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
