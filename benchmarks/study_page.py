"""Write doc/measured/study.md and parts of family.md there from a full study.

lincent reproduce -o results/full          # hours on one core; goes on where it was stopped
python benchmarks/study_page.py results/full
"""

import argparse
import datetime
from pathlib import Path

from lincent._console import duration
from lincent.model_selection import load_result
from lincent.model_selection.statistics import interval, means, pivot, select
from lincent.paper.study import paper
from lincent.paper.study.compare_with_paper import (
    agreements,
    conclusions,
    count_wins,
    mean_ranks,
    sets_of,
    tuned_scores,
)
from lincent.paper.study.report import (
    conclusion_section,
    disagreement_sentences,
    discriminator_section,
    kernel_section,
)

BEGIN, END = "<!-- begin study_page.py -->", "<!-- end study_page.py -->"
DOC = Path(__file__).resolve().parent.parent / "doc"
PAGE, FAMILY = DOC / "measured" / "study.md", DOC / "measured" / "family.md"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def agreement(result):
    cells = agreements(result.frame)
    place = {(c.dataset, c.row, c.method): c for c in cells}
    rows = []
    for code in sets_of(result.frame):
        for row in ("train", "test"):
            line = [f"{code} {row}"]
            for method in paper.METHODS:
                c = place[code, row, method]
                text = f"{c.ours:.2f} ({c.theirs:.2f})"
                line.append(text if c.within_points else f"**{text}**")
            rows.append(line)
    near = sum(c.within_points for c in cells)
    inside = sum(c.within_error for c in cells)
    mean = sum(abs(c.difference) for c in cells) / len(cells)
    runs = max(c.runs for c in cells)
    text = [
        "## Procedure 1 beside the paper",
        f"**{near} of {len(cells)} train and test cells are within 1.5 points** ({runs} runs, seed "
        f"{result.config['seed']}); {inside} are within two combined standard errors; the mean "
        f"absolute difference is {mean:.2f} points. Ours, in brackets the paper's; bold beyond "
        f"1.5.",
        table(["", *paper.METHODS], rows),
    ]
    far = disagreement_sentences(cells)
    if far:
        head = "Beyond 1.5 points or two combined standard errors:\n\n"
        text.append(head + "\n".join(f"- {sentence}" for sentence in far))
    return text


def concluded(result):
    found = conclusions(result.frame)
    rows = [[c.claim, c.theirs, c.ours, "yes" if c.holds else "**no**"] for c in found]
    return [
        "## Which conclusions hold",
        conclusion_section(result).blocks[0].text + " Each line is computed from the rows by "
        "`lincent.paper.study.compare_with_paper.conclusions`; wins and losses are sets on which "
        "the paper's test finds a difference, and a relation holds where it has the same sign.",
        table(["The paper's conclusion", "paper", "ours", "holds"], rows),
    ]


def compact(result):
    wins = count_wins(result.frame, paper.BASELINES, sets_of(result.frame))
    rows = []
    for row in ("train", "test", "time"):
        for who in ("ours", "paper"):
            line = [f"{row}, {who}"]
            for method in paper.BASELINES:
                pair = wins[row, method] if who == "ours" else paper.COMPACT[row].get(method)
                line.append("–" if pair is None else f"{pair[0]} ({pair[1]})")
            rows.append(line)
    return [
        "## Wins and losses",
        "Sets of seven on which LCC is significantly better (worse), paired signed-rank test at "
        "0.05, uncorrected, as in the paper.",
        table(["", *paper.BASELINES], rows),
    ]


def ranks(result):
    sets = list(sets_of(result.frame))
    first = means(result.frame, "test_paper_auc").reindex(sets)
    one = mean_ranks(first[list(paper.METHODS)])
    rows = [["procedure 1, defaults, ours", *(f"{one[m]:.2f}" for m in paper.METHODS)]]
    two = mean_ranks(tuned_scores(result.frame, tuple(sets)))
    if two:
        rows.append(["procedure 2, ours", *(f"{two[m]:.2f}" for m in paper.METHODS)])
    theirs = paper.printed_ranks()
    rows.append(["procedure 2, paper", *(f"{theirs[m]:.2f}" for m in paper.METHODS)])
    nested = means(result.frame, "test_paper_auc", "nested").reindex(sets)
    if set(paper.METHODS) <= set(nested.columns):
        three = mean_ranks(nested[list(paper.METHODS)])
        rows.append(["nested, ours", *(f"{three[m]:.2f}" for m in paper.METHODS)])
    return [
        "## Mean ranks",
        "Over seven sets, 1 is best, ties shared (the paper counts from 0). Procedure 2 takes the "
        "best of fifteen values on the folds that give the score; nested chooses inside the "
        "training part.",
        table(["", *paper.METHODS], rows),
    ]


