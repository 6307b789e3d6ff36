"""Work that no machine finishes, to be interrupted: estimators that fit again and again."""

import os
import time
from pathlib import Path

from lincent import LCC, LCCCV, AutoLCC

BEGUN = "LINCENT_TEST_BEGUN"
"""Where it says, for all processes, that work has begun: a file."""


def endless(kind):
    """Make every fit of this class one without an end, as long as there is a place to say so."""
    whole = kind.fit

    def fit(self, X, y, *rest, **named):
        while os.environ.get(BEGUN):
            Path(os.environ[BEGUN]).touch()
            whole(self, X, y, *rest, **named)
        return whole(self, X, y, *rest, **named)

    kind.fit = fit


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
