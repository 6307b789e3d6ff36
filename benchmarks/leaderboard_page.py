"""From the rows of the leaderboard to its page; every sentence follows from the numbers."""

import json

import pandas as pd
from leaderboard_sets import ROOT, took_part
from leaderboard_statistics import TIE, against, diagram, holm, means, ranks, small, whole_splits

PAGE = ROOT / "doc" / "measured" / "leaderboard.md"
PICTURES = ROOT / "doc" / "images"
OURS = ("LCC", "AutoLCC", "AdditiveLCC", "RegularizedLCC", "StructuredLCC")
MEASURES = {"hard": "balanced accuracy", "auc": "score AUC"}
CHIEF = "AutoLCC"
STRONG = [
    "SVC-RBF balanced, tuned",
    "ExtraTrees balanced",
    "ExtraTrees balanced, tuned",
    "RandomForest balanced",
    "RandomForest balanced, tuned",
    "HistGradientBoosting balanced",
    "HistGradientBoosting balanced, tuned",
]
SHOWN = ["AutoLCC", "AdditiveLCCCV", "StructuredLCCCV", "LogisticRegression balanced, tuned"]
SHOWN += ["SVC-RBF balanced, tuned", "ExtraTrees balanced", "RandomForest balanced"]
SHOWN += ["HistGradientBoosting balanced", "ExplainableBoosting"]


class Board:
    """Two classes or many: tables over all sets and over those that took part in no choice."""

    def __init__(self, rows, title):
        self.rows, self.title = rows, title
        done = rows.groupby("method").auc.count()
        kept = done[done >= 0.9 * done.max()].index
        self.left_out = sorted(set(done.index) - set(kept))
        self.rows = rows[rows.method.isin(kept)]
        self.all = {measure: means(self.rows, measure) for measure in MEASURES}
        self.fresh = {
            measure: table[[not took_part(name) for name in table.index]]
            for measure, table in self.all.items()
        }
        seconds = self.rows.groupby(["method", "dataset"]).seconds.median()
        self.seconds = seconds.groupby("method").median()
        self.by_set = seconds.unstack("method")

    def tables(self):
        yield "all sets", self.all
        yield "sets that took part in no choice", self.fresh


def bold(method):
    return f"**{method}**" if method.startswith(OURS) else method


