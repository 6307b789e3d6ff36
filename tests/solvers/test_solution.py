"""What a solver returns, and when it stops."""

import time

import numpy as np
import pytest

from lincent.problems.centralization import Certificate
from lincent.solvers.solution import Controls, Solution, Status, not_begun


@pytest.mark.parametrize(("gap", "certified"), [(1e-10, True), (1e-9, True), (2e-9, False)])
def test_certified_is_a_question_of_the_gap_not_of_the_status(gap, certified):
    found = Certificate(np.zeros(1), np.zeros(1), 0.0, 0.0, -gap)
    for status in (Status.OPTIMAL, Status.STALLED):
        assert Solution(status, found, 3, "any").certified(1e-9) is certified


def test_what_was_not_begun_proves_nothing():
    nothing = not_begun(4)
    assert nothing.status is Status.TIME_LIMIT
    assert nothing.certificate.beta.shape == (4,)
    assert not nothing.certified(np.inf) or nothing.relative_gap == np.inf


def test_a_deadline_can_be_asked_for_ahead():
    assert not Controls().out_of_time(1e9)
    soon = Controls(deadline=time.monotonic() + 60)
    assert not soon.out_of_time()
    assert soon.out_of_time(61)
    assert Controls(deadline=time.monotonic() - 1).out_of_time()
