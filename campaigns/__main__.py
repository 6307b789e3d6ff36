"""Run campaigns: ``python -m campaigns --minutes 2 --jobs 2``."""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import platform
import sys
import time
import traceback
from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np

from campaigns.outcome import Outcome, save

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
NAMES = ("programs", "certificates", "models", "tables", "faults", "disk", "cluster", "parallel")
MOST_SAVED = 5
COUNTS = Path(__file__).with_name("counts.json")


def work(name: str, seed: int, worker: int, seconds: float) -> tuple[Counter[str], list[str]]:
    """Trials of one campaign until the time is over."""
    trial = importlib.import_module(f"campaigns.{name}").trial
    counts: Counter[str] = Counter()
    failures: list[str] = []
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        key = f"{seed}-{worker}-{number}"
        try:
            outcome = trial(np.random.default_rng([seed, worker, number]))
        except Exception:
            outcome = Outcome("broken trial", traceback.format_exc(limit=-4))
        counts[outcome.kind] += 1
        counts["checks"] += outcome.checks
        if outcome.fault:
            counts["FAILED"] += 1
            failures.append(f"{name} {key}: {outcome.fault}")
            if len(failures) <= MOST_SAVED and outcome.instance:
                save(name, outcome, key)
        number += 1
    return counts, failures


def run(name: str, seed: int, seconds: float, jobs: int) -> tuple[Counter[str], list[str]]:
    tasks = [(name, seed, worker, seconds) for worker in range(jobs)]
    if jobs == 1:
        return work(*tasks[0])
    total: Counter[str] = Counter()
    failures: list[str] = []
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for counts, found in pool.starmap(work, tasks):
            total += counts
            failures += found
    return total, failures


def main() -> int:
    parser = argparse.ArgumentParser(prog="campaigns", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="for all campaigns together")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default=",".join(NAMES), help="names, with commas")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where counts are added up")
    given = parser.parse_args()
    names = given.only.split(",")
    print(f"seed {given.seed}", flush=True)
    kept = json.loads(given.counts.read_text("utf-8")) if given.counts.exists() else {}
    failed = 0
    for name in names:
        counts, failures = run(name, given.seed, given.minutes * 60 / len(names), given.jobs)
        print(f"{name}: " + ", ".join(f"{kind} {n}" for kind, n in counts.items()), flush=True)
        for failure in failures[:MOST_SAVED]:
            print("  " + failure.replace("\n", "\n    "), flush=True)
        failed += len(failures)
        entry = kept.setdefault(name, {"counts": {}, "seeds": []})
        entry["counts"] = dict(Counter(entry["counts"]) + counts)
        entry["seeds"] = [*entry["seeds"], given.seed][-20:]
        entry["last"] = date.today().isoformat()
        entry["machine"] = f"{os.cpu_count()} cores, Python {platform.python_version()}"
        given.counts.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
