"""The program in two unknowns: a surface of flat pieces over a square, lowest at a corner."""

import matplotlib.pyplot as plt
import numpy as np
from figure_style import RED, clouds

from lincent import LCC

X, y = clouds(seed=5, sizes=(14, 14), spread=1.3)
sign = np.where(y == 1, 1.0, -1.0)
C, margin = 2.0, 0.6
model = LCC(C=C, margin=margin).fit(X, y)
centers = model.centers_
d, rows = centers[1] - centers[0], sign[:, None] * (X - centers.mean(axis=0))
grid = np.stack(np.meshgrid(np.linspace(-1, 1, 300), np.linspace(-1, 1, 300)), axis=-1)
value = -grid @ d + C * np.maximum(-margin, -grid @ rows.T).sum(axis=-1)
value[grid @ d < margin] = np.nan

figure, ax = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
surface = ax.contourf(*np.moveaxis(grid, 2, 0), value, levels=24, cmap="viridis_r")
for row in rows:  # a piece ends where a row meets the margin
    ends = np.linspace(-1.1, 1.1, 2)
    if abs(row[1]) > abs(row[0]):
        ax.plot(ends, (margin - row[0] * ends) / row[1], color="white", lw=0.5, alpha=0.8)
    else:
        ax.plot((margin - row[1] * ends) / row[0], ends, color="white", lw=0.5, alpha=0.8)
ax.plot(*model.coef_[0], "*", color=RED, ms=16, mec="white", label="optimum: a corner")
ax.set(xlim=(-1, 1), ylim=(-1, 1), xlabel="first coefficient", ylabel="second coefficient")
ax.set_facecolor("#E8E8E8")
ax.legend(loc="lower left", fontsize=9)
figure.colorbar(surface, ax=ax, label="objective")
