"""Ranks and tests over data sets."""

import numpy as np
from scipy.stats import studentized_range, wilcoxon

TIE = 1e-9


def whole_splits(rows):
    """The splits that all sets but the last tenth have been tried on with every method.

    A run that ends by the clock leaves its last split undone; where it is the first one, the sets
    that are complete are used (``means`` drops the others).
    """
    tried = rows.groupby(["split", "dataset"]).method.nunique().unstack("split")
    share = (tried == rows.method.nunique()).mean()
    return [split for split in tried if share[split] >= 0.9 or split == tried.columns[0]]


def means(rows, measure):
    """Sets by methods, averaged over the splits that every method has finished."""
    table = rows.pivot_table(index=["dataset", "split"], columns="method", values=measure)
    return table.dropna().groupby("dataset").mean()


def ranks(table):
    return table.round(9).rank(axis=1, ascending=False).mean().sort_values()


def against(table, first, second):
    """Wins, ties, losses, mean difference and two-sided Wilcoxon p of first against second."""
    difference = table[first] - table[second]
    wins, losses = int((difference > TIE).sum()), int((difference < -TIE).sum())
    ties = len(difference) - wins - losses
    p = wilcoxon(difference).pvalue if wins + losses else 1.0
    return wins, ties, losses, float(difference.mean()), float(p)


def holm(values):
    """Holm's adjustment of p-values for many comparisons."""
    order = np.argsort(values)
    adjusted = np.empty(len(values))
    running = 0.0
    for place, index in enumerate(order):
        running = max(running, min(1.0, (len(values) - place) * values[index]))
        adjusted[index] = running
    return adjusted


def critical_difference(n_methods, n_sets):
    """Nemenyi's: two mean ranks differ if they are farther apart than this (0.05)."""
    q = studentized_range.ppf(0.95, n_methods, np.inf) / np.sqrt(2)
    return q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))


def small(p):
    return "<.001" if p < 0.001 else f"{p:.3f}"


def diagram(table, ours, title, path):
    """Mean ranks on a line; a bar joins methods that Nemenyi's test does not tell apart."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    mean = ranks(table)
    reach = critical_difference(len(mean), len(table))
    figure, axes = plt.subplots(figsize=(9, 0.32 * len(mean) + 1.2))
    for place, (method, rank) in enumerate(mean.items()):
        axes.plot([1, rank], [place, place], color="0.85", lw=0.8, zorder=0)
        axes.plot(rank, place, "o", color="C3" if method.startswith(ours) else "C0")
        axes.text(rank + 0.15, place, f"{method}  {rank:.2f}", va="center", fontsize=8)
    values = mean.to_numpy()
    ends = [np.flatnonzero(values <= value + reach)[-1] for value in values]
    drawn = -1
    for place, end in enumerate(ends):
        if end > drawn and end > place:
            x = values[place] - 0.12 - 0.06 * (place % 4)
            axes.plot([x, x], [place, end], color="0.3", lw=2)
            drawn = end
    axes.set(ylim=(len(mean) - 0.5, -0.8), xlim=(1, len(mean) + 1), yticks=[], title=title)
    axes.set_xlabel(f"mean rank over {len(table)} sets; critical difference {reach:.2f}")
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
