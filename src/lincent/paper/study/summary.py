"""Means, paired differences and counts from a table of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent.paper.study.cells import OK
from lincent.paper.study.statistics import (
    ALPHA,
    Interval,
    holm,
    interval,
    rank_biserial,
    ranks_from_one,
    standard_error,
    wilcoxon,
)


def pivot(frame: Any, dataset: str, column: str, procedure: str = "holdout") -> Any:
    """Return one column as a table of splits by methods, NaN where a cell has no score."""
    part = frame[
        (frame["dataset"] == dataset)
        & (frame["procedure"] == procedure)
        & (frame["params"] == "{}")
        & (frame["status"] == OK)
    ]
    return part.pivot(index="split", columns="method", values=column)


@dataclass(frozen=True)
class Standing:
    """One method on one data set."""

    method: str
    mean: float
    sd: float
    error: float
    runs: int
    failed: int
    reason: str
    seconds: float


def lines(frame: Any, dataset: str, column: str, procedure: str = "holdout") -> list[Standing]:
    """Return mean, spread and time of each method, best first; methods without a score last."""
    part = frame[
        (frame["dataset"] == dataset)
        & (frame["procedure"] == procedure)
        & (frame["params"] == "{}")
    ]
    found = []
    for method, rows in part.groupby("method", sort=False):
        good = rows[rows["status"] == OK]
        values = good[column].to_numpy(dtype=float)
        values = values[np.isfinite(values)]
        bad = rows[rows["status"] != OK]
        reason = "" if bad.empty else f"{bad['status'].iloc[0]}: {bad['error'].iloc[0]}"
        found.append(
            Standing(
                str(method),
                float(values.mean()) if len(values) else float("nan"),
                float(values.std(ddof=1)) if len(values) > 1 else float("nan"),
                standard_error(values),
                len(values),
                len(bad),
                reason,
                float(good["fit_seconds"].median()) if len(good) else float("nan"),
            )
        )
    return sorted(found, key=lambda line: (np.isnan(line.mean), -np.nan_to_num(line.mean)))


@dataclass(frozen=True)
class PairedDifference:
    """A method against the reference on one data set; positive means the reference is better."""

    method: str
    difference: Interval
    p_wilcoxon: float
    p_wilcoxon_holm: float
    p_corrected_holm: float
    effect: float
    wins: int
    ties: int
    losses: int
    runs: int

    @property
    def real(self) -> bool:
        """Whether the difference holds after both corrections."""
        return self.p_corrected_holm < ALPHA


def pairs(
    frame: Any, dataset: str, reference: str, column: str, procedure: str = "holdout"
) -> list[PairedDifference]:
    """Compare a reference with every other method, split by split."""
    table = pivot(frame, dataset, column, procedure)
    if reference not in table:
        return []
    share = share_of_test(frame, dataset, procedure)
    raw = []
    for method in table.columns:
        both = table[[reference, method]].dropna() if method != reference else table[[]]
        if method == reference or both.empty:
            continue
        a, b = both[reference].to_numpy(), both[method].to_numpy()
        raw.append((str(method), a, b, interval(a - b, share), wilcoxon(a, b)))
    wilcoxon_holm = holm([item[4] for item in raw])
    corrected_holm = holm([item[3].p for item in raw])
    return [
        PairedDifference(
            method,
            gap,
            p,
            wilcoxon_holm[k],
            corrected_holm[k],
            rank_biserial(a, b),
            int((a > b).sum()),
            int((a == b).sum()),
            int((a < b).sum()),
            len(a),
        )
        for k, (method, a, b, gap, p) in enumerate(raw)
    ]


def share_of_test(frame: Any, dataset: str, procedure: str = "holdout") -> float:
    """Return the ratio of test to training rows, which the corrected interval needs."""
    rows = frame[
        (frame["dataset"] == dataset) & (frame["procedure"] == procedure) & (frame["status"] == OK)
    ]
    if rows.empty:
        return 0.0
    return float((rows["n_test"] / rows["n_train"]).mean())


def verdict(table: Any, reference: str, method: str) -> str:
    """Return the paper's mark on one set: is the reference better, worse or the same.

    The paired signed-rank test at 0.05 without correction, as in the paper's compact table.

    Parameters
    ----------
    table : DataFrame
        Splits by methods, see `pivot`.

    Returns
    -------
    str
        Empty where fewer than two splits have both scores.
    """
    if reference not in table or method not in table:
        return ""
    a, b = table[reference].to_numpy(dtype=float), table[method].to_numpy(dtype=float)
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if len(a) < 2:
        return ""
    if wilcoxon(a, b) >= ALPHA:
        return "same"
    return "better" if a.mean() > b.mean() else "worse"


def means(frame: Any, column: str, procedure: str = "holdout") -> Any:
    """Return data sets by methods, the mean over splits; NaN where no split has a score."""
    part = frame[
        (frame["procedure"] == procedure) & (frame["params"] == "{}") & (frame["status"] == OK)
    ]
    return part.pivot_table(index="dataset", columns="method", values=column, aggfunc="mean")


def short_of_runs(result: Any) -> list[str]:
    """Return methods of procedure 1 that were planned on fewer splits than the others.

    Their means are not comparable: other splits, other luck.
    """
    frame = result.frame
    part = frame[(frame["procedure"] == "holdout") & (frame["params"] == "{}")]
    splits = part.groupby("method")["split"].nunique()
    return [str(method) for method, count in splits.items() if count < splits.max()]


@dataclass(frozen=True)
class BestOfGrid:
    """The best value of one grid on one data set, and the mean score over the folds."""

    dataset: str
    method: str
    params: str
    score: float
    folds: int
    values: int
    failed: int


def best_of_grids(frame: Any, column: str = "test_paper_auc") -> list[BestOfGrid]:
    """Return the best grid value of each method and set, as procedure 2 picks it.

    A value counts only if it has a score on every fold.
    """
    part = frame[frame["procedure"] == "folds"]
    found = []
    for (dataset, method), rows in part.groupby(["dataset", "method"], sort=False):
        folds = int(rows["split"].nunique())
        good = rows[rows["status"] == OK]
        table = good.groupby("params")[column].agg(["mean", "count"])
        full = table[table["count"] == folds]
        if full.empty:
            found.append(
                BestOfGrid(dataset, method, "", float("nan"), folds, 0, len(rows) - len(good))
            )
            continue
        top = full["mean"].idxmax()
        score = float(full["mean"].max())
        values, failed = int(rows["params"].nunique()), len(rows) - len(good)
        found.append(BestOfGrid(dataset, method, str(top), score, folds, values, failed))
    return found


def mean_ranks(scores: Any) -> dict[str, float]:
    """Return mean ranks, 1 the best, ties shared, over the sets where all methods have a score.

    Parameters
    ----------
    scores : DataFrame
        Data sets by methods.
    """
    complete = scores.dropna(axis=0)
    if complete.empty:
        return {}
    # The paper prints two decimals; closer scores are ties to its reader.
    ranks = ranks_from_one(100 * complete.to_numpy(), decimals=2).mean(axis=0)
    return {str(name): float(rank) for name, rank in zip(complete.columns, ranks, strict=True)}
