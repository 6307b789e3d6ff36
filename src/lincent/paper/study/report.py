"""The report of ``lincent reproduce``: the paper's numbers and figures beside ours.

A report is a function of a finished experiment: it loads no data and fits no model.  Its prose is
in ``report.toml``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lincent._files import read_toml
from lincent.model_selection.runner import ExperimentResult
from lincent.model_selection.statistics import means, pivot, select, wilcoxon
from lincent.paper.study import figures, paper
from lincent.paper.study.compare_with_paper import (
    DISCRIMINATORS,
    POINTS,
    ROWS,
    agreements,
    best_width,
    conclusions,
    count_wins,
    fqcc_times,
    kernel_runs,
    mean_ranks,
    sets_of,
    tuned_scores,
)
from lincent.paper.study.reproduce import PARTS
from lincent.report.blocks import (
    Bullets,
    Figure,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    note,
    number,
    probability,
    seconds,
    tabulated,
    text,
    yes_or_no,
)
from lincent.report.comparison import command_line, footer, settings_section, wall_time

_PROSE: dict[str, str] = read_toml("lincent.paper.study", "report.toml")


def prose(name: str, **fields: Any) -> str:
    """Return a text of ``report.toml`` with its fields filled in."""
    return _PROSE[name].format(**fields)


def reproduction_page(result: ExperimentResult) -> Page:
    """Return the report of the study of the paper."""
    numbers, config = agreements(result.frame), result.config
    sections = [
        conclusion_section(result),
        agreement_section(result, numbers),
        compact_section(result),
        rank_section(result),
        discriminator_section(result),
        time_section(result, sets_of(result.frame)),
        kernel_section(result),
        example_section(result),
    ]
    facts = (
        ("Sets", f"{len({n.dataset for n in numbers})} of {len(paper.SETS)}"),
        ("Runs", f"{config['runs']} (paper: 100 in its text, 50 in its appendix)"),
    )
    title = "Linear centralization classifier: the paper, run again"
    options = {
        "quick": config["quick"], "seed": str(config["seed"]), "runs": str(config["runs"]),
        "sets": tuple(config["sets"]) != paper.SETS and ",".join(config["sets"]),
        "parts": {*config["parts"]} != {*PARTS} and ",".join(config["parts"]),
    }  # fmt: skip
    return study_page(result, title, answer(result, numbers), facts, sections, options)


def study_page(
    result: ExperimentResult,
    title: str,
    answer: tuple[str, ...],
    facts: tuple[tuple[str, str], ...],
    sections: Sequence[Section | None],
    options: dict[str, Any],
) -> Page:
    """Return a page that ends with what is missing, the settings and the citation."""
    facts += (("Fits", f"{result.config['fits']}"), ("Wall time", wall_time(result)))
    last = missing_section(result), settings_section(result, command_line("reproduce", **options))
    kept = tuple(section for section in (*sections, *last) if section is not None)
    return Page(title, answer, None, facts, kept, f"{paper.CITATION}. {footer(result)}")


def answer(result: ExperimentResult, numbers: Sequence[Any]) -> tuple[str, str]:
    """Return two sentences: does the table reproduce, and how does a modern baseline compare."""
    sets = [code for code in paper.SETS if any(n.dataset == code for n in numbers)]
    if not numbers:
        return ("Procedure 1 was not run.", "The sections below hold what was.")
    within = sum(n.within_points for n in numbers)
    inside = sum(n.within_error for n in numbers)
    few = max(within, inside) < 0.9 * len(numbers)
    first = prose(
        "answer", outcome="agrees in part" if few else "reproduces", within=within,
        total=len(numbers), sets=len(sets), points=POINTS, runs=max(n.runs for n in numbers),
        inside=inside,
    )  # fmt: skip
    table, score = (means(result.frame, f"test_{name}") for name in ("paper_auc", "score_auc"))
    if not {"LCC", "LogReg-bal"} <= set(table.columns):
        return (first, "Modern baselines were not run.")
    hard, ranking = (
        100 * (t["LogReg-bal"] - t["LCC"]).reindex(sets).dropna() for t in (table, score)
    )
    fields = {"ahead": int((hard > 0).sum()), "sets": len(hard)}
    return first, prose("answer-baseline", **fields, hard=hard.mean(), ranking=ranking.mean())


def summary_lines(result: ExperimentResult) -> list[str]:
    """Return the summary for a terminal."""
    import pandas

    numbers = agreements(result.frame)
    far = disagreement_sentences(numbers)
    lines = [*answer(result, numbers), *far[:5]]
    if len(far) > 5:
        lines.append(f"{len(far) - 5} more such numbers are in the report.")
    if numbers:
        cells = pandas.Series(
            {
                (n.method, n.dataset): f"{n.ours:.1f} ({n.theirs:.1f})"
                for n in numbers
                if n.row == "test"
            }
        )
        table = cells.unstack().reindex(index=paper.METHODS, columns=sets_of(result.frame))
        lines += ["", "Hard-label AUC on held-out rows, percent (in brackets: the paper)"]
        lines += table.dropna(how="all").fillna("–").to_string().splitlines()
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
        caption=prose("conclusions"),
    )
    held = sum(item.holds for item in claims)
    sentence = f"{held} of {len(claims)} conclusions of the paper hold on these runs."
    return Section("conclusions", "Which conclusions hold", (Paragraph(sentence), table))


def agreement_section(result: ExperimentResult, numbers: Sequence[Any]) -> Section:
    """Return the appendix table of the paper, ours with theirs in brackets."""
    blocks: list[Any] = [agreement_table(numbers, paper.SETS, paper.METHODS)]
    far = disagreement_sentences(numbers)
    if far:
        blocks += [Paragraph("The numbers farthest from the paper:"), Bullets(tuple(far))]
    return Section("procedure-1", "Procedure 1: the paper's table", tuple(blocks))


def agreement_table(numbers: Sequence[Any], sets: Sequence[str], methods: Sequence[str]) -> Table:
    """Return train and test of each set, ours with the paper's number in brackets."""
    by_place = {(n.dataset, n.row, n.method): n for n in numbers}

    def cell(place: tuple[str, str], method: str) -> Item:
        theirs, n = paper.printed(*place, method), by_place.get((*place, method))
        if n is None:
            return Item(f"missing ({theirs:.2f})", None, "quiet")
        return Item(f"{n.ours:.2f} ({theirs:.2f})", n.ours, "" if n.within_points else "bad")

    return tabulated(
        [(dataset, row) for dataset in sets for row in ("train", "test")],
        ("Set", " ".join),
        *((f"{method}#", lambda place, method=method: cell(place, method)) for method in methods),
        caption=prose("agreement", points=POINTS),
    )


