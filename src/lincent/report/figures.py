"""The drawings of a model's report; each is made of numbers that stand behind it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from lincent.report.drawing import COLOR, SERIES, drawing, rows_of_dots, to_svg

NAME_LENGTH = 28
FLAT_LETTERS = 28
"""Labels of categories with more letters are turned."""


def short(name: str) -> str:
    """A name that fits beside a drawing."""
    name = " ".join(str(name).split())
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"


def line_histogram(line: dict[str, Any]) -> str:
    """Rows of each class along the score; the class changes at the vertical line."""
    edges, counts = line["edges"], line["counts"]
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    with drawing(5.4, 3.0) as (figure, axes):
        for k, (name, values) in enumerate(counts.items()):
            shares = [value / max(1, sum(values)) for value in values]
            color = SERIES[k % len(SERIES)]
            axes.fill_between(middles, shares, step="mid", color=color, alpha=0.28, lw=0)
            axes.step(middles, shares, where="mid", color=color, lw=1.8, label=short(name))
        axes.axvline(line["cut"], color=COLOR["ink"], lw=1.2, ls="--", label="the cut")
        axes.set_xlabel("score, in distances between the classes")
        axes.set_ylabel("share of the class")
        axes.set_ylim(bottom=0)
        # Above the figure: inside, the cut would go through it.
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)
        return to_svg(figure, "line")


def one_curve(
    points: list[list[float]], dot: tuple[float, float], blind: float | None, words: tuple[str, str]
) -> str:
    """A curve over all cuts with the operating point; dotted is a rule that looks at nothing."""
    with drawing(4.4, 3.3) as (figure, axes):
        axes.plot(*zip(*points, strict=True), color=COLOR["s1"], lw=1.8)
        if blind is None:
            axes.plot([0, 1], [0, 1], color=COLOR["muted"], lw=1, ls=":")
        else:
            axes.axhline(blind, color=COLOR["muted"], lw=1, ls=":")
        axes.plot(*([value] for value in dot), "o", color=COLOR["bad"], ms=7)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.grid(linewidth=0.7)
        axes.set_xlabel(words[0])
        axes.set_ylabel(words[1])
        return to_svg(figure, "roc" if blind is None else "precision")


def reliability(bins: list[dict[str, float]], positive: str) -> str:
    """Observed against predicted share; dots grow with their rows."""
    most = max(entry["rows"] for entry in bins)
    with drawing(4.4, 3.3) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=COLOR["muted"], lw=1, ls=":")
        axes.plot([b["predicted"] for b in bins], [b["observed"] for b in bins],
                  color=COLOR["s1"], lw=1.2)  # fmt: skip
        axes.scatter(
            [b["predicted"] for b in bins],
            [b["observed"] for b in bins],
            s=[20 + 160 * b["rows"] / most for b in bins],
            color=COLOR["s1"],
        )
        axes.set_xlabel(f"predicted probability of {short(positive)}")
        axes.set_ylabel("observed share")
        axes.grid(linewidth=0.7)
        return to_svg(figure, "reliability")


def bars(names: list[str], values: list[float], xlabel: str, name: str) -> str:
    """One bar for each name, first on top; color by sign."""
    with drawing(5.4, 0.9 + 0.29 * max(len(names), 1)) as (figure, axes):
        axes.axvline(0, color=COLOR["ink"], lw=1)
        colors = [COLOR["s1"] if value >= 0 else COLOR["s2"] for value in values]
        axes.barh(range(len(names)), values, color=colors, height=0.6)
        rows_of_dots(axes, [short(label) for label in names])
        axes.set_xlabel(xlabel)
        return to_svg(figure, name)


def shapes(curves: list[dict[str, Any]], positive: str) -> str:
    """What a column adds to the score, value by value: a drawing for each, on one scale."""
    values = [y for curve in curves for _, y in curve["points"]]
    values += [y for curve in curves for pair in curve.get("band", ()) for y in pair]
    low, high = min(values), max(values)
    pad = 0.08 * (high - low or 1.0)
    found = []
    for k, curve in enumerate(curves):
        with drawing(3.7, 2.5) as (figure, axes):
            _shape(axes, curve)
            axes.set_ylim(low - pad, high + pad)
            axes.set_ylabel(f"toward {short(positive)}")
            found.append(to_svg(figure, f"shapes{k}"))
    return "".join(found)


def _shape(axes: Any, curve: dict[str, Any]) -> None:
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
    axes.set_xticks(range(len(xs)))
    if sum(map(len, labels)) < FLAT_LETTERS:
        axes.set_xticklabels(labels)
    else:
        axes.set_xticklabels(labels, rotation=30, ha="right")


def growth(points: list[dict[str, float]]) -> str:
    """The held-out score along the number of rows, with the range over the splits."""
    rows = [point["rows"] for point in points]
    with drawing(5.4, 2.8) as (figure, axes):
        low, high = ([point[name] for point in points] for name in ("low", "high"))
        axes.fill_between(rows, low, high, color=COLOR["s1"], alpha=0.2, lw=0)
        axes.plot(rows, [p["score"] for p in points], "o-", color=COLOR["s1"], lw=1.8, ms=5)
        axes.set_xscale("log", base=2)
        axes.set_xticks(rows, [f"{count:,}" for count in rows])
        axes.minorticks_off()
        axes.set_xlabel("training rows")
        axes.set_ylabel("balanced accuracy")
        axes.grid(linewidth=0.7)
        return to_svg(figure, "growth")


def maps(names: list[str], values: list[float], used: list[bool]) -> str:
    """A dot for each map, its best figure; strong where it is in use."""
    with drawing(5.4, 0.9 + 0.29 * len(names)) as (figure, axes):
        colors = [COLOR["best"] if use else COLOR["far"] for use in used]
        axes.scatter(values, range(len(names)), color=colors, s=36)
        rows_of_dots(axes, [short(name) for name in names])
        axes.set_xlabel("cross-validated figure at its best C")
        return to_svg(figure, "maps")


def tuning(curve: dict[str, Any]) -> str:
    """The cross-validated figure along the parameter that was chosen."""
    xs, ys = zip(*curve["points"], strict=True)
    with drawing(5.6, 2.8) as (figure, axes):
        axes.plot(xs, ys, "o-", color=COLOR["s1"], lw=1.6, ms=4)
        if min(xs) > 0 and max(xs) > 20 * min(xs):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
        axes.set_xlabel(curve["parameter"])
        axes.set_ylabel("cross-validated")
        axes.grid(linewidth=0.7)
        return to_svg(figure, "tuning")
