"""The report of ``lincent reproduce``: the paper's numbers and figures beside ours.

A report is a function of a finished experiment: it loads no data and fits no model.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent.model_selection.runner import ExperimentResult
from lincent.model_selection.statistics import means, pivot, wilcoxon
from lincent.paper.study import paper, report_figures
from lincent.paper.study.alternative_interpretations import IS_32, Effect, effects, explanation
from lincent.paper.study.compare_with_paper import (
    DISCRIMINATORS,
    POINTS,
    ROWS,
    Agreement,
    agreements,
    best_width,
    conclusions,
    count_wins,
    methods_with_fewer_splits,
    sets_of,
)
from lincent.paper.study.report_baselines import baselines_section, rank_section
from lincent.paper.study.reproduce import PARTS
from lincent.report.blocks import (
    Bullets,
    Figure,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    columns,
    number,
    probability,
    seconds,
    tabulated,
    text,
    yes_or_no,
)
from lincent.report.comparison import footer, settings_section, wall_time

MAX_SENTENCES = 5
"""Disagreements that are listed in the terminal."""


def reproduction_page(result: ExperimentResult) -> Page:
    """Return the report of the study of the paper."""
    numbers, config = agreements(result.frame), result.config
    lead = None
    if numbers:
        caption = (
            "Each point is one printed mean: a method on a set, train or test. In the band the "
            f"difference is at most {POINTS} points; the farthest outside it are named."
        )
        svg = report_figures.ours_and_theirs(numbers)
        lead = Figure("agreement", svg, "Ours against the paper's numbers", caption)
    sections = [
        conclusion_section(result),
        agreement_section(result, numbers),
        compact_section(result),
        baselines_section(result),
        rank_section(result),
        discriminator_section(result),
        fqcc_section(result),
        time_section(result, sets_of(result.frame)),
        kernel_section(result),
        example_section(result),
        interpretation_section(result),
        missing_section(result),
        every_number_section(numbers),
        settings_section(result, _command(config)),
    ]
    facts = (
        ("Sets", f"{len({n.dataset for n in numbers})} of {len(paper.SETS)}"),
        ("Runs", f"{config['runs']} (paper: 100 in its text, 50 in its appendix)"),
        ("Fits", f"{config['fits']}"),
        ("Wall time", wall_time(result)),
    )
    return Page(
        "Linear centralization classifier: the paper, run again",
        answer(result, numbers),
        lead,
        facts,
        tuple(section for section in sections if section is not None),
        f"{paper.CITATION}. {footer(result)}",
    )


def answer(result: ExperimentResult, numbers: Sequence[Agreement]) -> tuple[str, str]:
    """Return two sentences: does the table reproduce, and how does a modern baseline compare."""
    sets = [code for code in paper.SETS if any(n.dataset == code for n in numbers)]
    if not numbers:
        return ("Procedure 1 was not run.", "The sections below hold what was.")
    within = sum(n.within_points for n in numbers)
    inside = sum(n.within_error for n in numbers)
    outcome = "agrees in part" if max(within, inside) < 0.9 * len(numbers) else "reproduces"
    first = (
        f"The paper's table {outcome}: {within} of {len(numbers)} train and test figures on "
        f"{len(sets)} of 7 sets are within {POINTS} points ({max(n.runs for n in numbers)} runs), "
        f"{inside} within two combined standard errors."
    )
    table, score = (means(result.frame, f"test_{name}") for name in ("paper_auc", "score_auc"))
    if not {"LCC", "LogReg-bal"} <= set(table.columns):
        return (first, "Modern baselines were not run.")
    gaps, ranking = (
        100 * (t["LogReg-bal"] - t["LCC"]).reindex(sets).dropna() for t in (table, score)
    )
    return first, (
        f"Logistic regression with balanced classes is ahead of LCC on {int((gaps > 0).sum())} of "
        f"these {len(gaps)} sets, by {gaps.mean():+.1f} points on average at the threshold and "
        f"{ranking.mean():+.1f} in the ranking (score AUC)."
    )


def _command(config: dict[str, Any]) -> str:
    parts = ["lincent", "reproduce", *["--quick"] * config["quick"]]
    parts += ["--seed", str(config["seed"]), "--runs", str(config["runs"])]
    if tuple(config["sets"]) != paper.SETS:
        parts += ["--sets", ",".join(config["sets"])]
    if set(config["parts"]) != set(PARTS):
        parts += ["--parts", ",".join(config["parts"])]
    return shlex.join(parts)


def summary_lines(result: ExperimentResult) -> list[str]:
    """Return the summary for a terminal."""
    numbers = agreements(result.frame)
    far = disagreement_sentences(result.frame, numbers)
    lines = [*answer(result, numbers), *far[:MAX_SENTENCES]]
    if len(far) > MAX_SENTENCES:
        lines.append(f"{len(far) - MAX_SENTENCES} more such numbers are in the report.")
    table = 100 * means(result.frame, "test_paper_auc")
    table = table.drop(columns=methods_with_fewer_splits(result.frame), errors="ignore")
    sets = [code for code in paper.SETS if code in table.index]
    if sets:
        order = dict.fromkeys(m for m in (*paper.METHODS, *table.columns) if m in table.columns)
        width = max(len(method) for method in order)
        lines += ["", "Hard-label AUC on held-out rows, percent (in brackets: the paper)"]
        lines.append(" " * width + "".join(f"{code:>13}" for code in sets))
        for method in order:
            line = f"{method:<{width}}"
            for code in sets:
                value = table.at[code, method]
                shown = f"{value:.1f}" if np.isfinite(value) else "–"
                if method in paper.METHODS:
                    shown += f" ({paper.printed(code, 'test', method).value:.1f})"
                line += f"{shown:>13}"
            lines.append(line)
    return lines + [f"Missing: {name}: {remedy}" for name, remedy in result.missing]


# ------------------------------------------------------------- the paper's tables and conclusions


def conclusion_section(result: ExperimentResult) -> Section | None:
    """Return the table of the paper's conclusions."""
    claims = conclusions(result.frame)
    if not claims:
        return None
    table = tabulated(
        claims,
        ("The paper's conclusion", lambda item: text(item.claim, "wrap")),
        ("Paper", lambda item: text(item.theirs, "wrap")),
        ("Ours", lambda item: text(item.ours, "wrap")),
        ("Holds?", lambda item: yes_or_no(item.holds, "good", "bad")),
        caption="Wins and losses are sets on which the paired signed-rank test at 0.05 finds a "
        "difference; a relation holds where it has the same sign. Ranks count from 1.",
    )
    held = sum(item.holds for item in claims)
    sentence = f"{held} of {len(claims)} conclusions of the paper hold on these runs."
    return Section("conclusions", "Which conclusions hold", (Paragraph(sentence), table))


