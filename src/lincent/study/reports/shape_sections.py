"""Sections with pictures in the plane: the kernel test and the worked example."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from lincent.pages.blocks import (
    Column,
    Figure,
    Item,
    Paragraph,
    Section,
    Table,
    number,
    text,
)
from lincent.study import paper
from lincent.study.cells import OK
from lincent.study.reports import figures
from lincent.study.reproduce import SHAPES, load_problems
from lincent.study.results import StudyResult


def kernel_section(result: StudyResult) -> Section | None:
    """Return the kernel test: best width of each shape, scores, and the four panels."""
    frame = result.frame
    part = frame[frame["dataset"].isin(SHAPES) & (frame["method"] == "KernelLCC")]
    if part.empty:
        return None
    best = _best_widths(part)
    rows = []
    for shape in SHAPES:
        train, test = paper.KERNEL[shape]
        if shape not in best:
            missing = Item("missing", None, "quiet")
            cells = (missing, missing, missing, missing)
        else:
            gamma, line, runs = best[shape]
            cells = (
                number(100 * line["train_paper_auc"], 1),
                number(100 * line["test_paper_auc"], 1),
                number(gamma, 4),
                number(runs, 0),
            )
        rows.append(
            (text(shape), cells[0], number(train, 1), cells[1], number(test, 1), cells[2], cells[3])
        )
    columns = (
        Column("Shape"),
        Column("Train", True),
        Column("paper", True),
        Column("Test", True),
        Column("paper", True),
        Column("gamma", True, "width of the RBF kernel, 1 / (2 w²)"),
        Column("Runs", True),
    )
    table = Table(
        columns,
        tuple(rows),
        "KernelLCC, RBF, the best of five widths over the same splits (the paper does not say how "
        "it chose). Spiral is one arm against the rest; Circles is synthetic, the set of the paper "
        "is not published.",
    )
    panels = _panels(best)
    blocks: list[Any] = [table]
    if panels:
        blocks.insert(
            0,
            Figure(
                "kernel",
                figures.kernel_panels(panels),
                "Regions of KernelLCC on the shapes",
                "KernelLCC fitted on all points of each shape: the two regions and the points.",
            ),
        )
    return Section("kernel", "The kernel test", tuple(blocks))


def _best_widths(part: Any) -> dict[str, tuple[float, dict[str, float], int]]:
    good = part[(part["status"] == OK) & (part["params"] != "{}")]
    scores = ["train_paper_auc", "test_paper_auc"]
    best = {}
    for shape, rows in good.groupby("dataset"):
        table = rows.groupby("params")[scores].mean()
        top = table["test_paper_auc"].idxmax()
        runs = int((rows["params"] == top).sum())
        best[str(shape)] = (float(json.loads(top)["gamma"]), dict(table.loc[top]), runs)
    return best


def _panels(best: dict[str, Any]) -> list[tuple[str, np.ndarray, np.ndarray, Any]]:
    try:
        from lincent.estimators.kernel import KernelLCC
    except ImportError:
        return []
    panels = []
    problems, _ = load_problems([shape for shape in SHAPES if shape in best])
    for problem in problems:
        X = problem.preparation().fit_transform(problem.X)
        model = KernelLCC(kernel="rbf", gamma=best[problem.name][0]).fit(X, problem.y)
        panels.append((problem.name, X, problem.y, model))
    return panels


def example_section() -> Section:
    """Return the paper's worked example with its projections before and after."""
    from lincent.datasets import make_paper_example
    from lincent.estimators.linear import LCC

    X, y = make_paper_example(random_state=0)
    model = LCC().fit(X, y)
    beta = model.coef_[0]
    wrong = int((model.predict(X) != y).sum())
    numbers = Table(
        (Column("What"), Column("Value", True)),
        (
            (text("beta 1"), number(float(beta[0]), 4, signed=True)),
            (text("beta 2"), number(float(beta[1]), 4, signed=True)),
            (text("objective"), number(float(model.objective_), 4)),
            (text("duality gap"), Item(f"{float(model.duality_gap_):.1e}")),
            (text("wrong of 200"), number(wrong, 0)),
        ),
    )
    figure = Figure(
        "example",
        figures.worked_example(X, y, model, np.ones(2) / np.sqrt(2)),
        "The worked example of the paper",
        "Left: two groups, the direction beta and the threshold. Right: the projections on an "
        "arbitrary direction, (1, 1), before, and on beta after.",
        numbers,
    )
    note = Paragraph(
        "The means are the paper's; its printed matrices are no covariances, and "
        "lincent.datasets.make_paper_example says what is taken instead."
    )
    return Section("example", "The worked example", (figure, note))
