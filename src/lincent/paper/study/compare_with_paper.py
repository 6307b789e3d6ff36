"""Our results beside the paper's: printed numbers, wins and losses, ranks, and its conclusions.

The paper prints means without a standard deviation. Taking ours for both, and the 50 runs of its
appendix,

    SE = sd * sqrt(1 / our runs + 1 / 50)

is the combined standard error of the difference; chance alone explains up to about 2 SE.

A conclusion of the paper holds where our runs, evaluated by the paper's own test or statistic, have
the same outcome. A conclusion whose methods or sets were not run is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from lincent.model_selection.methods import TWINS
from lincent.model_selection.statistics import ALPHA, means, pivot, select, wilcoxon
from lincent.paper.study import paper

POINTS = 1.5
"""Differences within so many points count as agreement."""
ERRORS = 2.0
CLOSE = 1
"""Wins and losses that differ by no more are called close."""
DISCRIMINATORS = ("LCC", "LCC-1NN", "LCC-1SV")
ROWS = ("train", "test", "time")

Sets = tuple[str, ...]


def sets_of(frame: Any) -> Sets:
    """Return the paper's sets that were run."""
    return tuple(code for code in paper.SETS if code in set(frame["dataset"]))


# ------------------------------------------------------------------------------- printed numbers


@dataclass(frozen=True)
class Agreement:
    """One printed number beside ours; percent."""

    dataset: str
    row: str
    method: str
    ours: float
    theirs: float
    difference: float
    error: float
    runs: int

    @property
    def errors(self) -> float:
        """The difference in combined standard errors."""
        return abs(self.difference) / self.error if self.error > 0 else float("nan")

    @property
    def within_points(self) -> bool:
        """Whether the difference is at most 1.5 points."""
        return abs(self.difference) <= POINTS

    @property
    def within_error(self) -> bool:
        """Whether the difference is at most two combined standard errors."""
        return bool(abs(self.difference) <= max(ERRORS * self.error, 0.005))


def agreements(frame: Any, sets: Sets = paper.SETS) -> list[Agreement]:
    """Compare all printed train and test scores whose runs are in the table."""
    numbers = []
    for dataset in sets:
        for row in ("train", "test"):
            table = 100 * pivot(frame, dataset, f"{row}_paper_auc")
            for method in paper.METHODS:
                if method not in table or table[method].dropna().empty:
                    continue
                values = table[method].dropna()
                theirs, n = paper.printed(dataset, row, method).value, len(values)
                ours, sd = float(values.mean()), float(values.std(ddof=1))
                error = sd * np.sqrt(1 / n + 1 / paper.RUNS_APPENDIX)
                numbers.append(
                    Agreement(dataset, row, method, ours, theirs, ours - theirs, error, n)
                )
    return numbers


# ------------------------------------------------------------------------------- wins and losses


class Wins(NamedTuple):
    """On how many sets LCC is significantly better and worse than a method, of how many."""

    better: int
    worse: int
    sets: int


def significance(table: Any, reference: str, method: str) -> str:
    """Return whether a reference is "better", "worse" or the "same" by the paper's test.

    The paired signed-rank test at 0.05 without correction, on a table of splits by methods; empty
    where fewer than two splits have both scores.
    """
    if reference not in table or method not in table:
        return ""
    both = table[[reference, method]].dropna()
    if len(both) < 2:
        return ""
    if wilcoxon(both[reference], both[method]) >= ALPHA:
        return "same"
    return "better" if both[reference].mean() > both[method].mean() else "worse"


def count_wins(frame: Any, methods: Sets, sets: Sets) -> dict[tuple[str, str], Wins]:
    """Return the paper's compact table by (row, method), for methods that were run."""
    scores = {"train": "train_paper_auc", "test": "test_paper_auc", "time": "fit_seconds"}
    counts = {}
    for row, column in scores.items():
        tables = [pivot(frame, dataset, column) for dataset in sets]
        for method in methods:
            marks = [mark for table in tables if (mark := significance(table, "LCC", method))]
            better, worse = marks.count("better"), marks.count("worse")
            if row == "time":  # less is better
                better, worse = worse, better
            if marks:
                counts[row, method] = Wins(better, worse, len(marks))
    return counts


