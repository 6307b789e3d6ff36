"""Three directions for the same rows: one that mixes, the difference of the centers, LCC's."""

import matplotlib.pyplot as plt
import numpy as np
from figure_style import COLORS, GREY, bare, scatter

from lincent import LCC

rng = np.random.default_rng(3)
turn = np.array([[2.2, 1.4], [0.0, 0.5]])
X = np.vstack([rng.normal(size=(90, 2)) @ turn + c for c in ((0.2, -1.1), (-0.2, 1.1))])
y = np.repeat([0, 1], 90)
centers = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
directions = {
    "some direction": np.array([1.0, 0.15]),
    "between the centers": centers[1] - centers[0],
    "LCC": LCC().fit(X, y).coef_[0],
}
figure, axes = plt.subplots(2, 3, figsize=(10, 5.2), height_ratios=(2, 1), layout="constrained")
for (name, beta), (plane, line) in zip(directions.items(), axes.T, strict=True):
    beta = beta / np.linalg.norm(beta)
    scatter(plane, X, y, s=14)
    plane.axline(X.mean(axis=0), X.mean(axis=0) + beta, color=GREY, lw=2)
    plane.scatter(*centers.T, marker="+", s=160, color="k", lw=2.5)
    plane.set_aspect("equal", adjustable="datalim")
    bare(plane, name)
    z = X @ beta
    for k in (0, 1):
        line.hist(z[y == k], bins=np.linspace(z.min(), z.max(), 34), color=COLORS[k], alpha=0.75)
        line.axvline(z[y == k].mean(), color=COLORS[k], lw=2)
    line.axvline(np.mean([z[y == k].mean() for k in (0, 1)]), color="k", ls="--", lw=1)
    bare(line)
    line.set_xlabel("samples on that line, and the threshold")
