"""Displays of fitted parameters and of samples, their base class, and the colors of two classes.

``from_estimator`` of a display computes and draws at once, as in scikit-learn; ``plot`` draws
again, in a new figure or in ``ax``.  ``BoundaryDisplay`` and ``DirectionDisplay`` are planes of two
features, ``ProjectionDisplay`` and ``ScoresDisplay`` show samples along one score.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent._errors import import_optional
from lincent.estimators.base import binary_coefficients, is_linear
from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV, lcc_path
from lincent.estimators.validation import check_labels
from lincent.inspection.evaluation import score_scale
from lincent.inspection.thresholds import own_margin
from lincent.sources.source import to_numpy

# Told apart without color vision and in grey; ``paper.study.figures`` maps them to a page's theme.
COLORS = ("#0072B2", "#E69F00")
LIGHT = ("#C6DDEC", "#FBEBC8")
INK = "#222222"
MARKERS = ("o", "^")
HATCHES = ("", "////")
STYLES = ("-", "--", "-.", ":")


class Display:
    """A figure as an object: ``figure_`` and ``ax_`` are set when it is drawn.

    Subclasses have the size of a new figure in inches, the number of panels, and ``_draw``.
    """

    figure_: Any
    ax_: Any
    _size: tuple[float, float]
    _panels = 1
    _draw: Callable[..., None]

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or several, default=None
            Where to draw, one set of axes per panel; None makes a new figure.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        if ax is None:
            pyplot = import_optional("matplotlib.pyplot", "app", "A figure")
            figure = pyplot.figure(layout="constrained", figsize=self._size)
            ax = figure.subplots(self._panels, 1)
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).reshape(-1)
        if len(axes) != self._panels:
            raise ValueError(
                f"This figure has {self._panels} panels, but ax holds {len(axes)}: give one each."
            )
        self._draw(*axes)
        self.figure_, self.ax_ = axes[0].figure, axes[0] if self._panels == 1 else axes
        return self


def classifier_of(estimator: Any) -> Any:
    """Return the fitted classifier, the last step of a pipeline or alone."""
    check_is_fitted(estimator)
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier and its input X, transferred to host memory."""
    model = classifier_of(estimator)
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    return model, to_numpy(X)


def needs(condition: bool, model: Any, figure: str, why: str) -> None:
    """Raise an error for an estimator that a display cannot show."""
    if not condition:
        raise ValueError(f"{figure} cannot show {type(model).__name__}: {why}")


def line_coefficients(model: Any, figure: str, instead: str) -> np.ndarray:
    """Return ``coef_`` with one column for each feature; raise an error where there is none."""
    coef: Any = binary_coefficients(model)[0] if is_linear(model) else None
    fits = isinstance(coef, np.ndarray) and coef.shape[1:] == (model.n_features_in_,)
    needs(fits, model, figure, f"its score is not one coefficient per column. {instead}")
    return np.asarray(coef)


def two_classes(estimator: Any, X: Any, y: Any, figure: str) -> np.ndarray:
    """Return the class code, 0 or 1, of each sample."""
    if len(estimator.classes_) != 2:
        raise ValueError(
            f"{figure} shows a model of two classes; this one knows {len(estimator.classes_)}."
        )
    return check_labels(y, estimator.classes_, np.shape(X)[0])


def names_of(X: Any, count: int) -> list[str]:
    """Return the names of the columns, or numbered ones."""
    named = getattr(X, "columns", None)
    if named is None or len(named) != count:
        return [f"feature {j}" for j in range(count)]
    return [str(name) for name in named]


def two_columns(X: Any, figure: str) -> tuple[np.ndarray, list[str]]:
    """Return X as an array with two columns, and their names."""
    names = [str(name) for name in getattr(X, "columns", ("First feature", "Second feature"))]
    X = np.asarray(to_numpy(X), dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"{figure} is drawn in a plane; X has shape {X.shape}: give two columns.")
    return X, names