# ----------------------------------------------------------------------------------------- ranks


def rank_rows(values: Any, decimals: int = 10) -> np.ndarray:
    """Return ranks per row, 1 for the largest, ties shared.

    Examples
    --------
    >>> from lincent.paper.study.compare_with_paper import rank_rows
    >>> rank_rows([[90.0, 80.0, 90.0]]).tolist()
    [[1.5, 3.0, 1.5]]
    """
    rows = np.round(np.atleast_2d(np.asarray(values, dtype=float)), decimals)
    return np.asarray(stats.rankdata(-rows, axis=1))


def mean_ranks(scores: Any) -> dict[str, float]:
    """Return mean ranks, 1 the best, ties shared, over the sets where all methods have a score.

    Parameters
    ----------
    scores : DataFrame
        Data sets by methods, as fractions. The paper prints two decimals of a percentage; scores
        that are closer are ties.
    """
    complete = scores.dropna(axis=0)
    if complete.empty:
        return {}
    ranks = rank_rows(100 * complete.to_numpy(), decimals=2).mean(axis=0)
    return {str(name): float(rank) for name, rank in zip(complete.columns, ranks, strict=True)}


def methods_with_fewer_splits(frame: Any) -> list[str]:
    """Return the methods of procedure 1 that have fewer splits than others: not comparable."""
    splits = select(frame).groupby("method")["split"].nunique()
    return [str(method) for method, count in splits.items() if count < splits.max()]


def best_of_grids(frame: Any, column: str = "test_paper_auc") -> Any:
    """Return the best grid value of each data set and method, as procedure 2 picks it.

    A value counts only if it has a score on every fold. One row per data set and method, with the
    columns dataset, method, params and score; NaN where no value counts.
    """
    import pandas

    lines = []
    folds = frame[frame["procedure"] == "folds"]
    for (dataset, method), rows in folds.groupby(["dataset", "method"], sort=False):
        good = rows[rows["status"] == "ok"]
        table = good.groupby("params")[column].agg(["mean", "count"])
        complete = table[table["count"] == rows["split"].nunique()]["mean"]
        params, score = "", float("nan")
        if len(complete):
            params, score = str(complete.idxmax()), float(complete.max())
        lines.append({"dataset": dataset, "method": method, "params": params, "score": score})
    return pandas.DataFrame(lines, columns=["dataset", "method", "params", "score"])


def tuned_scores(frame: Any, sets: Sets) -> Any:
    """Return the best scores of procedure 2, sets by those of the paper's methods that were run."""
    best = best_of_grids(frame).pivot(index="dataset", columns="method", values="score")
    return best.reindex(list(sets))[[m for m in paper.METHODS if m in best]]


def with_untied(frame: Any) -> Any:
    """Return a table of results in which the twin SVMs have cost and ridge tuned apart."""
    untied = {f"{code}-untied": code for code in TWINS if f"{code}-untied" in set(frame["method"])}
    kept = frame[~frame["method"].isin(untied.values()) | (frame["procedure"] != "folds")]
    return kept.assign(method=kept["method"].replace(untied))


@dataclass(frozen=True)
class Friedman:
    """Friedman test over data sets with Nemenyi's critical difference.

    ``nemenyi`` is a square DataFrame of p values; ``ranks`` are mean ranks from 1.
    """

    statistic: float
    p: float
    ranks: dict[str, float]
    critical_difference: float
    nemenyi: Any
    n_sets: int


