"""Sections that judge: which conclusions of the paper hold, and what other readings would give."""

from __future__ import annotations

from collections.abc import Sequence

from lincent.paper.study import paper
from lincent.paper.study.conclusions import Conclusion, conclusions
from lincent.paper.study.readings import IS_32, READINGS, Effect, effects
from lincent.paper.study.reports.paper_sections import sets_of
from lincent.paper.study.results import StudyResult
from lincent.report.blocks import (
    Paragraph,
    Section,
    Table,
    columns,
    number,
    tabulated,
    text,
    yes_or_no,
)


def conclusion_section(result: StudyResult) -> Section | None:
    """Return the table of the paper's conclusions."""
    found = conclusions(result.frame)
    if not found:
        return None
    table = tabulated(
        found,
        ("The paper's conclusion", lambda item: text(item.claim, "wrap")),
        ("Paper", lambda item: text(item.theirs, "wrap")),
        ("Ours", lambda item: text(item.ours, "wrap")),
        ("Holds?", lambda item: yes_or_no(item.holds, "good", "bad")),
        caption="Wins and losses are sets on which the paired signed-rank test at 0.05 finds a "
        "difference; a relation holds where it has the same sign. Ranks count from 1.",
    )
    blocks = (Paragraph(conclusion_sentence(found)), table)
    return Section("conclusions", "Which conclusions hold", blocks)


def conclusion_sentence(found: Sequence[Conclusion]) -> str:
    """Return how many conclusions hold."""
    held = sum(item.holds for item in found)
    return f"{held} of {len(found)} conclusions of the paper hold on these runs."


def readings_section(result: StudyResult) -> Section | None:
    """Return what every other reading of the paper's text does to the figures."""
    rows = []
    sources = [(reading.of, reading.what) for reading in READINGS]
    sources += [(method, "") for method in paper.METHODS]
    for method, what in sources:
        found = [
            effect
            for dataset in sets_of(result)
            for effect in effects(result.frame, method, dataset, "test")
            if effect.what == what or (not what and "32 columns" in effect.what)
        ]
        if found:
            rows.append(_reading_row(method, found))
    if not rows:
        return None
    head = columns(
        "Method", "Read with",
        "Distance, taken#|mean absolute difference to the printed test numbers", "Distance, so#",
        "Largest change#|points of hard-label AUC on test", "on", "Splits#",
    )  # fmt: skip
    caption = (
        "Readings that the text allows and that were not taken, on the same splits: the mean "
        "distance to the paper's test numbers over the sets with the reading taken and with this "
        "one, and where it changes most."
    )
    return Section("readings", "Other readings", (Table(head, tuple(rows), caption),))


def _reading_row(method: str, found: list[Effect]) -> tuple:
    printed = [paper.printed(effect.dataset, "test", method).value for effect in found]
    pairs = list(zip(found, printed, strict=True))
    largest = max(found, key=lambda effect: abs(effect.shift))
    return (
        text(method),
        text(largest.what, "wrap"),
        number(sum(abs(e.taken - p) for e, p in pairs) / len(pairs), 2),
        number(sum(abs(e.other - p) for e, p in pairs) / len(pairs), 2),
        number(largest.shift, 2, signed=True),
        text(IS_32 if "32 columns" in largest.what else largest.dataset),
        number(min(effect.runs for effect in found), 0),
    )
