"""What the figures of the guide share: colors, rows in the plane, and small tools."""

from __future__ import annotations

import numpy as np

from lincent.inspection.displays import COLORS, INK, MARKERS

GREY = "#767676"
GREEN, RED, PURPLE = "#007A5A", "#B4421E", "#7A3E9D"


def clouds(seed=0, sizes=(60, 60), centers=((-1.5, -0.6), (1.5, 0.6)), spread=1.0):
    """Two Gaussian groups in the plane."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(c, spread, (m, 2)) for c, m in zip(centers, sizes, strict=True)])
    return X, np.repeat([0, 1], sizes)


def scatter(ax, X, y, **style):
    """The rows of both classes, different in color and in shape."""
    for k in (0, 1):
        ax.scatter(
            *X[y == k].T,
            color=COLORS[k],
            marker=MARKERS[k],
            edgecolor=INK,
            linewidth=0.4,
            **({"s": 26} | style),
        )


def boundary(ax, coef, intercept, X, **style):
    """The line coef . x + intercept = 0 across the rows, limits kept."""
    low, high = X.min(axis=0) - 0.6, X.max(axis=0) + 0.6
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    coef = np.asarray(coef, float)
    foot = -intercept * coef / (coef @ coef)
    along = np.array([-coef[1], coef[0]]) / np.linalg.norm(coef)
    reach = np.linalg.norm(high - low) + np.linalg.norm(foot - X.mean(axis=0))
    ends = np.array([foot - reach * along, foot + reach * along])
    ax.plot(*ends.T, **({"color": INK, "linewidth": 2} | style))


def bare(ax, title=""):
    """A plane without ticks: what counts is the shape."""
    ax.set(xticks=[], yticks=[])
    if title:
        ax.set_title(title, loc="left", fontsize=10)