def today(result):
    sets = list(sets_of(result.frame))
    hard = (100 * means(result.frame, "test_hard_auc")).reindex(sets)
    score = (100 * means(result.frame, "test_score_auc")).reindex(sets)
    splits = select(result.frame).groupby("method")["split"].nunique()
    few = [str(method) for method, count in splits.items() if count < splits.max()]
    hard, score = (part.drop(columns=few, errors="ignore") for part in (hard, score))
    order_hard, order_score = mean_ranks(hard / 100), mean_ranks(score / 100)
    order = sorted(hard.columns, key=lambda m: order_hard.get(m, 99))
    rows = [
        [
            m, f"{order_hard[m]:.2f}", f"{hard[m].mean():.2f}", f"{order_score[m]:.2f}",
            f"{score[m].mean():.2f}", *(f"{hard.at[s, m]:.1f}" for s in sets),
        ]
        for m in order
    ]  # fmt: skip
    lines = []
    for code in sets:
        for column, name in (("test_hard_auc", "hard"), ("test_score_auc", "score")):
            both = 100 * pivot(result.frame, code, column)[["LCC", "LogReg-bal"]].dropna()
            gap = interval(both["LogReg-bal"].to_numpy() - both["LCC"].to_numpy(), 3 / 7)
            lines.append((code, name, gap))
    reading = [
        f"{code} {name} {g.mean:+.1f} ({g.low:+.1f} to {g.high:+.1f})" for code, name, g in lines
    ]
    better = [f"{code} ({name})" for code, name, g in lines if g.low > 0]
    worse = [f"{code} ({name})" for code, name, g in lines if g.high < 0]
    hard_gap = (hard["LogReg-bal"] - hard["LCC"]).mean()
    score_gap = (score["LogReg-bal"] - score["LCC"]).mean()
    return [
        "## All methods at defaults, and how to read them",
        "Hard-label AUC on held-out rows by each method's own rule (DEL by its larger regression, "
        "not by the paper's column mean), and the AUC of the continuous score.",
        table(["", "rank", "mean", "rank, score AUC", "score AUC", *sets], rows),
        *([f"Run on fewer splits and not ranked: {', '.join(few)}."] if few else []),
        f"**Logistic regression with balanced classes** against LCC, mean over the sets: "
        f"{hard_gap:+.2f} points of hard-label AUC, {score_gap:+.2f} points of score AUC. With "
        "intervals corrected for overlapping splits it is better on "
        f"{', '.join(better) or 'no set'} and worse on {', '.join(worse) or 'no set'}. "
        f"Set by set (95 % interval): {'; '.join(reading)}.",
    ]


def markdown(block):
    """A table of the report as Markdown."""
    head = [column.title for column in block.columns]
    return table(head, [[item.text for item in row] for row in block.rows])


def family(result):
    """The parts of doc/measured/family.md that follow from the study."""
    shapes = kernel_section(result).blocks[-1]
    (figure,) = discriminator_section(result).blocks
    when = f"Measured {result.config['finished'][:10]}, `benchmarks/study_page.py`."
    differ = next(c for c in conclusions(result.frame) if "do not differ" in c.claim)
    return {
        "shapes": [shapes.caption, markdown(shapes), when],
        "quadratic": [figure.numbers.caption, markdown(figure.numbers), differ.ours + ".", when],
    }


def write_between(path, begin, end, text):
    page = path.read_text("utf-8")
    before, rest = page.split(begin)
    path.write_text(before + "\n\n".join([begin, *text, end]) + rest.split(end)[1], "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wall", type=float, help="seconds, where the study was run in pieces")
    options = parser.parse_args()
    result = load_result(options.folder)
    config = result.config
    bad = result.frame[(result.frame["status"] != "ok") & (result.frame["procedure"] != "folds")]
    wall = duration(options.wall or config["wall_seconds"])
    total = duration(float(result.frame[["fit_seconds", "score_seconds"]].sum().sum()))
    versions = ", ".join(f"{k} {v}" for k, v in config["versions"].items() if v != "absent")
    text = [
        *concluded(result),
        *agreement(result),
        *compact(result),
        *ranks(result),
        *today(result),
        "## How it was measured",
        f"{config['finished'][:10]}, {config['machine']['cores']} cores, {config['jobs']} worker "
        f"process(es) of one thread, {len(result.frame)} fits, wall time {wall} (fits and scoring "
        f"alone {total}), "
        f"{len(bad)} marked runs outside procedure 2. {versions}. Page written "
        f"{datetime.date.today().isoformat()} by `benchmarks/study_page.py`.",
    ]
    write_between(PAGE, BEGIN, END, text)
    for name, part in family(result).items():
        write_between(FAMILY, f"<!-- begin {name} -->", f"<!-- end {name} -->", part)
    print("\n\n".join(text))


if __name__ == "__main__":
    main()
