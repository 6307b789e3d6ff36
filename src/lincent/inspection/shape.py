"""The curve of a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.inspection._drawing import Display, classifier_of, needs, table
from lincent.inspection.colors import COLORS, INK, LIGHT


class ShapeDisplay(Display):
    """The curve of one column of an additive model, with its band from resampling.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Values of the column, or its categories.
    value : ndarray of shape (n_points,)
        What they add to the score.
    low, high : ndarray of shape (n_points,)
        The band.
    name : str
        The name of the column.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import AdditiveLCC
    >>> from lincent.inspection import ShapeDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = AdditiveLCC().fit(X, y)
    >>> ShapeDisplay.from_estimator(model, "mean radius").frame().shape
    (100, 4)
    """

    def __init__(self, x: Any, value: Any, low: Any, high: Any, name: str) -> None:
        self.x, self.value, self.low, self.high = x, value, low, high
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, column: Any, *, rule: int = 0, ax: Any = None
    ) -> ShapeDisplay:
        """Draw a curve of a fitted AdditiveLCC or AdditiveLCCCV.

        Parameters
        ----------
        estimator : AdditiveLCC or AdditiveLCCCV
            Fitted, or a pipeline that ends in one.
        column : str or int
            Name or number of the column.
        rule : int, default=0
            Number of the class, where there are more than two.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ShapeDisplay
            With ``ax_`` and ``figure_`` set.
        """
        model = classifier_of(estimator)
        needs(
            model, "shape", cls.__name__,
            "only AdditiveLCC and AdditiveLCCCV have a curve for each column. "
            "sklearn.inspection.PartialDependenceDisplay draws the mean score of any classifier.",
        )  # fmt: skip
        name = str(column if isinstance(column, str) else model.term_names_[column])
        made = cls(**model.shape(column, rule), name=name)
        return made._drawn(ax)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> ShapeDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ShapeDisplay
            With ``ax_`` and ``figure_`` set.
        """
        axes = self._axes(ax, figsize=(5.0, 3.2))
        self.ax_ = axes[0]
        if np.asarray(self.x).dtype == object:
            self._plot_categories()
        else:
            self.ax_.fill_between(self.x, self.low, self.high, color=LIGHT[1], lw=0)
            self.ax_.plot(self.x, self.value, color=COLORS[1])
        self.ax_.axhline(0.0, color=INK, lw=0.6)
        self.ax_.set(xlabel=self.name, ylabel="Adds to the score")
        return self

    def _plot_categories(self) -> None:
        places = np.arange(len(self.x))
        reach = np.abs(np.stack([self.value - self.low, self.high - self.value]))
        self.ax_.bar(places, self.value, color=LIGHT[1], yerr=reach, ecolor=COLORS[1])
        self.ax_.set_xticks(places, self.x)

    def frame(self) -> Any:
        """The numbers behind the figure.

        Returns
        -------
        pandas.DataFrame
            ``x``, ``value``, ``low`` and ``high``.
        """
        return table({"x": self.x, "value": self.value, "low": self.low, "high": self.high})
