"""The report of `lincent reproduce`: the paper's numbers beside ours, and today's methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent.paper.study import paper
from lincent.paper.study.agreement import POINTS, Agreement, agreements
from lincent.paper.study.reports import figures
from lincent.paper.study.reports.conclusion_sections import conclusion_section, readings_section
from lincent.paper.study.reports.forms_sections import (
    discriminator_section,
    example_section,
    fqcc_section,
    kernel_section,
)
from lincent.paper.study.reports.paper_sections import (
    agreement_section,
    compact_section,
    disagreement_sentences,
    every_number_section,
    missing_section,
    sets_of,
    time_section,
)
from lincent.paper.study.reports.settings import settings_section, wall_time
from lincent.paper.study.reports.today_sections import rank_section, today_section
from lincent.paper.study.reproduce import PARTS
from lincent.paper.study.results import StudyResult
from lincent.paper.study.summary import means, short_of_runs
from lincent.report.blocks import Figure, Page

MOST_SENTENCES = 5
"""Cells that disagree are told one by one in the terminal up to so many."""


def answer(result: StudyResult, cells: Sequence[Agreement]) -> tuple[str, str]:
    """Return two sentences: does the table reproduce, and what does it mean today."""
    sets = [code for code in paper.SETS if any(cell.dataset == code for cell in cells)]
    if not cells:
        return ("Procedure 1 was not run.", "The sections below hold what was.")
    near = sum(cell.within_points for cell in cells)
    inside = sum(cell.within_error for cell in cells)
    runs = max(cell.runs for cell in cells)
    first = (
        f"The paper's table reproduces: {near} of {len(cells)} train and test figures on "
        f"{len(sets)} of 7 sets are within {POINTS} points ({runs} runs), {inside} within two "
        "combined standard errors."
    )
    if max(near, inside) < 0.9 * len(cells):
        first = first.replace("The paper's table reproduces", "The paper's table agrees in part")
    return first, _today(result, sets)


def _today(result: StudyResult, sets: list[str]) -> str:
    table = means(result.frame, "test_paper_auc")
    if not {"LCC", "LogReg-bal"} <= set(table.columns):
        return "Today's methods were not run."
    gaps = 100 * (table["LogReg-bal"] - table["LCC"]).reindex(sets).dropna()
    score = means(result.frame, "test_score_auc").reindex(sets)
    order = 100 * (score["LogReg-bal"] - score["LCC"]).dropna()
    ahead = int((gaps > 0).sum())
    return (
        f"Logistic regression with balanced classes is ahead of LCC on {ahead} of these "
        f"{len(gaps)} sets, by {gaps.mean():+.1f} points on average at the cut and "
        f"{order.mean():+.1f} in the order of the rows (score AUC)."
    )


def reproduction_page(result: StudyResult) -> Page:
    """Return the report of the study of the paper."""
    cells = agreements(result.frame)
    config = result.config
    run_sets = {cell.dataset for cell in cells}
    sections = [
        conclusion_section(result),
        agreement_section(result, cells),
        compact_section(result),
        today_section(result),
        rank_section(result),
        discriminator_section(result),
        fqcc_section(result),
        time_section(result, sets_of(result)),
        kernel_section(result),
        example_section(result),
        readings_section(result),
        missing_section(result),
        every_number_section(cells),
        settings_section(result, _command(result)),
    ]
    facts = (
        ("Sets", f"{len(run_sets)} of 7"),
        ("Runs", f"{config['runs']} (paper: 100 in its text, 50 in its appendix)"),
        ("Fits", f"{config['cells']}"),
        ("Wall time", wall_time(result)),
    )
    versions = config["versions"]
    return Page(
        "Linear centralization classifier: the paper, run again",
        answer(result, cells),
        _lead(cells),
        facts,
        tuple(section for section in sections if section is not None),
        f"{paper.CITATION}. lincent {versions['lincent']}, scikit-learn "
        f"{versions['scikit-learn']}, {config['finished']}, seed {config['seed']}.",
    )


def _lead(cells: Sequence[Agreement]) -> Figure | None:
    if not cells:
        return None
    return Figure(
        "agreement",
        figures.ours_and_theirs(list(cells), POINTS),
        "Ours against the paper's numbers",
        f"Each point is one printed mean: a method on a set, train or test. In the band the "
        f"difference is at most {POINTS} points; the farthest outside it are named.",
    )


def summary_lines(result: StudyResult) -> list[str]:
    """Return the summary for a terminal."""
    cells = agreements(result.frame)
    found = list(answer(result, cells))
    far = disagreement_sentences(result.frame, cells)
    found += far[:MOST_SENTENCES]
    if len(far) > MOST_SENTENCES:
        found.append(f"{len(far) - MOST_SENTENCES} more such cells are in the report.")
    table = 100 * means(result.frame, "test_paper_auc")
    table = table.drop(columns=short_of_runs(result), errors="ignore")
    sets = [code for code in paper.SETS if code in table.index]
    if sets:
        found += ["", *_small_table(table.loc[sets], sets)]
    for name, how in result.missing:
        found.append(f"Missing: {name}: {how}")
    return found


def _small_table(table: Any, sets: list[str]) -> list[str]:
    order = [record for record in (*paper.METHODS, *table.columns) if record in table.columns]
    order = list(dict.fromkeys(order))
    width = max(len(name) for name in order)
    lines = ["Hard-label AUC on held-out rows, percent (in brackets: the paper)"]
    lines.append(" " * width + "".join(f"{code:>13}" for code in sets))
    for method in order:
        cells = []
        for code in sets:
            value = table.at[code, method]
            shown = "–" if not np.isfinite(value) else f"{value:.1f}"
            if method in paper.METHODS:
                shown += f" ({paper.printed(code, 'test', method).value:.1f})"
            cells.append(f"{shown:>13}")
        lines.append(f"{method:<{width}}" + "".join(cells))
    return lines


def _command(result: StudyResult) -> str:
    import shlex

    config = result.config
    parts = ["lincent", "reproduce", "--seed", str(config["seed"]), "--runs", str(config["runs"])]
    if config["quick"]:
        parts.insert(2, "--quick")
    if tuple(config["sets"]) != paper.SETS:
        parts += ["--sets", ",".join(config["sets"])]
    if set(config["parts"]) != set(PARTS):
        parts += ["--parts", ",".join(config["parts"])]
    return shlex.join(parts)