def agreement_section(result: ExperimentResult, numbers: Sequence[Agreement]) -> Section:
    """Return the appendix table of the paper, ours with theirs in brackets."""
    blocks: list[Any] = [agreement_table(numbers, paper.SETS, paper.METHODS)]
    far = disagreement_sentences(result.frame, numbers)
    if far:
        intro = "The numbers farthest from the paper, and what was measured about why:"
        blocks += [Paragraph(intro), Bullets(tuple(far))]
    if numbers:
        sentence = (
            f"{sum(n.within_error for n in numbers)} of {len(numbers)} differences are within two "
            "combined standard errors. The paper prints no standard deviation; the error takes "
            f"ours for both and the {paper.RUNS_APPENDIX} runs of its appendix."
        )
        blocks.append(Paragraph(sentence))
    return Section("procedure-1", "Procedure 1: the paper's table", tuple(blocks))


def agreement_table(
    numbers: Sequence[Agreement], sets: Sequence[str], methods: Sequence[str]
) -> Table:
    """Return train and test of each set, ours with the paper's number in brackets."""
    by_place = {(n.dataset, n.row, n.method): n for n in numbers}

    def cell(place: tuple[str, str], method: str) -> Item:
        theirs, n = paper.printed(*place, method).value, by_place.get((*place, method))
        if n is None:
            return Item(f"missing ({theirs:.2f})", None, "quiet")
        hint = (
            f"difference {n.difference:+.2f}, combined standard error {n.error:.2f}, {n.runs} runs"
        )
        mark = "" if n.within_points else "bad"
        return Item(f"{n.ours:.2f} ({theirs:.2f})", n.ours, mark, hint)

    return tabulated(
        [(dataset, row) for dataset in sets for row in ("train", "test")],
        ("Set", " ".join),
        *((f"{method}#", lambda place, method=method: cell(place, method)) for method in methods),
        caption="Hard-label AUC in percent, mean over runs: ours, in brackets the paper's. Red: "
        f"more than {POINTS} points apart.",
    )


