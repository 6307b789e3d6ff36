"""The drawings of both reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.paper.study.statistics import Friedman
from lincent.paper.study.summary import PairedDifference, Standing
from lincent.report.drawing import COLOR, SERIES, drawing, log_seconds, rows_of_dots, to_svg


def shorten(label: str, length: int = 28) -> str:
    """Return a label that fits beside a figure."""
    return label if len(label) <= length else label[: length - 1] + "…"


def score_dots(found: list[Standing], near: set[str], best: str, xlabel: str, scale: float) -> str:
    """Means with the spread over splits; the best and what cannot be told from it stand out."""
    shown = [line for line in found if np.isfinite(line.mean)]
    with drawing(5.4, 0.9 + 0.29 * len(shown)) as (figure, axes):
        for position, line in enumerate(shown):
            name = "best" if line.method == best else "near" if line.method in near else "far"
            mean, spread = scale * line.mean, scale * (line.sd if np.isfinite(line.sd) else 0.0)
            axes.plot([mean - spread, mean + spread], [position] * 2, color=COLOR[name], lw=1.6)
            axes.plot(mean, position, "o", color=COLOR[name], ms=7.5)
        rows_of_dots(axes, [shorten(line.method) for line in shown])
        axes.set_xlabel(xlabel)
        return to_svg(figure, "scores")


def forest(found: list[PairedDifference], reference: str, scale: float, xlabel: str) -> str:
    """Paired differences with corrected intervals; right of zero the reference is better."""
    with drawing(5.4, 0.9 + 0.29 * max(len(found), 1)) as (figure, axes):
        axes.axvline(0, color=COLOR["ink"], lw=1)
        for position, pair in enumerate(found):
            gap = pair.difference
            color = COLOR["best"] if pair.real else COLOR["far"]
            if np.isfinite(gap.low):
                axes.plot([scale * gap.low, scale * gap.high], [position] * 2, color=color, lw=1.6)
            axes.plot(scale * gap.mean, position, "D", color=color, ms=5.5)
        rows_of_dots(axes, [shorten(pair.method) for pair in found])
        axes.set_xlabel(xlabel)
        return to_svg(figure, f"forest{reference}")


def time_dots(found: list[Standing]) -> str:
    """Median fit times on a logarithmic axis."""
    shown = sorted((n for n in found if np.isfinite(n.seconds)), key=lambda line: line.seconds)
    with drawing(5.4, 0.9 + 0.27 * len(shown)) as (figure, axes):
        values = [max(line.seconds, 1e-5) for line in shown]
        axes.hlines(range(len(shown)), min(values) / 1.5, values, color=COLOR["line"], lw=1.5)
        axes.plot(values, range(len(shown)), "o", color=COLOR["s1"], ms=6.5)
        log_seconds(axes)
        rows_of_dots(axes, [shorten(line.method) for line in shown])
        axes.set_xlabel("median time of one fit, logarithmic")
        return to_svg(figure, "times")


def ours_and_theirs(points: list[Any], band: float) -> str:
    """Every printed number against ours, with the band of the aim."""
    with drawing(6.2, 4.3) as (figure, axes):
        low = min(min(p.ours, p.theirs) for p in points) - 1.5
        axes.fill_between(
            [low, 101],
            [low - band, 101 - band],
            [low + band, 101 + band],
            color=COLOR["area1"],
            lw=0,
        )
        axes.plot([low, 101], [low, 101], color=COLOR["muted"], lw=0.8)
        for row, color, marker in (("train", COLOR["s6"], "s"), ("test", COLOR["s1"], "o")):
            part = [p for p in points if p.row == row]
            axes.plot(
                [p.theirs for p in part], [p.ours for p in part], marker, color=color, ms=5.5,
                alpha=0.85, label=row, ls="", mew=0,
            )  # fmt: skip
        far = [p for p in points if not p.within_points]
        named = sorted(far, key=lambda p: -abs(p.difference))[:6]
        for position, p in enumerate(sorted(named, key=lambda p: p.theirs)):
            axes.annotate(
                f"{p.method} {p.dataset} {p.row}", (p.theirs, p.ours), fontsize=9,
                xytext=(-8, 12 + 7 * (position % 2)) if p.difference > 0 else (8, -16),
                textcoords="offset points", ha="right" if p.difference > 0 else "left",
                color=COLOR["ink"],
            )  # fmt: skip
        axes.set_xlim(low, 101)
        axes.set_ylim(low, 101)
        axes.set_xlabel("printed in the paper, percent")
        axes.set_ylabel("ours, percent")
        axes.legend(loc="lower right")
        return to_svg(figure, "agreement")


def grouped_dots(panels: dict[str, tuple[Any, Any]], name: str, xlabel: str) -> str:
    """Sets as rows, one dot per method with its spread, one panel per title.

    Each panel is (means, spreads), both sets by methods.
    """
    means = next(iter(panels.values()))[0]
    methods, labels = list(means.columns), [shorten(str(label)) for label in means.index]
    offsets = np.linspace(-0.27, 0.27, len(methods)) if len(methods) > 1 else [0.0]
    size = {"nrows": 1, "ncols": len(panels), "sharey": True, "squeeze": False}
    with drawing(7.0, 1.4 + 0.5 * len(labels), **size) as (figure, grid):
        for axes, (title, (table, spread)) in zip(grid[0], panels.items(), strict=True):
            for k, method in enumerate(methods):
                heights = np.arange(len(table)) + offsets[k]
                values = table[method].to_numpy(dtype=float)
                reach = np.nan_to_num(spread[method].to_numpy(dtype=float))
                axes.hlines(heights, values - reach, values + reach, color=SERIES[k], lw=1.2)
                marker = "osD^vP"[k % 6]
                axes.plot(values, heights, marker, color=SERIES[k], ms=5.5, label=method, mew=0)
            rows_of_dots(axes, labels)
            axes.set_title(title, loc="left")
            axes.set_xlabel(xlabel)
        figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return to_svg(figure, name)


def critical_difference(test: Friedman, name: str) -> str:
    """Methods on the axis of mean ranks; bars join what cannot be told apart (Demšar 2006)."""
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
    """Mean ranks of procedure 2: ours and the paper's, joined by a line."""
    order = sorted(theirs, key=lambda method: theirs[method])
    order = [method for method in order if method in ours]
    with drawing(6.2, 1.1 + 0.3 * len(order)) as (figure, axes):
        for position, method in enumerate(order):
            axes.plot([ours[method], theirs[method]], [position] * 2, color=COLOR["line"], lw=2)
        axes.plot(
            [theirs[m] for m in order], range(len(order)), "o", color=COLOR["far"], ms=7, ls="",
            label="paper",
        )  # fmt: skip
        axes.plot(
            [ours[m] for m in order], range(len(order)), "o", color=COLOR["best"], ms=7, ls="",
            label="ours",
        )  # fmt: skip
        rows_of_dots(axes, order)
        axes.set_xlabel("mean rank over the sets, 1 is best")
        axes.legend(loc="upper right")
        return to_svg(figure, "ranks")


