"""What displays share: axes, tables, rows and classes as the model sees them.

``from_estimator`` of a display computes and draws at once, as scikit-learn's do; ``computed`` only
computes.  ``plot`` draws (again): without ``ax`` in the figure that ``from_estimator`` made, with
``ax`` there and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.dispatch import FOLLOWED, numpy_copy
from lincent.inspection.colors import COLORS, INK
from lincent.sources.source import to_numpy

MARKERS = ("o", "^")
HATCHES = ("", "////")
STYLES = ("-", "--", "-.", ":")


def pyplot() -> Any:
    """matplotlib, imported when something is drawn."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install "lincent[app]".') from error
    return plt


def table(columns: dict[str, Any]) -> Any:
    """A pandas frame."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError('frame() needs pandas: pip install "lincent[app]".') from error
    return pandas.DataFrame(columns)


class Display:
    """A figure as an object: ``figure_`` and ``ax_`` are set when it is drawn."""

    figure_: Any
    ax_: Any
    _made: Any = None
    """The figure that ``from_estimator`` has made, until another is asked for."""

    def _drawn(self, ax: Any, **how: Any) -> Any:
        """Draw for ``from_estimator``."""
        self.plot(ax=ax, **how)  # type: ignore[attr-defined]
        self._made = self.figure_ if ax is None else None
        return self

    def _axes(self, ax: Any, rows: int = 1, **size: Any) -> np.ndarray:
        """The given axes, or new ones below each other; ``figure_`` is set."""
        made, self._made = self._made, None
        if ax is None:
            if made is None:
                self.figure_ = pyplot().figure(layout="constrained", **size)
            else:
                self.figure_ = made
                made.clear()
            return np.asarray(self.figure_.subplots(rows, 1, squeeze=False)[:, 0])
        if made is not None:
            pyplot().close(made)
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).reshape(-1)
        if len(axes) != rows:
            raise ValueError(
                f"This figure has {rows} panels, but ax holds {len(axes)}: give one each."
            )
        self.figure_ = axes[0].figure
        return axes


def classifier_of(estimator: Any) -> Any:
    """The classifier, at the end of a pipeline or alone, in NumPy; it must be fitted."""
    check_is_fitted(estimator)
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    return numpy_copy(model) if FOLLOWED in vars(model) else model


def last_step(estimator: Any, X: Any, *, here: bool = True) -> tuple[Any, Any]:
    """The classifier, and X as it sees it; unless it may stay on its device, it comes here."""
    model = classifier_of(estimator)
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        X = estimator[:-1].transform(X)
    return model, to_numpy(X) if here else X


def needs(model: Any, attribute: str, figure: str, why: str) -> None:
    """A sentence where an estimator has nothing to draw."""
    if not hasattr(model, attribute):
        raise ValueError(f"{figure} cannot show {type(model).__name__}: {why}")


def line_coefficients(model: Any, figure: str, instead: str) -> np.ndarray:
    """``coef_`` with one column for each feature, or a sentence."""
    coef = getattr(model, "coef_", None)
    if not isinstance(coef, np.ndarray) or coef.ndim != 2 or coef.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{figure} cannot show {type(model).__name__}: its score is not one coefficient per "
            f"column. {instead}"
        )
    return coef


def two_classes(estimator: Any, y: Any, figure: str) -> np.ndarray:
    """0 or 1 for each row."""
    if len(estimator.classes_) != 2:
        raise ValueError(
            f"{figure} shows a model of two classes; this one knows {len(estimator.classes_)}."
        )
    return np.asarray(np.asarray(to_numpy(y)) == estimator.classes_[1]).astype(int)


def names_of(X: Any, count: int) -> list[str]:
    """The names of the columns, or their numbers."""
    named = getattr(X, "columns", None)
    if named is None or len(named) != count:
        return [f"feature {j}" for j in range(count)]
    return [str(name) for name in named]


def two_columns(X: Any, figure: str) -> tuple[np.ndarray, list[str]]:
    """X as an array with two columns, and their names."""
    names = [str(name) for name in getattr(X, "columns", ("First feature", "Second feature"))]
    X = np.asarray(to_numpy(X), dtype=float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"{figure} is drawn in a plane; X has shape {X.shape}: give two columns.")
    return X, names


def scatter(ax: Any, X: np.ndarray, codes: np.ndarray, classes: Any, **style: Any) -> None:
    """The rows of both classes."""
    for k in (0, 1):
        ax.scatter(
            *X[codes == k].T, marker=MARKERS[k], color=COLORS[k], edgecolor=INK, linewidth=0.5,
            label=f"class {classes[k]}", **style,
        )  # fmt: skip
