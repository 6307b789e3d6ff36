"""
How do I try a loss of my own?
==============================

LCC honors weights exactly, so a program that is not linear can be solved as a sequence of weighted
ones: fit, look how far each row is out, weight distant ones less, fit again. This is a robust loss
in ten lines; :class:`lincent.FQCC` is the paper's.
"""

import matplotlib.pyplot as plt
import numpy as np

from lincent import FQCC, LCC
from lincent.inspection import BoundaryDisplay, DirectionDisplay

rng = np.random.default_rng(2)
X = np.vstack([rng.normal([-1.5, 0], 1, (90, 2)), rng.normal([1.5, 0], 1, (90, 2))])
y = np.repeat([0, 1], 90)
X = np.vstack([X, rng.normal([7, 6], 0.5, (8, 2))])
y = np.append(y, np.zeros(8, int))


def robust_fit(X, y, rounds=8):
    """Weights 1 / (1 + u^2), u the slack in units of its typical size."""
    weight, objective = np.ones(len(y)), []
    for _ in range(rounds):
        model = LCC().fit(X, y, sample_weight=weight)
        slack = model.misclassification_impact(X, y)
        unit = np.median(slack[slack > 0]) * 3
        objective.append(np.log1p((slack / unit) ** 2).sum())
        weight = 1 / (1 + (slack / unit) ** 2)
    return model, weight, objective


model, weight, objective = robust_fit(X, y)
print("rows with a weight below one half:", int((weight < 0.5).sum()))

# %%
# Three rules
# -----------
figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
for name, rule, ax in zip(
    ("LCC", "FQCC", "reweighted LCC"),
    (LCC().fit(X, y), FQCC(n_init=2).fit(X, y), model),
    axes,
    strict=True,
):
    BoundaryDisplay.from_estimator(rule, X, y, ax=ax)
    ax.set_title(
        f"{name}: {rule.score(X[:180], y[:180]):.0%} of the clean rows", loc="left", fontsize=10
    )

# %%
# The direction in the end
# ------------------------
DirectionDisplay.from_estimator(model, X, y)
plt.show()