def scatter(ax: Any, X: np.ndarray, codes: np.ndarray, classes: Any, **style: Any) -> None:
    """Draw the samples of both classes."""
    for k in (0, 1):
        ax.scatter(
            *X[codes == k].T, marker=MARKERS[k], color=COLORS[k], edgecolor=INK, linewidth=0.5,
            label=f"class {classes[k]}", **style,
        )  # fmt: skip


def center_marker(ax: Any, at: Any, k: int, classes: Any, **style: Any) -> None:
    """Mark the center of a class."""
    ax.plot(
        *at, marker=MARKERS[k], color=COLORS[k], markeredgecolor=INK, linestyle="none", zorder=5,
        label=f"center of class {classes[k]}", **style,
    )  # fmt: skip


def ranked_bars(axis: Any, values: np.ndarray, names: list[str], *parts: Any) -> None:
    """Draw horizontal bars, the first on top; parts are masks of bars and their styles."""
    places = np.arange(len(values))
    for k, (own, style) in enumerate(parts):
        if np.any(own):
            axis.barh(places[own], values[own], color=COLORS[k % 2], hatch=HATCHES[k % 2],
                      edgecolor=INK, linewidth=0.6, **style)  # fmt: skip
    axis.set_yticks(places, names)
    axis.invert_yaxis()


# Fitted parameters.


class CoefficientsDisplay(Display):
    """The largest coefficients of a linear score, signed, as bars.

    Parameters
    ----------
    coefs : array-like of shape (n_features,)
        The coefficients.
    feature_names : sequence of str, default=None
        Names of the columns; None numbers them.
    positive : label, default=None
        The class that positive coefficients favor.
    n_largest : int, default=20
        Maximum number of coefficients that are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lincent import RegularizedLCC
    >>> from lincent.inspection import CoefficientsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RegularizedLCC().fit((X - X.mean()) / X.std(), y)
    >>> len(CoefficientsDisplay.from_estimator(model).coefs)
    30
    """

    def __init__(
        self, coefs: Any, feature_names: Any = None, positive: Any = None, n_largest: int = 20
    ) -> None:
        self.coefs, self.n_largest = np.asarray(coefs, dtype=float), n_largest
        if feature_names is not None and len(feature_names) != len(self.coefs):
            raise ValueError(
                f"feature_names has {len(feature_names)} names for {len(self.coefs)} coefficients."
            )
        self._size = 6.4, 0.9 + 0.28 * max(min(len(self.coefs), n_largest), 4)
        named = names_of(None, len(self.coefs)) if feature_names is None else feature_names
        self.feature_names, self.positive = [str(name) for name in named], positive

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Any = None, n_largest: int = 20, ax: Any = None
    ) -> CoefficientsDisplay:
        """Draw the coefficients of a fitted line, of several those of the first subproblem.

        Parameters
        ----------
        estimator : LCC, LCCCV, FQCC, RegularizedLCC, RegularizedLCCCV or another line
            Fitted, or a pipeline that ends in one. Bars compare where columns have one scale.
        feature_names : sequence of str, default=None
            Names of the columns; if not given, those of the frame in ``fit`` or of the step before.
        n_largest : int, default=20
            Maximum number of coefficients.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CoefficientsDisplay
            With ``ax_`` and ``figure_`` set.
        """
        model = classifier_of(estimator)
        instead = (
            "ShapeDisplay shows the shape functions of AdditiveLCC, and "
            "sklearn.inspection.permutation_importance works for any model."
        )
        coef = line_coefficients(model, cls.__name__, instead)
        if feature_names is None:
            feature_names = _names(estimator, model)
        positive = model.classes_[1] if len(model.classes_) == 2 else None
        return cls(coef[0], feature_names, positive, n_largest).plot(ax)

    def _draw(self, axis: Any) -> None:
        order = np.argsort(-np.abs(self.coefs), kind="stable")[: self.n_largest]
        coefs, names = self.coefs[order], [self.feature_names[j] for j in order]
        ranked_bars(axis, coefs, names, (coefs < 0, {}), (coefs >= 0, {}))
        axis.axvline(0.0, color=INK, linewidth=0.8)
        favored = "" if self.positive is None else f" (right speaks for {self.positive})"
        axis.set(xlabel=f"Coefficient{favored}", ylabel="Column")


