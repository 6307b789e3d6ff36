"""Figures as objects: built from an estimator or from arrays, drawn when asked, data at hand.

Each display has ``from_estimator`` (but ``PathDisplay``, which takes arrays), ``plot(ax=)``, which
returns the display with ``figure_`` and ``ax_`` set, and ``frame()``, the numbers behind the figure
as a pandas table.  The two classes differ in color (readable without color vision), in lightness
(readable in grey) and in shape or hatching.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.pages.colors import COLORS, INK, LIGHT

MARKERS = ("o", "^")
HATCHES = ("", "////")
STYLES = ("-", "--", "-.", ":")
NAMED_COEFFICIENTS = 8
ROUNDING = 1e-8


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install "lincent[app]".') from error
    return plt


def _frame(columns: dict[str, Any]) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError('frame() needs pandas: pip install "lincent[app]".') from error
    return pandas.DataFrame(columns)


def _axes(ax: Any, rows: int = 1, **size: Any) -> tuple[Any, np.ndarray]:
    """The given axes, or new ones below each other."""
    if ax is None:
        figure, axes = _pyplot().subplots(rows, 1, squeeze=False, layout="constrained", **size)
        return figure, axes[:, 0]
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).reshape(-1)
    if len(axes) != rows:
        raise ValueError(f"This figure has {rows} panels, but ax holds {len(axes)}: give one each.")
    return axes[0].figure, axes


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The classifier at the end of a pipeline, and X as it sees it."""
    check_is_fitted(estimator)
    if hasattr(estimator, "steps"):
        before, estimator = estimator[:-1], estimator[-1]
        X = before.transform(X) if len(before.steps) else X
    return estimator, np.asarray(X) if hasattr(X, "to_numpy") else X


def _two_classes(estimator: Any, y: Any, figure: str) -> np.ndarray:
    """0 or 1 for each row."""
    if len(estimator.classes_) != 2:
        raise ValueError(
            f"{figure} shows a model of two classes; this one knows {len(estimator.classes_)}."
        )
    return np.asarray(np.asarray(y) == estimator.classes_[1]).astype(int)


def _two_columns(X: Any, figure: str) -> np.ndarray:
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"{figure} is drawn in a plane; X has shape {X.shape}: give two columns.")
    return X


def _scatter(ax: Any, X: np.ndarray, codes: np.ndarray, classes: Any, **style: Any) -> None:
    for k in (0, 1):
        ax.scatter(
            *X[codes == k].T,
            marker=MARKERS[k],
            color=COLORS[k],
            edgecolor=INK,
            linewidth=0.5,
            label=f"class {classes[k]}",
            **style,
        )


class ProjectionDisplay:
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
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, before: Any = None
    ) -> ProjectionDisplay:
        """The line of a fitted model and, with ``before``, of a direction it is compared with.

        ``before`` is one coefficient per feature, for instance a direction not yet optimized.
        """
        model, X = _last_step(estimator, X)
        codes = _two_classes(model, y, cls.__name__)
        line = np.asarray(model.transform(X))[:, 0]
        if hasattr(model, "coef_"):
            centers = tuple(float(c) for c in model.centers_ @ model.coef_[0])
        else:
            centers = tuple(float(c) for c in model.centers_)
        panels = [(line, centers, -float(model.intercept_[0]), "After optimization")]
        if before is not None:
            first = np.asarray(X @ np.asarray(before, dtype=float)).reshape(-1)
            means = (float(first[codes == 0].mean()), float(first[codes == 1].mean()))
            panels.insert(0, (first, means, sum(means) / 2, "Before optimization"))
        lines, middles, cuts, titles = (list(part) for part in zip(*panels, strict=True))
        titles = titles if before is not None else [""]
        return cls(lines, codes, middles, cuts, titles, model.classes_)

    def plot(self, ax: Any = None, *, kind: str = "histogram", bins: int = 40) -> ProjectionDisplay:
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
        self.figure_, axes = _axes(ax, count, figsize=(6.4, 2.9 * count))
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
                ax.plot(*_density(part, line), color=COLORS[k], linestyle=STYLES[k], label=label)
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
        return _frame(
            {
                "panel": np.repeat([title or "fitted" for title in self.titles], len(labels)),
                "class": np.tile(labels, len(self.lines)),
                "projected": np.concatenate(self.lines),
            }
        )