def friedman(scores: Any) -> Friedman | None:
    """Test whether methods differ over data sets.

    Parameters
    ----------
    scores : DataFrame
        Data sets as rows, methods as columns; higher is better. Incomplete rows are left out.

    Returns
    -------
    Friedman or None
        None with fewer than three data sets or methods.
    """
    complete = scores.dropna(axis=0)
    n, k = complete.shape
    if n < 3 or k < 3:
        return None
    try:
        from scikit_posthocs import posthoc_nemenyi_friedman
    except ImportError as error:
        raise ImportError('Nemenyi needs scikit-posthocs: pip install "lincent[app]".') from error
    values = np.round(complete.to_numpy(dtype=float), 10)
    statistic, p = 0.0, 1.0
    if np.ptp(values, axis=1).max() > 0:
        statistic, p = (float(v) for v in stats.friedmanchisquare(*values.T))
    # Studentized range for infinite degrees of freedom; a million is the same to six digits.
    q = float(stats.studentized_range.ppf(1 - ALPHA, k, 1e6)) / np.sqrt(2)
    names = [str(name) for name in complete.columns]
    ranks = dict(zip(names, map(float, rank_rows(values).mean(axis=0)), strict=True))
    nemenyi = posthoc_nemenyi_friedman(complete.to_numpy(dtype=float))
    nemenyi.index = nemenyi.columns = names
    return Friedman(statistic, p, ranks, float(q * np.sqrt(k * (k + 1) / (6 * n))), nemenyi, n)


# ----------------------------------------------------------------------------------- conclusions


class Conclusion(NamedTuple):
    """A claim of the paper, the number it rests on, ours, and whether the claim holds."""

    claim: str
    theirs: str
    ours: str
    holds: bool


def conclusions(frame: Any) -> list[Conclusion]:
    """Return the paper's conclusions that a table of results of `reproduce` bears on."""
    sets = sets_of(frame)
    claims = (_against_baselines, _best_rank, _same_as_fqcc, _best_discriminator, _kernel_test)
    return [conclusion for claim in claims for conclusion in claim(frame, sets)]


def _against_baselines(frame: Any, sets: Sets) -> Iterator[Conclusion]:
    """LCC against each baseline in training, on test and in time, by the compact table."""
    wins = count_wins(frame, paper.BASELINES, sets)
    where = {"train": "in training", "test": "on test", "time": "in time"}

    def counts(better: int, worse: int, of: int) -> str:
        return f"{better} won, {worse} lost of {of}"

    for (row, method), ours in wins.items():
        theirs = paper.COMPACT[row].get(method)
        if theirs is not None:
            sign = np.sign(theirs[0] - theirs[1])
            relation = {1: "ahead", 0: "even", -1: "behind"}[int(sign)]
            yield Conclusion(
                f"LCC against {method} {where[row]}: {relation}",
                counts(*theirs, len(paper.SETS)),
                counts(*ours),
                bool(sign == np.sign(ours.better - ours.worse)),
            )
    close = ("SMP", "DEL")
    if all(("test", method) in wins for method in close):
        counted = [wins["test", method] for method in close]
        yield Conclusion(
            "LCC competes closely with SMP and DEL on test",
            ", ".join(counts(*paper.COMPACT["test"][m], len(paper.SETS)) for m in close),
            ", ".join(counts(*item) for item in counted),
            all(abs(item.better - item.worse) <= CLOSE for item in counted),
        )


def _best_rank(frame: Any, sets: Sets) -> Iterator[Conclusion]:
    """LCC has the best mean rank: at defaults, and tuned with either grid of the twin SVMs."""
    import pandas

    def place(ranks: dict[str, float]) -> str:
        best = min(ranks, key=lambda method: ranks[method])
        position = 1 + sum(rank < ranks["LCC"] for rank in ranks.values())
        first = "" if best == "LCC" else f"; first {best} {ranks[best]:.2f}"
        return f"LCC {ranks['LCC']:.2f}, place {position} of {len(ranks)}{first}"

    def conclusion(claim: str, theirs: dict[str, float], ours: dict[str, float]) -> Conclusion:
        return Conclusion(
            claim, place(theirs), place(ours), min(ours, key=lambda m: ours[m]) == "LCC"
        )

    ours = means(frame, "test_paper_auc").reindex(list(sets))
    if set(paper.METHODS) <= set(ours.columns):
        theirs = pandas.DataFrame(
            {
                method: {s: paper.printed(s, "test", method).value / 100 for s in paper.SETS}
                for method in paper.METHODS
            }
        )
        claim = "LCC is the most accurate of the eight on test at default parameters (mean rank)"
        yield conclusion(claim, mean_ranks(theirs), mean_ranks(ours[list(paper.METHODS)]))
    ranks = mean_ranks(tuned_scores(frame, sets))
    if set(ranks) == set(paper.METHODS):
        claim = "LCC has the best mean rank with tuned parameters (procedure 2)"
        yield conclusion(claim, paper.printed_ranks(), ranks)
        untied = mean_ranks(tuned_scores(with_untied(frame), sets))
        if untied != ranks:
            yield conclusion(f"{claim}, twin constants untied", paper.printed_ranks(), untied)