def disagreement_sentences(frame: Any, numbers: Sequence[Agreement]) -> list[str]:
    """Return a sentence for each number beyond 1.5 points or two combined standard errors."""
    far = [n for n in numbers if not (n.within_points and n.within_error)]
    sentences = []
    for n in sorted(far, key=lambda n: -abs(n.difference)):
        errors = "no variation over the runs"
        if np.isfinite(n.errors):
            errors = f"{n.errors:.1f} standard errors"
        sentences.append(
            f"{n.method} on {n.dataset}, {n.row}: {n.ours:.2f} against {n.theirs:.2f} "
            f"({n.difference:+.2f}, {errors}): {explanation(frame, n)}."
        )
    return sentences


def every_number_section(numbers: Sequence[Agreement]) -> Section:
    """Return ours, theirs, the difference and the error of each printed number."""
    table = tabulated(
        numbers,
        ("Set", lambda n: n.dataset),
        ("Row", lambda n: n.row),
        ("Method", lambda n: n.method),
        ("Ours#", lambda n: number(n.ours, 2)),
        ("Theirs#", lambda n: number(n.theirs, 2)),
        (
            "Difference#",
            lambda n: number(n.difference, 2, signed=True, mark="" if n.within_points else "bad"),
        ),
        ("Combined SE#", lambda n: number(n.error, 2)),
        ("Within 2 SE", lambda n: yes_or_no(n.within_error, "quiet", "bad")),
        (f"Within {POINTS}", lambda n: yes_or_no(n.within_points, "quiet", "bad")),
    )
    return Section("every-number", "Every printed number", (table,))


def compact_section(result: ExperimentResult) -> Section:
    """Return the paper's compact table, with the other methods of the study below its own."""
    others = [m["code"] for m in result.methods if m["code"] not in paper.METHODS]
    note = Paragraph(
        "The paper's test calls small differences significant because splits of one set overlap. "
        "The corrected intervals against modern baselines are in the next section."
    )
    methods, where = (*paper.BASELINES, *others), f"{len(paper.SETS)} sets"
    table = wins_table(result, sets_of(result.frame), methods, paper.COMPACT, where)
    return Section("compact", "Wins and losses of LCC", (table, note))


def wins_table(
    result: ExperimentResult,
    sets: tuple[str, ...],
    methods: Sequence[str],
    printed: dict[str, dict[str, tuple[int, int]]],
    in_the_paper: str,
) -> Table:
    """Return on how many sets LCC is significantly better and worse, ours and the paper's."""
    wins = count_wins(result.frame, tuple(methods), sets)

    def count(pair: tuple[int, ...] | None, mark: str = "") -> Item:
        if pair is None:
            return text("–", "quiet")
        return Item(f"{pair[0]} ({pair[1]})", float(pair[0] - pair[1]), mark)

    pairs: list[Any] = [("LCC against", text)]
    for row in ROWS:
        pairs += [
            (row.title(), lambda m, row=row: count(wins.get((row, m)))),
            (f"{row.title()}, paper", lambda m, row=row: count(printed[row].get(m), "quiet")),
        ]
    caption = (
        f"On how many of {len(sets)} sets LCC is significantly better (in brackets: worse), paired "
        f"signed-rank test at 0.05, uncorrected, as in the paper. The paper has {in_the_paper}."
    )
    return tabulated(dict.fromkeys(m for _, m in wins), *pairs, caption=caption)


def time_section(
    result: ExperimentResult, sets: Sequence[str], methods: Sequence[str] = paper.METHODS
) -> Section:
    """Return fit times: LCC's, and each method's as a multiple of it, ours and the paper's."""
    rows = []
    for dataset in sets:
        median = pivot(result.frame, dataset, "fit_seconds").median()
        if "LCC" in median:
            own, theirs = float(median["LCC"]), paper.printed(dataset, "time", "LCC").value
            line = [text(dataset), seconds(own), number(theirs, 1)]
            for method in methods[1:]:
                ours = float(median.get(method, float("nan"))) / own
                printed = paper.printed(dataset, "time", method).value / theirs
                line.append(Item(f"{ours:.2f} ({printed:.2f})", ours))
            rows.append(tuple(line))
    caption = (
        "Median fit time of LCC, and of the others as a multiple of it on the same splits; in "
        "brackets the paper's multiple. Two machines and two languages: compare the multiples."
    )
    head = columns("Set", "LCC#", "LCC, paper, ms#", *(f"{method}#" for method in methods[1:]))
    return Section("time", "Time", (Table(head, tuple(rows), caption),))