def kernel_panels(shapes: dict[str, Any]) -> str:
    """Points and regions in the plane, from what the study has stored of each shape."""
    from lincent.inspection import BoundaryDisplay

    rows = (len(shapes) + 1) // 2
    with drawing(6.2, 3.1 * rows, nrows=rows, ncols=2, squeeze=False) as (figure, grid):
        for axes in grid.flat[len(shapes) :]:
            axes.set_visible(False)
        for axes, (title, drawn) in zip(grid.flat, shapes.items(), strict=False):
            BoundaryDisplay(
                [np.array(part) for part in drawn["grid"]],
                np.array(drawn["scores"]),
                np.array(drawn["X"]),
                np.array(drawn["codes"]),
                drawn["classes"],
                ("", ""),
            ).plot(axes)
            axes.get_legend().remove()
            axes.set(title=title, xticks=[], yticks=[], xlabel="", ylabel="")
        return to_svg(figure, "kernel")


def worked_example(drawn: dict[str, Any]) -> str:
    """The paper's example: the groups with the direction, the projections before and after."""
    from lincent.inspection import DirectionDisplay, ProjectionDisplay

    X, codes, classes = np.array(drawn["X"]), np.array(drawn["codes"]), drawn["classes"]
    beta, centers = np.array(drawn["beta"]), np.array(drawn["centers"])
    lines = [X @ np.array(drawn["before"]), X @ beta]
    middles = [(line[codes == 0].mean(), line[codes == 1].mean()) for line in lines]
    cuts = [sum(middles[0]) / 2, drawn["threshold"]]
    layout = {"mosaic": [["plane", "before"], ["plane", "after"]], "width_ratios": [1.35, 1]}
    with drawing(7.2, 4.2, **layout) as (figure, axes):
        names = ("first feature", "second feature")
        plane = DirectionDisplay(X, codes, beta, centers, drawn["threshold"], classes, names)
        plane.plot(axes["plane"])
        axes["plane"].legend(fontsize=8, loc="best")
        titles = ["Before optimization", "After optimization"]
        histograms = ProjectionDisplay(lines, codes, middles, cuts, titles, classes)
        histograms.plot([axes["before"], axes["after"]], bins=30)
        axes["before"].get_legend().remove()
        return to_svg(figure, "example")
