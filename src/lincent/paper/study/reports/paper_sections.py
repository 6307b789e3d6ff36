"""Sections that set the paper's tables and figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent.paper.study import paper
from lincent.paper.study.agreement import POINTS, Agreement, compact_table
from lincent.paper.study.conclusions import RIVALS
from lincent.paper.study.readings import explanation
from lincent.paper.study.results import StudyResult
from lincent.paper.study.statistics import interval
from lincent.paper.study.summary import pivot, share_of_test
from lincent.report.blocks import (
    Bullets,
    Item,
    Paragraph,
    Section,
    Table,
    columns,
    number,
    seconds,
    tabulated,
    text,
    yes_or_no,
)


def sets_of(result: StudyResult) -> tuple[str, ...]:
    """Return the paper's sets that were run."""
    there = set(result.frame["dataset"])
    return tuple(code for code in paper.SETS if code in there)


def agreement_section(result: StudyResult, cells: Sequence[Agreement]) -> Section:
    """Return the appendix table of the paper, ours with theirs in brackets."""
    blocks: list[Any] = [agreement_table(cells, paper.SETS, paper.METHODS)]
    far = disagreement_sentences(result.frame, cells)
    if far:
        blocks += [Paragraph("The cells farthest from the paper, and what was measured about why:")]
        blocks += [Bullets(tuple(far))]
    if cells:
        inside = sum(cell.within_error for cell in cells)
        blocks.append(
            Paragraph(
                f"{inside} of {len(cells)} differences are within two combined standard errors. "
                "The paper prints no spread; the error takes ours for both and the "
                f"{paper.RUNS_APPENDIX} runs of its appendix."
            )
        )
    return Section("procedure-1", "Procedure 1: the paper's table", tuple(blocks))


def agreement_table(
    cells: Sequence[Agreement], sets: Sequence[str], methods: Sequence[str]
) -> Table:
    """Return train and test of each set, ours with the paper's number in brackets."""
    by_place = {(cell.dataset, cell.row, cell.method): cell for cell in cells}
    rows = []
    for dataset in sets:
        for row in ("train", "test"):
            line = [text(f"{dataset} {row}")]
            for method in methods:
                theirs = paper.printed(dataset, row, method).value
                cell = by_place.get((dataset, row, method))
                if cell is None:
                    line.append(Item(f"missing ({theirs:.2f})", None, "quiet"))
                    continue
                hint = (
                    f"difference {cell.difference:+.2f}, combined standard error {cell.error:.2f}, "
                    f"{cell.runs} runs"
                )
                mark = "" if cell.within_points else "bad"
                line.append(Item(f"{cell.ours:.2f} ({theirs:.2f})", cell.ours, mark, hint))
            rows.append(tuple(line))
    caption = (
        f"Hard-label AUC in percent, mean over runs: ours, in brackets the paper's. Red: more than "
        f"{POINTS} points apart."
    )
    return Table(columns("Set", *(f"{method}#" for method in methods)), tuple(rows), caption)


def disagreement_sentences(frame: Any, cells: Sequence[Agreement]) -> list[str]:
    """Return one sentence per cell beyond 1.5 points or beyond two combined standard errors."""
    far = [cell for cell in cells if not (cell.within_points and cell.within_error)]
    return [
        f"{c.method} on {c.dataset}, {c.row}: {c.ours:.2f} against {c.theirs:.2f} "
        f"({c.difference:+.2f}, {_errors(c)}): {explanation(frame, c)}."
        for c in sorted(far, key=lambda c: -abs(c.difference))
    ]


def _errors(cell: Agreement) -> str:
    """The difference in standard errors, where the runs differ at all."""
    if not np.isfinite(cell.errors):
        return "no spread over the runs"
    return f"{cell.errors:.1f} standard errors"


def every_number_section(cells: Sequence[Agreement]) -> Section:
    """Return ours, theirs, the difference and the error of each printed number."""
    table = tabulated(
        cells,
        ("Set", lambda c: c.dataset),
        ("Row", lambda c: c.row),
        ("Method", lambda c: c.method),
        ("Ours#", lambda c: number(c.ours, 2)),
        ("Theirs#", lambda c: number(c.theirs, 2)),
        ("Difference#", _signed_difference),
        ("Combined SE#", lambda c: number(c.error, 2)),
        ("Within 2 SE", lambda c: yes_or_no(c.within_error, "quiet", "bad")),
        (f"Within {POINTS}", lambda c: yes_or_no(c.within_points, "quiet", "bad")),
    )
    return Section("every-number", "Every printed number", (table,))


