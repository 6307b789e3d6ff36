"""Models that can be read: AdditiveLCCCV beside InterpretML's ExplainableBoosting, with pictures.

    pip install --no-deps --target results/packages interpret-core
    python benchmarks/readable.py [NAME ...]  writes doc/measured/readable.md

NAME are tables of the paper.  Both get the same training part (70 %), one thread, their defaults.
"""

import sys
import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split

from lincent import AdditiveLCCCV
from lincent.paper.datasets import load_dataset

ROOT = Path(__file__).resolve().parent.parent
NAMES = ["pima_diabetes", "breast_cancer", "glass"]
DRAWN = 4
SPLITS = 3
PAGE = """# Models that can be read

AdditiveLCCCV and InterpretML's ExplainableBoosting (EBM) are sums of curves, one for each column.
Written by `benchmarks/readable.py` on {day}: means of {splits} stratified 70/30 splits a table,
defaults, one thread. *hard* is balanced accuracy, *AUC* that of the scores, both in percent, time
that of the processor. The tables here are a glance, and were used while defaults were chosen.

{over_many}

| table | rows x columns | hard: ours | EBM | AUC: ours | EBM | seconds: ours | EBM |
|---|---|---|---|---|---|---|---|
{rows}

{better}

The {count} columns of {first} by which AdditiveLCCCV's score varies most, in deviations of each
model's score; the band holds 80 % of AdditiveLCCCV's resampled curves:

![Curves of AdditiveLCCCV, smooth and with a band, and of ExplainableBoosting, in steps, for the
same columns](../images/readable.svg)

Where AdditiveLCCCV has more to offer: a fit takes a small part of the time; classes count the same
unless told otherwise, where EBM has no class weights and its hard labels follow the larger class;
the optimum is proved (`duality_gap_`); curves have no jumps and go on in straight lines beyond the
data; pairs of columns join only where cross-validation is better with them.

Where EBM has: its steps follow jumps in a column that a smooth curve rounds off; it draws pairs as
heat maps, in a dashboard of its own; its probabilities need no calibration. Monotone curves, gaps
and categories are for both.
"""


def boosted():
    sys.path.insert(0, str(ROOT / "results" / "packages"))
    try:
        from interpret.glassbox import ExplainableBoostingClassifier
    except ImportError:
        raise SystemExit(__doc__) from None
    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


def measured(model, split):
    """The model, fitted, and hard, AUC, seconds."""
    seen, unseen, y_seen, y_unseen = split
    began = time.process_time()
    model.fit(seen, y_seen)
    seconds = time.process_time() - began
    chance = model.predict_proba(unseen)[:, 1]
    hard = balanced_accuracy_score(y_unseen, model.predict(unseen))
    return model, (100 * hard, 100 * roc_auc_score(y_unseen, chance), seconds)


def line(name, shape, ours, theirs):
    pairs = [f"{a:.{d}f} | {b:.{d}f}" for a, b, d in zip(ours, theirs, (1, 1, 2), strict=True)]
    return f"| {name} | {shape[0]} x {shape[1]} | " + " | ".join(pairs) + " |"


def better(names, ours, theirs):
    """Who is ahead where, as sentences."""
    told = []
    for k, measure in enumerate(("hard", "AUC")):
        gains = ours[:, k] - theirs[:, k]
        ahead = [n for n, g in zip(names, gains, strict=True) if g > 0] or ["no table"]
        behind = [n for n, g in zip(names, gains, strict=True) if g < 0] or ["no table"]
        told.append(
            f"- {measure}: AdditiveLCCCV is ahead on {', '.join(ahead)}, behind on "
            f"{', '.join(behind)}; {gains.mean():+.1f} points in the mean."
        )
    ratio = np.median(theirs[:, 2] / ours[:, 2])
    return "\n".join([*told, f"- time: EBM takes {ratio:.0f} times as long (median)."])


def curve_of_steps(model, column, x):
    """EBM's curve at these values."""
    found = model.explain_global().data(column)
    edges, values = np.asarray(found["names"], dtype=float), np.asarray(found["scores"])
    return values[np.clip(np.searchsorted(edges[1:-1], x, side="right"), 0, len(values) - 1)]


