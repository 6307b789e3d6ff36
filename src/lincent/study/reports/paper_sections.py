"""Sections that set the paper's tables and figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lincent.pages.blocks import (
    Bullets,
    Column,
    Item,
    Paragraph,
    Section,
    Table,
    number,
    text,
)
from lincent.study import paper
from lincent.study.agreement import (
    POINTS,
    Agreement,
    CompactCell,
    compact_table,
)
from lincent.study.cells import OK
from lincent.study.conclusions import RIVALS
from lincent.study.readings import explanation
from lincent.study.results import StudyResult
from lincent.study.statistics import interval
from lincent.study.summary import pivot


def sets_of(result: StudyResult) -> tuple[str, ...]:
    """Return the paper's sets that were run."""
    there = set(result.frame["dataset"])
    return tuple(code for code in paper.SETS if code in there)


def agreement_section(result: StudyResult, cells: Sequence[Agreement]) -> Section:
    """Return the appendix table of the paper, ours with theirs in brackets."""
    by_place = {(cell.dataset, cell.row, cell.method): cell for cell in cells}
    rows = []
    for dataset in paper.SETS:
        for row in ("train", "test"):
            line = [text(f"{dataset} {row}")]
            for method in paper.METHODS:
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
    columns = (Column("Set"), *(Column(method, True) for method in paper.METHODS))
    caption = (
        f"Hard-label AUC in percent, mean over runs: ours, in brackets the paper's. Red: more than "
        f"{POINTS} points apart."
    )
    blocks: list[Any] = [Table(columns, tuple(rows), caption)]
    far = disagreement_sentences(result.frame, cells)
    if far:
        blocks += [Paragraph("The cells farthest from the paper, and what was measured about why:")]
        blocks += [Bullets(tuple(far))]
    outside = [cell for cell in cells if not cell.within_error]
    if cells:
        blocks.append(
            Paragraph(
                f"{len(cells) - len(outside)} of {len(cells)} differences are within two combined "
                "standard errors. The paper prints no spread; the error takes ours for both and "
                "the "
                f"{paper.RUNS_APPENDIX} runs of its appendix."
            )
        )
    return Section("procedure-1", "Procedure 1: the paper's table", tuple(blocks))


def disagreement_sentences(frame: Any, cells: Sequence[Agreement]) -> list[str]:
    """Return one sentence per cell beyond 1.5 points or beyond two combined standard errors."""
    far = [cell for cell in cells if not (cell.within_points and cell.within_error)]
    return [
        f"{c.method} on {c.dataset}, {c.row}: {c.ours:.2f} against {c.theirs:.2f} "
        f"({c.difference:+.2f}, {c.errors:.1f} standard errors): {explanation(frame, c)}."
        for c in sorted(far, key=lambda c: -abs(c.difference))
    ]


def every_number_section(cells: Sequence[Agreement]) -> Section:
    """Return ours, theirs, the difference and the error of each printed number."""
    rows = tuple(
        (
            text(c.dataset),
            text(c.row),
            text(c.method),
            number(c.ours, 2),
            number(c.theirs, 2),
            number(c.difference, 2, signed=True, mark="" if c.within_points else "bad"),
            number(c.error, 2),
            text("yes" if c.within_error else "no", "quiet" if c.within_error else "bad"),
            text("yes" if c.within_points else "no", "quiet" if c.within_points else "bad"),
        )
        for c in cells
    )
    columns = (
        Column("Set"),
        Column("Row"),
        Column("Method"),
        Column("Ours", True),
        Column("Theirs", True),
        Column("Difference", True),
        Column("Combined SE", True),
        Column("Within 2 SE"),
        Column(f"Within {POINTS}"),
    )
    return Section("every-number", "Every printed number", (Table(columns, rows),))


def compact_section(result: StudyResult) -> Section:
    """Return the paper's compact table of significant wins and losses."""
    sets = sets_of(result)
    others = [m.code for m in result.methods if m.code not in paper.METHODS]
    cells = compact_table(result.frame, (*RIVALS, *others), sets)
    cells = [cell for cell in cells if cell.sets]
    methods = [m for m in (*RIVALS, *others) if any(c.method == m for c in cells)]
    by_place = {(cell.row, cell.method): cell for cell in cells}
    rows = tuple(
        (
            text(method),
            *(
                item
                for row in ("train", "test", "time")
                for item in _compact_items(by_place.get((row, method)))
            ),
        )
        for method in methods
    )
    columns = (
        Column("LCC against"),
        *(Column(title) for row in ("Train", "Test", "Time") for title in (row, f"{row}, paper")),
    )
    caption = (
        f"On how many of {len(sets)} sets LCC is significantly better (in brackets: worse), paired "
        "signed-rank test at 0.05, uncorrected, as in the paper. The paper has 7 sets."
    )
    return Section(
        "compact",
        "Wins and losses of LCC",
        (
            Table(columns, rows, caption),
            Paragraph(
                "The paper's test calls small differences significant because splits of one set "
                "overlap. The corrected intervals against today's methods are in the next section."
            ),
        ),
    )


def _compact_items(cell: CompactCell | None) -> tuple[Item, Item]:
    if cell is None:
        return text("–"), text("–")
    ours = Item(f"{cell.better} ({cell.worse})", float(cell.better - cell.worse))
    if cell.theirs is None:
        return ours, text("–", "quiet")
    better, worse = cell.theirs
    return ours, Item(f"{better} ({worse})", float(better - worse), "quiet")


def time_section(result: StudyResult) -> Section:
    """Return fit times: ours, theirs, and each relative to LCC."""
    rows = []
    for dataset in sets_of(result):
        table = 1000 * pivot(result.frame, dataset, "fit_seconds")
        if "LCC" not in table:
            continue
        ours_lcc = float(table["LCC"].median())
        theirs_lcc = paper.printed(dataset, "time", "LCC").value
        for method in paper.METHODS:
            if method in table:
                ours, theirs = (
                    float(table[method].median()),
                    paper.printed(dataset, "time", method).value,
                )
                rows.append(
                    (
                        text(dataset),
                        text(method),
                        number(ours, 2),
                        number(theirs, 1),
                        number(ours / ours_lcc, 2),
                        number(theirs / theirs_lcc, 2),
                    )
                )
    columns = (
        Column("Set"),
        Column("Method"),
        Column("Ours, ms", True),
        Column("Paper, ms", True),
        Column("Ours / LCC", True),
        Column("Paper / LCC", True),
    )
    caption = (
        "Median fit time. Two machines and two languages: compare the ratios, not the milliseconds."
    )
    return Section("time", "Time", (Table(columns, tuple(rows), caption),))


def missing_section(result: StudyResult) -> Section | None:
    """Return what could not be run, and how to get it."""
    if not result.missing:
        return None
    rows = tuple((text(name), text(how, "wrap")) for name, how in result.missing)
    return Section(
        "missing",
        "What is missing, and how to get it",
        (Table((Column("What"), Column("How to get it, or why")), rows),),
    )


def corrected(result: StudyResult, dataset: str, a: str, b: str, column: str) -> Any:
    """Return the corrected interval of a minus b on one set, in points."""
    table = 100 * pivot(result.frame, dataset, column)
    both = table[[a, b]].dropna()
    frame = result.frame[(result.frame["dataset"] == dataset) & (result.frame["status"] == OK)]
    share = float((frame["n_test"] / frame["n_train"]).mean())
    return interval(both[a].to_numpy() - both[b].to_numpy(), share)