def disagreement_sentences(numbers: Sequence[Any]) -> list[str]:
    """Return a sentence for each number beyond 1.5 points or two combined standard errors."""
    far = [n for n in numbers if not (n.within_points and n.within_error)]
    sentences = []
    for n in sorted(far, key=lambda n: -abs(n.difference)):
        errors = "no variation over the runs"
        if np.isfinite(n.errors):
            errors = f"{n.errors:.1f} standard errors"
        sentences.append(
            f"{n.method} on {n.dataset}, {n.row}: {n.ours:.2f} against {n.theirs:.2f} "
            f"({n.difference:+.2f}, {errors})."
        )
    return sentences


def compact_section(result: ExperimentResult) -> Section:
    """Return the paper's compact table."""
    sets, where = sets_of(result.frame), f"{len(paper.SETS)} sets"
    table = wins_table(result, sets, paper.BASELINES, paper.COMPACT, where)
    blocks = (table, Paragraph(prose("compact")), note("imbalance"), note("auc"))
    return Section("compact", "Wins and losses of LCC", blocks)


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
    caption = prose("wins", sets=len(sets), where=in_the_paper)
    return tabulated(dict.fromkeys(m for _, m in wins), *pairs, caption=caption)


def time_section(
    result: ExperimentResult, sets: Sequence[str], methods: Sequence[str] = paper.METHODS
) -> Section:
    """Return fit times: LCC's, and each method's as a multiple of it, ours and the paper's."""
    medians = {s: pivot(result.frame, s, "fit_seconds").median() for s in sets}
    medians = {s: times for s, times in medians.items() if "LCC" in times}

    def multiple(dataset: str, method: str) -> Item:
        ours = float(medians[dataset].get(method, np.nan)) / float(medians[dataset]["LCC"])
        theirs = [paper.printed(dataset, "time", m) for m in (method, "LCC")]
        return Item(f"{ours:.2f} ({theirs[0] / theirs[1]:.2f})", ours)

    table = tabulated(
        medians,
        ("Set", text),
        ("LCC#", lambda s: seconds(float(medians[s]["LCC"]))),
        ("LCC, paper, ms#", lambda s: number(paper.printed(s, "time", "LCC"), 1)),
        *((f"{method}#", lambda s, method=method: multiple(s, method)) for method in methods[1:]),
        caption=prose("time"),
    )
    return Section("time", "Time", (table,))


