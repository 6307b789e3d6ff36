"""Figures of the report on the paper's study, and their data.

Data of the two-dimensional figures is computed when the study runs, since a report only draws it:

    example   the paper's worked example: its samples, the direction, and one that does not
              separate, for the histograms before and after
    shapes    the kernel test: the samples of each shape and the score of KernelLCC on a grid

It is plain numbers, stored as JSON beside the table of results.

A drawing is SVG that takes its colors from the page: each color is drawn as a placeholder and
replaced by a style variable, so one drawing serves light, dark and print.  Text stays text, never
read as mathematics: a column may be called ``$x``.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lincent._errors import import_optional, printable
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.linear import LCC
from lincent.inspection.displays import (
    COLORS,
    INK,
    LIGHT,
    BoundaryDisplay,
    DirectionDisplay,
    ProjectionDisplay,
)
from lincent.model_selection.experiment import Problem
from lincent.model_selection.metrics import weighted_auc

_NAMES = ("ink", "muted", "line", "s1", "s2", "s3", "s4", "s5", "s6")
COLOR = {name: f"#0a0b{position + 16:02x}" for position, name in enumerate(_NAMES)}
_VARIABLE = {value: f"var(--{name})" for name, value in COLOR.items()}
# The colors of the two classes, and white under and around markers.
_THEME = ("s1", "s2", "area1", "area2", "ink", "paper")
for _color, _name in zip((*COLORS, *LIGHT, INK, "#ffffff"), _THEME, strict=True):
    _VARIABLE[_color] = f"var(--{_name})"
SERIES = tuple(COLOR[f"s{k}"] for k in range(1, 7))

Panels = dict[str, tuple[Any, Any]]
"""Means and standard deviations, sets by methods, of each panel."""


def example_plot_data() -> dict[str, Any]:
    """Fit the worked example.

    The paper does not say which direction its "before" histogram shows. Here it is the one at right
    angles to the line between the class centers, along which both centers fall on one point: the
    worst place an optimization can start from.
    """
    from lincent.paper.datasets import make_paper_example

    X, y = make_paper_example(random_state=0)
    model = LCC().fit(X, y)
    before = direction_without_contrast(model.centers_)
    return {
        "X": _plain(X),
        "codes": (y == model.classes_[1]).astype(int).tolist(),
        "classes": [str(label) for label in model.classes_],
        "beta": _plain(model.coef_[0], 17),
        "centers": _plain(model.centers_, 17),
        "threshold": -float(model.intercept_[0]),
        "before": _plain(before, 17),
        "auc_before": separation(X @ before, y == model.classes_[1]),
        "auc_after": separation(X @ model.coef_[0], y == model.classes_[1]),
        "wrong": int((model.predict(X) != y).sum()),
    }


def direction_without_contrast(centers: np.ndarray) -> np.ndarray:
    """Return the unit direction in the plane at right angles to the difference of the centers."""
    first, second = centers[1] - centers[0]
    return np.array([-second, first]) / np.hypot(first, second)


def separation(line: np.ndarray, own: np.ndarray) -> float:
    """Return the AUC of a line in whichever direction it is read: 0.5 is none, 1 is complete."""
    auc = weighted_auc(np.asarray(own), np.asarray(line))
    return max(auc, 1 - auc)


def shape_plot_data(shapes: list[Problem], widths: dict[str, float]) -> dict[str, Any]:
    """Fit the paper's kernel form to each shape at the width chosen for it, and score a grid."""
    data = {}
    for problem in shapes:
        if problem.name in widths:
            X = problem.preparation().fit_transform(problem.X)
            model = KernelLCC(gamma=widths[problem.name], norm="linf", class_weight=None)
            model.fit(X, problem.y)
            drawn = BoundaryDisplay.computed(model, X, problem.y, resolution=70)
            data[problem.name] = {
                "X": _plain(X),
                "codes": drawn.codes.tolist(),
                "classes": [str(label) for label in model.classes_],
                "grid": [_plain(axis) for axis in drawn.grid],
                "scores": _plain(drawn.scores),
                "gamma": widths[problem.name],
                "right": float(np.mean(model.predict(X) == problem.y)),
            }
    return data


def chosen_widths(frame: Any) -> dict[str, float]:
    """Return the gamma that selection inside the training parts chose most often on each shape.

    Of equally frequent ones the widest kernel (the smallest gamma) is taken.
    """
    nested = (frame["procedure"] == "nested") & (frame["method"] == "KernelLCC-box")
    votes = frame[nested & (frame["chosen"] != "")]
    gammas = votes["chosen"].map(lambda chosen: float(json.loads(chosen)["gamma"]))
    return {
        str(name): float(values.mode().min()) for name, values in gammas.groupby(votes["dataset"])
    }


def _plain(values: Any, digits: int = 5) -> Any:
    """Return numbers as nested lists, short enough to be read: a drawing needs no more digits."""
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"), otypes=[float])(values).tolist()


# Drawings.


