"""Three classes: one line against the rest, or one line for each pair."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCC

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X[:, 2:])
X += np.random.default_rng(0).normal(0, 0.03, X.shape)  # equal rows side by side
COLORS = ("#0072B2", "#E69F00", "#009E73")
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
grid = np.stack(np.meshgrid(np.linspace(-2, 2.2, 220), np.linspace(-2, 2.2, 220)), axis=-1)
for way, ax in zip(("ovr", "ovo"), axes, strict=True):
    model = RegularizedLCC(multi_class=way).fit(X, y)
    regions = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(
        *np.moveaxis(grid, 2, 0), regions, levels=[-0.5, 0.5, 1.5, 2.5], colors=COLORS, alpha=0.25
    )
    for k, marker in enumerate("o^s"):
        ax.scatter(*X[y == k].T, color=COLORS[k], marker=marker, s=18, edgecolor="k", lw=0.4)
    ax.set_title(f'multi_class="{way}": {model.score(X, y):.0%} right', loc="left", fontsize=10)
    ax.set_xlabel("petal length, standardized")
axes[0].set_ylabel("petal width, standardized")
