"""The rows that cost most."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.inspection._drawing import HATCHES, Display, last_step, needs, table
from lincent.inspection.colors import COLORS, INK
from lincent.sources.source import to_numpy

ROUNDING = 1e-8


class ImpactDisplay(Display):
    """The rows with the largest misclassification impact: the outliers.

    Parameters
    ----------
    impact : ndarray of shape (n_samples,)
        What each row costs.
    labels : ndarray of shape (n_samples,)
        The class of each row.
    names : sequence of shape (n_samples,), default=None
        What to call the rows; their numbers if not given.
    """

    def __init__(self, impact: Any, labels: Any, names: Any = None) -> None:
        self.impact = np.asarray(impact, dtype=float)
        self.labels = np.asarray(labels)
        self.names = np.arange(len(self.impact)) if names is None else np.asarray(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Any = None,
        n_largest: int = 15,
        ax: Any = None,
    ) -> ImpactDisplay:
        """Draw the impacts of the rows of X on a fitted model.

        Parameters
        ----------
        estimator : classifier with ``misclassification_impact``
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        names : sequence of shape (n_samples,), default=None
            What to call the rows; the index of a frame, or their numbers, if not given.
        n_largest : int, default=15
            How many rows at most.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ImpactDisplay
            With ``ax_`` and ``figure_`` set.
        """
        if names is None and hasattr(X, "columns"):  # a frame; tensors have another index
            names = getattr(X, "index", None)
        model, X = last_step(estimator, X)
        needs(
            model, "misclassification_impact", cls.__name__,
            "the cost of a row is known for LCC, LCCCV, RegularizedLCC, KernelLCC and FQCC. "
            "ScoresDisplay shows rows on the wrong side for any classifier.",
        )  # fmt: skip
        y = to_numpy(y)
        made = cls(model.misclassification_impact(X, y), y, names)
        return made._drawn(ax, n_largest=n_largest)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None, *, n_largest: int = 15) -> ImpactDisplay:
        """Draw the ``n_largest`` impacts above zero (above rounding).

        Parameters
        ----------
        ax : matplotlib Axes or several, default=None
            Where to draw; None makes a new figure.
        n_largest : int, default=15
            How many rows at most.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        rows, place = self._largest(n_largest)
        (axis,) = self._axes(ax, figsize=(6.4, 0.8 + 0.3 * max(len(rows), 4)))
        classes = np.unique(self.labels)
        for k, label in enumerate(classes):
            mine = self.labels[rows] == label
            if np.any(mine):
                axis.barh(
                    place[mine], self.impact[rows][mine], color=COLORS[k % 2], hatch=HATCHES[k % 2],
                    alpha=(0.9, 0.45)[(k // 2) % 2], edgecolor=INK, linewidth=0.6,
                    label=f"labeled {label}",
                )  # fmt: skip
        axis.set_yticks(place, [f"row {self.names[row]}" for row in rows])
        axis.invert_yaxis()
        axis.set_xlabel("Misclassification impact (cost in the objective)")
        axis.set_ylabel("Row")
        if len(rows):
            axis.legend(frameon=False, loc="lower right")
        else:
            axis.set_title("No row misses the margin", loc="left", fontsize="medium")
        self.ax_ = axis
        return self

    def _largest(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.argsort(-self.impact, kind="stable")[:count]
        # Rows exactly on the margin miss it by rounding; they are no outliers.
        rows = rows[self.impact[rows] > ROUNDING * self.impact.max(initial=0.0)]
        return rows, np.arange(len(rows))

    def frame(self) -> Any:
        """One line per row, largest impact first: row, class, impact.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        order = np.argsort(-self.impact, kind="stable")
        return table(
            {"row": self.names[order], "class": self.labels[order], "impact": self.impact[order]}
        )
