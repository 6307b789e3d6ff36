"""From the rows of the leaderboard to its page: ranks, tests, tables, diagrams."""

import numpy as np
import pandas as pd
from leaderboard_sets import PAPER, ROOT
from scipy.stats import friedmanchisquare, studentized_range, wilcoxon

from lincent.study import load_result

PAGE = ROOT / "doc" / "leaderboard.md"
PICTURES = ROOT / "doc" / "images"
BASE = "LogisticRegression balanced"
OURS = ["LCC", "RegularizedLCC", "RegularizedLCCCV", "StructuredLCC", "StructuredLCCCV"]
CURVED = ["StructuredLCC", "StructuredLCCCV", "SVC-RBF", "HistGradientBoosting", "local centers"]
MEASURES = {"hard": "hard-label AUC", "auc": "score AUC"}
TIE = 1e-9


def means(rows, measure):
    """Sets by methods, averaged over the splits that every method has finished."""
    table = rows.pivot_table(index=["dataset", "split"], columns="method", values=measure)
    return table.dropna().groupby("dataset").mean()


def ranks(table):
    return table.round(9).rank(axis=1, ascending=False).mean()


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


def diagram(table, title, path):
    """Mean ranks on a line; a bar joins methods that Nemenyi's test does not tell apart."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    mean = ranks(table).sort_values()
    reach = critical_difference(len(mean), len(table))
    figure, axes = plt.subplots(figsize=(9, 0.32 * len(mean) + 1.2))
    for place, (method, rank) in enumerate(mean.items()):
        ours = method in OURS
        axes.plot([1, rank], [place, place], color="0.85", lw=0.8, zorder=0)
        axes.plot(rank, place, "o", color="C3" if ours else "C0")
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


def main_table(tables, seconds):
    lines = [
        "| method | hard | rank | w/t/l | p | Holm | AUC | rank | w/t/l | p | Holm | fit, ms |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    columns, order = {}, ranks(tables["hard"]).add(ranks(tables["auc"])).sort_values().index
    others = [method for method in order if method != BASE]
    for table in tables.values():
        tests = {m: against(table, m, BASE) for m in others}
        adjusted = dict(zip(others, holm([tests[m][4] for m in others]), strict=True))
        rank = ranks(table)
        for m in order:
            cells = [f"{table[m].mean():.2f}", f"{rank[m]:.2f}"]
            if m == BASE:
                cells += ["", "", ""]
            else:
                w, t, l, _, p = tests[m]
                cells += [f"{w}/{t}/{l}", small(p), small(adjusted[m])]
            columns.setdefault(m, []).extend(cells)
    for m in order:
        name = f"**{m}**" if m in OURS else m
        lines.append(f"| {name} | {' | '.join(columns[m])} | {1000 * seconds[m]:.1f} |")
    return "\n".join(lines)


def small(p):
    return "<.001" if p < 0.001 else f"{p:.3f}"


def pair_lines(tables, pairs):
    lines = [
        "| | measure | wins/ties/losses | mean difference | p |",
        "|---|---|---|---|---|",
    ]
    for first, second in pairs:
        for measure, table in tables.items():
            w, t, l, mean, p = against(table, first, second)
            lines.append(
                f"| {first} against {second} | {MEASURES[measure]} | {w}/{t}/{l} | {mean:+.2f} "
                f"| {small(p)} |"
            )
    return "\n".join(lines)


def paper_table(rows, measure):
    some = rows[rows.dataset.isin(PAPER)]
    table = some.pivot_table(index="method", columns="dataset", values=measure)[list(PAPER)]
    table["mean"] = table.mean(axis=1)
    table = table.sort_values("mean", ascending=False)
    lines = ["| method | " + " | ".join(table.columns) + " |", "|---" * (len(PAPER) + 2) + "|"]
    best = table.max()
    for method, row in table.iterrows():
        name = f"**{method}**" if method in OURS else method
        cells = [f"**{v:.1f}**" if v >= best[c] - TIE else f"{v:.1f}" for c, v in row.items()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def where(table, first, second, count=6):
    """The sets with the largest gains and losses."""
    difference = (table[first] - table[second]).sort_values()

    def told(part):
        return ", ".join(f"{name} {value:+.1f}" for name, value in part.items())

    gains = difference[difference > 0][::-1][:count]
    losses = difference[difference < 0][:count]
    return told(gains) or "none", told(losses) or "none"


def set_table(table, counts):
    shown = [*OURS, BASE, "LogisticRegression balanced, tuned", "SVC-RBF balanced, tuned"]
    shown.append("HistGradientBoosting balanced")
    lines = ["| set | source | rows x columns | " + " | ".join(shown) + " |"]
    lines.append("|---" * (len(shown) + 3) + "|")
    for name, source, m, n, _ in counts:
        if name not in table.index:
            continue
        row = table.loc[name, shown]
        cells = [f"**{v:.1f}**" if v >= row.max() - TIE else f"{v:.1f}" for v in row]
        lines.append(f"| {name} | {source} | {m} x {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def linear_only(table):
    """The linear methods together with StructuredLCCCV, for its rank among them."""
    linear = [m for m in table if not m.startswith(tuple(CURVED))]
    return {m: table[[*linear, m]] for m in ("StructuredLCC", "StructuredLCCCV")}


def verdict(tables):
    """Sentences that follow from the numbers, whichever way they fall."""
    lines = []
    for measure, table in tables.items():
        word = MEASURES[measure]
        rank = ranks(table).sort_values()
        lines.append(
            f"- First by mean rank in {word}, of all: {rank.index[0]} ({rank.iloc[0]:.2f}), "
            f"then {rank.index[1]} ({rank.iloc[1]:.2f}) and {rank.index[2]} "
            f"({rank.iloc[2]:.2f})."
        )
        for method, some in linear_only(table).items():
            place = ranks(some).sort_values().index.get_loc(method) + 1
            lines.append(
                f"- {method} put among the linear methods (plain, balanced, tuned): place "
                f"{place} of {some.shape[1]} in {word}."
            )
        for method in OURS:
            w, t, l, mean, p = against(table, method, BASE)
            state = "ahead of" if mean > 0 else "behind"
            clear = "significant" if p < 0.05 else "not significant"
            lines.append(
                f"- {method} is {state} balanced LogisticRegression in {word}: "
                f"{mean:+.2f} points, {w}/{t}/{l}, p = {small(p)} ({clear} at 0.05, "
                "before Holm's adjustment)."
            )
    return "\n".join(lines)


def rows_of(frame):
    """The columns that this page uses, in percent and with the warnings as the status."""
    troubles = frame["warnings"].str.replace(r":[^;]*", "", regex=True)
    status = frame["status"].where(frame["status"] != "ok", troubles.where(troubles != "", "ok"))
    return pd.DataFrame(
        {
            "dataset": frame["dataset"],
            "split": frame["split"],
            "method": frame["method"],
            "hard": 100 * frame["test_hard_auc"],
            "auc": 100 * frame["test_score_auc"],
            "seconds": frame["fit_seconds"],
            "gap": frame["gap"],
            "status": status.where(frame["error"] == "", frame["error"].str.slice(0, 200)),
        }
    )


def about_of(result):
    """Date, machine, versions, and what the sets are."""
    config, versions = result.config, result.config["versions"]
    sets = [[p.name, p.origin, p.rows, p.columns, p.classes["1"]] for p in result.problems]
    machine = f"{config['jobs']} processes of one thread, {config['machine']['cores']} cores"
    return versions | {"date": config["finished"][:10], "machine": machine, "sets": sets}


def write_page(folder):
    result = load_result(folder)
    rows, about = rows_of(result.frame), about_of(result)
    everywhere = rows.groupby("method").dataset.nunique()
    common = rows[rows.method.isin(everywhere[everywhere == everywhere.max()].index)]
    complete = common.groupby(["dataset", "split"]).auc.count().unstack()
    whole = [s for s in complete if (complete[s] == complete.max().max()).all()]
    common, rows = common[common.split.isin(whole)], rows[rows.split.isin(whole)]
    tables = {measure: means(common, measure) for measure in MEASURES}
    seconds = common.groupby(["method", "dataset"]).seconds.median().groupby("method").median()
    for measure, table in tables.items():
        diagram(table, MEASURES[measure], PICTURES / f"leaderboard_{measure}.svg")
    gaps = common[common.method.isin(OURS)].groupby("method").gap.max()
    troubles = rows[rows.status != "ok"].groupby(["method", "status"]).size()
    friedman = friedmanchisquare(*[tables["auc"][m] for m in tables["auc"]]).pvalue
    pairs = [
        ("StructuredLCCCV", "LogisticRegression balanced, tuned"),
        ("StructuredLCCCV", "SVC-RBF balanced, tuned"),
        ("StructuredLCCCV", "SVC-RBF balanced"),
        ("StructuredLCCCV", "HistGradientBoosting balanced"),
        ("StructuredLCC", "local centers + LogisticRegression"),
        ("StructuredLCC", "SVC-RBF balanced"),
        ("StructuredLCC", "SVC-RBF balanced, tuned"),
        ("RegularizedLCCCV", "LogisticRegression balanced, tuned"),
        ("RegularizedLCC", "LCC"),
    ]
    text = [
        HEAD.format(
            date=about["date"],
            machine=about["machine"],
            sets=len(tables["auc"]),
            splits=len(whole),
            fits=len(rows),
            sklearn=about["scikit-learn"],
            numpy=about["numpy"],
            python=about["python"],
        )
    ]
    text += ["## Who wins where", verdict(tables)]
    for first, second in pairs[:2]:
        for measure, table in tables.items():
            gains, losses = where(table, first, second)
            text.append(
                f"{first} against {second}, {MEASURES[measure]}: gains most on {gains}; "
                f"loses most on {losses}."
            )
    text += [
        "## All methods",
        TABLE_NOTE.format(friedman=small(friedman)),
        main_table(tables, seconds),
    ]
    text += [
        f"![Mean ranks, {word}](images/leaderboard_{measure}.svg)"
        for measure, word in MEASURES.items()
    ]
    text += ["## Head to head", pair_lines(tables, pairs)]
    text += [
        "## Certificates",
        "The largest relative duality gap over all fits (for the CV forms: of "
        "all rules in the committees): " + ", ".join(f"{m} {g:.1e}" for m, g in gaps.items()) + ".",
    ]
    if len(troubles):
        told = ", ".join(f"{m}: {s} ({n} fits)" for (m, s), n in troubles.items())
        text.append(f"Warnings and failures: {told}.")
    text += ["## The seven sets of the paper", PAPER_NOTE]
    for measure, word in MEASURES.items():
        text += [f"### {word}", paper_table(rows, measure)]
    text += ["## Set by set, score AUC", set_table(tables["auc"], about["sets"])]
    text += ["## Set by set, hard-label AUC", set_table(tables["hard"], about["sets"])]
    PAGE.write_text("\n\n".join(text) + "\n")
    print(f"{PAGE.relative_to(ROOT)}: {len(whole)} splits, {len(tables['auc'])} sets")


HEAD = """# Leaderboard

