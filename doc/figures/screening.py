"""Which samples matter: those near the hinge breakpoint. The others enter as sums."""

import matplotlib.pyplot as plt
import numpy as np
from figure_style import COLORS, GREY, RED

from lincent import LCC
from lincent.paper.datasets import make_noisy_classes

X, y = make_noisy_classes(40_000, 20, noise=0.1, separation=1.5, random_state=0)
model = LCC(random_state=0).fit(X, y)
sign = np.where(y == model.classes_[1], 1.0, -1.0)
own = sign * (X @ model.coef_[0] + model.intercept_[0]) / model.margin  # 1: exactly at the margin
kept = np.sort(np.abs(own - 1))[30 * X.shape[1]]
figure, ax = plt.subplots(figsize=(8, 3.3), layout="constrained")
ax.hist(own, bins=np.linspace(-6, 8, 160), color=COLORS[0], alpha=0.7)
ax.axvspan(1 - kept, 1 + kept, color=RED, alpha=0.35)
ax.annotate(
    "the band: 30 rows per column,\nsolved exactly",
    (1 + kept, 330),
    (3.6, 500),
    arrowprops={"arrowstyle": "->"},
)
ax.text(-5.8, 420, "inside the margin:\none linear sum", fontsize=9)
ax.text(5.6, 120, "outside:\ncost nothing more", fontsize=9)
ax.axvline(1, color=GREY, lw=1)
ax.set(xlabel="how far on its own side, in margins", ylabel="rows")
gap = model.duality_gap_
title = f"40,000 rows x 20 columns: {model.solver_}, relative gap {gap:.0e}"
ax.set_title(title, loc="left", fontsize=10)
