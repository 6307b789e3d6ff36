"""The report of `lincent reproduce --seizure`: each subject's numbers beside the paper's.

Stand-ins have a table of their own, without a number of the paper.
"""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from lincent.pages.blocks import (
    Column,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    duration,
    number,
    seconds,
    text,
)
from lincent.study import paper
from lincent.study.agreement import Agreement, agreements, compact_table
from lincent.study.reports.paper_sections import (
    every_number_section,
    missing_section,
)
from lincent.study.reports.settings import settings_section
from lincent.study.results import StudyResult
from lincent.study.seizure import CODES, METHODS
from lincent.study.summary import lines, pivot

RIVALS = tuple(method for method in METHODS if method != "LCC")


def subjects_of(result: StudyResult) -> tuple[str, ...]:
    """Return the paper's subjects that were run."""
    there = {problem.name for problem in result.problems}
    return tuple(code for code in CODES if code in there)


def standins_of(result: StudyResult) -> tuple[str, ...]:
    """Return what was run besides the paper's subjects."""
    return tuple(problem.name for problem in result.problems if problem.name not in CODES)


def _compared(result: StudyResult) -> list[Agreement]:
    frame = result.frame[result.frame["method"].isin(METHODS)]
    return agreements(frame, subjects_of(result))


def answer(result: StudyResult) -> tuple[str, ...]:
    """Return what a reader wants to know first."""
    subjects, standins = subjects_of(result), standins_of(result)
    found = []
    if subjects:
        cells = [cell for cell in _compared(result) if cell.row == "test"]
        gap = [abs(cell.difference) for cell in cells]
        found.append(
            f"{len(subjects)} of the paper's 12 subjects were run: the median difference of "
            f"{len(cells)} test figures from the paper's is {np.median(gap):.1f} points."
        )
    else:
        found.append("None of the paper's 12 subjects is here, so nothing is compared with it.")
    if standins:
        found.append(f"Stand-ins, not the paper's data: {', '.join(standins)}.")
    return tuple(found)


def seizure_page(result: StudyResult) -> Page:
    """Return the report of the seizure study."""
    config = result.config
    cells = _compared(result)
    sections = [
        data_section(result),
        score_section(result, cells),
        compact_section(result),
        time_section(result),
        *(standin_section(result, name) for name in standins_of(result)),
        missing_section(result),
        every_number_section(cells) if cells else None,
        settings_section(result, _command(result)),
    ]
    facts = (
        ("Subjects", f"{len(subjects_of(result))} of 12"),
        ("Runs", f"{config['runs']} (paper: {paper.RUNS_APPENDIX})"),
        ("Interictal", _rule(config["interictal"])),
        ("Fits", f"{config['cells']}"),
        ("Wall time", f"{duration(config['wall_seconds'])}, {config['jobs']} process(es)"),
    )
    versions = config["versions"]
    return Page(
        "Seizure detection: the paper's twelve subjects",
        answer(result),
        None,
        facts,
        tuple(section for section in sections if section is not None),
        f"{paper.CITATION}. lincent {versions['lincent']}, {config['finished']}, "
        f"seed {config['seed']}.",
    )


def _rule(interictal: str) -> str:
    return {
        "random": "one by one at random, as in the paper",
        "blocks": "in blocks of consecutive segments; the paper takes them at random",
    }[interictal]


def data_section(result: StudyResult) -> Section:
    """Return what was read, and where it is not what the paper describes."""
    rows = tuple(
        (
            text(problem.name),
            text(problem.title, "wrap"),
            number(problem.classes.get("ictal", 0), 0),
            number(problem.classes.get("interictal", 0), 0),
            number(problem.columns, 0),
            text("; ".join(problem.notes) or "as in the paper", "wrap"),
        )
        for problem in result.problems
    )
    columns = (
        Column("Set"),
        Column("What was read"),
        Column("Ictal", True),
        Column("Interictal", True),
        Column("Features", True),
        Column("Against the paper's table"),
    )
    caption = "Class counts, channels and rate are compared; the paper prints no number of events."
    return Section("data", "The recordings", (Table(columns, rows, caption),))


def score_section(result: StudyResult, cells: list[Agreement]) -> Section | None:
    """Return the appendix table: ours, in brackets the paper's."""
    by_place = {(cell.dataset, cell.row, cell.method): cell for cell in cells}
    rows = []
    for subject in subjects_of(result):
        for row in ("train", "test"):
            line = [text(f"{subject} {row}")]
            for method in METHODS:
                theirs = paper.printed(subject, row, method).value
                cell = by_place.get((subject, row, method))
                shown = "missing" if cell is None else f"{cell.ours:.2f}"
                value = None if cell is None else cell.ours
                line.append(Item(f"{shown} ({theirs:.2f})", value))
            rows.append(tuple(line))
    if not rows:
        return None
    columns = (Column("Subject"), *(Column(method, True) for method in METHODS))
    caption = "Hard-label AUC in percent, mean over runs: ours, in brackets the paper's."
    return Section("procedure-1", "Procedure 1", (Table(columns, tuple(rows), caption),))


