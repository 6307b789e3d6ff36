"""The regions of a classifier in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.inspection._drawing import Display, scatter, table, two_classes, two_columns
from lincent.inspection.colors import INK, LIGHT


class BoundaryDisplay(Display):
    """The two regions of a classifier in the plane, their boundary, and the rows.

    Parameters
    ----------
    grid : (ndarray of shape (resolution,), ndarray of shape (resolution,))
        The two axes of the grid.
    scores : ndarray of shape (resolution, resolution)
        The decision function, one row per value of the second axis.
    X, codes : the rows and their class, 0 or 1
        The rows.
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
        """The numbers; nothing is drawn.  See ``from_estimator``."""
        check_is_fitted(estimator)
        given, (X, names) = X, two_columns(X, cls.__name__)
        codes = two_classes(estimator, y, cls.__name__)
        border = 0.08 * np.ptp(X, axis=0)
        ends = zip(X.min(axis=0) - border, X.max(axis=0) + border, strict=True)
        first, second = (np.linspace(*end, resolution) for end in ends)
        points: Any = np.column_stack([part.ravel() for part in np.meshgrid(first, second)])
        if hasattr(given, "columns"):  # a model that knows names is asked with names
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
            The rows.
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
        made = cls.computed(estimator, X, y, resolution=resolution)
        return made._drawn(ax)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> BoundaryDisplay:
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
        """One line per grid point: position, score, predicted class.

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