@contextmanager
def drawing(width: float, height: float, **layout: Any) -> Iterator[tuple[Any, Any]]:
    """Open a figure with the look of the reports and close it after use."""
    matplotlib = import_optional("matplotlib", "app", "A report")
    from matplotlib.figure import Figure

    muted = ("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "xtick.labelcolor")
    hidden = ("text.parse_math", "axes.spines.top", "axes.spines.right", "legend.frameon")
    settings: Any = {
        **dict.fromkeys(muted, COLOR["muted"]),
        **dict.fromkeys(("axes.titlecolor", "text.color", "ytick.labelcolor"), COLOR["ink"]),
        **dict.fromkeys(hidden, False),
        **{"grid.color": COLOR["line"], "svg.fonttype": "none"},
        **{"font.size": 11, "axes.titlesize": 11, "legend.fontsize": 10},
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained")
        make = figure.subplot_mosaic if "mosaic" in layout else figure.subplots
        yield figure, make(**layout)


def to_svg(figure: Any, name: str) -> str:
    """Return a figure as an SVG element with colors from the page and ids of its own."""
    import matplotlib
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    buffer = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}),
        warnings.catch_warnings(),
    ):
        # The page's own fonts draw the text; which signs matplotlib's font has does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    for placeholder, variable in _VARIABLE.items():
        svg = re.sub(placeholder, variable, svg, flags=re.I)
    prefix = re.sub(r"[^a-z0-9]", "", name.lower())
    svg = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\1{prefix}-", svg)
    # One scale for all: letters of the page's size, and a narrow page shrinks a drawing.
    svg = re.sub(r' (?:width|height)="[^"]*"', "", svg, count=2)
    # 5.75 rem an inch: eleven points of matplotlib are 14 pixels, as the letters of a table.
    return svg.replace("<svg", f'<svg style="width: {5.75 * figure.get_figwidth():.4g}rem"', 1)


def grouped_dots(panels: Panels, name: str) -> str:
    """Draw sets as rows, one dot per method with its standard deviation, one panel per title."""
    means = next(iter(panels.values()))[0]
    methods, labels = list(means.columns), list(means.index)
    offsets = np.linspace(-0.27, 0.27, len(methods))
    layout = {"nrows": 1, "ncols": len(panels), "sharey": True, "squeeze": False}
    with drawing(7.0, 1.4 + 0.5 * len(labels), **layout) as (figure, grid):
        for axes, (title, (table, sds)) in zip(grid[0], panels.items(), strict=True):
            for k, method in enumerate(methods):
                heights = np.arange(len(table)) + offsets[k]
                values = table[method].to_numpy(dtype=float)
                sd = np.nan_to_num(sds[method].to_numpy(dtype=float))
                axes.hlines(heights, values - sd, values + sd, color=SERIES[k], lw=1.2)
                marker = "osD^vP"[k % 6]
                axes.plot(values, heights, marker, color=SERIES[k], ms=5.5, label=method, mew=0)
            axes.set_yticks(range(len(labels)), labels, fontsize=10.5)
            axes.set_ylim(len(labels) - 0.4, -0.6)  # the first on top
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            axes.grid(axis="x", linewidth=0.7)
            axes.set_axisbelow(True)
            axes.set_title(title, loc="left")
            axes.set_xlabel("hard-label AUC, percent")
        figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return to_svg(figure, name)


def kernel_panels(shapes: dict[str, Any]) -> str:
    """Draw samples and decision regions in the plane, from the stored data of each shape."""
    n_rows = (len(shapes) + 1) // 2
    with drawing(6.2, 3.1 * n_rows, nrows=n_rows, ncols=2, squeeze=False) as (figure, grid):
        for axes in grid.flat[len(shapes) :]:
            axes.set_visible(False)
        for axes, (title, data) in zip(grid.flat, shapes.items(), strict=False):
            lines = [np.array(axis) for axis in data["grid"]]
            scores, X, codes = (np.array(data[name]) for name in ("scores", "X", "codes"))
            BoundaryDisplay(lines, scores, X, codes, data["classes"], ("", "")).plot(axes)
            axes.get_legend().remove()
            axes.set(title=title, xticks=[], yticks=[], xlabel="", ylabel="")
        return to_svg(figure, "kernel")


def worked_example(data: dict[str, Any]) -> str:
    """Draw the paper's example: the groups with the direction, projections before and after."""
    X, codes, classes = np.array(data["X"]), np.array(data["codes"]), data["classes"]
    beta, centers = np.array(data["beta"]), np.array(data["centers"])
    layout = {"mosaic": [["plane", "before"], ["plane", "after"]], "width_ratios": [1.35, 1]}
    with drawing(7.2, 4.2, **layout) as (figure, axes):
        names = ("first feature", "second feature")
        plane = DirectionDisplay(X, codes, beta, centers, data["threshold"], classes, names)
        plane.plot(axes["plane"])
        axes["plane"].legend(fontsize=8, loc="best")
        for name, direction in (("before", np.array(data["before"])), ("after", beta)):
            line = X @ direction
            middles = [line[codes == k].mean() for k in (0, 1)]
            threshold = data["threshold"] if name == "after" else sum(middles) / 2
            ProjectionDisplay(line, codes, middles, threshold, classes).plot(axes[name])
            axes[name].set_title(f"{name.capitalize()} optimization", loc="left", fontsize="medium")
            axes[name].get_legend().remove()
        return to_svg(figure, "example")