def _density(part: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian kernel density with Silverman's width."""
    grid = np.linspace(line.min(), line.max(), 400)
    spread = float(part.std()) or (float(line.std()) or 1.0) / 100
    width = 1.06 * spread * len(part) ** -0.2
    heights = np.exp(-0.5 * ((grid[:, None] - part) / width) ** 2).mean(axis=1)
    return grid, heights / (width * np.sqrt(2 * np.pi))


class DirectionDisplay:
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
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> DirectionDisplay:
        """The direction of a fitted LCC or FQCC on two features."""
        names = [str(name) for name in getattr(X, "columns", ("First feature", "Second feature"))]
        model, X = _last_step(estimator, X)
        X = _two_columns(X, cls.__name__)
        codes = _two_classes(model, y, cls.__name__)
        cut = -float(model.intercept_[0])
        return cls(X, codes, model.coef_[0], model.centers_, cut, model.classes_, names)

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
        self.figure_, (axis,) = _axes(ax, figsize=(6.2, 5.4))
        feet = self.feet
        for k in (0, 1):
            rows = self.codes == k
            segments = np.stack([self.X[rows], feet[rows]], axis=1)
            axis.plot(*segments.transpose(2, 1, 0), color=COLORS[k], linewidth=0.4, alpha=0.35)
            axis.scatter(*feet[rows].T, marker="|", s=30, color=COLORS[k], alpha=0.8, linewidth=0.9)
        _scatter(axis, self.X, self.codes, self.classes, s=24)
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
        return _frame(
            {
                "x": self.X[:, 0],
                "y": self.X[:, 1],
                "class": np.asarray(self.classes)[self.codes],
                "foot_x": feet[:, 0],
                "foot_y": feet[:, 1],
                "projected": self.X @ self.direction,
            }
        )


class ImpactDisplay:
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
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, names: Any = None) -> ImpactDisplay:
        """The impacts of the rows of X on a fitted model."""
        names = getattr(X, "index", None) if names is None else names
        model, X = _last_step(estimator, X)
        return cls(model.misclassification_impact(X, y), y, names)

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
        table = self._largest(n_largest)
        self.figure_, (axis,) = _axes(ax, figsize=(6.4, 0.8 + 0.3 * max(len(table[0]), 4)))
        classes = np.unique(self.labels)
        rows, place = table
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
        return _frame(
            {"row": self.names[order], "class": self.labels[order], "impact": self.impact[order]}
        )


