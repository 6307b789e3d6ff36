"""The leaderboard: accuracy and fit time on real sets, one row per fit.

    python benchmarks/leaderboard.py export results/leaderboard.npz
    OMP_NUM_THREADS=1 python benchmarks/leaderboard.py run results/leaderboard.npz \\
        --rows results/leaderboard.csv --splits 5 --jobs 16 --minutes 7
    python benchmarks/leaderboard.py page results/leaderboard.csv

``export`` needs the packages that carry the sets; ``run`` is a study like any other and needs
pandas and pyarrow beside lincent: its rows are kept in a folder beside the file, and it goes on
where it stopped; ``page`` writes doc/measured/leaderboard.md. Protocol: stratified 70/30
splits, the same for all methods; constant columns dropped and columns
standardized on the training part. hard = balanced accuracy (for two classes the area under the
ROC curve of the hard labels), auc = area under the ROC curve of the scores (for more classes the
mean of one against the rest). Tuning is by cross-validation inside the training part, and counts
as fit time.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
from leaderboard_methods import many_class_methods, two_class_methods
from leaderboard_sets import export, load

from lincent._console import experiment_progress
from lincent.model_selection import Problem, plan_runs
from lincent.model_selection.runner import run_experiment

TIME_LIMIT = 120.0


def plan(sets, n_splits, chosen):
    """Every method, or the chosen ones, on every set: first splits are complete first."""
    problems = [Problem(name, X, y, title=name, origin=source) for name, source, X, y in sets]
    methods = two_class_methods() if len(np.unique(sets[0][3])) == 2 else many_class_methods()
    methods = {name: method for name, method in methods.items() if not chosen or name in chosen}
    whole = plan_runs(problems, methods.items(), n_splits=n_splits)
    return replace(whole, runs=tuple(sorted(whole.runs, key=lambda run: run.split)))


def run(path, rows_path, n_splits, jobs, minutes, only, methods):
    """Run what is not yet there: two classes in half of the time, more classes in what is left."""
    began = time.time()
    ends = {"two": began + 30 * minutes, "many": began + 60 * minutes}
    sets = [entry for entry in load(path) if not only or entry[0] in only]
    found = []
    for kind in ("two", "many"):
        part = [entry for entry in sets if (len(np.unique(entry[3])) == 2) == (kind == "two")]
        if not part:
            continue
        folder = rows_path.with_suffix("") / kind
        with experiment_progress() as progress:
            result = run_experiment(
                "leaderboard", plan(part, n_splits, methods), {"runs": n_splits}, n_jobs=jobs,
                time_limit=TIME_LIMIT, folder=folder, progress=progress,
                budget=max(0.0, ends[kind] - time.time()),
            )  # fmt: skip
        result.save(folder)
        found.append(result)
    rows_of(pandas.concat([result.frame for result in found])).to_csv(rows_path, index=False)
    rows_path.with_suffix(".json").write_text(json.dumps(about(found[0], sets), indent=1))


def rows_of(frame):
    """The columns that the page uses, in percent, with the kinds of warnings as the status."""
    kinds = frame["warnings"].str.replace(r" ×[^;]*", "", regex=True).str.replace(";", "")
    status = kinds.where(kinds != "", "ok")
    return pandas.DataFrame(
        {
            "dataset": frame["dataset"],
            "split": frame["split"],
            "method": frame["method"],
            "hard": 100 * frame["test_balanced_accuracy"],
            "auc": 100 * frame["test_score_auc"],
            "accuracy": 100 * frame["test_accuracy"],
            "seconds": frame["fit_seconds"],
            "gap": frame["gap"],
            "status": status.where(frame["error"] == "", frame["error"].str.slice(0, 200)),
        }
    )


def about(result, sets):
    cores = result.config["machine"]["cores"]
    return result.config["versions"] | {
        "date": result.config["finished"][:10],
        "machine": f"one thread a fit, {cores} cores",
        "sets": [[name, source, *X.shape, np.bincount(y).tolist()] for name, source, X, y in sets],
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["export", "run", "page"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=Path, default=Path("results/leaderboard.csv"))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no fit after so many")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--methods", nargs="*", default=[], help="names of methods")
    given = parser.parse_args()
    if given.what == "export":
        export(given.file)
    elif given.what == "run":
        limits = given.splits, given.jobs, given.minutes
        run(given.file, given.rows, *limits, given.only, given.methods)
    else:
        from leaderboard_page import write_page

        write_page(given.file)


if __name__ == "__main__":
    main()
