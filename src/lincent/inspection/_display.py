"""The base class of the displays, the colors of two classes, and helpers that all displays use.

``from_estimator`` of a display computes and draws at once, as in scikit-learn; ``plot`` draws
again, in a new figure or in ``ax``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent._errors import import_optional
from lincent.estimators.base import IN_NAMESPACE, binary_coefficients, is_linear, numpy_copy
from lincent.sources.source import to_numpy

# Told apart without color vision and in grey; ``report.drawing`` maps them to the page's theme.
COLORS = ("#0072B2", "#E69F00")
LIGHT = ("#C6DDEC", "#FBEBC8")
INK = "#222222"
MARKERS = ("o", "^")
HATCHES = ("", "////")
STYLES = ("-", "--", "-.", ":")


class Display:
    """A figure as an object: ``figure_`` and ``ax_`` are set when it is drawn.

    Subclasses have the size of a new figure in inches, the number of panels, ``_draw``, and the
    columns of ``frame``.
    """

    figure_: Any
    ax_: Any
    _size: tuple[float, float]
    _panels = 1
    _draw: Callable[..., None]
    _columns: Callable[[], dict[str, Any]]

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

    def frame(self) -> Any:
        """Return the numbers behind the figure.

        Returns
        -------
        pandas.DataFrame
            One line per item that is drawn.
        """
        return import_optional("pandas", "app", "frame()").DataFrame(self._columns())


def classifier_of(estimator: Any) -> Any:
    """Return the fitted classifier, the last step of a pipeline or alone, with NumPy arrays."""
    check_is_fitted(estimator)
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    return numpy_copy(model) if IN_NAMESPACE in vars(model) else model


def last_step(estimator: Any, X: Any, *, here: bool = True) -> tuple[Any, Any]:
    """Return the classifier and its input X, transferred to host memory if ``here``."""
    model = classifier_of(estimator)
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    return model, to_numpy(X) if here else X


def needs(model: Any, attribute: str, figure: str, why: str) -> None:
    """Raise an error for an estimator without the attribute that a display shows."""
    if not hasattr(model, attribute):
        raise ValueError(f"{figure} cannot show {type(model).__name__}: {why}")


def line_coefficients(model: Any, figure: str, instead: str) -> np.ndarray:
    """Return ``coef_`` with one column for each feature; raise an error where there is none."""
    coef = binary_coefficients(model)[0] if is_linear(model) else None
    if not isinstance(coef, np.ndarray) or coef.ndim != 2 or coef.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{figure} cannot show {type(model).__name__}: its score is not one coefficient per "
            f"column. {instead}"
        )
    return coef


def two_classes(estimator: Any, y: Any, figure: str) -> np.ndarray:
    """Return the class code, 0 or 1, of each sample."""
    if len(estimator.classes_) != 2:
        raise ValueError(
            f"{figure} shows a model of two classes; this one knows {len(estimator.classes_)}."
        )
    return np.asarray(np.asarray(to_numpy(y)) == estimator.classes_[1]).astype(int)


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