def _names(estimator: Any, model: Any) -> list[str]:
    """Return the names of the input columns of the last step."""
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        with suppress(AttributeError, ValueError):  # a step without feature names
            return [str(name) for name in estimator[:-1].get_feature_names_out()]
    return names_of(None, model.n_features_in_)


class PathDisplay(Display):
    """Coefficients and objective along a regularization path over the margin.

    Parameters
    ----------
    margins : array-like of shape (n_margins,)
        The margins, in any order.
    coefs : array-like of shape (n_margins, n_features)
        The coefficients at each margin.
    objective : array-like of shape (n_margins,)
        The objective at each margin.
    feature_names : sequence of str, default=None
        Names for the legend; None numbers the columns.
    """

    _size, _panels = (6.8, 6.0), 2

    def __init__(self, margins: Any, coefs: Any, objective: Any, feature_names: Any = None) -> None:
        self.margins = np.asarray(margins, dtype=float)
        self.coefs = np.asarray(coefs, dtype=float)
        self.objective = np.asarray(objective, dtype=float)
        named = names_of(None, self.coefs.shape[1]) if feature_names is None else feature_names
        self.feature_names = [str(name) for name in named]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> PathDisplay:
        """Compute and draw the path over the margin of a fitted LCC or LCCCV, at its C.

        It has 20 margins, from a hundredth of the largest feasible one up to it; ``lcc_path``
        computes others.

        Parameters
        ----------
        estimator : LCC or LCCCV
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes, two.
        ax : two matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        PathDisplay
            With ``ax_`` and ``figure_`` set.
        """
        model, rows = last_step(estimator, X)
        why = "the path over the margin is defined for LCC and LCCCV."
        needs(isinstance(model, LCC | LCCCV), model, cls.__name__, why)
        codes = two_classes(model, rows, y, cls.__name__)
        names = names_of(rows, model.n_features_in_)
        largest = float(np.abs(model.centers_[1] - model.centers_[0]).sum())
        margins = np.geomspace(0.01, 1.0, 20) * largest * (1 - 1e-12)
        shared = ("class_weight", "solver", "tol", "max_iter", "time_limit", "random_state")
        params = {name: getattr(model, name) for name in shared}
        path = lcc_path(rows, model.classes_[codes], margins=margins, Cs=(model.C,), **params)
        ok = path.feasible
        return cls(path.margins[ok], path.coefs[0][ok], path.objectives[0][ok], names).plot(ax)

    def _draw(self, upper: Any, lower: Any) -> None:
        largest = np.argsort(-np.abs(self.coefs).max(axis=0))
        upper.plot(self.margins, self.coefs, color="#BBBBBB", linewidth=0.7, zorder=1)
        for rank, j in enumerate(largest[:8]):
            upper.plot(
                self.margins, self.coefs[:, j], color=COLORS[rank % 2], linewidth=1.8,
                linestyle=STYLES[rank // 2], label=self.feature_names[j],
            )  # fmt: skip
        upper.axhline(0.0, color=INK, linewidth=0.6)
        upper.set_ylabel("Coefficient")
        upper.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        lower.plot(self.margins, self.objective, color=INK, marker="o", markersize=3)
        lower.set(xlabel="Margin", ylabel="Objective")
        for axis in (upper, lower):
            axis.set_xscale("log" if np.all(self.margins > 0) else "linear")


class ShapeDisplay(Display):
    """The shape function of one column of an additive model, with a band from resampling.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        Values of the column, or its categories.
    value : ndarray of shape (n_points,)
        The contributions to the score.
    low, high : ndarray of shape (n_points,)
        The bounds of the band.
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
    >>> ShapeDisplay.from_estimator(model, "mean radius").value.shape
    (100,)
    """

    _size = (5.0, 3.2)

    def __init__(self, x: Any, value: Any, low: Any, high: Any, name: str) -> None:
        self.x, self.value, self.low, self.high = x, value, low, high
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, column: Any, *, ax: Any = None) -> ShapeDisplay:
        """Draw a shape function of a fitted AdditiveLCC or AdditiveLCCCV, of several the first.

        Parameters
        ----------
        estimator : AdditiveLCC or AdditiveLCCCV
            Fitted, or a pipeline that ends in one.
        column : str or int
            Name or number of the column.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ShapeDisplay
            With ``ax_`` and ``figure_`` set.
        """
        model = classifier_of(estimator)
        needs(
            hasattr(model, "shape"), model, cls.__name__,
            "only AdditiveLCC and AdditiveLCCCV have a shape function for each column. "
            "sklearn.inspection.PartialDependenceDisplay draws the mean score of any classifier.",
        )  # fmt: skip
        name = str(column if isinstance(column, str) else model.term_names_[column])
        return cls(**model.shape(column), name=name).plot(ax)

    def _draw(self, axis: Any) -> None:
        if np.asarray(self.x).dtype == object:
            positions = np.arange(len(self.x))
            errors = np.abs(np.stack([self.value - self.low, self.high - self.value]))
            axis.bar(positions, self.value, color=LIGHT[1], yerr=errors, ecolor=COLORS[1])
            axis.set_xticks(positions, self.x)
        else:
            axis.fill_between(self.x, self.low, self.high, color=LIGHT[1], lw=0)
            axis.plot(self.x, self.value, color=COLORS[1])
        axis.axhline(0.0, color=INK, lw=0.6)
        axis.set(xlabel=self.name, ylabel="Adds to the score")


