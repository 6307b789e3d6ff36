"""Three curves and their bands."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from figure_style import GREEN, GREY

from lincent import AdditiveLCC

rng = np.random.default_rng(0)
m = 900
X = pd.DataFrame(
    {
        "age": rng.uniform(20, 80, m),
        "dose": rng.lognormal(0.5, 0.7, m),
        "height": rng.normal(170, 9, m),
    }
)
risk = np.abs(X["age"] - 48) / 9 - 1.6 * np.log1p(X["dose"]) + rng.normal(0, 0.8, m)
model = AdditiveLCC().fit(X, (risk > 0).astype(int))
figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), sharey=True, layout="constrained")
for name, ax in zip(X, axes, strict=True):
    curve = model.shape(name)
    ax.axhline(0, color=GREY, lw=0.8)
    ax.fill_between(curve["x"], curve["low"], curve["high"], color=GREEN, alpha=0.2)
    ax.plot(curve["x"], curve["value"], color=GREEN, lw=2.5)
    ax.plot(
        X[name].sample(120, random_state=0), np.full(120, ax.get_ylim()[0]), "|", color=GREY, ms=7
    )
    ax.set_xlabel(name)
axes[0].set_ylabel("added to the score")
