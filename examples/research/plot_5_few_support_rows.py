"""
How few rows does a kernel rule need?
=====================================

``KernelLCC(norm="l1")`` writes its border with few training rows and gives the others a weight of
exactly zero. The rows that are left can be looked at, and scoring is as much faster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from lincent import KernelLCC
from lincent.inspection import BoundaryDisplay

X, y = make_moons(300, noise=0.2, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for norm, ax in zip(("linf", "l1"), axes, strict=True):
    model = KernelLCC(gamma=1.0, norm=norm).fit(X, y)
    used = np.flatnonzero(np.any(np.atleast_2d(model.dual_coef_) != 0, axis=0))
    rows = model.support_vectors_[used]
    BoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.scatter(*rows.T, s=90, facecolor="none", edgecolor="k", linewidth=1.2)
    ax.set_title(
        f'norm="{norm}": {len(rows)} rows, {model.score(X, y):.0%}', loc="left", fontsize=10
    )
    if ax.get_legend():
        ax.get_legend().remove()
plt.show()