# Samples.


class ProjectionDisplay(Display):
    """The projected classes on their line, with centers and threshold.

    Parameters
    ----------
    line : ndarray of shape (n_samples,)
        The projected samples.
    codes : ndarray of shape (n_samples,)
        Class code, 0 or 1, of each sample.
    centers : (float, float)
        The projected class centers.
    threshold : float
        The decision threshold.
    classes : sequence of two labels
        The two labels, in the order of ``classes_``.
    """

    _size = (6.4, 2.9)

    def __init__(self, line: Any, codes: Any, centers: Any, threshold: float, classes: Any) -> None:
        self.line, self.codes, self.centers = np.asarray(line, dtype=float), codes, centers
        self.threshold, self.classes = threshold, classes

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> ProjectionDisplay:
        """Draw the line of a fitted model.

        Parameters
        ----------
        estimator : classifier of two classes
            Fitted, or a pipeline that ends in one. The line is ``transform`` where the model has a
            line, and ``decision_function`` where it has none.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ProjectionDisplay
            With ``ax_`` and ``figure_`` set.
        """
        model, X = last_step(estimator, X)
        codes = two_classes(model, X, y, cls.__name__)
        coef: Any = getattr(model, "coef_", None)
        flat = isinstance(coef, np.ndarray) and coef.shape == (1, model.n_features_in_)
        if hasattr(model, "transform") and hasattr(model, "centers_") and (flat or coef is None):
            line = np.asarray(model.transform(X))[:, 0]
            centers = model.centers_ @ coef[0] if flat else model.centers_
            threshold = -float((model.intercept_ if flat else model._intercept)[0])
        else:
            line, threshold = np.asarray(model.decision_function(X), dtype=float), 0.0
            centers = [line[codes == k].mean() for k in (0, 1)]
        return cls(line, codes, centers, threshold, model.classes_).plot(ax)

    def _draw(self, ax: Any) -> None:
        edges = np.histogram_bin_edges(self.line, bins=40)
        for k, (color, center) in enumerate(zip(COLORS, self.centers, strict=True)):
            ax.hist(self.line[self.codes == k], edges, color=color, alpha=0.65, hatch=HATCHES[k],
                    label=f"class {self.classes[k]}")  # fmt: skip
            ax.axvline(center, color=color, linestyle=":", linewidth=1.6)
            center_marker(ax, (center, 0), k, self.classes, markersize=10, clip_on=False)
        ax.axvline(self.threshold, color=INK, linestyle="--", linewidth=1.4, label="threshold")
        ax.set(xlabel="Projected value", ylabel="Number of rows", ylim=(0, None))
        ax.legend(frameon=False, fontsize="small")


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
    >>> ScoresDisplay.from_estimator(AutoLCC().fit(X, y), X, y).scores.shape
    (150,)
    """

    def __init__(self, scores: Any, labels: Any, classes: Any) -> None:
        self.scores, self.labels = np.asarray(scores, dtype=float), np.asarray(labels)
        self.classes = list(classes)
        self._size = 6.4, 1.2 + 0.6 * len(self.classes)

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
        codes = check_labels(labels, classes, len(scores))
        scale = score_scale(scores, codes)
        scores = scores if scores.ndim == 1 else own_margin(scores, codes)
        return cls(scores / scale, labels, classes).plot(ax)

    def _draw(self, axis: Any) -> None:
        rng = np.random.default_rng(0)
        for k, label in enumerate(self.classes):
            part = self.scores[self.labels == label]
            if not len(part):
                continue
            low, middle, high = np.quantile(part, (0.25, 0.5, 0.75))
            axis.barh(k, high - low, left=low, height=0.5, color=LIGHT[k % 2], edgecolor=INK)
            axis.plot([middle, middle], [k - 0.25, k + 0.25], color=INK, linewidth=1.6, zorder=4)
            shown = rng.permutation(part)[:1000]
            axis.scatter(shown, k + rng.uniform(-0.2, 0.2, len(shown)), s=6, alpha=0.4,
                         color=COLORS[k % 2], zorder=3)  # fmt: skip
        axis.axvline(0.0, color=INK, linestyle="--", linewidth=1.2)
        axis.set_yticks(range(len(self.classes)), [str(label) for label in self.classes])
        more = "" if len(self.classes) == 2 else " of the own class above the best other"
        axis.set(xlabel=f"Score{more}", ylabel="Class")


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
    n_largest : int, default=15
        Maximum number of samples that are drawn.
    """

    def __init__(self, impact: Any, labels: Any, names: Any = None, n_largest: int = 15) -> None:
        self.impact, self.labels = np.asarray(impact, dtype=float), np.asarray(labels)
        self.names = np.arange(len(self.impact)) if names is None else np.asarray(names)
        rows = np.argsort(-self.impact, kind="stable")[:n_largest]
        # Samples on the margin violate it by rounding errors; they are no outliers.
        self.shown = rows[self.impact[rows] > 1e-8 * self.impact.max(initial=0.0)]
        self._size = 6.4, 0.8 + 0.3 * max(len(self.shown), 4)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_largest: int = 15, ax: Any = None
    ) -> ImpactDisplay:
        """Draw the impacts of the samples of X on a fitted model, above rounding errors.

        Samples have the names of the index of a frame, or row numbers.

        Parameters
        ----------
        estimator : classifier with ``misclassification_impact``
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.
        n_largest : int, default=15
            Maximum number of samples.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ImpactDisplay
            With ``ax_`` and ``figure_`` set.
        """
        # A frame has columns; tensors have another index.
        names = getattr(X, "index", None) if hasattr(X, "columns") else None
        model, X = last_step(estimator, X)
        needs(
            hasattr(model, "misclassification_impact"), model, cls.__name__,
            "the loss of a sample is defined for LCC, LCCCV, RegularizedLCC, KernelLCC and FQCC. "
            "ScoresDisplay shows misclassified samples for any classifier.",
        )  # fmt: skip
        y = to_numpy(y)
        return cls(model.misclassification_impact(X, y), y, names, n_largest).plot(ax)

    def _draw(self, axis: Any) -> None:
        rows, names = self.shown, [f"row {self.names[row]}" for row in self.shown]
        parts = [
            (self.labels[rows] == y, {"label": f"labeled {y}", "alpha": (0.9, 0.45)[(k // 2) % 2]})
            for k, y in enumerate(np.unique(self.labels))
        ]
        ranked_bars(axis, self.impact[rows], names, *parts)
        axis.set(xlabel="Misclassification impact (cost in the objective)", ylabel="Row")
        if len(rows):
            axis.legend(frameon=False, loc="lower right")
        else:
            axis.set_title("No sample violates the margin", loc="left", fontsize="medium")


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

    _size = (5.4, 4.6)

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
        codes = two_classes(estimator, X, y, cls.__name__)
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
        return cls.computed(estimator, X, y, resolution=resolution).plot(ax)

    def _draw(self, axis: Any) -> None:
        size = float(np.abs(self.scores).max()) or 1.0
        axis.contourf(*self.grid, self.scores, levels=[-2 * size, 0.0, 2 * size], colors=LIGHT)
        axis.contour(*self.grid, self.scores, levels=[0.0], colors=INK, linewidths=1.5)
        scatter(axis, self.X, self.codes, self.classes, s=20)
        axis.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        axis.legend(frameon=True, fontsize="small", framealpha=0.85)


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

    _size = (6.2, 5.4)

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
        codes = two_classes(model, X, y, cls.__name__)
        coef = line_coefficients(model, cls.__name__, "BoundaryDisplay shows its regions.")
        centers = np.array([X[codes == k].mean(axis=0) for k in (0, 1)])
        centers, threshold = getattr(model, "centers_", centers), -float(model.intercept_[0])
        return cls(X, codes, coef[0], centers, threshold, model.classes_, given or names).plot(ax)

    @property
    def feet(self) -> np.ndarray:
        """The samples projected at right angles onto the line, which passes between the centers."""
        unit, middle = self._line
        return np.asarray(middle + np.outer((self.X - middle) @ unit, unit))

    @property
    def _line(self) -> tuple[np.ndarray, np.ndarray]:
        """The direction of the line, of length 1, and a point on it."""
        unit = self.direction / np.linalg.norm(self.direction)
        return unit, np.asarray(self.centers).mean(axis=0)

    def _draw(self, axis: Any) -> None:
        feet, unit, middle = self.feet, *self._line
        for k in (0, 1):
            rows = self.codes == k
            segments = np.stack([self.X[rows], feet[rows]], axis=1)
            axis.plot(*segments.transpose(2, 1, 0), color=COLORS[k], linewidth=0.4, alpha=0.35)
            axis.scatter(*feet[rows].T, marker="|", s=30, color=COLORS[k], alpha=0.8, linewidth=0.9)
        scatter(axis, self.X, self.codes, self.classes, s=24)
        along = (feet - middle) @ unit
        ends = np.array([along.min(), along.max()]) + 0.05 * np.ptp(along) * np.array([-1, 1])
        line = middle + np.outer(ends, unit)
        axis.plot(*line.T, color=INK, linewidth=1.8, label="direction β", zorder=4)
        at = middle + unit * (self.threshold / np.linalg.norm(self.direction) - middle @ unit)
        across = np.array([-unit[1], unit[0]])
        width = 0.7 * float(np.abs((self.X - at) @ across).max())
        ends = at + np.outer([-width, width], across)
        axis.plot(*ends.T, color=INK, linewidth=1.4, linestyle="--", label="threshold", zorder=4)
        for k in (0, 1):
            style = {"markersize": 13, "markeredgewidth": 1.6}
            center_marker(axis, self.centers[k], k, self.classes, **style)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        axis.legend(frameon=False, fontsize="small")
