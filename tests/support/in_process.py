"""Experiments without worker processes, for tests of everything around them.

A worker is a fresh interpreter, which takes longer to start than most tests take.  What workers are
for (time limits, deaths, what methods print) is tested with real ones in test_runner.py.
"""

from contextlib import contextmanager
from unittest import mock

from lincent.model_selection import runner
from lincent.model_selection.experiment import measure


class InProcess:
    """A worker without a process."""

    def __init__(self, plan, time_limit):
        self.plan = plan

    def run(self, run):
        return measure(run, self.plan.problems[run.digest], self.plan.methods[run.method])

    def kill(self):
        pass


@contextmanager
def without_workers():
    with mock.patch.object(runner, "_Worker", InProcess):
        yield