class PathDisplay:
    """Coefficients and objective along a path of margins.

    Parameters
    ----------
    margins : array-like of shape (n_margins,)
        The margins, in any order.
    coefs : array-like of shape (n_margins, n_features)
        The coefficients at each margin.
    objective : array-like of shape (n_margins,)
        The objective at each margin.
    feature_names : sequence of str, default=None
        Names for the axes; None numbers the columns.
    """

    def __init__(self, margins: Any, coefs: Any, objective: Any, feature_names: Any = None) -> None:
        self.margins = np.asarray(margins, dtype=float)
        self.coefs = np.asarray(coefs, dtype=float)
        self.objective = np.asarray(objective, dtype=float)
        wrong = self.coefs.ndim != 2 or len(self.coefs) != len(self.margins)
        if wrong or self.objective.shape != self.margins.shape:
            raise ValueError(
                f"A path needs a row of coefficients and an objective for each of its "
                f"{len(self.margins)} margins; coefs has shape {self.coefs.shape} and objective "
                f"{self.objective.shape}."
            )
        count = self.coefs.shape[1]
        named = [f"feature {j}" for j in range(count)] if feature_names is None else feature_names
        self.feature_names = [str(name) for name in named]

    def plot(self, ax: Any = None) -> PathDisplay:
        """Draw coefficients above, objective below; ``ax`` holds two sets of axes.

        Parameters
        ----------
        ax : matplotlib Axes or several, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        self.figure_, (upper, lower) = _axes(ax, 2, figsize=(6.8, 6.0))
        largest = np.argsort(-np.abs(self.coefs).max(axis=0))
        for rank, j in enumerate(largest):
            if rank < NAMED_COEFFICIENTS:
                upper.plot(
                    self.margins, self.coefs[:, j], color=COLORS[rank % 2],
                    linestyle=STYLES[(rank // 2) % 4], linewidth=1.8, label=self.feature_names[j],
                )  # fmt: skip
            else:
                upper.plot(self.margins, self.coefs[:, j], color="#BBBBBB", linewidth=0.7, zorder=1)
        upper.axhline(0.0, color=INK, linewidth=0.6)
        upper.set_ylabel("Coefficient")
        upper.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        lower.plot(self.margins, self.objective, color=INK, marker="o", markersize=3)
        lower.set_ylabel("Objective")
        lower.set_xlabel("Margin")
        for axis in (upper, lower):
            axis.set_xscale("log" if np.all(self.margins > 0) else "linear")
        self.ax_ = np.array([upper, lower])
        return self

    def frame(self) -> Any:
        """One line per margin: margin, objective, one column per coefficient.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        columns = {"margin": self.margins, "objective": self.objective}
        columns.update(zip(self.feature_names, self.coefs.T, strict=True))
        return _frame(columns)


class BoundaryDisplay:
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
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, resolution: int = 200
    ) -> BoundaryDisplay:
        """The boundary of any fitted two-class estimator, pipelines included, on two features."""
        check_is_fitted(estimator)
        names = [str(name) for name in getattr(X, "columns", ("First feature", "Second feature"))]
        X = _two_columns(X, cls.__name__)
        codes = _two_classes(estimator, y, cls.__name__)
        border = 0.08 * np.ptp(X, axis=0)
        ends = zip(X.min(axis=0) - border, X.max(axis=0) + border, strict=True)
        first, second = (np.linspace(*end, resolution) for end in ends)
        points = np.column_stack([part.ravel() for part in np.meshgrid(first, second)])
        scores = np.asarray(estimator.decision_function(points)).reshape(resolution, resolution)
        return cls((first, second), scores, X, codes, estimator.classes_, names)

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
        self.figure_, (axis,) = _axes(ax, figsize=(5.4, 4.6))
        size = float(np.abs(self.scores).max()) or 1.0
        axis.contourf(*self.grid, self.scores, levels=[-2 * size, 0.0, 2 * size], colors=LIGHT)
        axis.contour(*self.grid, self.scores, levels=[0.0], colors=INK, linewidths=1.5)
        _scatter(axis, self.X, self.codes, self.classes, s=20)
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
        return _frame(
            {
                "x": first.ravel(),
                "y": second.ravel(),
                "score": scores,
                "predicted": np.asarray(self.classes)[(scores > 0).astype(int)],
            }
        )


class ShapeDisplay:
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
    >>> from lincent.displays import ShapeDisplay
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
        check_is_fitted(estimator)
        model = estimator[-1] if hasattr(estimator, "steps") else estimator
        name = str(column if isinstance(column, str) else model.term_names_[column])
        return cls(**model.shape(column, rule), name=name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ShapeDisplay:
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
        self.figure_, axes = _axes(ax, figsize=(5.0, 3.2))
        self.ax_ = axes[0]
        if np.asarray(self.x).dtype == object:
            self._plot_categories()
        else:
            self.ax_.fill_between(self.x, self.low, self.high, color=LIGHT[1], lw=0)
            self.ax_.plot(self.x, self.value, color=COLORS[1])
        self.ax_.axhline(0.0, color=INK, lw=0.6)
        self.ax_.set(xlabel=self.name, ylabel="adds to the score")
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
        return _frame({"x": self.x, "value": self.value, "low": self.low, "high": self.high})
