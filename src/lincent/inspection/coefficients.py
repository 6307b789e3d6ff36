"""The coefficients of a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.inspection._drawing import (
    HATCHES,
    Display,
    classifier_of,
    line_coefficients,
    names_of,
    table,
)
from lincent.inspection.colors import COLORS, INK


class CoefficientsDisplay(Display):
    """The largest coefficients of a linear score, signed, as bars.

    Parameters
    ----------
    coefs : array-like of shape (n_features,)
        The coefficients.
    feature_names : sequence of str, default=None
        Names of the columns; None numbers them.
    positive : label, default=None
        The class for which positive coefficients speak.

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

    def __init__(self, coefs: Any, feature_names: Any = None, positive: Any = None) -> None:
        self.coefs = np.asarray(coefs, dtype=float)
        named = names_of(None, len(self.coefs)) if feature_names is None else feature_names
        self.feature_names, self.positive = [str(name) for name in named], positive

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Any = None,
        problem: int = 0,
        n_largest: int = 20,
        ax: Any = None,
    ) -> CoefficientsDisplay:
        """Draw the coefficients of a fitted line.

        Parameters
        ----------
        estimator : LCC, LCCCV, FQCC, RegularizedLCC, RegularizedLCCCV or another line
            Fitted, or a pipeline that ends in one. Bars compare where columns have one scale.
        feature_names : sequence of str, default=None
            Names of the columns; if not given, those of the frame in ``fit`` or of the step before.
        problem : int, default=0
            Which two-class problem, where there are several.
        n_largest : int, default=20
            How many at most.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CoefficientsDisplay
            With ``ax_`` and ``figure_`` set.
        """
        model = classifier_of(estimator)
        instead = (
            "ShapeDisplay shows the curves of AdditiveLCC, and "
            "sklearn.inspection.permutation_importance what any model goes by."
        )
        coef = line_coefficients(model, cls.__name__, instead)
        if not 0 <= problem < len(coef):
            raise ValueError(
                f"problem={problem!r} is not there: this model has {len(coef)} two-class problems, "
                "counted from 0."
            )
        if feature_names is None:
            feature_names = _names(estimator, model)
        positive = model.classes_[1] if len(model.classes_) == 2 else None
        made = cls(coef[problem], feature_names, positive)
        return made._drawn(ax, n_largest=n_largest)  # type: ignore[no-any-return]

    def plot(self, ax: Any = None, *, n_largest: int = 20) -> CoefficientsDisplay:
        """Draw the ``n_largest`` of them.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        n_largest : int, default=20
            How many at most.

        Returns
        -------
        self
            The display, with ``figure_`` and ``ax_`` set.
        """
        order = np.argsort(-np.abs(self.coefs), kind="stable")[:n_largest]
        (axis,) = self._axes(ax, figsize=(6.4, 0.9 + 0.28 * max(len(order), 4)))
        place = np.arange(len(order))
        for k, side in enumerate((self.coefs[order] < 0, self.coefs[order] >= 0)):
            axis.barh(place[side], self.coefs[order][side], color=COLORS[k], hatch=HATCHES[k],
                      edgecolor=INK, linewidth=0.6)  # fmt: skip
        axis.axvline(0.0, color=INK, linewidth=0.8)
        axis.set_yticks(place, [self.feature_names[j] for j in order])
        axis.invert_yaxis()
        axis.set_ylabel("Column")
        speaks = "" if self.positive is None else f" (right speaks for {self.positive})"
        axis.set_xlabel(f"Coefficient{speaks}")
        self.ax_ = axis
        return self

    def frame(self) -> Any:
        """One line per column, largest coefficient first.

        Returns
        -------
        pandas.DataFrame
            The numbers behind the figure.
        """
        order = np.argsort(-np.abs(self.coefs), kind="stable")
        names = [self.feature_names[j] for j in order]
        return table({"column": names, "coefficient": self.coefs[order]})


def _names(estimator: Any, model: Any) -> list[str]:
    """What the columns of the last step are called."""
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        try:
            return [str(name) for name in estimator[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):
            pass  # a step that does not say
    return names_of(None, model.n_features_in_)