def missing_section(result: ExperimentResult) -> Section | None:
    """Return what could not be run, and how to get it."""
    table = tabulated(
        result.missing,
        ("What", lambda item: item[0]),
        ("How to get it, or why", lambda item: text(item[1], "wrap")),
    )
    title = "What is missing, and how to get it"
    return Section("missing", title, (table,)) if result.missing else None


def rank_section(result: ExperimentResult) -> Section | None:
    """Return the rank table of procedure 2 beside the paper's, and the nested one."""
    sets, config = sets_of(result.frame), result.config
    scores = tuned_scores(result.frame, sets)
    if scores.columns.empty:
        return None
    nested = means(result.frame, "test_paper_auc", "nested").reindex(
        index=scores.index, columns=scores.columns
    )
    ours, inside, theirs = mean_ranks(scores), mean_ranks(nested), paper.printed_ranks()
    every = config["every"]
    grids = "15-value grids" if every == 1 else f"coarse grids (every {every}th value)"
    table = tabulated(
        scores.columns,
        ("Method", text),
        ("Mean rank#", lambda m: number(ours.get(m, np.nan), 2)),
        ("paper#", lambda m: number(theirs[m], 2)),
        (
            "nested#|mean rank with selection inside the training part",
            lambda m: number(inside.get(m, np.nan), 2),
        ),
        *((f"{s}#", lambda m, s=s: number(100 * scores.at[s, m], 2)) for s in sets),
        (
            "nested mean#|mean score over sets, selection inside",
            lambda m: number(100 * nested[m].mean(), 2),
        ),
        caption=prose("ranks", folds=config["folds"], grids=grids),
    )
    blocks = (table, note("optimistic"))
    return Section("procedure-2", "Procedure 2: ranks with tuned parameters", blocks)


# --------------------------------------------------------------------- the forms of centralization


