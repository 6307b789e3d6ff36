"""Tables of runs whose answer is known, for what is computed from such tables."""

import numpy as np

from lincent.paper.study import paper


def make_runs(offset=None, runs=20, sets=paper.SETS, methods=paper.METHODS, procedure="holdout"):
    """A table of runs whose means are the paper's numbers, plus an offset per method in points."""
    import pandas

    rng = np.random.default_rng(0)
    rows = []
    for dataset in sets:
        noise = rng.normal(0, 0.01, runs)
        noise -= noise.mean()
        for method in methods:
            shift = (offset or {}).get(method, 0.0) / 100
            of = method if method in paper.METHODS else "LCC"
            for split in range(runs):
                row = {"dataset": dataset, "method": method, "split": split, "chosen": ""}
                row |= {"procedure": procedure, "params": "{}", "status": "ok", "error": ""}
                row |= {"n_train": 70, "n_test": 30}
                for part in ("train", "test"):
                    mean = paper.printed(dataset, part, of) / 100
                    row[f"{part}_paper_auc"] = mean + shift + noise[split]
                row["fit_seconds"] = paper.printed(dataset, "time", of) / 1000
                rows.append(row)
    return pandas.DataFrame(rows)


def folds(scores, runs=10):
    """Rows of procedure 2: one value of a grid, ``scores`` by (dataset, method), the same folds."""
    import pandas

    return pandas.DataFrame(
        {
            "dataset": dataset,
            "method": method,
            "split": split,
            "procedure": "folds",
            "params": '{"a": 1}',
            "status": "ok",
            "error": "",
            "chosen": "",
            "test_paper_auc": score,
        }
        for (dataset, method), score in scores.items()
        for split in range(runs)
    )
