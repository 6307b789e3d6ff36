"""Displays of fitted parameters: coefficients, their regularization path, shape functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV, lcc_path
from lincent.inspection._display import (
    COLORS,
    HATCHES,
    INK,
    LIGHT,
    STYLES,
    Display,
    classifier_of,
    last_step,
    line_coefficients,
    names_of,
    needs,
    two_classes,
)


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
    >>> CoefficientsDisplay.from_estimator(model).frame().shape
    (30, 2)
    """

    def __init__(
        self, coefs: Any, feature_names: Any = None, positive: Any = None, n_largest: int = 20
    ) -> None:
        self.coefs, self.n_largest = np.asarray(coefs, dtype=float), n_largest
        self._size = 6.4, 0.9 + 0.28 * max(min(len(self.coefs), n_largest), 4)
        named = names_of(None, len(self.coefs)) if feature_names is None else feature_names
        self.feature_names, self.positive = [str(name) for name in named], positive

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Any = None,
        n_largest: int = 20,
        ax: Any = None,
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
        positions = np.arange(len(order))
        for k, side in enumerate((self.coefs[order] < 0, self.coefs[order] >= 0)):
            axis.barh(positions[side], self.coefs[order][side], color=COLORS[k], hatch=HATCHES[k],
                      edgecolor=INK, linewidth=0.6)  # fmt: skip
        axis.axvline(0.0, color=INK, linewidth=0.8)
        axis.set_yticks(positions, [self.feature_names[j] for j in order])
        axis.invert_yaxis()
        axis.set_ylabel("Column")
        favored = "" if self.positive is None else f" (right speaks for {self.positive})"
        axis.set_xlabel(f"Coefficient{favored}")

    def _columns(self) -> dict[str, Any]:
        order = np.argsort(-np.abs(self.coefs), kind="stable")
        names = [self.feature_names[j] for j in order]
        return {"column": names, "coefficient": self.coefs[order]}


def _names(estimator: Any, model: Any) -> list[str]:
    """Return the names of the input columns of the last step."""
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        try:
            return [str(name) for name in estimator[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):
            pass  # a step without feature names
    return names_of(None, model.n_features_in_)


MAX_LABELED = 8


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
        wrong = self.coefs.ndim != 2 or len(self.coefs) != len(self.margins)
        if wrong or self.objective.shape != self.margins.shape:
            raise ValueError(
                f"A path needs a row of coefficients and an objective for each of its "
                f"{len(self.margins)} margins; coefs has shape {self.coefs.shape} and objective "
                f"{self.objective.shape}."
            )
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
        model, rows = last_step(estimator, X, here=False)
        if not isinstance(model, LCC | LCCCV):
            raise ValueError(
                f"PathDisplay cannot show {type(model).__name__}: the path over the margin is "
                "defined for LCC and LCCCV."
            )
        codes = two_classes(model, y, cls.__name__)
        names = names_of(rows, model.n_features_in_)
        largest = float(np.abs(model.centers_[1] - model.centers_[0]).sum())
        margins = np.geomspace(0.01, 1.0, 20) * largest * (1 - 1e-12)
        path = lcc_path(
            rows, model.classes_[codes], margins=margins, Cs=(model.C,),
            class_weight=model.class_weight,
            solver=model.solver, tol=model.tol, max_iter=model.max_iter,
            time_limit=model.time_limit, random_state=model.random_state,
        )  # fmt: skip
        feasible = path.feasible
        display = cls(
            path.margins[feasible], path.coefs[0][feasible], path.objectives[0][feasible], names
        )
        return display.plot(ax)

    def _draw(self, upper: Any, lower: Any) -> None:
        largest = np.argsort(-np.abs(self.coefs).max(axis=0))
        for rank, j in enumerate(largest):
            if rank < MAX_LABELED:
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

    def _columns(self) -> dict[str, Any]:
        columns = {"margin": self.margins, "objective": self.objective}
        columns.update(zip(self.feature_names, self.coefs.T, strict=True))
        return columns


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
    >>> ShapeDisplay.from_estimator(model, "mean radius").frame().shape
    (100, 4)
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
            model, "shape", cls.__name__,
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

    def _columns(self) -> dict[str, Any]:
        return {"x": self.x, "value": self.value, "low": self.low, "high": self.high}
