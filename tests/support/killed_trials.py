"""A campaign whose second trial kills its process and whose fourth one hangs."""

import os
import signal
import time

from campaigns.outcome import Outcome


def trial(rng):
    number = rng.bit_generator.seed_seq.entropy[-1]
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1000 if number == 3 else 0.05)
    return Outcome("fine")
