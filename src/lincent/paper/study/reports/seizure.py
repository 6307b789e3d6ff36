"""The report of `lincent reproduce --seizure`: each subject's numbers beside the paper's.

Stand-ins have a table of their own, without a number of the paper.
"""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from lincent.paper.study import paper
from lincent.paper.study.agreement import Agreement, agreements
from lincent.paper.study.reports.paper_sections import (
    agreement_table,
    every_number_section,
    missing_section,
    time_section,
    wins_table,
)
from lincent.paper.study.reports.settings import processes, settings_section
from lincent.paper.study.results import ProblemRecord, StudyResult
from lincent.paper.study.seizure import CODES, METHODS
from lincent.paper.study.summary import lines
from lincent.report.blocks import (
    Page,
    Paragraph,
    Section,
    duration,
    number,
    seconds,
    tabulated,
    text,
)

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
        *(paper_sections(result, cells) if cells else ()),
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
        ("Wall time", f"{duration(config['wall_seconds'])}, {processes(config['jobs'])}"),
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


def paper_sections(result: StudyResult, cells: list[Agreement]) -> tuple[Section, ...]:
    """Return what is compared with the paper's numbers."""
    there = subjects_of(result)
    wins = wins_table(result, there, RIVALS, paper.COMPACT_SEIZURE, "12 subjects")
    return (
        Section("procedure-1", "Procedure 1", (agreement_table(cells, there, METHODS),)),
        Section("compact", "Wins and losses of LCC", (wins,)),
        time_section(result, there, METHODS),
    )


def _rule(interictal: str) -> str:
    return {
        "random": "one by one at random, as in the paper",
        "blocks": "in blocks of consecutive segments; the paper takes them at random",
    }[interictal]


def data_section(result: StudyResult) -> Section:
    """Return what was read, and where it is not what the paper describes."""
    table = tabulated(
        result.problems,
        ("Set", lambda problem: problem.name),
        ("What was read", lambda problem: text(problem.title, "wrap")),
        ("Ictal#", lambda problem: number(problem.classes.get("ictal", 0), 0)),
        ("Interictal#", lambda problem: number(problem.classes.get("interictal", 0), 0)),
        ("Features#", lambda problem: number(problem.columns, 0)),
        ("Against the paper's table", lambda problem: text(_notes(problem), "wrap")),
        caption="Class counts, channels and rate are compared; the paper prints no number of "
        "events.",
    )
    return Section("data", "The recordings", (table,))


def _notes(problem: ProblemRecord) -> str:
    return "; ".join(problem.notes) or "as in the paper"


def standin_section(result: StudyResult, name: str) -> Section:
    """Return the scores on a stand-in, apart from everything of the paper."""
    hard = lines(result.frame, name, "test_hard_auc")
    scores = {line.method: line for line in lines(result.frame, name, "test_score_auc")}
    table = tabulated(
        hard,
        ("Method", lambda line: line.method),
        ("Hard-label AUC#", lambda line: number(100 * line.mean, 2)),
        ("sd over splits#", lambda line: number(100 * line.sd, 2)),
        ("Score AUC#", lambda line: number(100 * scores[line.method].mean, 2)),
        ("sd over splits#", lambda line: number(100 * scores[line.method].sd, 2)),
        ("Fit#", lambda line: seconds(line.seconds)),
        ("Runs#", lambda line: number(line.runs, 0)),
        ("Marked", lambda line: text(line.reason, "wrap")),
    )
    warning = "This is a stand-in. Its numbers are not comparable with the paper's."
    blocks: tuple[Any, ...] = (Paragraph(warning), table)
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