def over_many(path=ROOT / "doc" / "measured" / "leaderboard.csv"):
    """Return what the splits of the leaderboard that both have finished say, as a sentence."""
    import pandas as pd
    from scipy.stats import wilcoxon

    kinds = ["AdditiveLCCCV", "ExplainableBoosting"]
    table = (
        pd.read_csv(path).pivot(index=["set", "rows", "split"], columns="method").swaplevel(axis=1)
    )
    both = pd.concat([table[kind] for kind in kinds], axis=1, keys=kinds).dropna()
    sets = both.groupby(level=["set", "rows"]).mean()
    told = []
    for measure, name, factor, digits in (
        ("balanced_accuracy", "balanced accuracy", 100, 1),
        ("auc", "AUC", 100, 1),
        ("log_loss", "log loss", 1, 3),
    ):
        mine, other = (factor * sets[kind, measure] for kind in kinds)
        p = wilcoxon(mine, other).pvalue
        told.append(f"{name} {mine.mean():.{digits}f} and {other.mean():.{digits}f} (p = {p:.3f})")
    ours, theirs = (sets[kind, "seconds"].median() for kind in kinds)
    return (
        f"Over the {len(sets)} untouched tables of the [leaderboard](leaderboard.md) that both "
        f"have finished, two classes and many: {', '.join(told)}, {ours:.1f} and {theirs:.1f} "
        "seconds in the median, AdditiveLCCCV first."
    )


def draw(ours, theirs, X, names, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "readable"  # the same file for the same curves
    from matplotlib import pyplot as plt

    strong = np.argsort(-ours.contributions(X)[:, : X.shape[1]].std(axis=0))[:DRAWN]
    units = [ours.decision_function(X).std(), theirs.decision_function(X).std()]
    figure, axes = plt.subplots(1, DRAWN, figsize=(12, 2.6), constrained_layout=True)
    for ax, j in zip(axes, strong.tolist(), strict=True):
        curve = {key: np.asarray(v, dtype=float) for key, v in ours.shape(j).items()}
        x, middle = curve["x"], curve["value"].mean()
        band = [(curve[key] - middle) / units[0] for key in ("low", "high")]
        ax.fill_between(x, *band, color="#1b6ca8", alpha=0.2, linewidth=0)
        ax.plot(x, (curve["value"] - middle) / units[0], color="#1b6ca8", label="AdditiveLCCCV")
        steps = curve_of_steps(theirs, j, x)
        ax.step(x, (steps - steps.mean()) / units[1], color="#c0622f", where="post", label="EBM")
        ax.set_title(names[j], fontsize=9)
    axes[0].legend(fontsize=8)
    axes[0].set_ylabel("adds to the score")
    figure.savefig(path, metadata={"Date": None})


def main(tables):
    rows, ours, theirs = [], [], []
    for k, table in enumerate(tables):
        table_of = load_dataset(table)
        X, y = np.asarray(table_of.data, dtype=float), np.asarray(table_of.target)
        figures = []
        for seed in range(SPLITS):
            split = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
            fits = [measured(model, split) for model in (AdditiveLCCCV(), boosted())]
            figures.append([found for _, found in fits])
            if not (k or seed):
                names = [str(name) for name in table_of.feature_names]
                models = [model for model, _ in fits]
                draw(*models, split[0], names, ROOT / "doc" / "images" / "readable.svg")
        mine, other = np.mean(figures, axis=0)
        rows.append(line(table, X.shape, mine, other))
        ours, theirs = [*ours, mine], [*theirs, other]
        print(rows[-1], flush=True)
    page = PAGE.format(
        day=datetime.now(UTC).date(),
        rows="\n".join(rows),
        better=better(tables, np.array(ours), np.array(theirs)),
        count=DRAWN,
        splits=SPLITS,
        first=tables[0],
        over_many="\n".join(textwrap.wrap(over_many(), 100)),
    )
    (ROOT / "doc" / "measured" / "readable.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
