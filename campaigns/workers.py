"""Workers: processes that make trials until their time is over; what kills one is a failure too.

A worker keeps in shared memory which trial it is at.  Where it dies (native code that crashes, the
system that ends it for its memory) or hangs, that trial has failed, and another worker goes on
after it.
"""

from __future__ import annotations

import importlib
import math
import multiprocessing
import multiprocessing.connection
import os
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from campaigns.outcome import Outcome, save

MOST_SAVED = 5
MOST_MEMORY = 1 << 30
"""Bytes that a worker may come to hold."""
LONGEST_TRIAL = 180.0
TELL_EVERY, KEEP_EVERY = 2.0, 60.0
Plan = tuple[tuple[str, float], ...]
"""Campaigns and the seconds of each, one after the other."""


@dataclass
class Tally:
    """How the trials of one campaign ended."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, name: str, key: str, outcome: Outcome) -> None:
        self.counts[outcome.kind] += 1
        self.counts["checks"] += outcome.checks
        if outcome.fault:
            self.counts["FAILED"] += 1
            self.failures.append(f"{name} {key}: {outcome.fault}")


def run(
    plan: Plan,
    seed: int,
    jobs: int,
    keep: Callable[[dict[str, Tally]], None] | None = None,
    trials: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Tally]:
    """All campaigns of a plan in so many processes, summed.

    ``keep`` gets the sums every minute, so that a run which is stopped has not run for nothing.
    ``trials`` has the largest number of trials in one process, of campaigns that have one.
    """
    total = {name: Tally() for name, _ in plan}
    crew = [_Worker(plan, seed, number, trials) for number in range(jobs)]
    kept = time.monotonic()
    while crew:
        multiprocessing.connection.wait([worker.pipe for worker in crew], timeout=1.0)
        crew = [after for worker in crew if (after := worker.look(total)) is not None]
        if keep is not None and time.monotonic() - kept > KEEP_EVERY:
            keep(total)
            kept = time.monotonic()
    return total


class _Worker:
    """One process, seen from outside."""

    def __init__(
        self,
        plan: Plan,
        seed: int,
        number: int,
        trials: Mapping[str, int],
        first_trial: int = 0,
    ) -> None:
        self.plan, self.seed, self.number, self.trials = plan, seed, number, trials
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe(duplex=False)
        # Which campaign, which trial, when the trial and when the campaign began.
        self.at: Any = context.RawArray("d", 4)
        self.at[1], self.at[2] = first_trial, time.monotonic()
        given = (plan, seed, number, dict(trials), first_trial, self.at, other)
        self.process = context.Process(target=_serve, args=given)
        self.process.start()
        other.close()

    def look(self, total: dict[str, Tally]) -> _Worker | None:
        """Take what was told; the worker that goes on, None where all is done."""
        ended = False
        try:
            while self.pipe.poll():
                told = self.pipe.recv()
                if told is None:
                    self.process.join()
                    return None
                name, tally = told
                total[name].counts += tally.counts
                total[name].failures += tally.failures
        except EOFError:
            ended = True
        hangs = time.monotonic() - self.at[2] > LONGEST_TRIAL
        if not ended and not hangs:
            return self
        if hangs:
            self.process.kill()
        self.process.join()
        return self._goes_on(total, "hangs" if hangs else f"dies ({self.process.exitcode})")

    def _goes_on(self, total: dict[str, Tally], how: str) -> _Worker | None:
        place, trial = int(self.at[0]), int(self.at[1])
        name, seconds = self.plan[place]
        key = f"{self.seed}-{self.number}-{trial}"
        total[name].add(name, key, Outcome("crash", f"the process {how} in this trial"))
        left = seconds - (time.monotonic() - self.at[3])
        plan = ((name, max(left, 0.0)), *self.plan[place + 1 :])
        return _Worker(plan, self.seed, self.number, self.trials, trial + 1)


def _serve(
    plan: Plan,
    seed: int,
    number: int,
    trials: Mapping[str, int],
    first_trial: int,
    at: Any,
    pipe: Any,
) -> None:
    parent = os.getppid()
    for place, (name, seconds) in enumerate(plan):
        module = importlib.import_module(name if "." in name else f"campaigns.{name}")
        at[0], at[3] = place, time.monotonic()
        end, told = time.monotonic() + seconds, time.monotonic()
        tally, k, saved = Tally(), first_trial if place == 0 else 0, 0
        while k < trials.get(name, math.inf) and time.monotonic() < end and os.getppid() == parent:
            at[1], at[2] = k, time.monotonic()
            key, outcome = f"{seed}-{number}-{k}", _one(module.trial, [seed, number, k])
            tally.add(name, key, outcome)
            if outcome.fault and outcome.instance and saved < MOST_SAVED:
                save(name, outcome, key)
                saved += 1
            k += 1
            if time.monotonic() - told > TELL_EVERY:
                pipe.send((name, tally))
                tally, told = Tally(), time.monotonic()
        pipe.send((name, tally))
        if hasattr(module, "finish"):
            module.finish()
    pipe.send(None)


def _one(trial: Any, key: list[int]) -> Outcome:
    before = memory()
    try:
        outcome: Outcome = trial(np.random.default_rng(key))
    except Exception:
        return Outcome("broken trial", traceback.format_exc(limit=-4))
    after = memory()
    if after > max(MOST_MEMORY, before) and not outcome.fault:
        outcome.fault = f"{after >> 20} MB of memory after {before >> 20}"
    return outcome


def memory() -> int:
    """The most bytes that this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
