"""Sections on what the paper could not show: today's methods, ranks with and without selection."""

from __future__ import annotations

from typing import Any

import pandas

from lincent.paper.study import paper
from lincent.paper.study.conclusions import tuned_scores
from lincent.paper.study.methods import TWINS
from lincent.paper.study.reports import figures
from lincent.paper.study.reports.notes import HARD_AND_SCORE, IMBALANCE, OPTIMISTIC, REAL
from lincent.paper.study.reports.paper_sections import corrected, sets_of
from lincent.paper.study.results import StudyResult
from lincent.paper.study.statistics import Friedman, friedman
from lincent.paper.study.summary import BestOfGrid, best_of_grids, mean_ranks, means, short_of_runs
from lincent.report.blocks import (
    Figure,
    Item,
    Paragraph,
    Section,
    Table,
    columns,
    number,
    probability,
    text,
)


def today_section(result: StudyResult) -> Section:
    """Return all methods on all sets, the Friedman test, and LCC against today's methods."""
    sets, few = list(sets_of(result)), short_of_runs(result)
    hard, score = (
        (100 * means(result.frame, column)).reindex(sets).drop(columns=few, errors="ignore")
        for column in ("test_hard_auc", "test_score_auc")
    )
    ranks, score_ranks = mean_ranks(hard / 100), mean_ranks(score / 100)
    nothing = float("nan")
    rows = []
    for method in sorted(hard.columns, key=lambda m: ranks.get(m, 99.0)):
        cells = [
            number(value, 1, mark="best" if value == hard.loc[s].max() else "")
            for s, value in hard[method].items()
        ]
        rows.append(
            (
                text(method),
                number(ranks.get(method, nothing), 2),
                number(hard[method].mean(), 1),
                *cells,
                number(score[method].mean(), 1),
                number(score_ranks.get(method, nothing), 2),
            )
        )
    head = columns(
        "Method", "Mean rank#|1 is best", "Mean#", *(f"{s}#" for s in sets),
        "Score AUC#|mean over sets of the AUC of the continuous score", "its rank#",
    )  # fmt: skip
    caption = (
        "Hard-label AUC on held-out rows at default parameters, percent; each method's own rule."
    )
    if few:
        caption += f" Not ranked, since they were run on fewer splits: {', '.join(few)}."
    blocks: list[Any] = [Table(head, tuple(rows), caption)]
    blocks += _friedman_blocks(hard, "all", "all methods of this study")
    blocks += _against_today(result, sets)
    title = "All methods, and what people use today"
    return Section("today", title, (*blocks, IMBALANCE, HARD_AND_SCORE, REAL))


def _friedman_blocks(table: Any, name: str, what: str) -> list[Any]:
    complete = table.dropna(axis=1)
    test = friedman(complete)
    if test is None:
        return []
    figure = Figure(
        f"cd-{name}",
        figures.critical_difference(test, f"cd{name}"),
        "Critical-difference diagram",
        f"Mean ranks of {what} over {test.n_sets} sets, 1 is best. Friedman: chi-square "
        f"{test.statistic:.1f}, p {_p(test.p)}. A bar joins methods that Nemenyi's test cannot "
        f"tell apart (critical difference {test.critical_difference:.2f} ranks): with "
        f"{test.n_sets} sets and {len(test.ranks)} methods only very large gaps show.",
        _nemenyi_table(test),
        wide=True,
    )
    return [figure]


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


def _nemenyi_table(test: Friedman) -> Table:
    names = sorted(test.ranks, key=lambda method: test.ranks[method])
    head = columns("Method", "Rank#", *(f"{name}#" for name in names))
    rows = tuple(
        (
            text(a),
            number(test.ranks[a], 2),
            *(Item("·") if a == b else probability(float(test.nemenyi.at[a, b])) for b in names),
        )
        for a in names
    )
    return Table(head, rows, "Mean ranks and Nemenyi's p values.")


def _against_today(result: StudyResult, sets: list[str]) -> list[Any]:
    codes = set(result.frame["method"])
    rivals = [m for m in ("LogReg-bal", "LogReg", "LinearSVC-bal", "sk-LDA-bal") if m in codes]
    rows = []
    for method in rivals:
        for dataset in sets:
            try:
                hard = corrected(result, dataset, "LCC", method, "test_hard_auc")
                score = corrected(result, dataset, "LCC", method, "test_score_auc")
            except KeyError:  # one of the two has no score on this set
                continue
            rows.append(
                (
                    text(dataset),
                    text(method),
                    number(hard.mean, 2, signed=True),
                    text(_span(hard)),
                    text(_who(hard), "good" if hard.real else "quiet"),
                    number(score.mean, 2, signed=True),
                    text(_span(score)),
                    text(_who(score), "good" if score.real else "quiet"),
                )
            )
    if not rows:
        return []
    head = columns(
        "Set", "LCC minus", "Hard AUC#|points", "95 % interval", "Real?", "Score AUC#|points",
        "95 % interval", "Real?",
    )  # fmt: skip
    caption = (
        "LCC against methods that balance the classes: difference in points, interval corrected "
        "for overlapping splits."
    )
    return [Table(head, tuple(rows), caption)]


def _span(gap: Any) -> str:
    if gap.low == float("-inf"):
        return "–"
    return f"{gap.low:+.1f} to {gap.high:+.1f}".replace("-", "−")


