"""Displays in the plane of two features: decision regions, and the fitted direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.inspection._display import (
    COLORS,
    INK,
    LIGHT,
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


class BoundaryDisplay(Display):
    """The two regions of a classifier in the plane, their boundary, and the samples.

    Parameters
    ----------
    grid : (ndarray of shape (resolution,), ndarray of shape (resolution,))
        The two axes of the grid.
    scores : ndarray of shape (resolution, resolution)
        Decision values, one row per value of the second axis.
    X, codes : arrays
        The samples and their class codes, 0 or 1.
    classes, feature_names : sequences of two labels
        The two labels, in the order of ``classes_``.
    """

    def __init__(
        self, grid: Any, scores: Any, X: Any, codes: Any, classes: Any, feature_names: Any
    ) -> None:
        self.grid, self.scores, self.X = grid, scores, X
        self.codes, self.classes, self.feature_names = codes, classes, feature_names

    @classmethod
    def computed(cls, estimator: Any, X: Any, y: Any, *, resolution: int = 200) -> BoundaryDisplay:
        """Compute the numbers without drawing.  See ``from_estimator``."""
        check_is_fitted(estimator)
        given, (X, names) = X, two_columns(X, cls.__name__)
        codes = two_classes(estimator, y, cls.__name__)
        border = 0.08 * np.ptp(X, axis=0)
        ends = zip(X.min(axis=0) - border, X.max(axis=0) + border, strict=True)
        first, second = (np.linspace(*end, resolution) for end in ends)
        points: Any = np.column_stack([part.ravel() for part in np.meshgrid(first, second)])
        if hasattr(given, "columns"):  # a model fitted with feature names needs them
            points = type(given)(dict(zip(given.columns, points.T, strict=True)))
        scores = np.asarray(estimator.decision_function(points)).reshape(resolution, resolution)
        return cls((first, second), scores, X, codes, estimator.classes_, names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, resolution: int = 200, ax: Any = None
    ) -> BoundaryDisplay:
        """Draw the boundary of any fitted two-class estimator, pipelines included.

        Parameters
        ----------
        estimator : classifier with ``decision_function``
            Fitted on two features.
        X : array-like of shape (n_samples, 2)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.
        resolution : int, default=200
            Points of the grid along each axis.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        BoundaryDisplay
            With ``ax_`` and ``figure_`` set.
        """
        display = cls.computed(estimator, X, y, resolution=resolution)
        return display._drawn(ax)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> BoundaryDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or several, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        (axis,) = self._axes(ax, figsize=(5.4, 4.6))
        size = float(np.abs(self.scores).max()) or 1.0
        axis.contourf(*self.grid, self.scores, levels=[-2 * size, 0.0, 2 * size], colors=LIGHT)
        axis.contour(*self.grid, self.scores, levels=[0.0], colors=INK, linewidths=1.5)
        scatter(axis, self.X, self.codes, self.classes, s=20)
        axis.set_xlabel(self.feature_names[0])
        axis.set_ylabel(self.feature_names[1])
        axis.legend(frameon=True, fontsize="small", framealpha=0.85)
        self.ax_ = axis
        return self

    def frame(self) -> Any:
        """Return one line per grid point: position, score, predicted class.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        first, second = np.meshgrid(*self.grid)
        scores = self.scores.ravel()
        return table(
            {
                "x": first.ravel(),
                "y": second.ravel(),
                "score": scores,
                "predicted": np.asarray(self.classes)[(scores > 0).astype(int)],
            }
        )


class DirectionDisplay(Display):
    """Samples in the plane, the direction as a line, and the projection of each sample.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The samples.
    codes : ndarray of shape (n_samples,)
        Class code, 0 or 1, of each sample.
    direction : ndarray of shape (2,)
        One coefficient per column.
    centers : ndarray of shape (2, 2)
        The class centers.
    threshold : float
        The decision threshold, on the scale of ``X @ direction``.
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
            The samples.
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
        threshold = -float(model.intercept_[0])
        display = cls(X, codes, coef[0], centers, threshold, model.classes_, given or names)
        return display._drawn(ax)  # type: ignore[no-any-return]

    @property
    def feet(self) -> np.ndarray:
        """The samples projected at right angles onto the line, which passes between the centers."""
        unit = self.direction / np.linalg.norm(self.direction)
        middle = np.asarray(self.centers).mean(axis=0)
        return np.asarray(middle + np.outer((self.X - middle) @ unit, unit))

    def plot(self, ax: Any = None) -> DirectionDisplay:
        """Draw the display.

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
        ends = np.array([along.min(), along.max()]) + 0.05 * np.ptp(along) * np.array([-1, 1])
        line = middle + np.outer(ends, unit)
        axis.plot(*line.T, color=INK, linewidth=1.8, label="direction β", zorder=4)
        at = middle + unit * (self.threshold / np.linalg.norm(self.direction) - middle @ unit)
        across = np.array([-unit[1], unit[0]])
        width = 0.7 * float(np.abs((self.X - at) @ across).max())
        boundary = at + np.outer([-width, width], across)
        axis.plot(
            *boundary.T, color=INK, linewidth=1.4, linestyle="--", label="threshold", zorder=4
        )

    def frame(self) -> Any:
        """Return one line per sample: position, class, foot on the line, projected value.

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
