"""Model files and tables by a coverage-guided fuzzer: atheris, on libFuzzer.

    python -m campaigns.guided models --seconds 600
    python -m campaigns.guided tables --seconds 600

Branches of ``cli``, ``export``, ``workflow``, ``tables`` are counted while they run; what reaches
a new one is kept and changed further, by bytes or, where it is JSON, entry by entry.  What the
fuzzer sees as bytes is

    model     a byte that names a known model and what follows, then its description or its tree as
              text: the rest is that of the known model, and the digest is right
    table     a byte that names the format, then the file

Needs ``pip install lincent[fuzz]``.  The fuzzer has a process of its own, which it ends, so that
counts are written as it goes; an input that crashes it becomes an instance, and another goes on.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from campaigns import corpus, models, tables, workers
from campaigns.changes import as_text, json_changed, paths, stored
from campaigns.counts import COUNTS, add, added, entry, read, write
from campaigns.outcome import Outcome, save

WATCHED = ["lincent.cli", "lincent.export", "lincent.workflow", "lincent.tables"]
FORMATS = ("csv", "tsv", "json", "jsonl", "csv.gz", "csv.zip", "parquet", "arrow")
MOST_SAVED, KEEP_EVERY = 5, 20.0
LONGEST = 1 << 17
DEADLY = "deadly-"
MEMORY = 2048
"""Megabytes, above which the fuzzer is restarted: it keeps all that it found in memory."""
MOST_GROWTH = 1 << 28
"""Bytes by which a single input may raise the most that the process has held."""


def model_file(data: bytes) -> bytes:
    """The model file that some bytes stand for."""
    from lincent.export.model_file import _digest

    known = models.seeds()
    parts, text = known[(data[0] >> 1) % len(known)], data[1:]
    if data[0] % 2:
        members, description = {"tree.json": text, **parts.arrays}, as_text(parts.header)
    else:
        tree = models.texts()[id(parts.tree)]
        members, description = {"tree.json": tree, **parts.arrays}, text
    try:
        header = json.loads(description)
        header["digest"] = _digest(header, members)
        description = as_text(header)
    except (ValueError, TypeError, RecursionError):
        pass  # no description: what is to be found out is how it is refused
    return stored({"lincent.json": description, **members})


def table_file(data: bytes) -> dict[str, Any]:
    return {"data": data[1:], "format": FORMATS[data[0] % len(FORMATS)]}


INSTANCES: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "models": lambda data: {"data": model_file(data)},
    "tables": table_file,
}


def check_model(data: bytes) -> Outcome:
    return models.check(INSTANCES["models"](data))


def check_table(data: bytes) -> Outcome:
    return tables.check(table_file(data))


def model_starts() -> list[bytes]:
    """Each known model twice: by its description and by its tree."""
    found = []
    for number, parts in enumerate(models.seeds()):
        found.append(bytes([2 * number]) + as_text(parts.header))
        found.append(bytes([2 * number + 1]) + as_text(parts.tree))
    return found


def table_starts() -> list[bytes]:
    """A few tables of every format."""
    rng = np.random.default_rng(0)
    drawn = ((number, kind) for number, kind in enumerate(FORMATS) for _ in range(20))
    return [bytes([number]) + tables.draw(kind, rng) for number, kind in drawn]


TARGETS: dict[str, tuple[Callable[[bytes], Outcome], Callable[[], list[bytes]]]] = {
    "models": (check_model, model_starts),
    "tables": (check_table, table_starts),
}


def changed(data: bytes, most: int, seed: int, mutate: Callable[[bytes, int], bytes]) -> bytes:
    """Another input: every other time an entry of JSON is changed, else bytes."""
    if seed % 2 and len(data) > 1:
        try:
            tree = json.loads(data[1:])
            places = paths(tree) if isinstance(tree, (dict, list)) else []
            if places:
                tree = json_changed(tree, places, np.random.default_rng(seed))
                return (data[:1] + as_text(tree))[:most]
        except (ValueError, RecursionError):
            pass
    return mutate(data, most)


class Target:
    """Tries inputs, counts how they end, and keeps counts and failures as it goes."""

    def __init__(self, name: str, seed: int, path: Path) -> None:
        self.check, self.name, self.seed, self.path = TARGETS[name][0], name, seed, path
        self.before, self.counts = read(path), Counter[str]()
        self.kept, self.saved = time.monotonic(), 0

    def __call__(self, data: bytes) -> None:
        if not data:
            return
        before = workers.memory()
        outcome = self.check(data)
        growth = workers.memory() - before
        if growth > MOST_GROWTH and not outcome.fault:
            instance = INSTANCES[self.name](data)
            outcome = Outcome(outcome.kind, f"{growth >> 20} MB of memory for one input", instance)
        self.counts[outcome.kind] += 1
        self.counts["checks"] += 1
        if outcome.fault:
            self.counts["FAILED"] += 1
            print(f"{self.name}: {outcome.fault}", flush=True)
            if self.saved < MOST_SAVED:
                save(self.name, outcome, f"guided-{self.seed}-{self.saved}")
                self.saved += 1
        if time.monotonic() - self.kept > KEEP_EVERY:
            self.keep()

    def keep(self) -> None:
        run = {f"guided {self.name}": entry(self.counts, self.seed)}
        write(self.path, added(self.before, run))
        self.kept = time.monotonic()


def fuzz(name: str, seconds: int, seed: int, counts: Path, place: Path) -> None:
    """Run the fuzzer from the starts in a folder; this ends the process."""
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        import lincent.cli.models
        import lincent.report.model_report  # noqa: F401
    for number, start in enumerate(TARGETS[name][1]()):
        (place / str(number)).write_bytes(start)

    def mutator(data: bytes, most: int, number: int) -> bytes:
        return changed(data, most, random.Random(number).getrandbits(32), atheris.Mutate)

    limits = {"max_total_time": seconds, "max_len": LONGEST, "rss_limit_mb": MEMORY,
              "timeout": 120, "seed": seed % 2**31 or 1}  # fmt: skip
    options = [f"-{option}={value}" for option, value in limits.items()]
    arguments = [sys.argv[0], str(place), *options, f"-artifact_prefix={place}/{DEADLY}"]
    atheris.Setup(arguments, Target(name, seed, counts), custom_mutator=mutator)
    atheris.Fuzz()


def watched(name: str, seconds: float, seed: int, counts: Path) -> int:
    """Fuzz in a process after the other; what ends one too early is a failure."""
    end, failures = time.monotonic() + seconds, 0
    while (left := int(end - time.monotonic())) > 0:
        place = Path(tempfile.mkdtemp(prefix="lincent-guided-", dir=corpus.make()))
        inside = [name, "--seconds", str(left), "--seed", str(seed), "--counts", str(counts)]
        command = [sys.executable, "-m", "campaigns.guided", *inside, "--inside", str(place)]
        code = subprocess.run(command, check=False).returncode
        deadly = sorted(place.glob(f"{DEADLY}[!o]*"))  # not oom-: memory is looked at above
        for path in deadly:
            failures += 1
            data = path.read_bytes()
            fault = f"the process ends with {code} on {data[:80]!r}"
            outcome = Outcome("crash", fault, INSTANCES[name](data))
            print(f"{name}: {fault}; kept in {save(name, outcome, f'guided-{seed}-{failures}')}")
            ended = Counter({"crash": 1, "FAILED": 1, "checks": 1})
            add(counts, {f"guided {name}": entry(ended, seed)})
        if code and not any(place.glob(f"{DEADLY}*")):
            raise SystemExit(code)
        seed += 1
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(prog="campaigns.guided", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--counts", type=Path, default=COUNTS, help="where counts are added up")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        fuzz(given.target, given.seconds, given.seed, given.counts, given.inside)
    return 1 if watched(given.target, given.seconds, given.seed, given.counts) else 0


if __name__ == "__main__":
    sys.exit(main())
