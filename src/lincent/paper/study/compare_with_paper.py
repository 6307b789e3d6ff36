"""Our results beside the paper's: printed numbers, wins and losses, ranks, and its conclusions.

The paper prints means without a standard deviation. Taking ours for both, and the 50 runs of its
appendix,

    SE = sd * sqrt(1 / our runs + 1 / 50)

is the combined standard error of the difference; chance alone explains up to about 2 SE.

A conclusion of the paper holds where our runs, evaluated by the paper's own test or statistic, have
the same outcome. A conclusion whose methods or sets were not run is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lincent.model_selection.statistics import ALPHA, means, pivot, wilcoxon
from lincent.paper.study import paper

POINTS = 1.5
"""Differences within so many points count as agreement."""
DISCRIMINATORS = ("LCC", "LCC-1NN", "LCC-1SV")
ROWS = ("train", "test", "time")

Sets = tuple[str, ...]


def sets_of(frame: Any) -> Sets:
    """Return the paper's sets that were run."""
    return tuple(code for code in paper.SETS if code in set(frame["dataset"]))


# ------------------------------------------------------------------------------- printed numbers


def agreements(frame: Any, sets: Sets = paper.SETS) -> list[Any]:
    """Compare all printed train and test scores whose runs are in the table; percent.

    Returns
    -------
    list of named tuples
        dataset, row and method; ours, its sd and number of runs, theirs; difference, ours minus
        theirs; error, the combined standard error, and errors, the difference in such errors;
        within_points and within_error, whether it is at most 1.5 points or two errors.
    """
    import pandas

    lines = []
    for dataset in sets:
        for row in ("train", "test"):
            table = 100 * pivot(frame, dataset, f"{row}_paper_auc")
            for method in [method for method in paper.METHODS if method in table]:
                theirs, values = paper.printed(dataset, row, method), table[method].dropna()
                ours = (values.mean(), values.std(ddof=1), len(values))
                lines += [(dataset, row, method, *ours, theirs)] if len(values) else []
    names = ["dataset", "row", "method", "ours", "sd", "runs", "theirs"]
    table = pandas.DataFrame(lines, columns=names)
    error = table["sd"] * np.sqrt(1 / table["runs"] + 1 / paper.RUNS_APPENDIX)
    difference = table["ours"] - table["theirs"]
    columns = {
        "difference": difference,
        "error": error,
        "errors": difference.abs() / error.where(error > 0),
        "within_points": difference.abs() <= POINTS,
        "within_error": difference.abs() <= np.maximum(2 * error, 0.005),
    }
    return list(table.assign(**columns).itertuples(index=False, name="Agreement"))


# ------------------------------------------------------------------------------- wins and losses


class Wins(NamedTuple):
    """On how many sets LCC is significantly better and worse than a method, of how many."""

    better: int
    worse: int
    sets: int


def count_wins(frame: Any, methods: Sets, sets: Sets) -> dict[tuple[str, str], Wins]:
    """Return the paper's compact table by (row, method), for methods that were run.

    It counts the sets on which the paired signed-rank test at 0.05, without correction, finds a
    difference, of those where at least two splits have both scores.
    """
    scores = {"train": "train_paper_auc", "test": "test_paper_auc", "time": "fit_seconds"}
    counts = {}
    for row, column in scores.items():
        tables = [pivot(frame, dataset, column) for dataset in sets]
        for method in methods:
            pairs = [t[["LCC", method]].dropna() for t in tables if {"LCC", method} <= set(t)]
            gaps = [both["LCC"] - both[method] for both in pairs if len(both) > 1]
            real = [gap.mean() for gap in gaps if wilcoxon(gap, 0 * gap) < ALPHA]
            won, lost = (sum(mean > 0 for mean in real), sum(mean <= 0 for mean in real))
            if row == "time":  # less is better
                won, lost = lost, won
            if gaps:
                counts[row, method] = Wins(won, lost, len(gaps))
    return counts


# ----------------------------------------------------------------------------------------- ranks


def mean_ranks(scores: Any) -> dict[str, float]:
    """Return mean ranks, 1 the best, ties shared, over the sets where all methods have a score.

    Parameters
    ----------
    scores : DataFrame
        Data sets by methods, as fractions. The paper prints two decimals of a percentage; scores
        that are closer are ties.
    """
    ranks = (100 * scores.dropna()).round(2).rank(axis=1, ascending=False)
    return {} if ranks.empty else ranks.mean().to_dict()


