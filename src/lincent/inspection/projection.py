"""Displays of samples along one score: the projected classes, scores by class, costly samples."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.inspection._display import (
    COLORS,
    HATCHES,
    INK,
    LIGHT,
    MARKERS,
    STYLES,
    Display,
    last_step,
    needs,
    table,
    two_classes,
)
from lincent.sources.source import to_numpy


class ProjectionDisplay(Display):
    """The projected classes on their line, with centers and threshold.

    Parameters
    ----------
    lines : list of ndarray of shape (n_samples,)
        The projected samples, one array per panel.
    codes : ndarray of shape (n_samples,)
        Class code, 0 or 1, of each sample.
    centers : list of (float, float)
        The projected class centers of each panel.
    thresholds : list of float
        The decision threshold of each panel.
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
        """Compute the numbers without drawing.  See ``from_estimator``."""
        model, X = last_step(estimator, X)
        codes = two_classes(model, y, cls.__name__)
        panels = [(*_line(model, X, codes), "After optimization")]
        if before is not None:
            first = np.asarray(np.asarray(X) @ np.asarray(before, dtype=float)).reshape(-1)
            means = _means(first, codes)
            panels.insert(0, (first, means, sum(means) / 2, "Before optimization"))
        lines, middles, thresholds, titles = (list(part) for part in zip(*panels, strict=True))
        titles = titles if before is not None else [""]
        return cls(lines, codes, middles, thresholds, titles, model.classes_)

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
            The samples.
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
        display = cls.computed(estimator, X, y, before=before)
        return display._drawn(ax, kind=kind, bins=bins)  # type: ignore[no-any-return]

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
        """Return one line per sample and panel: panel, class, projected value.

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
    """Return the projected samples, the projected class centers, and the threshold."""
    coef: Any = getattr(model, "coef_", None)
    flat = isinstance(coef, np.ndarray) and coef.shape == (1, model.n_features_in_)
    if hasattr(model, "transform") and hasattr(model, "centers_") and (flat or coef is None):
        line = np.asarray(model.transform(X))[:, 0]
        ends = model.centers_ @ coef[0] if flat else model.centers_
        intercept = model.intercept_ if flat else model._intercept
        return line, (float(ends[0]), float(ends[1])), -float(intercept[0])
    line = np.asarray(model.decision_function(X), dtype=float)
    return line, _means(line, codes), 0.0


def density(part: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a Gaussian kernel density with Silverman's bandwidth."""
    grid = np.linspace(line.min(), line.max(), 400)
    deviation = float(part.std()) or (float(line.std()) or 1.0) / 100
    width = 1.06 * deviation * len(part) ** -0.2
    heights = np.exp(-0.5 * ((grid[:, None] - part) / width) ** 2).mean(axis=1)
    return grid, heights / (width * np.sqrt(2 * np.pi))


MAX_POINTS = 1000  # of a class, drawn one by one


class ScoresDisplay(Display):
    """The scores of the samples, class by class: interquartile range as a bar, samples as points.

    The score is ``decision_function`` for two classes; with more, the score of a sample's own class
    minus the best other one. Both are normalized by the distance between the classes.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        The normalized scores.
    labels : array-like of shape (n_samples,)
        The classes of the samples.
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
        """Draw the scores of the samples of X by any fitted classifier with ``decision_function``.

        Parameters
        ----------
        estimator : classifier
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The samples, preferably held-out ones.
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
        scale = abs(float(apart)) if np.isfinite(apart) and apart else 1.0
        return cls(scores / scale, labels, classes)._drawn(ax)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> ScoresDisplay:
        """Draw the display.

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
            shown = part if len(part) <= MAX_POINTS else rng.choice(part, MAX_POINTS, replace=False)
            axis.scatter(shown, k + rng.uniform(-0.2, 0.2, len(shown)), s=6, alpha=0.4,
                         color=COLORS[k % 2], zorder=3)  # fmt: skip
        axis.axvline(0.0, color=INK, linestyle="--", linewidth=1.2)
        axis.set_yticks(range(len(self.classes)), [str(label) for label in self.classes])
        axis.set_ylabel("Class")
        two = len(self.classes) == 2
        axis.set_xlabel("Score" if two else "Score of the own class above the best other")
        self.ax_ = axis
        return self

    def frame(self) -> Any:
        """Return one line per sample: class and score.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        return table({"class": self.labels, "score": self.scores})


class ImpactDisplay(Display):
    """The samples with the largest misclassification impact: the outliers.

    Parameters
    ----------
    impact : ndarray of shape (n_samples,)
        The loss of each sample.
    labels : ndarray of shape (n_samples,)
        The class of each sample.
    names : sequence of shape (n_samples,), default=None
        Names of the samples; their row numbers if not given.
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
        """Draw the impacts of the samples of X on a fitted model.

        Parameters
        ----------
        estimator : classifier with ``misclassification_impact``
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.
        names : sequence of shape (n_samples,), default=None
            Names of the samples; the index of a frame, or row numbers, if not given.
        n_largest : int, default=15
            Maximum number of samples.
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
            "the loss of a sample is defined for LCC, LCCCV, RegularizedLCC, KernelLCC and FQCC. "
            "ScoresDisplay shows misclassified samples for any classifier.",
        )  # fmt: skip
        y = to_numpy(y)
        display = cls(model.misclassification_impact(X, y), y, names)
        return display._drawn(ax, n_largest=n_largest)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None, *, n_largest: int = 15) -> ImpactDisplay:
        """Draw the ``n_largest`` impacts above rounding errors.

        Parameters
        ----------
        ax : matplotlib Axes or several, default=None
            Where to draw; None makes a new figure.
        n_largest : int, default=15
            Maximum number of samples.

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
            axis.set_title("No sample violates the margin", loc="left", fontsize="medium")
        self.ax_ = axis
        return self

    def _largest(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.argsort(-self.impact, kind="stable")[:count]
        # Samples on the margin violate it by rounding errors; they are no outliers.
        rows = rows[self.impact[rows] > 1e-8 * self.impact.max(initial=0.0)]
        return rows, np.arange(len(rows))

    def frame(self) -> Any:
        """Return one line per sample, largest impact first: row, class, impact.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        order = np.argsort(-self.impact, kind="stable")
        return table(
            {"row": self.names[order], "class": self.labels[order], "impact": self.impact[order]}
        )
