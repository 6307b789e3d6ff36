"""The projected classes on their line."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from lincent.inspection._drawing import (
    HATCHES,
    MARKERS,
    STYLES,
    Display,
    last_step,
    table,
    two_classes,
)
from lincent.inspection.colors import COLORS, INK


class ProjectionDisplay(Display):
    """The projected classes on their line, with centers and threshold.

    Parameters
    ----------
    lines : list of ndarray of shape (n_samples,)
        The projected rows, one array per panel.
    codes : ndarray of shape (n_samples,)
        0 or 1, the class of each row.
    centers : list of (float, float)
        The projected class centers of each panel.
    thresholds : list of float
        Where each panel cuts.
    titles : list of str
        One title per panel.
    classes : sequence of two labels
        The two labels, in the order of ``classes_``.
    """

    def __init__(
        self, lines: Any, codes: Any, centers: Any, thresholds: Any, titles: Any, classes: Any
    ) -> None:
        self.lines, self.codes, self.centers = lines, codes, centers
        self.thresholds, self.titles, self.classes = thresholds, titles, classes

    @classmethod
    def computed(cls, estimator: Any, X: Any, y: Any, *, before: Any = None) -> ProjectionDisplay:
        """The numbers; nothing is drawn.  See ``from_estimator``."""
        model, X = last_step(estimator, X)
        codes = two_classes(model, y, cls.__name__)
        panels = [(*_line(model, X, codes), "After optimization")]
        if before is not None:
            first = np.asarray(np.asarray(X) @ np.asarray(before, dtype=float)).reshape(-1)
            means = _means(first, codes)
            panels.insert(0, (first, means, sum(means) / 2, "Before optimization"))
        lines, middles, cuts, titles = (list(part) for part in zip(*panels, strict=True))
        titles = titles if before is not None else [""]
        return cls(lines, codes, middles, cuts, titles, model.classes_)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        before: Any = None,
        kind: Literal["histogram", "density"] = "histogram",
        bins: int = 40,
        ax: Any = None,
    ) -> ProjectionDisplay:
        """Draw the line of a fitted model and, with ``before``, of a direction beside it.

        Parameters
        ----------
        estimator : classifier of two classes
            Fitted, or a pipeline that ends in one. The line is ``transform`` where the model has a
            line, and ``decision_function`` where it has none.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        before : array-like of shape (n_features,), default=None
            A direction to compare with, for instance one that is not optimized.
        kind : {"histogram", "density"}, default="histogram"
            What is drawn.
        bins : int, default=40
            Bars of a histogram.
        ax : matplotlib Axes or several, default=None
            Where to draw, one set of axes per panel; None makes a figure.

        Returns
        -------
        ProjectionDisplay
            With ``ax_`` and ``figure_`` set.
        """
        made = cls.computed(estimator, X, y, before=before)
        return made._drawn(ax, kind=kind, bins=bins)  # type: ignore[no-any-return]

    def plot(
        self, ax: Any = None, *, kind: Literal["histogram", "density"] = "histogram", bins: int = 40
    ) -> ProjectionDisplay:
        """Draw; ``kind`` is "histogram" or "density". ``ax`` holds one set of axes per panel.

        Parameters
        ----------
        ax : matplotlib Axes or several, default=None
            Where to draw; None makes a new figure.
        kind : str, default='histogram'
            What is drawn: a histogram or a density.
        bins : int, default=40
            Bars of a histogram.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        if kind not in ("histogram", "density"):
            raise ValueError(f"kind={kind!r} is not known: choose 'histogram' or 'density'.")
        count = len(self.lines)
        axes = self._axes(ax, count, figsize=(6.4, 2.9 * count))
        for panel, axis in enumerate(axes):
            self._panel(axis, panel, kind, bins)
        axes[-1].set_xlabel("Projected value")
        axes[0].legend(frameon=False, fontsize="small")
        self.ax_ = axes[0] if count == 1 else axes
        return self

    def _panel(self, ax: Any, panel: int, kind: str, bins: int) -> None:
        line = np.asarray(self.lines[panel], dtype=float)
        edges = np.histogram_bin_edges(line, bins)
        for k in (0, 1):
            part = line[self.codes == k]
            label = f"class {self.classes[k]}"
            if kind == "histogram":
                ax.hist(part, edges, color=COLORS[k], alpha=0.65, hatch=HATCHES[k], label=label)
            else:
                ax.plot(*density(part, line), color=COLORS[k], linestyle=STYLES[k], label=label)
            ax.axvline(self.centers[panel][k], color=COLORS[k], linestyle=":", linewidth=1.6)
            ax.plot(
                self.centers[panel][k], 0, marker=MARKERS[k], color=COLORS[k], markersize=10,
                markeredgecolor=INK, clip_on=False, zorder=5, linestyle="none",
                label=f"center of class {self.classes[k]}",
            )  # fmt: skip
        ax.axvline(
            self.thresholds[panel], color=INK, linestyle="--", linewidth=1.4, label="threshold"
        )
        ax.set_ylabel("Number of rows" if kind == "histogram" else "Density")
        ax.set_ylim(bottom=0)
        ax.set_title(self.titles[panel], loc="left", fontsize="medium")

    def frame(self) -> Any:
        """One line per row and panel: panel, class, projected value.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        labels = np.asarray(self.classes)[self.codes]
        return table(
            {
                "panel": np.repeat([title or "fitted" for title in self.titles], len(labels)),
                "class": np.tile(labels, len(self.lines)),
                "projected": np.concatenate(self.lines),
            }
        )


def _means(line: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    return float(line[codes == 0].mean()), float(line[codes == 1].mean())


def _line(model: Any, X: Any, codes: np.ndarray) -> tuple[np.ndarray, tuple[float, float], float]:
    """The rows on the line of a model, the class centers there, and the cut."""
    coef = getattr(model, "coef_", None)
    flat = isinstance(coef, np.ndarray) and coef.shape == (1, model.n_features_in_)
    if hasattr(model, "transform") and hasattr(model, "centers_") and (flat or coef is None):
        line = np.asarray(model.transform(X))[:, 0]
        ends = model.centers_ @ model.coef_[0] if flat else model.centers_
        return line, (float(ends[0]), float(ends[1])), -float(model.intercept_[0])
    line = np.asarray(model.decision_function(X), dtype=float)
    return line, _means(line, codes), 0.0


def density(part: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian kernel density with Silverman's width."""
    grid = np.linspace(line.min(), line.max(), 400)
    spread = float(part.std()) or (float(line.std()) or 1.0) / 100
    width = 1.06 * spread * len(part) ** -0.2
    heights = np.exp(-0.5 * ((grid[:, None] - part) / width) ** 2).mean(axis=1)
    return grid, heights / (width * np.sqrt(2 * np.pi))