def _signed_difference(cell: Agreement) -> Item:
    return number(cell.difference, 2, signed=True, mark="" if cell.within_points else "bad")


def compact_section(result: StudyResult) -> Section:
    """Return the paper's compact table, with the other methods of the study below its own."""
    others = [m.code for m in result.methods if m.code not in paper.METHODS]
    sets = sets_of(result)
    note = Paragraph(
        "The paper's test calls small differences significant because splits of one set overlap. "
        "The corrected intervals against today's methods are in the next section."
    )
    table = wins_table(result, sets, (*RIVALS, *others), paper.COMPACT, f"{len(paper.SETS)} sets")
    return Section("compact", "Wins and losses of LCC", (table, note))


def wins_table(
    result: StudyResult,
    sets: tuple[str, ...],
    methods: Sequence[str],
    printed: dict[str, dict[str, tuple[int, int]]],
    in_the_paper: str,
) -> Table:
    """Return on how many sets LCC is significantly better and worse, ours and the paper's."""
    cells = [cell for cell in compact_table(result.frame, tuple(methods), sets) if cell.sets]
    by_place = {(cell.row, cell.method): cell for cell in cells}
    rows = []
    for method in dict.fromkeys(cell.method for cell in cells):
        line = [text(method)]
        for row in ("train", "test", "time"):
            cell, theirs = by_place.get((row, method)), printed[row].get(method)
            line.append(_count(None if cell is None else (cell.better, cell.worse)))
            line.append(_count(theirs, "quiet"))
        rows.append(tuple(line))
    caption = (
        f"On how many of {len(sets)} sets LCC is significantly better (in brackets: worse), paired "
        f"signed-rank test at 0.05, uncorrected, as in the paper. The paper has {in_the_paper}."
    )
    parts = [name for row in ("Train", "Test", "Time") for name in (row, f"{row}, paper")]
    return Table(columns("LCC against", *parts), tuple(rows), caption)


def _count(pair: tuple[int, int] | None, mark: str = "") -> Item:
    if pair is None:
        return text("–", "quiet")
    return Item(f"{pair[0]} ({pair[1]})", float(pair[0] - pair[1]), mark)


def time_section(
    result: StudyResult, sets: Sequence[str], methods: Sequence[str] = paper.METHODS
) -> Section:
    """Return fit times: LCC's, and each method's as a multiple of it, ours and the paper's."""
    rows = []
    for dataset in sets:
        table = pivot(result.frame, dataset, "fit_seconds").median()
        if "LCC" not in table:
            continue
        own, theirs = float(table["LCC"]), paper.printed(dataset, "time", "LCC").value
        line = [text(dataset), seconds(own), number(theirs, 1)]
        for method in methods[1:]:
            ours = float(table.get(method, float("nan"))) / own
            printed = paper.printed(dataset, "time", method).value / theirs
            line.append(Item(f"{ours:.2f} ({printed:.2f})", ours))
        rows.append(tuple(line))
    caption = (
        "Median fit time of LCC, and of the others as a multiple of it on the same splits; in "
        "brackets the paper's multiple. Two machines and two languages: compare the multiples."
    )
    head = columns("Set", "LCC#", "LCC, paper, ms#", *(f"{method}#" for method in methods[1:]))
    return Section("time", "Time", (Table(head, tuple(rows), caption),))


def missing_section(result: StudyResult) -> Section | None:
    """Return what could not be run, and how to get it."""
    rows = tuple((text(name), text(how, "wrap")) for name, how in result.missing)
    table = Table(columns("What", "How to get it, or why"), rows)
    return Section("missing", "What is missing, and how to get it", (table,)) if rows else None


def corrected(result: StudyResult, dataset: str, a: str, b: str, column: str) -> Any:
    """Return the corrected interval of a minus b on one set, in points."""
    table = 100 * pivot(result.frame, dataset, column)
    both = table[[a, b]].dropna()
    return interval(both[a].to_numpy() - both[b].to_numpy(), share_of_test(result.frame, dataset))
