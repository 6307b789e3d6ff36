"""The reference where its presolve loses digits."""

import numpy as np

from lincent import KernelLCC
from lincent.solvers.lp import highs
from lincent.solvers.solution import Status


def test_what_falls_short_with_presolve_is_tried_without(monkeypatch):
    """A linear kernel of two columns far from zero: a hundred columns of rank two."""
    rng = np.random.RandomState(42)
    X, y = rng.normal(loc=100, size=(100, 2)), rng.randint(low=0, high=2, size=100)
    attempt, tried = highs._attempt, []

    def watched(program, controls, *, presolve):
        found = attempt(program, controls, presolve=presolve)
        tried.append((presolve, found.status))
        return found

    monkeypatch.setattr(highs, "_attempt", watched)
    model = KernelLCC(kernel="linear", solver="highs", random_state=0).fit(X, y)
    assert tried == [(True, Status.STALLED), (False, Status.OPTIMAL)]
    assert model.duality_gap_ <= 1e-9
