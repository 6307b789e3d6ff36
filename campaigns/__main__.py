"""Run campaigns: ``python -m campaigns --minutes 2 --jobs 2``."""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

from campaigns import corpus, workers
from campaigns.counts import COUNTS, added, entry, read, write

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
SHARES = {
    "commands": 10,
    "programs": 14,
    "models": 28,
    "tables": 38,
    "faults": 3,
    "certificates": 2,
    "cluster": 2,
    "parallel": 2,
    "exports": 4,
    "dialects": 4,
    "interrupts": 4,
    "memory": 3,
    "disk": 1,
    "labels": 1,
    "frames": 1,
    "selection": 1,
    "surroundings": 2,
    "extremes": 1,
    "invariances": 1,
}
"""Of the time, in hundredths: files are wanted by the million, programs by the hundred thousand."""
SMOKE = {
    "commands": 2,
    "programs": 500,
    "models": 500,
    "tables": 500,
    "faults": 60,
    "certificates": 100,
    "cluster": 30,
    "parallel": 1,
    "exports": 60,
    "dialects": 100,
    "disk": 10,
    "labels": 60,
    "frames": 25,
    "selection": 1,
    "surroundings": 3,
    "extremes": 30,
    "invariances": 15,
}
"""Trials before a change is merged: the same on every machine, about a minute in all.

Without interrupts and memory, which depend on the load of the machine.
"""
MOST_SHOWN = 5


def main() -> int:
    parser = argparse.ArgumentParser(prog="campaigns", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="for all campaigns together")
    parser.add_argument("--smoke", action="store_true", help="a fixed number of trials of each")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default=",".join(SHARES), help="names, with commas")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where counts are added up")
    given = parser.parse_args()
    trials = SMOKE if given.smoke else {}
    names = [name for name in given.only.split(",") if name in (trials or SHARES)]
    minutes = math.inf if given.smoke else given.minutes
    unit = minutes * 60 / sum(SHARES[name] for name in names)
    print(f"seed {given.seed}", flush=True)
    if {"commands", "models", "tables"} & set(names):
        corpus.make()  # once, for all processes
    plan = tuple((name, SHARES[name] * unit) for name in names)
    before = read(given.counts)

    def keep(found: dict[str, workers.Tally]) -> None:
        run = {
            name: entry(tally.counts, given.seed) for name, tally in found.items() if tally.counts
        }
        write(given.counts, added(before, run))

    found = workers.run(plan, given.seed, given.jobs, keep, trials)
    keep(found)
    for name, tally in found.items():
        print(f"{name}: " + ", ".join(f"{kind} {n}" for kind, n in tally.counts.items()))
        for failure in tally.failures[:MOST_SHOWN]:
            print("  " + failure.replace("\n", "\n    "))
        if not tally.counts["checks"]:
            print("  no trial came to a check")
    wrong = (tally.failures or not tally.counts["checks"] for tally in found.values())
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
