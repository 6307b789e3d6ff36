"""Which of the paper's conclusions hold on our runs: each claim, its figure, ours, and whether.

A claim holds where our rows, judged by the paper's own test or statistic, say the same. A claim
that a run does not bear on (its methods or sets were not run) is left out, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas

from lincent.paper.study import paper
from lincent.paper.study.agreement import CompactCell, compact_table
from lincent.paper.study.cells import OK
from lincent.paper.study.methods import TWINS
from lincent.paper.study.statistics import ALPHA, wilcoxon
from lincent.paper.study.summary import best_of_grids, mean_ranks, means, pivot

RIVALS = tuple(method for method in paper.METHODS if method != "LCC")
DISCRIMINATORS = ("LCC", "LCC-1NN", "LCC-1SV")
CLOSE = 1
"""Wins and losses that differ by no more are called close."""
POINTS = 1.5
"""Points within which a percentage of the kernel test counts as the paper's."""


@dataclass(frozen=True)
class Conclusion:
    """One claim of the paper.

    Attributes
    ----------
    claim : str
        What the paper concludes.
    theirs, ours : str
        The figure it rests on, and ours.
    holds : bool
    """

    claim: str
    theirs: str
    ours: str
    holds: bool


def conclusions(frame: Any) -> list[Conclusion]:
    """Return the paper's conclusions that a table of runs bears on.

    Parameters
    ----------
    frame : DataFrame
        The runs of `lincent.paper.study.reproduce`.
    """
    sets = tuple(code for code in paper.SETS if code in set(frame["dataset"]))
    found = list(_against_rivals(frame, sets))
    for claim in (_defaults, _tuned, _fqcc_same, _fqcc_slow, _discriminators, _kernel):
        found += claim(frame, sets)
    return found


# ------------------------------------------------------------------------------- wins and losses


def _against_rivals(frame: Any, sets: tuple[str, ...]) -> Iterator[Conclusion]:
    """LCC against each rival in training, on test and in time, by the compact table."""
    cells = {(c.row, c.method): c for c in compact_table(frame, RIVALS, sets) if c.sets}
    for row in ("train", "test", "time"):
        for method in RIVALS:
            cell = cells.get((row, method))
            if cell is None or cell.theirs is None:
                continue
            where = {"train": "in training", "test": "on test", "time": "in time"}[row]
            yield Conclusion(
                f"LCC against {method} {where}: {_relation(cell.theirs)}",
                _counts(*cell.theirs, len(paper.SETS)),
                _counts(cell.better, cell.worse, cell.sets),
                _sign(cell.theirs) == _sign((cell.better, cell.worse)),
            )
    if {("test", "SMP"), ("test", "DEL")} <= set(cells):
        yield _close_on_test(cells["test", "SMP"], cells["test", "DEL"])


def _close_on_test(*cells: CompactCell) -> Conclusion:
    theirs = ", ".join(_counts(*paper.COMPACT["test"][c.method], len(paper.SETS)) for c in cells)
    ours = ", ".join(_counts(c.better, c.worse, c.sets) for c in cells)
    close = all(abs(c.better - c.worse) <= CLOSE for c in cells)
    return Conclusion("LCC competes closely with SMP and DEL on test", theirs, ours, close)


def _sign(counts: tuple[int, int]) -> int:
    return int(np.sign(counts[0] - counts[1]))


def _relation(counts: tuple[int, int]) -> str:
    return {1: "ahead", 0: "even", -1: "behind"}[_sign(counts)]


def _counts(better: int, worse: int, sets: int) -> str:
    return f"{better} won, {worse} lost of {sets}"


# ------------------------------------------------------------------------------------------ ranks


def _defaults(frame: Any, sets: tuple[str, ...]) -> list[Conclusion]:
    """The abstract: more accurate than the others on the chosen sets."""
    ours = means(frame, "test_paper_auc").reindex(list(sets))
    if not set(paper.METHODS) <= set(ours.columns):
        return []
    theirs = pandas.DataFrame(
        {
            method: {code: paper.printed(code, "test", method).value / 100 for code in paper.SETS}
            for method in paper.METHODS
        }
    )
    claim = "LCC is the most accurate of the eight on test at default parameters (mean rank)"
    return [_first(claim, mean_ranks(theirs), mean_ranks(ours[list(paper.METHODS)]))]


def _tuned(frame: Any, sets: tuple[str, ...]) -> list[Conclusion]:
    """Procedure 2, by both readings of the twin machines' constants."""
    claim = "LCC has the best mean rank with tuned parameters (procedure 2)"
    theirs, found = paper.printed_ranks(), []
    ranks = tuned_ranks(frame, sets)
    if set(ranks) == set(paper.METHODS):
        found.append(_first(claim, theirs, ranks))
        apart = tuned_ranks(with_untied(frame), sets)
        if apart != ranks:
            found.append(_first(f"{claim}, twin constants untied", theirs, apart))
    return found


def with_untied(frame: Any) -> Any:
    """Return a table of runs in which the twin machines are those with constants tuned apart."""
    untied = {f"{code}-untied": code for code in TWINS if f"{code}-untied" in set(frame["method"])}
    kept = frame[~frame["method"].isin(untied.values()) | (frame["procedure"] != "folds")]
    return kept.assign(method=kept["method"].replace(untied))


