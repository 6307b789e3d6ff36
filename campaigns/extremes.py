"""Numbers of extreme size: a right model, a warning, or one message that says why not.

Samples, one column, one cell, all weights or one weight are multiplied by a power of ten between
1e-320 and 1e308, moved by an offset, or have an imaginary part.  A fit ends in one error message;
or in a model with finite scores and a certificate that is a number; or with a warning.  Estimators
that scale their columns classify scaled samples as they do the samples as drawn.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from campaigns.outcome import Outcome
from campaigns.selection import QUICK
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class

SCALED = {
    "samples": {"AutoLCC", "AdditiveLCC", "AdditiveLCCCV", "KernelLCC"},
    "column": {"AutoLCC", "AdditiveLCC", "AdditiveLCCCV"},
}
"""They divide columns by their standard deviation, KernelLCC all by one."""
CHANGES = ("samples", "column", "cell", "weights", "one weight", "offset", "complex weights")
LONGEST = 2000  # characters of a message


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    change, seed = str(rng.choice(CHANGES)), int(rng.integers(2**31))
    names = [*ESTIMATORS] if "weight" in change else [*ESTIMATORS, *BASELINES]
    return check({"change": change, "name": str(rng.choice(names)), "seed": seed})


def check(instance: dict[str, Any]) -> Outcome:
    """Fit to changed samples or weights."""
    rng = np.random.default_rng(instance["seed"])
    name, change = instance["name"], instance["change"]
    y = np.arange(60) % 2
    plain = rng.normal(size=(60, 3))
    plain[:, 0] += 4 * y
    X, weight = plain.copy(), np.ones(60)
    power = int(rng.integers(-320, 309))
    factor, cell = float(f"1e{power}"), (int(rng.integers(60)), int(rng.integers(3)))
    with np.errstate(all="ignore"):
        if change == "samples":
            X *= factor
        elif change == "column":
            X[:, cell[1]] *= factor
        elif change == "cell":
            X[cell] = factor
        elif change == "offset":
            X += factor
        elif change == "weights":
            weight *= factor
        elif change == "one weight":
            weight[cell[0]] = factor
        else:
            weight = weight + 1j
    given = [weight] if "weight" in change else []
    if not all(np.isfinite(values).all() for values in (X, *given)):
        return Outcome("not finite", checks=0)
    model = estimator_class(name)(**QUICK.get(name, {}))
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            model.fit(X, y, *given)
            scores, right = model.decision_function(X), float(np.mean(model.predict(X) == y))
        except ValueError as error:
            fine = 0 < len(str(error)) < LONGEST
            fault = "" if fine else f"a message of {len(str(error))} characters"
            return _outcome("refused", fault, instance, power)
        alone = estimator_class(name)(**QUICK.get(name, {})).fit(plain, y).score(plain, y)
    if any(issubclass(warning.category, UserWarning) for warning in caught):
        return _outcome("warned", "", instance, power)
    gap = getattr(model, "duality_gap_", 0.0)
    faults = [] if np.isfinite(scores).all() else ["scores are not finite"]
    faults += [] if np.isfinite(gap) else [f"duality gap {gap}"]
    if change == "complex weights":
        faults.append("imaginary parts of weights are dropped")
    if name in SCALED.get(change, ()) and right < alone - 0.05:
        faults.append(f"accuracy {right:.2f}, {alone:.2f} at usual sizes")
    return _outcome("fitted", "; ".join(faults), instance, power)


def _outcome(kind: str, fault: str, instance: dict[str, Any], power: int) -> Outcome:
    place = f"{instance['name']}, {instance['change']}, 1e{power}"
    return Outcome(kind, f"{place}: {fault}" if fault else "", instance if fault else {})
