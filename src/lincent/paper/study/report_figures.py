"""The figures of the report on the paper's study."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.paper.study.compare_with_paper import POINTS, Agreement, Friedman
from lincent.report.comparison import shorten
from lincent.report.drawing import COLOR, SERIES, drawing, rows_of_dots, to_svg


def ours_and_theirs(numbers: list[Agreement]) -> str:
    """Draw every printed number against ours, with the band of agreement."""
    with drawing(6.2, 4.3) as (figure, axes):
        low = min(min(n.ours, n.theirs) for n in numbers) - 1.5
        ends = np.array([low, 101])
        axes.fill_between(ends, ends - POINTS, ends + POINTS, color=COLOR["area1"], lw=0)
        axes.plot(ends, ends, color=COLOR["muted"], lw=0.8)
        for row, color, marker in (("train", COLOR["s6"], "s"), ("test", COLOR["s1"], "o")):
            theirs, ours = zip(*((n.theirs, n.ours) for n in numbers if n.row == row), strict=True)
            style = {"ms": 5.5, "alpha": 0.85, "ls": "", "mew": 0}
            axes.plot(theirs, ours, marker, color=color, label=row, **style)
        outside = [n for n in numbers if not n.within_points]
        named = sorted(outside, key=lambda n: -abs(n.difference))[:6]
        for position, n in enumerate(sorted(named, key=lambda n: n.theirs)):
            above = n.difference > 0
            axes.annotate(
                f"{n.method} {n.dataset} {n.row}",
                (n.theirs, n.ours),
                fontsize=9,
                xytext=(-8, 12 + 7 * (position % 2)) if above else (8, -16),
                textcoords="offset points",
                ha="right" if above else "left",
                color=COLOR["ink"],
            )
        axes.set(xlim=ends, ylim=ends, xlabel="printed in the paper, percent")
        axes.set_ylabel("ours, percent")
        axes.legend(loc="lower right")
        return to_svg(figure, "agreement")


def grouped_dots(panels: dict[str, tuple[Any, Any]], name: str) -> str:
    """Draw sets as rows, one dot per method with its standard deviation, one panel per title.

    Each panel is (means, standard deviations), both sets by methods.
    """
    means = next(iter(panels.values()))[0]
    methods, labels = list(means.columns), [shorten(str(label)) for label in means.index]
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
            rows_of_dots(axes, labels)
            axes.set_title(title, loc="left")
            axes.set_xlabel("hard-label AUC, percent")
        figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return to_svg(figure, name)


def critical_difference(test: Friedman, name: str) -> str:
    """Draw methods on the axis of mean ranks; bars join indistinguishable ones (Demšar 2006)."""
    from scikit_posthocs import critical_difference_diagram

    ranks = {shorten(method, 20): rank for method, rank in test.ranks.items()}
    matrix = test.nemenyi.copy()
    matrix.index = matrix.columns = [shorten(str(label), 20) for label in matrix.columns]
    with drawing(7.4, 0.9 + 0.19 * len(ranks)) as (figure, axes):
        critical_difference_diagram(
            ranks,
            matrix,
            ax=axes,
            label_fmt_left="{label}\u00a0 {rank:.2f}\u00a0",
            label_fmt_right="\u00a0{rank:.2f}\u00a0 {label}",
            color_palette=dict.fromkeys(ranks, COLOR["ink"]),
            label_props={"fontsize": 10},
            crossbar_props={"color": COLOR["best"], "linewidth": 2.2},
            elbow_props={"linewidth": 0.8},
            marker_props={"marker": "o", "s": 18},
        )
        axes.tick_params(labelsize=9)
        return to_svg(figure, name)


def ranks_beside(ours: dict[str, float], theirs: dict[str, float]) -> str:
    """Draw the mean ranks of procedure 2: ours and the paper's, joined by a line."""
    order = [m for m in sorted(theirs, key=lambda method: theirs[method]) if m in ours]
    with drawing(6.2, 1.1 + 0.3 * len(order)) as (figure, axes):
        for position, method in enumerate(order):
            axes.plot([ours[method], theirs[method]], [position] * 2, color=COLOR["line"], lw=2)
        for ranks, color, label in ((theirs, "far", "paper"), (ours, "best", "ours")):
            values = [ranks[method] for method in order]
            axes.plot(values, range(len(order)), "o", color=COLOR[color], ms=7, label=label)
        rows_of_dots(axes, order)
        axes.set_xlabel("mean rank over the sets, 1 is best")
        axes.legend(loc="upper right")
        return to_svg(figure, "ranks")


def kernel_panels(shapes: dict[str, Any]) -> str:
    """Draw samples and decision regions in the plane, from the stored data of each shape."""
    from lincent.inspection import BoundaryDisplay

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
    from lincent.inspection import DirectionDisplay, ProjectionDisplay

    X, codes, classes = np.array(data["X"]), np.array(data["codes"]), data["classes"]
    beta, centers = np.array(data["beta"]), np.array(data["centers"])
    lines = [X @ np.array(data["before"]), X @ beta]
    middles = [(line[codes == 0].mean(), line[codes == 1].mean()) for line in lines]
    thresholds = [sum(middles[0]) / 2, data["threshold"]]
    layout = {"mosaic": [["plane", "before"], ["plane", "after"]], "width_ratios": [1.35, 1]}
    with drawing(7.2, 4.2, **layout) as (figure, axes):
        names = ("first feature", "second feature")
        plane = DirectionDisplay(X, codes, beta, centers, data["threshold"], classes, names)
        plane.plot(axes["plane"])
        axes["plane"].legend(fontsize=8, loc="best")
        titles = ["Before optimization", "After optimization"]
        histograms = ProjectionDisplay(lines, codes, middles, thresholds, titles, classes)
        histograms.plot([axes["before"], axes["after"]], bins=30)
        axes["before"].get_legend().remove()
        return to_svg(figure, "example")
