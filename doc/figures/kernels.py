"""The width of the kernel decides how far a row reaches."""

import matplotlib.pyplot as plt
import numpy as np

from lincent import KernelLCC
from lincent.inspection import BoundaryDisplay

rng = np.random.default_rng(1)
angle, radius = (
    rng.uniform(0, 2 * np.pi, 200),
    np.repeat([1.0, 2.0], 100) + rng.normal(0, 0.25, 200),
)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
y = np.repeat([0, 1], 100)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for gamma, ax in zip((0.02, 0.5, 30.0), axes, strict=True):
    model = KernelLCC(gamma=gamma).fit(X, y)
    BoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"gamma={gamma:g}: {model.score(X, y):.0%} of the rows", loc="left", fontsize=10)
    if ax.get_legend():
        ax.get_legend().remove()