def _same_as_fqcc(frame: Any, sets: Sets) -> Iterator[Conclusion]:
    """FQCC is as accurate as LCC, and much slower."""
    differing, n_compared, ratios = [], 0, []
    for code in sets:
        seconds = pivot(frame, code, "fit_seconds")
        if not {"LCC", "FQCC"} <= set(seconds.columns):
            continue
        ratios.append(float((seconds["FQCC"] / seconds["LCC"]).median()))
        for row in ("train", "test"):
            both = pivot(frame, code, f"{row}_paper_auc")[["LCC", "FQCC"]].dropna()
            n_compared += 1
            if wilcoxon(both["LCC"], both["FQCC"]) < ALPHA:
                gap = 100 * float((both["FQCC"] - both["LCC"]).mean())
                differing.append(f"{code} {row} {gap:+.1f}".replace("-", "−"))
    if ratios:
        where = f" ({', '.join(differing)})" if differing else ""
        yield Conclusion(
            "FQCC and LCC do not differ significantly in training or on test",
            "p far above 0.05 on every set",
            f"{len(differing)} of {n_compared} comparisons differ at 0.05{where}",
            not differing,
        )
        ratio = float(np.mean(ratios))
        yield Conclusion(
            "FQCC takes almost 250 times as long as LCC",
            f"{paper.FQCC_TIME_RATIO:.0f} times",
            f"{ratio:.1f} times by the convex-concave procedure (set by set {min(ratios):.1f} to "
            f"{max(ratios):.1f})",
            ratio > paper.FQCC_TIME_RATIO / 2,
        )


def _best_discriminator(frame: Any, sets: Sets) -> Iterator[Conclusion]:
    table = 100 * means(frame, "test_paper_auc").reindex(list(sets))
    if set(DISCRIMINATORS) <= set(table.columns):
        average = table[list(DISCRIMINATORS)].dropna().mean()
        yield Conclusion(
            "Of the discriminators the nearer center (LCC-Dist) is best",
            "LCC-Dist",
            ", ".join(f"{name} {value:.2f}" for name, value in average.items()),
            average.idxmax() == "LCC",
        )


def _kernel_test(frame: Any, sets: Sets) -> Iterator[Conclusion]:
    for shape, theirs in paper.KERNEL.items():
        best = best_width(frame, shape)
        if best is not None:
            ours = (100 * best.train, 100 * best.test)
            yield Conclusion(
                f"LCC with an RBF kernel on {shape}: train and test, percent",
                "{:.1f} and {:.1f}".format(*theirs),
                "{:.1f} and {:.1f}".format(*ours),
                all(a - b >= -POINTS for a, b in zip(ours, theirs, strict=True)),
            )


class Width(NamedTuple):
    """Scores of KernelLCC on a shape at the width that is best on the splits that score it."""

    params: str
    train: float
    test: float
    runs: int


def best_width(frame: Any, shape: str) -> Width | None:
    """Return the best of the kernel widths over the splits that give the score, as in the paper."""
    rows = frame[
        (frame["dataset"] == shape)
        & (frame["method"] == "KernelLCC")
        & (frame["procedure"] == "holdout")
        & (frame["status"] == "ok")
        & (frame["params"] != "{}")
    ]
    if rows.empty:
        return None
    scores = rows.groupby("params")[["train_paper_auc", "test_paper_auc"]]
    table, best = scores.mean(), str(scores.mean()["test_paper_auc"].idxmax())
    train, test = (float(value) for value in table.loc[best])
    return Width(best, train, test, int(scores.size()[best]))