def tuned_scores(frame: Any, sets: Sets) -> Any:
    """Return the best scores of procedure 2, sets by those of the paper's methods that were run.

    A grid value counts only if it has a score on every fold; NaN where none counts.
    """
    good = frame[(frame["procedure"] == "folds") & (frame["status"] == "ok")]
    by_fold = good.pivot(
        index=["dataset", "method", "params"], columns="split", values="test_paper_auc"
    )
    best = by_fold.dropna().mean(axis=1).groupby(level=["dataset", "method"]).max()
    best = best.unstack("method")
    return best.reindex(list(sets))[[m for m in paper.METHODS if m in best]]


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
    linear = (_against_baselines, _best_rank, _same_as_fqcc, _best_discriminator) if sets else ()
    return [conclusion for claim in (*linear, _kernel_test) for conclusion in claim(frame, sets)]


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
            all(abs(item.better - item.worse) <= 1 for item in counted),
        )


def _best_rank(frame: Any, sets: Sets) -> Iterator[Conclusion]:
    """LCC has the best mean rank: at defaults, and tuned."""
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
                method: {s: paper.printed(s, "test", method) / 100 for s in paper.SETS}
                for method in paper.METHODS
            }
        )
        claim = "LCC is the most accurate of the eight on test at default parameters (mean rank)"
        yield conclusion(claim, mean_ranks(theirs), mean_ranks(ours[list(paper.METHODS)]))
    ranks = mean_ranks(tuned_scores(frame, sets))
    if set(ranks) == set(paper.METHODS):
        claim = "LCC has the best mean rank with tuned parameters (procedure 2)"
        yield conclusion(claim, paper.printed_ranks(), ranks)


def fqcc_times(frame: Any, sets: Sequence[str]) -> dict[str, float]:
    """Return how many times as long as LCC FQCC takes, on each set where both were run."""
    tables = {code: pivot(frame, code, "fit_seconds") for code in sets}
    both = {code: table for code, table in tables.items() if {"LCC", "FQCC"} <= set(table)}
    return {code: float((t["FQCC"] / t["LCC"]).median()) for code, t in both.items()}


def _same_as_fqcc(frame: Any, sets: Sets) -> Iterator[Conclusion]:
    """FQCC is as accurate as LCC, and much slower."""
    times, differing = fqcc_times(frame, sets), []
    for code in times:
        for row in ("train", "test"):
            both = pivot(frame, code, f"{row}_paper_auc")[["LCC", "FQCC"]].dropna()
            if wilcoxon(both["LCC"], both["FQCC"]) < ALPHA:
                gap = 100 * float((both["FQCC"] - both["LCC"]).mean())
                differing.append(f"{code} {row} {gap:+.1f}".replace("-", "−"))
    if times:
        where = f" ({', '.join(differing)})" if differing else ""
        yield Conclusion(
            "FQCC and LCC do not differ significantly in training or on test",
            "p far above 0.05 on every set",
            f"{len(differing)} of {2 * len(times)} comparisons differ at 0.05{where}",
            not differing,
        )
        ratio, low, high = (of(list(times.values())) for of in (np.mean, min, max))
        yield Conclusion(
            "FQCC takes almost 250 times as long as LCC",
            f"{paper.FQCC_TIME_RATIO:.0f} times",
            f"{ratio:.1f} times by the convex-concave procedure (set by set {low:.1f} to "
            f"{high:.1f})",
            bool(ratio > paper.FQCC_TIME_RATIO / 2),
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


def kernel_runs(frame: Any, shape: str, procedure: str) -> Any:
    """Return the finished runs of KernelLCC on a shape."""
    rows = frame[(frame["dataset"] == shape) & (frame["procedure"] == procedure)]
    return rows[(rows["method"] == "KernelLCC-box") & (rows["status"] == "ok")]


def best_width(frame: Any, shape: str) -> Any:
    """Return the best of the kernel widths over the splits that give the score, as in the paper.

    It has the scores (train, test), the number of runs, and the parameters as its name; None where
    there are no runs.
    """
    rows = kernel_runs(frame, shape, "holdout")
    rows = rows[rows["params"] != "{}"]
    parts = {part: (f"{part}_paper_auc", "mean") for part in ("train", "test")}
    table = rows.groupby("params").agg(**parts, runs=("split", "size"))
    return None if rows.empty else table.loc[table["test"].idxmax()]
