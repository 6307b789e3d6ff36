"""Coefficients and objective along a path of margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.lcc_path import lcc_path
from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV
from lincent.inspection._drawing import STYLES, Display, last_step, names_of, table, two_classes
from lincent.inspection.colors import COLORS, INK

NAMED_COEFFICIENTS = 8


class PathDisplay(Display):
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

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, margins: Any = None, ax: Any = None
    ) -> PathDisplay:
        """Follow and draw the path of margins of a fitted LCC or LCCCV, at its C.

        Parameters
        ----------
        estimator : LCC or LCCCV
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes, two.
        margins : array-like, default=None
            The margins; None is 20 of them, from a hundredth of the largest feasible one up to it.
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
                f"PathDisplay cannot show {type(model).__name__}: the path of margins is that of "
                "LCC and LCCCV."
            )
        codes = two_classes(model, y, cls.__name__)
        names = names_of(rows, model.n_features_in_)
        if margins is None:
            centers = model.centers_
            largest = float(np.abs(centers[1] - centers[0]).sum())
            margins = np.geomspace(0.01, 1.0, 20) * largest * (1 - 1e-12)
        found = lcc_path(
            rows, codes, margins=margins, Cs=(model.C,), class_weight=_by_code(model),
            solver=model.solver, tol=model.tol, max_iter=model.max_iter,
            time_limit=model.time_limit, random_state=model.random_state,
        )  # fmt: skip
        there = found.feasible
        made = cls(found.margins[there], found.coefs[0][there], found.objectives[0][there], names)
        return made._drawn(ax)  # type: ignore[no-any-return]

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
        (upper, lower) = self._axes(ax, 2, figsize=(6.8, 6.0))
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
        return table(columns)


def _by_code(model: Any) -> Any:
    """The class weights of a model for the classes 0 and 1."""
    weight = model.class_weight
    if not isinstance(weight, dict):
        return weight
    return {k: weight.get(label, 1.0) for k, label in enumerate(model.classes_.tolist())}
