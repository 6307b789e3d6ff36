"""Run campaigns: ``python -m campaigns --minutes 2 --jobs 2``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

from campaigns import corpus, workers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
SHARES = {
    "commands": 30,
    "programs": 20,
    "models": 16,
    "tables": 14,
    "faults": 6,
    "certificates": 4,
    "cluster": 4,
    "parallel": 4,
    "disk": 2,
}
"""Of the time; commands cost most and are wanted in thousands."""
MOST_SHOWN = 5
COUNTS = Path(__file__).with_name("counts.json")


def main() -> int:
    parser = argparse.ArgumentParser(prog="campaigns", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="for all campaigns together")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default=",".join(SHARES), help="names, with commas")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where counts are added up")
    given = parser.parse_args()
    names = given.only.split(",")
    unit = given.minutes * 60 / sum(SHARES[name] for name in names)
    print(f"seed {given.seed}", flush=True)
    if {"commands", "models", "tables"} & set(names):
        corpus.make()  # once, for all processes
    plan = tuple((name, SHARES[name] * unit) for name in names)
    found = workers.run(plan, given.seed, given.jobs)
    for name, tally in found.items():
        print(f"{name}: " + ", ".join(f"{kind} {n}" for kind, n in tally.counts.items()))
        for failure in tally.failures[:MOST_SHOWN]:
            print("  " + failure.replace("\n", "\n    "))
    _keep(given.counts, found, given.seed)
    return 1 if any(tally.failures for tally in found.values()) else 0


def _keep(path: Path, found: dict[str, workers.Tally], seed: int) -> None:
    """Add the counts of this run to those of earlier ones."""
    kept: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, tally in found.items():
        entry = kept.setdefault(name, {"counts": {}, "seeds": []})
        entry["counts"] = dict(Counter(entry["counts"]) + tally.counts)
        entry["seeds"] = [*entry["seeds"], seed][-20:]
        entry["last"] = date.today().isoformat()
        entry["machine"] = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