def interpretation_section(result: ExperimentResult) -> Section | None:
    """Return what every other interpretation of the paper's text does to the test scores."""
    groups: dict[tuple[str, str], list[Effect]] = {}
    for method in paper.METHODS:
        for dataset in sets_of(result.frame):
            for effect in effects(result.frame, method, dataset, "test"):
                groups.setdefault((method, effect.what), []).append(effect)
    listed = [(data["method"], data["what"]) for data in paper.INTERPRETATIONS.values()]
    order = [key for key in listed if key in groups] + [key for key in groups if key not in listed]
    if not order:
        return None

    def distance(key: tuple[str, str], name: str) -> Item:
        gaps = [
            abs(getattr(effect, name) - paper.printed(effect.dataset, "test", key[0]).value)
            for effect in groups[key]
        ]
        return number(sum(gaps) / len(gaps), 2)

    def largest(key: tuple[str, str]) -> Effect:
        return max(groups[key], key=lambda effect: abs(effect.shift))

    table = tabulated(
        order,
        ("Method", lambda key: key[0]),
        ("Read with", lambda key: text(key[1], "wrap")),
        (
            "Distance, taken#|mean absolute difference to the printed test numbers",
            lambda key: distance(key, "taken"),
        ),
        ("Distance, so#", lambda key: distance(key, "other")),
        (
            "Largest change#|points of hard-label AUC on test",
            lambda key: number(largest(key).shift, 2, signed=True),
        ),
        ("on", lambda key: largest(key).dataset if key in listed else IS_32),
        ("Splits#", lambda key: number(min(effect.runs for effect in groups[key]), 0)),
        caption="Interpretations that the text allows and that were not taken, on the same splits: "
        "the mean distance to the paper's test numbers over the sets with the interpretation taken "
        "and with this one, and where it changes most.",
    )
    return Section("interpretations", "Other interpretations", (table,))


def missing_section(result: ExperimentResult) -> Section | None:
    """Return what could not be run, and how to get it."""
    table = tabulated(
        result.missing,
        ("What", lambda item: item[0]),
        ("How to get it, or why", lambda item: text(item[1], "wrap")),
    )
    title = "What is missing, and how to get it"
    return Section("missing", title, (table,)) if result.missing else None


# --------------------------------------------------------------------- the forms of centralization

Panels = dict[str, tuple[Any, Any]]


def _panels(result: ExperimentResult, methods: tuple[str, ...]) -> Panels:
    """Return means and standard deviations in training and on test, sets by methods.

    Only the splits that all of the methods have finished.
    """
    import pandas

    panels: Panels = {}
    for row in ("train", "test"):
        averages, sds = {}, {}
        for dataset in sets_of(result.frame):
            table = 100 * pivot(result.frame, dataset, f"{row}_paper_auc")
            if set(methods) <= set(table.columns):
                both = table[list(methods)].dropna()
                averages[dataset], sds[dataset] = both.mean(), both.std(ddof=1)
        if averages:
            panels[row] = (pandas.DataFrame(averages).T, pandas.DataFrame(sds).T)
    return panels


def _panel_figure(name: str, panels: Panels, alt: str, caption: str, *more: Any) -> Figure:
    """Return a figure of panels with its table; ``more`` are columns (title, cell of a set)."""

    def cell(row: str, method: str, dataset: str) -> Item:
        mean, sd = (float(table.at[dataset, method]) for table in panels[row])
        return Item(f"{mean:.2f} ± {sd:.2f}", mean)

    pairs: list[Any] = [("Set", text)]
    for row, (averages, _) in panels.items():
        pairs += [
            (f"{method} {row}#", lambda s, row=row, method=method: cell(row, method, s))
            for method in averages.columns
        ]
    label = "Mean ± standard deviation over the splits, percent."
    numbers = tabulated(panels["train"][0].index, *pairs, *more, caption=label)
    return Figure(name, report_figures.grouped_dots(panels, name), alt, caption, numbers)


def discriminator_section(result: ExperimentResult) -> Section | None:
    """Return the paper's figure of FQCC and the discriminators of LCC."""
    ran = set(result.frame["method"])
    methods = tuple(code for code in ("FQCC", *DISCRIMINATORS) if code in ran)
    panels = _panels(result, methods)
    if len(methods) < 2 or not panels:
        return None
    average = panels["test"][0].mean()
    caption = (
        "FQCC and the three decision rules on LCC's projected line: the nearer center (LCC), the "
        "nearest training row (LCC-1NN), a support vector machine on the line (LCC-1SV). Bars: one "
        f"standard deviation over the splits. Highest mean on test: {average.idxmax()} "
        f"({average.max():.1f} %). The paper finds LCC best."
    )
    alt = "FQCC and the discriminators of LCC on each set, training and test"
    figure = _panel_figure("discriminators", panels, alt, caption)
    return Section("discriminators", "The discriminators", (figure,))


