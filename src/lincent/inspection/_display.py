"""The base class of the displays, the colors of two classes, and helpers that all displays use.

``from_estimator`` of a display computes and draws at once, as in scikit-learn; ``computed`` only
computes.  ``plot`` draws again, in the figure of ``from_estimator`` or in ``ax``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import IN_NAMESPACE, numpy_copy
from lincent.sources.source import to_numpy

# Told apart without color vision and in grey; ``report.drawing`` maps them to the page's theme.
COLORS = ("#0072B2", "#E69F00")
LIGHT = ("#C6DDEC", "#FBEBC8")
INK = "#222222"
MARKERS = ("o", "^")
HATCHES = ("", "////")
STYLES = ("-", "--", "-.", ":")


def pyplot() -> Any:
    """Import matplotlib on first use."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install "lincent[app]".') from error
    return plt


def table(columns: dict[str, Any]) -> Any:
    """Return a pandas frame."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError('frame() needs pandas: pip install "lincent[app]".') from error
    return pandas.DataFrame(columns)


class Display:
    """A figure as an object: ``figure_`` and ``ax_`` are set when it is drawn."""

    figure_: Any
    ax_: Any
    _own_figure: Any = None
    """The figure that ``from_estimator`` created; the next ``plot`` without ``ax`` reuses it."""

    def _drawn(self, ax: Any, **how: Any) -> Any:
        """Draw on behalf of ``from_estimator``."""
        self.plot(ax=ax, **how)  # type: ignore[attr-defined]
        self._own_figure = self.figure_ if ax is None else None
        return self

    def _axes(self, ax: Any, rows: int = 1, **size: Any) -> np.ndarray:
        """Return the given axes, or new ones below each other, and set ``figure_``."""
        own, self._own_figure = self._own_figure, None
        if ax is None:
            if own is None:
                self.figure_ = pyplot().figure(layout="constrained", **size)
            else:
                self.figure_ = own
                own.clear()
            return np.asarray(self.figure_.subplots(rows, 1, squeeze=False)[:, 0])
        if own is not None:
            pyplot().close(own)
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).reshape(-1)
        if len(axes) != rows:
            raise ValueError(
                f"This figure has {rows} panels, but ax holds {len(axes)}: give one each."
            )
        self.figure_ = axes[0].figure
        return axes


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
    coef = getattr(model, "coef_", None)
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