def compact_section(result: StudyResult) -> Section | None:
    """Return significant wins and losses of LCC, ours and theirs."""
    subjects = subjects_of(result)
    cells = compact_table(result.frame, RIVALS, subjects)
    by_place = {(cell.row, cell.method): cell for cell in cells if cell.sets}
    if not by_place:
        return None
    rows = []
    for method in RIVALS:
        line = [text(method)]
        for row in ("train", "test", "time"):
            cell = by_place.get((row, method))
            line.append(text("–" if cell is None else f"{cell.better} ({cell.worse})"))
            line.append(text("{} ({})".format(*paper.COMPACT_SEIZURE[row][method]), "quiet"))
        rows.append(tuple(line))
    columns = (
        Column("LCC against"),
        *(Column(name) for row in ("Train", "Test", "Time") for name in (row, f"{row}, paper")),
    )
    caption = (
        f"On how many of {len(subjects)} subjects LCC is significantly better (in brackets: "
        "worse), paired signed-rank test at 0.05, uncorrected. The paper has 12 subjects."
    )
    return Section("compact", "Wins and losses of LCC", (Table(columns, tuple(rows), caption),))


def time_section(result: StudyResult) -> Section | None:
    """Return each method's median time relative to LCC, ours and the paper's."""
    rows = []
    for subject in subjects_of(result):
        table = pivot(result.frame, subject, "fit_seconds").median()
        if "LCC" not in table:
            continue
        line: list[Item] = [text(subject), seconds(float(table["LCC"]))]
        own = paper.printed(subject, "time", "LCC").value
        for method in RIVALS:
            theirs = paper.printed(subject, "time", method).value / own
            ours = float(table.get(method, np.nan)) / float(table["LCC"])
            line.append(Item(f"{ours:.2f} ({theirs:.2f})", ours))
        rows.append(tuple(line))
    if not rows:
        return None
    columns = (Column("Subject"), Column("LCC", True), *(Column(m, True) for m in RIVALS))
    caption = "Median fit time as a multiple of LCC's on the same splits; in brackets the paper's."
    return Section("time", "Time", (Table(columns, tuple(rows), caption),))


def standin_section(result: StudyResult, name: str) -> Section:
    """Return the scores on a stand-in, apart from everything of the paper."""
    hard = lines(result.frame, name, "test_hard_auc")
    scores = {line.method: line for line in lines(result.frame, name, "test_score_auc")}
    rows = tuple(
        (
            text(line.method),
            number(100 * line.mean, 2),
            number(100 * line.sd, 2),
            number(100 * scores[line.method].mean, 2),
            number(100 * scores[line.method].sd, 2),
            seconds(line.seconds),
            number(line.runs, 0),
            text(line.reason, "wrap"),
        )
        for line in hard
    )
    columns = (
        Column("Method"),
        Column("Hard-label AUC", True),
        Column("sd over splits", True),
        Column("Score AUC", True),
        Column("sd over splits", True),
        Column("Fit", True),
        Column("Runs", True),
        Column("Marked"),
    )
    warning = "This is a stand-in. Its numbers are not comparable with the paper's."
    blocks: tuple[Any, ...] = (Paragraph(warning), Table(columns, rows))
    return Section(f"standin-{name}", f"Stand-in: {name}", blocks)


def summary_lines(result: StudyResult) -> list[str]:
    """Return the summary for a terminal."""
    found = list(answer(result))
    for problem in result.problems:
        found.append(f"{problem.name}: {problem.title}")
        found += [f"    note: {note}" for note in problem.notes]
        is_subject = problem.name in CODES
        for line in lines(result.frame, problem.name, "test_paper_auc"):
            shown = f"{100 * line.mean:6.2f}" if line.runs else f"     – {line.reason[:80]}"
            theirs = ""
            if is_subject and line.method in METHODS:
                theirs = f" ({paper.printed(problem.name, 'test', line.method).value:.2f})"
            found.append(f"    {line.method:<8}{shown}{theirs}")
    if any(problem.name in CODES for problem in result.problems):
        found.append("Hard-label AUC on held-out seizures, percent; in brackets the paper's.")
    else:
        found.append("Hard-label AUC on held-out events, percent.")
    return found


def _command(result: StudyResult) -> str:
    config = result.config
    parts = ["lincent", "reproduce", "--seizure", config["root"]]
    parts += ["--seed", str(config["seed"]), "--runs", str(config["runs"])]
    parts += ["--interictal", config["interictal"]] + ["--lenient"] * config["lenient"]
    return shlex.join(parts)