def discriminator_section(result: ExperimentResult) -> Section | None:
    """Return the paper's figures of FQCC and the discriminators of LCC: scores, test, time.

    Means and standard deviations are over the splits that all of the methods have finished.
    """
    frame = result.frame
    ran = set(frame["method"])
    methods = [code for code in (*DISCRIMINATORS, "FQCC") if code in ran]
    runs = select(frame)
    runs = runs[(runs["status"] == "ok") & runs["method"].isin(methods)]
    panels: figures.Panels = {}
    for row in ("train", "test"):
        table = runs.pivot(
            index=["dataset", "split"], columns="method", values=f"{row}_paper_auc"
        ).reindex(columns=methods)
        by_set = (100 * table.dropna()).groupby(level="dataset")
        sets = [s for s in sets_of(frame) if s in by_set.groups]
        panels[row] = by_set.mean().loc[sets], by_set.std().loc[sets]
    if len(methods) < 2 or "LCC" not in methods or not sets:
        return None

    def cell(row: str, method: str, dataset: str) -> Item:
        mean, sd = (float(table.at[dataset, method]) for table in panels[row])
        return Item(f"{mean:.2f} ± {sd:.2f}" if np.isfinite(sd) else f"{mean:.2f}", mean)

    def p_value(row: str, dataset: str) -> Item:
        both = pivot(frame, dataset, f"{row}_paper_auc")[["LCC", "FQCC"]].dropna()
        return probability(wilcoxon(both["LCC"], both["FQCC"]))

    pairs: list[Any] = [("Set", text)]
    for row in panels:
        pairs += [(f"{m} {row}#", lambda s, row=row, m=m: cell(row, m, s)) for m in methods]
    average = panels["test"][0].mean()
    caption = prose("discriminators", best=average.idxmax(), mean=average.max())
    if "FQCC" in methods:
        times = fqcc_times(frame, sets)
        ratio = np.median(list(times.values()))
        caption += prose("fqcc-time", ratio=ratio, paper=paper.FQCC_TIME_RATIO)
        pairs += [(f"p, FQCC {row}#", lambda s, row=row: p_value(row, s)) for row in panels]
        pairs.append(("Time, FQCC / LCC#", lambda s: number(times[s], 1)))
    label = "Mean ± standard deviation over the splits, percent."
    numbers = tabulated(sets, *pairs, caption=label)
    alt = "FQCC and the discriminators of LCC on each set, training and test"
    svg = figures.grouped_dots(panels, "discriminators")
    figure = Figure("discriminators", svg, alt, caption, numbers)
    return Section("discriminators", "FQCC and the discriminators of LCC", (figure,))


def kernel_section(result: ExperimentResult) -> Section | None:
    """Return the kernel test: scores by two ways to choose the width, and the four panels."""
    frame, rows = result.frame, []
    for shape, (train, test) in paper.KERNEL.items():
        best = best_width(frame, shape)
        if best is None:
            continue
        nested = kernel_runs(frame, shape, "nested")
        gammas = Counter(json.loads(chosen)["gamma"] for chosen in nested["chosen"])
        counts = ", ".join(f"{gamma:g} ({count}×)" for gamma, count in gammas.most_common())
        inside = [100 * float(nested[f"{row}_paper_auc"].mean()) for row in ("train", "test")]
        scores = (train, 100 * best.train, inside[0], test, 100 * best.test, inside[1])
        rows.append((shape, scores, json.loads(best.name)["gamma"], counts or "–", best.runs))
    if not rows:
        return None
    best_hint = "best#|the width that is best on the splits that give the score"
    inside_hint = "chosen inside#|the width chosen inside each training part"
    titles = (
        "Train, paper#", best_hint, inside_hint, "Test, paper#", best_hint, inside_hint
    )  # fmt: skip
    table = tabulated(
        rows,
        ("Shape", lambda row: row[0]),
        *((title, lambda row, k=k: number(row[1][k], 1)) for k, title in enumerate(titles)),
        ("best gamma#|1 / (2 w²) for an RBF kernel of width w", lambda row: number(row[2], 4)),
        ("chosen gammas", lambda row: text(row[3], "wrap")),
        ("Runs#", lambda row: number(row[4], 0)),
        caption=prose("kernel"),
    )
    blocks: list[Any] = [table]
    if result.plot_data.get("shapes"):
        svg = figures.kernel_panels(result.plot_data["shapes"])
        alt = "Regions of KernelLCC on the shapes"
        blocks.insert(0, Figure("kernel", svg, alt, prose("kernel-figure")))
    return Section("kernel", "The kernel test", tuple(blocks))


def example_section(result: ExperimentResult) -> Section | None:
    """Return the paper's worked example with its projections before and after."""
    data = result.plot_data.get("example")
    if data is None:
        return None
    svg, caption = figures.worked_example(data), prose("example", **data)
    figure = Figure("example", svg, "The worked example of the paper", caption)
    return Section("example", "The worked example", (figure, Paragraph(prose("example-note"))))