def main_table(board, tables):
    """Means, mean ranks, and the chief method against each other one."""
    lines = [
        f"| method | hard | rank | {CHIEF} w/t/l | p | Holm "
        f"| AUC | rank | {CHIEF} w/t/l | p | Holm | fit, ms |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    order = ranks(tables["hard"]).add(ranks(tables["auc"])).sort_values().index
    others = [method for method in order if method != CHIEF]
    columns = {method: [] for method in order}
    for table in tables.values():
        tests = {m: against(table, CHIEF, m) for m in others}
        adjusted = dict(zip(others, holm([tests[m][4] for m in others]), strict=True))
        rank = ranks(table)
        for m in order:
            cells = [f"{table[m].mean():.2f}", f"{rank[m]:.2f}"]
            if m == CHIEF:
                cells += ["", "", ""]
            else:
                w, t, l, _, p = tests[m]
                cells += [f"{w}/{t}/{l}", small(p), small(adjusted[m])]
            columns[m].extend(cells)
    lines += [
        f"| {bold(m)} | {' | '.join(columns[m])} | {1000 * board.seconds[m]:.1f} |" for m in order
    ]
    return "\n".join(lines)


def summary(board):
    """What holds and what does not, in sentences that follow from the numbers."""
    lines = []
    for where, tables in board.tables():
        for measure, word in MEASURES.items():
            table = tables[measure]
            rank = ranks(table)
            place = rank.index.get_loc(CHIEF) + 1
            first = ", ".join(f"{m} ({r:.2f})" for m, r in rank.head(3).items())
            lines.append(
                f"- {word}, {where} ({len(table)}): {CHIEF} is number {place} of {len(rank)} by "
                f"mean rank; the first are {first}."
            )
            told = []
            for other in (m for m in STRONG if m in table):
                w, t, l, mean, p = against(table, CHIEF, other)
                state = "ahead of" if mean > 0 else "behind"
                sure = "" if p < 0.05 else ", not significant"
                told.append(f"{state} {other} by {abs(mean):.2f} ({w}/{t}/{l}, p {small(p)}{sure})")
            lines.append(f"  {CHIEF} is {'; '.join(told)}.")
    return "\n".join(lines)


READABLE = "### Models that can be read"


def _kept_lines(absent):
    """What the page says already; the slowest method is not part of every run."""
    old = PAGE.read_text("utf-8").partition(READABLE)[2].partition("\n###")[0].strip()
    if "against " + absent not in old:
        return f"{absent} was not part of this run."
    if "of an earlier run" in old:
        return old
    date = PAGE.read_text("utf-8").partition("in one run on ")[2][:10]
    return f"{absent} takes a minute a fit. Figures of an earlier run ({date}):\n\n{old}"


def additive_lines(board):
    """The readable models against each other."""
    first, second = "AdditiveLCCCV", "ExplainableBoosting"
    if second not in board.all["auc"]:
        return _kept_lines(second)
    lines = []
    for where, tables in board.tables():
        for measure, word in MEASURES.items():
            w, t, l, mean, p = against(tables[measure], first, second)
            lines.append(
                f"- {word}, {where}: {first} {mean:+.2f} points against {second} ({w}/{t}/{l}, "
                f"p {small(p)})."
            )
    share = (board.by_set[second] / board.by_set[first]).median()
    lines.append(f"- Fit time: {second} takes {share:.0f} times as long (median over sets).")
    lines.append(
        f"- {second} has no class weights: its hard labels follow the larger class, which costs it "
        "balanced accuracy."
    )
    return "\n".join(lines)


def time_line(board, about):
    size = {name: rows for name, _, rows, _, _ in about["sets"]}
    large = [name for name in board.by_set.index if 1000 <= size[name] <= 1500]
    share = board.by_set.loc[large, CHIEF] / board.by_set.loc[large, STRONG[0]]
    return (
        f"On the {len(large)} two-class sets with 1,000 to 1,500 rows {CHIEF} takes "
        f"{share.median():.2f} of the time of {STRONG[0]} (median; {share.min():.2f} to "
        f"{share.max():.2f}), same run, one thread each."
    )


FORMS = {
    "RegularizedLCC": ("one-vs-one", ["one-vs-rest", "native"]),
    "StructuredLCC": ("one-vs-rest", ["one-vs-one"]),
}
"""For more than two classes: the default, and the forms that are tried beside it."""


def form_lines(board):
    """The default form of each estimator against the others, over all sets."""
    lines = []
    for name, (default, others) in FORMS.items():
        for measure, word in MEASURES.items():
            told = []
            for other in others:
                w, t, l, mean, p = against(board.all[measure], name, f"{name}, {other}")
                told.append(f"{mean:+.2f} points against {other} ({w}/{t}/{l}, p {small(p)})")
            lines.append(f"- {name}, {word}: {default}, the default, has {'; '.join(told)}.")
    return "\n".join(lines)


def set_table(table, about):
    shown = [method for method in SHOWN if method in table]
    lines = ["| set | source | rows x columns | " + " | ".join(shown) + " |"]
    lines.append("|---" * (len(shown) + 3) + "|")
    for name, source, m, n, _ in about["sets"]:
        if name not in table.index:
            continue
        row = table.loc[name, shown]
        cells = [f"**{v:.1f}**" if v >= row.max() - TIE else f"{v:.1f}" for v in row]
        mark = " *" if took_part(name) else ""
        lines.append(f"| {name}{mark} | {source} | {m} x {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def section(board, name, about):
    text = [f"## {board.title}", summary(board)]
    if name == "two":
        text += [READABLE, additive_lines(board), "### Time"]
        text.append(time_line(board, about))
    else:
        text += ["### Which form for many classes", form_lines(board)]
    for where, tables in board.tables():
        text += [f"### {where.capitalize()} ({len(tables['hard'])})", main_table(board, tables)]
    for measure, word in MEASURES.items():
        picture = f"leaderboard_{name}_{measure}.svg"
        diagram(board.all[measure], OURS, f"{board.title}, {word}", PICTURES / picture)
        text.append(f"![Mean ranks, {board.title}, {word}](../images/{picture})")
        text += [f"### Set by set, {word}", set_table(board.all[measure], about)]
    if board.left_out:
        text.append("Left out, failing on more than a tenth: " + ", ".join(board.left_out) + ".")
    return text


def write_page(path):
    rows, about = pd.read_csv(path), json.loads(path.with_suffix(".json").read_text())
    many = {name for name, _, _, _, counts in about["sets"] if len(counts) > 2}
    text, certificates, sets = [], [], []
    for name, title, part in (
        ("two", "Two classes", rows[~rows.dataset.isin(many)]),
        ("many", "Many classes", rows[rows.dataset.isin(many)]),
    ):
        part = part[part.split.isin(whole_splits(part))]
        board = Board(part, title)
        text += section(board, name, about)
        certificates.append(part)
        sets.append(len(board.all["hard"]))
    used = pd.concat(certificates)
    gaps = used[used.method.str.startswith(OURS)].groupby("method").gap.max()
    troubles = used[used.status != "ok"].groupby(["method", "status"]).size()
    text += [
        "## Certificates",
        "The largest relative duality gap over all fits (of all rules, where there are several): "
        + ", ".join(f"{m} {g:.1e}" for m, g in gaps.items())
        + ".",
    ]
    if len(troubles):
        told = ", ".join(f"{m}: {s} ({n} fits)" for (m, s), n in troubles.items())
        text.append(f"Warnings and failures: {told}.")
    splits = [part.split.nunique() for part in certificates]
    planned = len(about["sets"]) - len(many), len(many)
    head = HEAD.format(
        fits=len(used), two=sets[0], many=sets[1], splits=splits, planned=planned, **about
    )
    PAGE.write_text("\n\n".join([head, *text]) + "\n")
    print(f"{PAGE.relative_to(ROOT)}: {sets} sets, {splits} splits")


HEAD = """# Tables of the leaderboard

{two} real two-class sets and {many} with 3 to 26 classes, {splits[0]} and {splits[1]} split(s)
each, {fits} fits, in one run on {date} ({machine}; Python {python}, NumPy {numpy}). Written by
`benchmarks/leaderboard.py` from its rows; so are the sentences. The run had {planned[0]} and
{planned[1]} sets before it; those that were not finished with every method when its time was over
are not counted.

Stratified 70/30 splits, the same for all methods; constant columns dropped, columns standardized on
the training part, text as indicators; sets above 1,500 rows cut to that. *hard* is balanced
accuracy, which for two classes is the area under the ROC curve of the hard labels; *AUC* is that of
the scores (many classes: the mean of one against the rest, of probabilities where a method has
them and of decisions of the other methods); both in percent. "balanced" means
`class_weight="balanced"` (LDA: equal priors); "tuned" means a grid search inside the training part,
by score AUC (many classes: balanced accuracy): 7 values of C for LogisticRegression and LinearSVC,
7 shrinkages for LDA (5 folds), 16 pairs of C and gamma for SVC-RBF, 3 leaf sizes for the forests of
300 trees, 4 settings of HistGradientBoosting (3 folds). Everything of ours runs with its defaults.
w/t/l counts wins, ties and losses of AutoLCC over sets, p is Wilcoxon's, two-sided, and Holm's
adjustment is over the rows of a column. Tables are sorted by the sum of both mean ranks. Fit time
is the median over sets, tuning included.

Sets marked with * took part in choosing some default, or share rows with one that did. The tables
"Sets that took part in no choice" are without them."""
