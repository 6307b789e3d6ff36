"""Certificates in rational arithmetic: what is claimed about stored coefficients is true."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from campaigns import programs
from campaigns.outcome import Outcome
from lincent import LCC
from support.rational import ExactProgram


def draw(rng: np.random.Generator) -> dict[str, Any]:
    return programs.draw(rng)


def check(instance: dict[str, Any]) -> Outcome:
    X, sign, weight = instance["X"], instance["sign"], instance["weight"]
    made = programs.problem_of(instance)
    if made is None:
        return Outcome("no program", checks=0)
    margin, C = float(made[1].margin), instance["C"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LCC(C=C, margin=margin).fit(X, sign, sample_weight=weight)
    warned = bool(caught)
    exact = ExactProgram.of_data(X, sign, weight, C * weight, margin)
    # The gap is relative to the objective or, where that is smaller, to one (to the size of the
    # data where the solver has scaled it).
    value, size = exact.primal(model.coef_[0]), max(1.0, abs(model.objective_))
    gap = Fraction(model.duality_gap_ * size * (1 + 1e-15))
    faults = []
    if abs(value - Fraction(model.objective_)) > gap:
        faults.append(f"the objective at coef_ is {float(value)!r}, not {model.objective_!r}")
    if Fraction(model.dual_objective_) > value + gap:
        faults.append(f"the bound {model.dual_objective_!r} is above {float(value)!r}")
    short = exact.separation - exact.reach(model.coef_[0])
    if short > Fraction(1, 10**8) * exact.separation and not warned:
        faults.append(f"d.beta is below the margin by {float(short)!r}")
    if model.duality_gap_ > 2 * model.tol and not warned:
        faults.append(f"a gap of {model.duality_gap_!r} without a warning")
    fault = "; ".join(faults)
    return Outcome("warned" if warned else "proved", fault, instance if fault else {})


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check(draw(rng))
