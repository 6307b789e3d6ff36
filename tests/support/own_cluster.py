"""A Dask cluster whose processes are the test's own, so that it may kill them.

LocalCluster is no ground for that: its nannies bring a worker back, but fifteen seconds after a
death the cluster looks for a worker of that name, and where it finds it dead *again* it takes it
for lost and removes it for good (``distributed.deploy.lost-worker-timeout``).
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

START = 120.0
"""Seconds that a process may take to come up on a busy machine: a bound, not a wait."""


class OwnCluster:
    """A scheduler, and workers of one thread without nannies."""

    def __init__(self, folder):
        from distributed import Client

        self.file = folder / "scheduler.json"
        self.workers = {}
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show"
        )
        self.client = Client(scheduler_file=str(self.file), timeout=START)

    def _start(self, program, *options):
        path = os.pathsep.join(p for p in sys.path if p)
        begin = [sys.executable, "-m", f"distributed.cli.{program}", "--no-dashboard"]
        return subprocess.Popen(
            [*begin, "--scheduler-file", str(self.file), *options],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def alive(self):
        return {name for name, process in self.workers.items() if process.poll() is None}

    def ready(self, count):
        """Start the workers that are missing, and wait until the scheduler knows them all."""
        for _ in range(count - len(self.alive())):
            name = f"own-{len(self.workers)}"
            options = ["--no-nanny", "--nthreads", "1", "--name", name, "--memory-limit", "0"]
            self.workers[name] = self._start("dask_worker", *options, "--death-timeout", "60")
        deadline = time.monotonic() + START
        while self._known() != self.alive():
            assert time.monotonic() < deadline, f"{self._known()} of {self.alive()} came up"
            time.sleep(0.05)
        return self.client

    def _known(self):
        workers = self.client.sync(self.client.scheduler.identity)["workers"]
        return {worker["name"] for worker in workers.values()}

    def close(self):
        self.client.close(timeout=1)
        for process in (*self.workers.values(), self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def own_cluster(folder):
    cluster = OwnCluster(folder)
    try:
        with cluster.client.as_current():
            yield cluster
    finally:
        cluster.close()
