"""How far the rows of each class are on their side of the cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.inspection._drawing import Display, table
from lincent.inspection.colors import COLORS, INK, LIGHT
from lincent.sources.source import to_numpy

SHOWN = 1000
"""Rows of a class that are drawn one by one."""


class ScoresDisplay(Display):
    """The scores of the rows, class by class: the middle half as a bar, and the rows as points.

    For two classes it is ``decision_function``; with more, the score of a row's own class above the
    best other one, so that right is right. Both in units of the distance between the classes.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        The scores, in units.
    labels : array-like of shape (n_samples,)
        The classes of the rows.
    classes : sequence of labels
        All classes, in the order in which they are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lincent import AutoLCC
    >>> from lincent.inspection import ScoresDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> ScoresDisplay.from_estimator(AutoLCC().fit(X, y), X, y).frame().shape
    (150, 2)
    """

    def __init__(self, scores: Any, labels: Any, classes: Any) -> None:
        self.scores, self.labels = np.asarray(scores, dtype=float), np.asarray(labels)
        self.classes = list(classes)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> ScoresDisplay:
        """Draw the scores of the rows of X by any fitted classifier with ``decision_function``.

        Parameters
        ----------
        estimator : classifier
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The rows, best such that the model has not seen.
        y : array-like of shape (n_samples,)
            Their classes.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ScoresDisplay
            With ``ax_`` and ``figure_`` set.
        """
        check_is_fitted(estimator)
        labels, classes = np.asarray(to_numpy(y)), estimator.classes_
        scores = np.asarray(to_numpy(estimator.decision_function(X)), dtype=float)
        codes = np.searchsorted(classes, labels)
        if scores.ndim == 1:
            apart = scores[codes == 1].mean() - scores[codes == 0].mean() if len(labels) else 0.0
        else:
            rows = np.arange(len(scores))
            own, others = scores[rows, codes], scores.copy()
            others[rows, codes] = -np.inf
            scores = own - others.max(axis=1)
            apart = 2 * scores.mean() if len(labels) else 0.0
        unit = abs(float(apart)) if np.isfinite(apart) and apart else 1.0
        return cls(scores / unit, labels, classes)._drawn(ax)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> ScoresDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        (axis,) = self._axes(ax, figsize=(6.4, 1.2 + 0.6 * len(self.classes)))
        rng = np.random.default_rng(0)
        for k, label in enumerate(self.classes):
            part = self.scores[self.labels == label]
            if not len(part):
                continue
            low, middle, high = np.quantile(part, (0.25, 0.5, 0.75))
            axis.barh(k, high - low, left=low, height=0.5, color=LIGHT[k % 2], edgecolor=INK)
            axis.plot([middle, middle], [k - 0.25, k + 0.25], color=INK, linewidth=1.6, zorder=4)
            shown = part if len(part) <= SHOWN else rng.choice(part, SHOWN, replace=False)
            axis.scatter(shown, k + rng.uniform(-0.2, 0.2, len(shown)), s=6, alpha=0.4,
                         color=COLORS[k % 2], zorder=3)  # fmt: skip
        axis.axvline(0.0, color=INK, linestyle="--", linewidth=1.2)
        axis.set_yticks(range(len(self.classes)), [str(label) for label in self.classes])
        axis.set_ylabel("Class")
        two = len(self.classes) == 2
        axis.set_xlabel(
            "Score" if two else "Score of the own class above the best other",
        )
        self.ax_ = axis
        return self

    def frame(self) -> Any:
        """One line per row: class and score.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        return table({"class": self.labels, "score": self.scores})
