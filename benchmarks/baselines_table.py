"""The paper's table again: seven methods, seven data sets, train and test.

    python benchmarks/baselines_table.py [--runs 500]

Procedure 1 of the paper: stratified 70/30 splits, z-scores from the training part, hard-label AUC,
every method by ``lincent.model_selection.find_method``. Prints the table and writes it into
doc/measured/baselines.md, between the two marks that name this script. The data sets are found by
``lincent.paper.datasets.load_dataset``.

The splits are those of the seeds 0, 1, 2, ...: more runs extend fewer. Of a long run the first 100
splits, as many as the paper has, are judged on their own too, so that nothing hides in the choice.
"""

import argparse

import numpy as np
from baselines_page import stamp, write_section
from baselines_paper import METHODS, PRINTED, SETS
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent.model_selection import find_method
from lincent.paper.datasets import load_dataset

WIDE = 1.5
AS_MANY_AS_THE_PAPER = 100
PARTS = ("train", "test")


def one_run(X, y, seed):
    """Scores in percent, methods x (train, test)."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    scores = []
    for method in map(find_method, METHODS):
        model = make_pipeline(StandardScaler(), method.estimator).fit(X_train, y_train)
        score = get_scorer(method.paper_scoring or "balanced_accuracy")
        scores.append([100 * score(model, *p) for p in ((X_train, y_train), (X_test, y_test))])
    return scores


def runs_of(code, n_runs):
    """Runs x methods x parts for one data set."""
    data = load_dataset(code)
    X = data.data[:, np.ptp(data.data, axis=0) > 0]  # one column of IS is constant
    return np.array([one_run(X, data.target, seed) for seed in range(n_runs)])


def table_lines(means, printed):
    lines = ["| | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for i, code in enumerate(SETS):
        for j, part in enumerate(PARTS):
            cells = [_cell(means[i, k, j], printed[i, k, j]) for k in range(len(METHODS))]
            lines.append(f"| {code} {part} | " + " | ".join(cells) + " |")
    for j, part in enumerate(PARTS):
        apart = np.abs(means - printed)[:, :, j].mean(axis=0)
        lines.append(
            f"| mean abs. difference, {part} | " + " | ".join(f"{a:.2f}" for a in apart) + " |"
        )
    return lines


def _cell(ours, theirs):
    text = f"{ours:.2f} ({theirs:.2f}, {ours - theirs:+.2f})"
    return f"**{text}**" if abs(ours - theirs) > WIDE else text


def summary(scores, printed):
    """How near the paper these runs are, and a line for each cell beyond WIDE points."""
    n_runs = scores.shape[1]
    means = scores.mean(axis=1)
    errors = scores.std(axis=1, ddof=1) / np.sqrt(n_runs)
    difference = means - printed
    wide = np.argwhere(np.abs(difference) > WIDE)
    train, test = (np.abs(difference[..., j]).mean() for j in range(2))
    return [
        f"{n_runs} splits: {difference.size - len(wide)} of {difference.size} cells are within "
        f"{WIDE} "
        f"points; mean difference {difference.mean():+.2f}, mean absolute difference {train:.2f} "
        "on "
        f"train and {test:.2f} on test; standard errors of our test means "
        f"{errors[..., 1].min():.2f} to {errors[..., 1].max():.2f}. Beyond {WIDE} points:",
        "",
        *(
            f"- {METHODS[k]} on {SETS[i]}, {PARTS[j]}: {means[i, k, j]:.2f} against "
            f"{printed[i, k, j]:.2f} (standard error of ours {errors[i, k, j]:.2f})"
            for i, k, j in wide
        ),
        *([] if len(wide) else ["- none"]),
        "",
    ]


def page(scores):
    """The section of the page: the table, then the summary."""
    n_runs = scores.shape[1]
    printed = np.array([[PRINTED[part][code] for part in PARTS] for code in SETS])
    printed = printed.transpose(0, 2, 1)
    lines = [
        f"Hard-label AUC in percent, mean of {n_runs} stratified 70/30 splits (the seeds from 0): "
        f"ours, in brackets the paper's figure and the difference; bold beyond {WIDE} points.",
        "",
        *table_lines(scores.mean(axis=1), printed),
        "",
        *summary(scores, printed),
    ]
    if n_runs > AS_MANY_AS_THE_PAPER:
        lines += [
            "The first of these splits alone, as many as the paper has:",
            "",
            *summary(scores[:, :AS_MANY_AS_THE_PAPER], printed),
        ]
    return [*lines, stamp(f"python benchmarks/baselines_table.py --runs {n_runs}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500, help="splits per data set")
    n_runs = parser.parse_args().runs
    if n_runs < 2:
        parser.error(f"--runs {n_runs} gives no standard error: give at least 2.")
    scores = np.array([runs_of(code, n_runs) for code in SETS])
    lines = page(scores)
    print("\n".join(lines))
    write_section("baselines_table.py", lines)


if __name__ == "__main__":
    main()