def tuned_scores(frame: Any, sets: tuple[str, ...]) -> Any:
    """Return the best scores of procedure 2, sets by those of the paper's methods that were run."""
    best = best_of_grids(frame)
    scores = pandas.DataFrame(
        {
            method: {b.dataset: b.score for b in best if b.method == method}
            for method in paper.METHODS
            if any(b.method == method for b in best)
        }
    )
    return scores.reindex(list(sets))


def tuned_ranks(frame: Any, sets: tuple[str, ...]) -> dict[str, float]:
    """Return the mean ranks of procedure 2 for the paper's methods that were run."""
    return mean_ranks(tuned_scores(frame, sets))


def _first(claim: str, theirs: dict[str, float], ours: dict[str, float]) -> Conclusion:
    return Conclusion(
        claim, _place(theirs), _place(ours), min(ours, key=lambda m: ours[m]) == "LCC"
    )


def _place(ranks: dict[str, float]) -> str:
    """Where LCC stands, and who is first."""
    best = min(ranks, key=lambda method: ranks[method])
    place = 1 + sum(rank < ranks["LCC"] for rank in ranks.values())
    first = "" if best == "LCC" else f"; first {best} {ranks[best]:.2f}"
    return f"LCC {ranks['LCC']:.2f}, place {place} of {len(ranks)}{first}"


# --------------------------------------------------------------------- the forms of centralization


def _fqcc_same(frame: Any, sets: tuple[str, ...]) -> list[Conclusion]:
    differing, compared = [], 0
    for code in sets:
        for row in ("train", "test"):
            table = pivot(frame, code, f"{row}_paper_auc")
            if not {"LCC", "FQCC"} <= set(table.columns):
                continue
            both = table[["LCC", "FQCC"]].dropna()
            compared += 1
            if wilcoxon(both["LCC"], both["FQCC"]) < ALPHA:
                gap = 100 * float((both["FQCC"] - both["LCC"]).mean())
                differing.append(f"{code} {row} {gap:+.1f}".replace("-", "−"))
    if not compared:
        return []
    told = f" ({', '.join(differing)})" if differing else ""
    return [
        Conclusion(
            "FQCC and LCC do not differ significantly in training or on test",
            "p far above 0.05 on every set",
            f"{len(differing)} of {compared} comparisons differ at 0.05{told}",
            not differing,
        )
    ]


def _fqcc_slow(frame: Any, sets: tuple[str, ...]) -> list[Conclusion]:
    ratios = [
        float((table["FQCC"] / table["LCC"]).median())
        for code in sets
        if {"LCC", "FQCC"} <= set((table := pivot(frame, code, "fit_seconds")).columns)
    ]
    if not ratios:
        return []
    ratio = float(np.mean(ratios))
    return [
        Conclusion(
            "FQCC takes almost 250 times as long as LCC",
            f"{paper.FQCC_TIME_RATIO:.0f} times",
            f"{ratio:.1f} times by the convex-concave procedure (set by set {min(ratios):.1f} to "
            f"{max(ratios):.1f})",
            ratio > paper.FQCC_TIME_RATIO / 2,
        )
    ]


def _discriminators(frame: Any, sets: tuple[str, ...]) -> list[Conclusion]:
    table = 100 * means(frame, "test_paper_auc").reindex(list(sets))
    if not set(DISCRIMINATORS) <= set(table.columns):
        return []
    average = table[list(DISCRIMINATORS)].dropna().mean()
    return [
        Conclusion(
            "Of the discriminators the nearer center (LCC-Dist) is best",
            "LCC-Dist",
            ", ".join(f"{name} {value:.2f}" for name, value in average.items()),
            average.idxmax() == "LCC",
        )
    ]


def _kernel(frame: Any, sets: tuple[str, ...]) -> list[Conclusion]:
    found = []
    for shape, theirs in paper.KERNEL.items():
        best = best_width(frame, shape)
        if best is None:
            continue
        ours = (100 * best.train, 100 * best.test)
        near = all(a - b >= -POINTS for a, b in zip(ours, theirs, strict=True))
        found.append(
            Conclusion(
                f"LCC with an RBF kernel on {shape}: train and test, percent",
                "{:.1f} and {:.1f}".format(*theirs),
                "{:.1f} and {:.1f}".format(*ours),
                near,
            )
        )
    return found


@dataclass(frozen=True)
class Width:
    """Scores of KernelLCC on a shape at the width that is best on the splits that score it."""

    params: str
    train: float
    test: float
    runs: int


def best_width(frame: Any, shape: str) -> Width | None:
    """Return the paper's way: the best of the widths over the splits that give the score."""
    part = frame[
        (frame["dataset"] == shape)
        & (frame["method"] == "KernelLCC")
        & (frame["procedure"] == "holdout")
        & (frame["status"] == OK)
        & (frame["params"] != "{}")
    ]
    if part.empty:
        return None
    table = part.groupby("params")[["train_paper_auc", "test_paper_auc"]].agg(["mean", "count"])
    top = table["test_paper_auc", "mean"].idxmax()
    line = table.loc[top]
    return Width(
        str(top),
        float(line["train_paper_auc", "mean"]),
        float(line["test_paper_auc", "mean"]),
        int(line["test_paper_auc", "count"]),
    )
