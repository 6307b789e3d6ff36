"""Sections on the forms of centralization: FQCC, discriminators, kernel, the worked example."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pandas

from lincent.paper.study import paper
from lincent.paper.study.cells import OK
from lincent.paper.study.conclusions import DISCRIMINATORS, best_width
from lincent.paper.study.reports import figures
from lincent.paper.study.reports.paper_sections import sets_of
from lincent.paper.study.results import StudyResult
from lincent.paper.study.statistics import wilcoxon
from lincent.paper.study.summary import pivot
from lincent.report.blocks import (
    Figure,
    Item,
    Paragraph,
    Section,
    Table,
    columns,
    number,
    probability,
    text,
)

ROWS = ("train", "test")
Panels = dict[str, tuple[Any, Any]]


def _panels(result: StudyResult, methods: tuple[str, ...]) -> Panels:
    """Means and standard deviations of methods in training and on test, sets by methods.

    Only the splits that all of them have finished.
    """
    found: Panels = {}
    for row in ROWS:
        means, spreads = {}, {}
        for dataset in sets_of(result):
            table = 100 * pivot(result.frame, dataset, f"{row}_paper_auc")
            if set(methods) <= set(table.columns):
                both = table[list(methods)].dropna()
                means[dataset], spreads[dataset] = both.mean(), both.std(ddof=1)
        if means:
            found[row] = (pandas.DataFrame(means).T, pandas.DataFrame(spreads).T)
    return found


def _numbers(panels: Panels, methods: tuple[str, ...], more: dict[str, list[Item]]) -> Table:
    """The table behind a figure of panels; ``more`` adds columns."""
    titles = [f"{method} {row}#" for row in panels for method in methods]
    head = columns("Set", *titles, *(f"{title}#" for title in more))
    rows = []
    for k, dataset in enumerate(panels[ROWS[0]][0].index):
        cells = [
            Item(
                f"{means.at[dataset, method]:.2f} ± {spreads.at[dataset, method]:.2f}",
                float(means.at[dataset, method]),
            )
            for means, spreads in panels.values()
            for method in methods
        ]
        rows.append((text(dataset), *cells, *(items[k] for items in more.values())))
    return Table(head, tuple(rows), "Mean ± standard deviation over the splits, percent.")


def discriminator_section(result: StudyResult) -> Section | None:
    """Return the paper's figure of FQCC and the discriminators of LCC."""
    ran = set(result.frame["method"])
    methods = tuple(code for code in ("FQCC", *DISCRIMINATORS) if code in ran)
    panels = _panels(result, methods)
    if len(methods) < 2 or not panels:
        return None
    average = panels["test"][0].mean()
    best = str(average.idxmax())
    figure = Figure(
        "discriminators",
        figures.grouped_dots(panels, "discriminators", "hard-label AUC, percent"),
        "FQCC and the discriminators of LCC on each set, training and test",
        "FQCC and the three ways to cut LCC's projected line: the nearer center (LCC), the nearest "
        "training row (LCC-1NN), a support vector machine on the line (LCC-1SV). Bars: one "
        f"standard deviation over the splits. Highest mean on test: {best} "
        f"({average.max():.1f} %). The paper finds LCC best.",
        _numbers(panels, methods, {}),
    )
    return Section("discriminators", "The discriminators", (figure,))


def fqcc_section(result: StudyResult) -> Section | None:
    """Return FQCC against LCC: scores, test, time."""
    methods = ("LCC", "FQCC")
    panels = _panels(result, methods)
    if not panels:
        return None
    sets = list(panels["test"][0].index)
    more: dict[str, list[Item]] = {"p, train": [], "p, test": [], "Time, FQCC / LCC": []}
    ratios = []
    for dataset in sets:
        for row in ROWS:
            both = pivot(result.frame, dataset, f"{row}_paper_auc")[list(methods)].dropna()
            more[f"p, {row}"].append(probability(wilcoxon(both["LCC"], both["FQCC"])))
        seconds = pivot(result.frame, dataset, "fit_seconds")
        ratios.append(float((seconds["FQCC"] / seconds["LCC"]).median()))
        more["Time, FQCC / LCC"].append(number(ratios[-1], 1))
    figure = Figure(
        "fqcc",
        figures.grouped_dots(panels, "fqcc", "hard-label AUC, percent"),
        "FQCC and LCC on each set, training and test",
        "The quadratic form and the linear one on the same splits; bars: one standard deviation. "
        f"FQCC takes {np.median(ratios):.1f} times as long as LCC here (median over sets), by a "
        f"short sequence of linear programs; the paper has {paper.FQCC_TIME_RATIO:.0f} for a "
        "general solver, which benchmarks/fqcc_times.py measures.",
        _numbers(panels, methods, more),
    )
    return Section("fqcc", "FQCC and LCC", (figure,))


