"""A direction in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.inspection._drawing import (
    MARKERS,
    Display,
    last_step,
    line_coefficients,
    names_of,
    scatter,
    table,
    two_classes,
    two_columns,
)
from lincent.inspection.colors import COLORS, INK


class DirectionDisplay(Display):
    """Rows in the plane, the direction as a line, and where each row falls on it.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The rows.
    codes : ndarray of shape (n_samples,)
        0 or 1, the class of each row.
    direction : ndarray of shape (2,)
        One coefficient per column.
    centers : ndarray of shape (2, 2)
        The class centers.
    threshold : float
        The cut, on the scale of ``X @ direction``.
    classes, feature_names : sequences of two labels
        The two labels, in the order of ``classes_``.
    """

    def __init__(
        self, X: Any, codes: Any, direction: Any, centers: Any, threshold: float, classes: Any,
        feature_names: Any,
    ) -> None:  # fmt: skip
        self.X, self.codes, self.direction, self.centers = X, codes, direction, centers
        self.threshold, self.classes, self.feature_names = threshold, classes, feature_names

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> DirectionDisplay:
        """Draw the direction of a fitted line on two features.

        Parameters
        ----------
        estimator : LCC, LCCCV, FQCC, RegularizedLCC or RegularizedLCCCV
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, 2)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        DirectionDisplay
            With ``ax_`` and ``figure_`` set.
        """
        given = names_of(X, 2) if hasattr(X, "columns") else None
        model, X = last_step(estimator, X)
        X, names = two_columns(X, cls.__name__)
        codes = two_classes(model, y, cls.__name__)
        coef = line_coefficients(model, cls.__name__, "BoundaryDisplay shows its regions.")
        centers = np.array([X[codes == k].mean(axis=0) for k in (0, 1)])
        centers = getattr(model, "centers_", centers)
        cut = -float(model.intercept_[0])
        made = cls(X, codes, coef[0], centers, cut, model.classes_, given or names)
        return made._drawn(ax)  # type: ignore[no-any-return]

    @property
    def feet(self) -> np.ndarray:
        """The rows projected at right angles onto the line, which passes between the centers."""
        unit = self.direction / np.linalg.norm(self.direction)
        middle = np.asarray(self.centers).mean(axis=0)
        return np.asarray(middle + np.outer((self.X - middle) @ unit, unit))

    def plot(self, ax: Any = None) -> DirectionDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or several, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        (axis,) = self._axes(ax, figsize=(6.2, 5.4))
        feet = self.feet
        for k in (0, 1):
            rows = self.codes == k
            segments = np.stack([self.X[rows], feet[rows]], axis=1)
            axis.plot(*segments.transpose(2, 1, 0), color=COLORS[k], linewidth=0.4, alpha=0.35)
            axis.scatter(*feet[rows].T, marker="|", s=30, color=COLORS[k], alpha=0.8, linewidth=0.9)
        scatter(axis, self.X, self.codes, self.classes, s=24)
        self._lines(axis, feet)
        for k in (0, 1):
            axis.plot(
                *self.centers[k], marker=MARKERS[k], markersize=13, color=COLORS[k],
                markeredgecolor=INK, markeredgewidth=1.6, linestyle="none", zorder=5,
                label=f"center of class {self.classes[k]}",
            )  # fmt: skip
        axis.set_aspect("equal", adjustable="datalim")
        axis.set_xlabel(self.feature_names[0])
        axis.set_ylabel(self.feature_names[1])
        axis.legend(frameon=False, fontsize="small")
        self.ax_ = axis
        return self

    def _lines(self, axis: Any, feet: np.ndarray) -> None:
        unit = self.direction / np.linalg.norm(self.direction)
        middle = np.asarray(self.centers).mean(axis=0)
        along = (feet - middle) @ unit
        reach = np.array([along.min(), along.max()]) + 0.05 * np.ptp(along) * np.array([-1, 1])
        line = middle + np.outer(reach, unit)
        axis.plot(*line.T, color=INK, linewidth=1.8, label="direction β", zorder=4)
        at = middle + unit * (self.threshold / np.linalg.norm(self.direction) - middle @ unit)
        across = np.array([-unit[1], unit[0]])
        width = 0.7 * float(np.abs((self.X - at) @ across).max())
        cut = at + np.outer([-width, width], across)
        axis.plot(*cut.T, color=INK, linewidth=1.4, linestyle="--", label="threshold", zorder=4)

    def frame(self) -> Any:
        """One line per row: position, class, foot on the line, projected value.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        feet = self.feet
        return table(
            {
                "x": self.X[:, 0],
                "y": self.X[:, 1],
                "class": np.asarray(self.classes)[self.codes],
                "foot_x": feet[:, 0],
                "foot_y": feet[:, 1],
                "projected": self.X @ self.direction,
            }
        )