def _who(gap: Any) -> str:
    if not gap.real:
        return "no"
    return "yes, LCC" if gap.mean > 0 else "yes, the other"


def rank_section(result: StudyResult) -> Section | None:
    """Return the rank table of procedure 2 beside the paper's, and the nested one."""
    best = best_of_grids(result.frame)
    if not best:
        return None
    sets = list(sets_of(result))
    scores = tuned_scores(result.frame, tuple(sets))
    ranks = mean_ranks(scores)
    blocks: list[Any] = []
    if ranks:
        blocks.append(
            Figure(
                "ranks",
                figures.ranks_beside(ranks, paper.printed_ranks()),
                "Mean ranks, ours and the paper's",
                "Mean ranks of procedure 2, ours and the paper's.",
            )
        )
    blocks += [_rank_table(result, scores), _grid_table(best, list(scores.columns), sets)]
    blocks += _untied_blocks(best, scores)
    blocks += _friedman_blocks(100 * scores, "two", "the paper's methods in procedure 2")
    blocks += [_nested_sentence(result, sets), OPTIMISTIC]
    return Section("procedure-2", "Procedure 2: ranks with tuned parameters", tuple(blocks))


def _rank_table(result: StudyResult, scores: Any) -> Table:
    """Ranks and scores of procedure 2, and where it was run the ranks of the nested version."""
    config, sets = result.config, list(scores.index)
    nested = means(result.frame, "test_paper_auc", "nested").reindex(sets)
    shared = [m for m in paper.METHODS if m in nested.columns]
    ours, theirs = mean_ranks(scores), paper.printed_ranks()
    inside = mean_ranks(nested[shared]) if shared else {}
    nothing = float("nan")
    rows = [
        (
            text(method),
            number(ours.get(method, nothing), 2),
            number(theirs[method], 2),
            number(inside.get(method, nothing), 2),
            *(number(100 * scores.at[s, method], 2) for s in sets),
            number(100 * nested[method].mean() if method in nested else nothing, 2),
        )
        for method in scores.columns
    ]
    head = columns(
        "Method", "Mean rank#", "paper#",
        "nested#|mean rank with selection inside the training part", *(f"{s}#" for s in sets),
        "nested mean#|mean score over sets, selection inside",
    )  # fmt: skip
    coarse = f"coarse grids (every {config['every']}th value)"
    grid = "15-value grids" if config["every"] == 1 else coarse
    caption = (
        f"Procedure 2: {config['folds']} of 10 folds, {grid}, best mean over the test folds in "
        "percent; ranks from 1, ties shared (the paper counts from 0: its ranks are shown plus 1). "
        "A grid value without a solution (an LCC margin beyond the largest feasible one) does not "
        "count."
    )
    return Table(head, tuple(rows), caption)


def _nested_sentence(result: StudyResult, sets: list[str]) -> Paragraph:
    nested = 100 * means(result.frame, "test_paper_auc", "nested").reindex(sets)
    if not {"LCC", "LogReg-bal"} <= set(nested.columns):
        return Paragraph("The nested version was not run (it is part of the full study).")
    both = nested[["LCC", "LogReg-bal"]].dropna()
    return Paragraph(
        f"Nested, {result.config['nested_runs']} splits: LCC {both['LCC'].mean():.1f} %, balanced "
        f"logistic regression {both['LogReg-bal'].mean():.1f} % on average over {len(both)} sets."
    )


def _untied_blocks(best: list[BestOfGrid], scores: Any) -> list[Any]:
    """The twin machines with their two kinds of constants tuned apart, and the ranks that follow.

    The paper lists four constants and one range of values, so both readings are in its text.
    """
    apart = {
        code: {b.dataset: b.score for b in best if b.method == f"{code}-untied"} for code in TWINS
    }
    apart = {code: values for code, values in apart.items() if values}
    if not apart:
        return []
    untied = scores.assign(**{code: pandas.Series(values) for code, values in apart.items()})
    ranks, others = mean_ranks(scores), mean_ranks(untied)
    rows = tuple(
        (
            text(method),
            number(ranks.get(method, float("nan")), 2),
            number(others.get(method, float("nan")), 2),
            *(
                number(100 * (untied.at[s, method] - scores.at[s, method]), 2, signed=True)
                for s in scores.index
            ),
        )
        for method in scores.columns
    )
    head = columns(
        "Method", "Rank, tied#", "Rank, untied#",
        *(f"{s}#|points gained by tuning them apart" for s in scores.index),
    )  # fmt: skip
    caption = (
        "The twin machines with their cost and their ridge tuned apart (225 points) instead of "
        "together (15): mean ranks either way, and the points gained on each set."
    )
    return [Table(head, rows, caption)]


def _grid_table(best: list[BestOfGrid], methods: list[str], sets: list[str]) -> Table:
    place = {(b.dataset, b.method): b.params for b in best}
    rows = tuple(
        (text(method), *(text(_short(place.get((s, method), "{}"))) for s in sets))
        for method in methods
        if any(place.get((s, method), "{}") != "{}" for s in sets)
    )
    return Table(columns("Method", *sets), rows, "The best value of each grid.")


def _short(params: str) -> str:
    """Return one number for parameters that are tied."""
    import json

    values = json.loads(params or "{}")
    if set(values) == {"c1", "c2", "c3", "c4"}:
        return f"c={values['c3']:.3g}"
    return ", ".join(f"{name}={value:.3g}" for name, value in values.items()) or "–"