def kernel_section(result: StudyResult) -> Section | None:
    """Return the kernel test: scores by two ways to choose the width, and the four panels."""
    rows = []
    for shape, (train, test) in paper.KERNEL.items():
        best = best_width(result.frame, shape)
        if best is None:
            continue
        inside = _nested(result.frame, shape)
        scores = (train, 100 * best.train, inside[0], test, 100 * best.test, inside[1])
        rows.append(
            (
                text(shape),
                *(number(value, 1) for value in scores),
                number(json.loads(best.params)["gamma"], 4),
                text(inside[2], "wrap"),
                number(best.runs, 0),
            )
        )
    ways = ("best#|the width that is best on the splits that give the score",
            "chosen inside#|the width chosen inside each training part")  # fmt: skip
    head = columns(
        "Shape", "Train, paper#", *ways, "Test, paper#", *ways,
        "best gamma#|1 / (2 w²) for an RBF kernel of width w", "chosen gammas", "Runs#",
    )  # fmt: skip
    caption = (
        "KernelLCC, RBF, five widths, percent. The paper does not say how it chose the width: "
        "“best” is the best of five on the splits that give the score, “chosen inside” never looks "
        "at a test row. Spiral is one arm against the rest; Circles is synthetic, the set of the "
        "paper is not published."
    )
    blocks: list[Any] = [*_shapes_figure(result), Table(head, tuple(rows), caption)]
    return Section("kernel", "The kernel test", tuple(blocks)) if rows else None


def _shapes_figure(result: StudyResult) -> list[Figure]:
    shapes = result.pictures.get("shapes")
    caption = (
        "KernelLCC fitted on all points of each shape, at the width chosen most often inside the "
        "training parts: the two regions and the points."
    )
    alt = "Regions of KernelLCC on the shapes"
    return [Figure("kernel", figures.kernel_panels(shapes), alt, caption)] if shapes else []


def _nested(frame: Any, shape: str) -> tuple[float, float, str]:
    part = frame[
        (frame["dataset"] == shape)
        & (frame["method"] == "KernelLCC")
        & (frame["procedure"] == "nested")
        & (frame["status"] == OK)
    ]
    if part.empty:
        return float("nan"), float("nan"), "–"
    gammas = Counter(json.loads(chosen)["gamma"] for chosen in part["chosen"])
    told = ", ".join(f"{gamma:g} ({count}×)" for gamma, count in gammas.most_common())
    train, test = (100 * float(part[f"{row}_paper_auc"].mean()) for row in ROWS)
    return train, test, told


def example_section(result: StudyResult) -> Section | None:
    """Return the paper's worked example with its projections before and after."""
    drawn = result.pictures.get("example")
    if drawn is None:
        return None
    beta = drawn["beta"]
    numbers = Table(
        columns("What", "Value#"),
        (
            (text("beta 1"), number(beta[0], 4, signed=True)),
            (text("beta 2"), number(beta[1], 4, signed=True)),
            (text("objective"), number(drawn["objective"], 4)),
            (text("duality gap"), Item(f"{drawn['duality_gap']:.1e}", drawn["duality_gap"])),
            (text("AUC before"), number(drawn["auc_before"], 3)),
            (text("AUC after"), number(drawn["auc_after"], 3)),
            (text(f"wrong of {len(drawn['codes'])}"), number(drawn["wrong"], 0)),
        ),
    )
    figure = Figure(
        "example",
        figures.worked_example(drawn),
        "The worked example of the paper",
        "Left: two groups, the direction beta and the threshold. Right: the projections before, on "
        "the direction along which the class centers fall together (AUC "
        f"{drawn['auc_before']:.2f}), and after, on beta (AUC {drawn['auc_after']:.2f}).",
        numbers,
    )
    note = Paragraph(
        "The means are the paper's; its printed matrices are no covariances, and "
        "lincent.paper.datasets.make_paper_example says what is taken instead."
    )
    return Section("example", "The worked example", (figure, note))