def fqcc_section(result: ExperimentResult) -> Section | None:
    """Return FQCC against LCC: scores, test, time."""
    panels = _panels(result, ("LCC", "FQCC"))
    if not panels:
        return None
    ratios = {}
    for dataset in panels["test"][0].index:
        fit_seconds = pivot(result.frame, dataset, "fit_seconds")
        ratios[dataset] = float((fit_seconds["FQCC"] / fit_seconds["LCC"]).median())

    def p_value(row: str, dataset: str) -> Item:
        both = pivot(result.frame, dataset, f"{row}_paper_auc")[["LCC", "FQCC"]].dropna()
        return probability(wilcoxon(both["LCC"], both["FQCC"]))

    caption = (
        "The quadratic form and the linear one on the same splits; bars: one standard deviation. "
        f"FQCC takes {np.median(list(ratios.values())):.1f} times as long as LCC here (median over "
        "sets), by a short sequence of linear programs; the paper has "
        f"{paper.FQCC_TIME_RATIO:.0f} for a general solver, which benchmarks/fqcc_times.py "
        "measures."
    )
    figure = _panel_figure(
        "fqcc",
        panels,
        "FQCC and LCC on each set, training and test",
        caption,
        *((f"p, {row}#", lambda s, row=row: p_value(row, s)) for row in ("train", "test")),
        ("Time, FQCC / LCC#", lambda s: number(ratios[s], 1)),
    )
    return Section("fqcc", "FQCC and LCC", (figure,))


def kernel_section(result: ExperimentResult) -> Section | None:
    """Return the kernel test: scores by two ways to choose the width, and the four panels."""
    frame, rows = result.frame, []
    for shape, (train, test) in paper.KERNEL.items():
        best = best_width(frame, shape)
        if best is None:
            continue
        nested = frame[
            (frame["dataset"] == shape)
            & (frame["method"] == "KernelLCC")
            & (frame["procedure"] == "nested")
            & (frame["status"] == "ok")
        ]
        gammas = Counter(json.loads(chosen)["gamma"] for chosen in nested["chosen"])
        counts = ", ".join(f"{gamma:g} ({count}×)" for gamma, count in gammas.most_common())
        inside = [100 * float(nested[f"{row}_paper_auc"].mean()) for row in ("train", "test")]
        scores = (train, 100 * best.train, inside[0], test, 100 * best.test, inside[1])
        rows.append(
            (
                text(shape),
                *(number(value, 1) for value in scores),
                number(json.loads(best.params)["gamma"], 4),
                text(counts or "–", "wrap"),
                number(best.runs, 0),
            )
        )
    if not rows:
        return None
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
    blocks: list[Any] = [Table(head, tuple(rows), caption)]
    if result.plot_data.get("shapes"):
        svg = report_figures.kernel_panels(result.plot_data["shapes"])
        caption = (
            "KernelLCC fitted on all points of each shape, at the width chosen most often inside "
            "the training parts: the two regions and the points."
        )
        blocks.insert(0, Figure("kernel", svg, "Regions of KernelLCC on the shapes", caption))
    return Section("kernel", "The kernel test", tuple(blocks))


def example_section(result: ExperimentResult) -> Section | None:
    """Return the paper's worked example with its projections before and after."""
    data = result.plot_data.get("example")
    if data is None:
        return None
    numbers = tabulated(
        (
            ("beta 1", number(data["beta"][0], 4, signed=True)),
            ("beta 2", number(data["beta"][1], 4, signed=True)),
            ("objective", number(data["objective"], 4)),
            ("duality gap", Item(f"{data['duality_gap']:.1e}", data["duality_gap"])),
            ("AUC before", number(data["auc_before"], 3)),
            ("AUC after", number(data["auc_after"], 3)),
            (f"wrong of {len(data['codes'])}", number(data["wrong"], 0)),
        ),
        ("What", lambda item: item[0]),
        ("Value#", lambda item: item[1]),
    )
    caption = (
        "Left: two groups, the direction beta and the threshold. Right: the projections before, on "
        "the direction along which the class centers fall together (AUC "
        f"{data['auc_before']:.2f}), and after, on beta (AUC {data['auc_after']:.2f})."
    )
    svg = report_figures.worked_example(data)
    figure = Figure("example", svg, "The worked example of the paper", caption, numbers)
    note = Paragraph(
        "The means are the paper's; its printed matrices are no covariances, and "
        "lincent.paper.datasets.make_paper_example has what is taken instead."
    )
    return Section("example", "The worked example", (figure, note))