{sets} real two-class sets, {splits} splits each, {fits} fits, in one run on {date} ({machine};
Python {python}, NumPy {numpy}, scikit-learn {sklearn}). Written by `benchmarks/leaderboard.py`; the
numbers and the sentences about them follow from its rows.

Stratified 70/30 splits, the same for all methods; constant columns dropped, columns standardized on
the training part; sets above 1,500 rows cut to that. *hard* is the area under the ROC curve of the
hard labels, which is balanced accuracy; *AUC* is that of the scores; both in percent. "balanced"
means `class_weight="balanced"` (LDA: equal priors); "tuned" means a grid search by cross-validated
score AUC: 7 values of C for LogisticRegression and LinearSVC (5 folds), 7 shrinkages for LDA
(5 folds), 16 pairs of C and gamma for SVC-RBF (3 folds). Everything of ours runs with its defaults.
Some of these sets were used when the defaults were chosen, so the figures of our methods are
somewhat optimistic."""

TABLE_NOTE = """Sorted by the sum of both mean ranks. Wins/ties/losses, two-sided Wilcoxon p over
sets and Holm's adjustment (over all rows of a column) are against balanced LogisticRegression. The
Friedman test over all methods (score AUC) gives p {friedman}. Fit time is the median over sets,
tuning included, on one thread of a shared machine: good for ratios only. StructuredLCC(CV),
SVC-RBF, HistGradientBoosting and "local centers + LogisticRegression" are not linear rules; the
others are. The last named is a control: balanced LogisticRegression (C = 0.1) on the features that
`StructuredLCC.transform` gives, fitted in a second pass over the same splits. What it gains is the
gain of the local centers alone; what the structured forms have beyond it is that of the loss and
of the committee."""

PAPER_NOTE = """Means over the same splits, sorted by the mean over sets. The rivals are the paper's
other methods from `lincent.rivals` with their default settings, not tuned as in the paper."""
