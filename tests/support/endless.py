"""Work that no machine finishes, to be interrupted: estimators that fit again and again."""

import os
import time
from pathlib import Path

from lincent import LCC, LCCCV, AutoLCC

BEGUN = "LINCENT_TEST_BEGUN"
"""Where it says, for all processes, that work has begun: a file."""


def endless(kind):
    """Make ``fit`` of this class run without end while the environment variable is set.

    The loop is inside the atomic part of ``fit``: an interrupt that arrives between two rounds of
    it still finds a fit that has not ended.
    """
    fit_once = kind._fit_rows

    def fit_rows(self, *arguments):
        while os.environ.get(BEGUN):
            Path(os.environ[BEGUN]).touch()
            fit_once(self, *arguments)
        return fit_once(self, *arguments)

    kind._fit_rows = fit_rows


def once_begun(seconds, action):
    """Act so many seconds after the work has begun; when that was."""
    while not Path(os.environ[BEGUN]).exists():
        time.sleep(0.02)
    time.sleep(seconds)
    sent = time.monotonic()
    action()
    return sent


class EndlessLCC(LCC):
    """For processes that import it."""


class EndlessLCCCV(LCCCV):
    """For processes that import it."""


class EndlessAutoLCC(AutoLCC):
    """For processes that import it."""


for _kind in (EndlessLCC, EndlessLCCCV, EndlessAutoLCC):
    endless(_kind)
