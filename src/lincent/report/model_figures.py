"""The drawings of a model's report, from the numbers of its explanation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from lincent.report.drawing import COLOR, SERIES, drawing, rows_of_dots, to_svg

MAX_NAME = 28
MAX_FLAT_LETTERS = 28  # category labels with more letters in all are rotated


def short(name: str) -> str:
    """Return a name that fits beside a drawing."""
    name = " ".join(str(name).split())
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


def histogram(line: dict[str, Any]) -> str:
    """Draw the rows of each class along the score, with the threshold as a dashed line."""
    middles = [(a + b) / 2 for a, b in pairwise(line["edges"])]
    with drawing(5.4, 3.0) as (figure, axes):
        for k, (name, counts) in enumerate(line["counts"].items()):
            fractions = [count / max(1, sum(counts)) for count in counts]
            color = SERIES[k % len(SERIES)]
            axes.fill_between(middles, fractions, step="mid", color=color, alpha=0.28, lw=0)
            axes.step(middles, fractions, where="mid", color=color, lw=1.8, label=short(name))
        axes.axvline(line["threshold"], color=COLOR["ink"], lw=1.2, ls="--", label="threshold")
        axes.set_xlabel("score, in distances between the classes")
        axes.set_ylabel("share of the class")
        axes.set_ylim(bottom=0)
        # Above the figure: inside, the dashed line would go through it.
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)
        return to_svg(figure, "histogram")


def threshold_curve(
    points: list[list[float]],
    operating_point: tuple[float, float],
    baseline: float | None,
    labels: tuple[str, str],
) -> str:
    """Draw a curve over all thresholds; dotted is a random prediction, the diagonal if None."""
    with drawing(4.4, 3.3) as (figure, axes):
        axes.plot(*zip(*points, strict=True), color=COLOR["s1"], lw=1.8)
        if baseline is None:
            axes.plot([0, 1], [0, 1], color=COLOR["muted"], lw=1, ls=":")
        else:
            axes.axhline(baseline, color=COLOR["muted"], lw=1, ls=":")
        axes.plot(*([value] for value in operating_point), "o", color=COLOR["bad"], ms=7)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.grid(linewidth=0.7)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        return to_svg(figure, "roc" if baseline is None else "precision")


def calibration(bins: list[dict[str, float]], positive: str) -> str:
    """Draw the observed against the predicted probability; dots grow with their rows."""
    predicted, observed = ([b[name] for b in bins] for name in ("predicted", "observed"))
    most = max(b["rows"] for b in bins)
    with drawing(4.4, 3.3) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=COLOR["muted"], lw=1, ls=":")
        axes.plot(predicted, observed, color=COLOR["s1"], lw=1.2)
        sizes = [20 + 160 * b["rows"] / most for b in bins]
        axes.scatter(predicted, observed, s=sizes, color=COLOR["s1"])
        axes.set_xlabel(f"predicted probability of {short(positive)}")
        axes.set_ylabel("observed share")
        axes.grid(linewidth=0.7)
        return to_svg(figure, "calibration")


def bars(names: list[str], values: list[float], xlabel: str, name: str) -> str:
    """Draw one bar for each name, first on top, colored by sign."""
    with drawing(5.4, 0.9 + 0.29 * max(len(names), 1)) as (figure, axes):
        axes.axvline(0, color=COLOR["ink"], lw=1)
        colors = [COLOR["s1"] if value >= 0 else COLOR["s2"] for value in values]
        axes.barh(range(len(names)), values, color=colors, height=0.6)
        rows_of_dots(axes, [short(label) for label in names])
        axes.set_xlabel(xlabel)
        return to_svg(figure, name)


def partial_effects(curves: list[dict[str, Any]], positive: str) -> str:
    """Draw what each column adds to the score, value by value, on one scale."""
    values = [y for curve in curves for _, y in curve["points"]]
    values += [y for curve in curves for pair in curve.get("band", ()) for y in pair]
    low, high = min(values), max(values)
    pad = 0.08 * (high - low or 1.0)
    panels = []
    for k, curve in enumerate(curves):
        with drawing(3.7, 2.5) as (figure, axes):
            _partial_effect(axes, curve)
            axes.set_ylim(low - pad, high + pad)
            axes.set_ylabel(f"toward {short(positive)}")
            panels.append(to_svg(figure, f"effects{k}"))
    return "".join(panels)


def _partial_effect(axes: Any, curve: dict[str, Any]) -> None:
    xs, ys = zip(*curve["points"], strict=True)
    axes.axhline(0, color=COLOR["muted"], lw=0.8)
    axes.set_title(short(curve["of"]))
    low, high = zip(*curve.get("band", curve["points"]), strict=True)
    if curve["numeric"]:
        if "band" in curve:
            axes.fill_between(xs, low, high, color=COLOR["s1"], alpha=0.2, lw=0)
        axes.plot(xs, ys, color=COLOR["s1"], lw=1.8)
        axes.ticklabel_format(style="plain", axis="x", useOffset=False)
        axes.locator_params(axis="x", nbins=5)
        return
    labels = [short(x)[:10] for x in xs]
    axes.bar(range(len(xs)), ys, color=COLOR["s1"], width=0.6)
    if "band" in curve:
        axes.vlines(range(len(xs)), low, high, color=COLOR["ink"], lw=1.2)
    rotated = sum(map(len, labels)) >= MAX_FLAT_LETTERS
    axes.set_xticks(range(len(xs)), labels, **({"rotation": 30, "ha": "right"} if rotated else {}))


def learning_curve(points: list[dict[str, float]]) -> str:
    """Draw the held-out score along the number of rows, with the range over the splits."""
    rows, low, high, score = (
        [point[name] for point in points] for name in ("rows", "low", "high", "score")
    )
    with drawing(5.4, 2.8) as (figure, axes):
        axes.fill_between(rows, low, high, color=COLOR["s1"], alpha=0.2, lw=0)
        axes.plot(rows, score, "o-", color=COLOR["s1"], lw=1.8, ms=5)
        axes.set_xscale("log", base=2)
        axes.set_xticks(rows, [f"{count:,}" for count in rows])
        axes.minorticks_off()
        axes.set_xlabel("training rows")
        axes.set_ylabel("balanced accuracy")
        axes.grid(linewidth=0.7)
        return to_svg(figure, "growth")


def feature_maps(names: list[str], values: list[float], used: list[bool]) -> str:
    """Draw the best score of each feature map as a dot, colored where it is in use."""
    with drawing(5.4, 0.9 + 0.29 * len(names)) as (figure, axes):
        colors = [COLOR["best"] if use else COLOR["far"] for use in used]
        axes.scatter(values, range(len(names)), color=colors, s=36)
        rows_of_dots(axes, [short(name) for name in names])
        axes.set_xlabel("cross-validated score at its best C")
        return to_svg(figure, "maps")


def search_curve(curve: dict[str, Any]) -> str:
    """Draw the cross-validated score along the parameter that was chosen."""
    xs, ys = zip(*curve["points"], strict=True)
    with drawing(5.6, 2.8) as (figure, axes):
        axes.plot(xs, ys, "o-", color=COLOR["s1"], lw=1.6, ms=4)
        if min(xs) > 0 and max(xs) > 20 * min(xs):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, position: f"{value:g}")
        axes.set_xlabel(curve["parameter"])
        axes.set_ylabel("cross-validated")
        axes.grid(linewidth=0.7)
        return to_svg(figure, "tuning")
