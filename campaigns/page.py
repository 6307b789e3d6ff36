"""The page of promises, made from the counts: ``python -m campaigns.page``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from campaigns.counts import COUNTS, add

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "promises.md"
MUTANTS = Path(__file__).with_name("mutants.json")
PROMISES = {
    "programs": (
        "The optimum is the optimum",
        "Random programs (degenerate, scaled, shifted, heavy-tailed, weighted, repeated, wide) "
        "against HiGHS and Clarabel, and against themselves: permuted, with rows repeated at half "
        "the weight, split, scaled, shifted, relabeled.",
    ),
    "certificates": (
        "A certificate is about what is stored",
        "Objective, bound and gap of fitted models, centers included, in rational arithmetic.",
    ),
    "models": (
        "A model file is data",
        "Model files of sixteen methods, changed at random (bytes, description, tree, arrays) with "
        "a right digest: refused with one message, or a model that scores, explains itself or "
        "exports. What reaches new lines of the package is changed further.",
    ),
    "tables": (
        "A table is read or refused",
        "Tables of all formats, dialects and encodings, damaged at random, through the functions "
        "behind `fit` (read, judge) and `predict` (read in batches, score).",
    ),
    "dialects": (
        "A number is read as its file writes it",
        "Tables in random dialects (separators, decimal and thousands marks, no-break spaces, "
        "quotes, encodings, tokens for missing values, labels and categories that look alike), "
        "written by the csv module: `fit` and `predict` read what the writer meant, or a warning "
        "names what is read otherwise.",
    ),
    "labels": (
        "Labels that look alike are apart",
        "Labels such as `01` and `1`, composed and decomposed letters, integers beyond 2^53, in "
        "lists, arrays and columns of pandas and polars: as many classes as different labels, and "
        "the predictions of a model that is fitted to their codes, or one message.",
    ),
    "frames": (
        "A frame is a table",
        "pandas (NumPy, nullable, Arrow-backed), polars (lazy ones too), pyarrow and narwhals: "
        "fitted to one kind and given another, the scores of a plain frame. Lists, complex, huge, "
        "masked and other odd columns: right, a warning that names the column, or one message.",
    ),
    "selection": (
        "Selection and explanation by scikit-learn",
        "RFE, RFECV, SelectFromModel, SequentialFeatureSelector, permutation importance, partial "
        "dependence, calibration and stacking on all estimators: the features with a signal, "
        "probabilities, about the accuracy of the estimator alone, or scikit-learn's message "
        "where an estimator has no importances. Where there is a `coef_`, it gives the scores.",
    ),
    "extremes": (
        "Numbers of any size",
        "Samples, columns, cells and weights times 1e-320 to 1e308 on all estimators: finite "
        "scores and certificate, a warning, or one message.",
    ),
    "invariances": (
        "What does not change a model",
        "Weights as repetitions, orders of samples, columns and labels, groups of folds, where the "
        "guide says so: the same scores.",
    ),
    "guided models": (
        "A model file is data: with the branches of the reader watched",
        "Descriptions and trees of model files, changed by a coverage-guided fuzzer (atheris), the "
        "digest made right.",
    ),
    "guided tables": (
        "A table is read or refused: with the branches of the reader watched",
        "Tables of eight formats, changed by the same fuzzer.",
    ),
    "commands": (
        "A command ends in an answer or an error message",
        "`lincent fit`, `predict`, `explain` and `export` in processes of their own, on damaged "
        "tables and model files: no traceback, no signal, nothing written or started beyond the "
        "output, at most 1 GB of memory, nothing that steers a terminal.",
    ),
    "surroundings": (
        "A command in odd surroundings",
        "Closed and full streams, other encodings, odd names, FIFOs, a full disk, `--force` onto "
        "an input: exit code 0, 1 or 2, a message, inputs unchanged, outputs whole.",
    ),
    "faults": (
        "A fault costs nothing",
        "A failing factorization, NaN in a step, a lack of memory, a signal at every hundredth "
        "line: the right model, a warning, or an exception and the restored state.",
    ),
    "cluster": (
        "A block that fails is no wrong answer",
        "Dask fits whose blocks raise, hold NaN, lack columns, or fail once.",
    ),
    "exports": (
        "An export gives the answers of predict",
        "Random models on random tables (offsets, missing values, odd names and categories) as "
        "ONNX, Python and SQL, in onnxruntime, Python, SQLite and, where it is installed, DuckDB: "
        "classes and scores of other rows to 1e-6, or a refusal at export.",
    ),
    "interrupts": (
        "An interrupt ends a command",
        "SIGINT at random moments of `lincent fit`, `predict` and `explain`, from 0.05 seconds of "
        "processor time after the start on: exit code 130, no traceback, every file old or new, "
        "and complete.",
    ),
    "memory": (
        "Memory in proportion to the numbers",
        "`lincent fit` and `predict` on tables with long texts, names and classes, many "
        "categories, far cells of workbooks and files that unfold: at most 300 MB and 8 times the "
        "table as numbers above a small table.",
    ),
    "disk": (
        "A file is whole, old, or not there",
        "A full disk, and a kill at every call of the system while a file is written.",
    ),
    "parallel": (
        "The same answers side by side",
        "Every public classifier in eight threads, in worker processes, and after a fork.",
    ),
}


def page(counts: dict[str, Any], mutants: dict[str, Any]) -> str:
    """The page as Markdown."""
    lines = [
        "# What is promised and how it is tested",
        "",
        "This page is made by `python -m campaigns.page` from the counts of all runs of "
        "`make campaign` that were kept. A trial that fails is saved in `tests/instances` and "
        "replayed by the test suite from then on: the failures counted here are those of the code "
        "of their day. What is promised about security, and what is not, is said in `SECURITY.md`.",
        "",
    ]
    for name, (promise, how) in PROMISES.items():
        entry = counts.get(name, {})
        lines += [f"## {promise}", "", how, ""]
        lines += _counted(name, entry) if entry else ["Not run yet.", ""]
    if mutants:
        lines += _mutants(mutants)
    return "\n".join(lines).rstrip() + "\n"


def _counted(name: str, entry: dict[str, Any]) -> list[str]:
    kinds = dict(entry["counts"])
    failed, checks = kinds.pop("FAILED", 0), kinds.pop("checks", 0)
    kinds.pop("no program", None)
    rows = [f"| {kind} | {count:,} |" for kind, count in sorted(kinds.items(), key=lambda k: -k[1])]
    seeds = ", ".join(map(str, entry["seeds"][-3:]))
    return [
        f"{sum(kinds.values()):,} trials, {checks:,} checks, **{failed:,} failures** "
        f"(`campaigns/{name.partition(' ')[0]}.py`; last run {entry['last']}, {entry['machine']}, "
        f"seeds {seeds}).",
        "",
        "| how trials ended | number |",
        "|---|---:|",
        *rows,
        "",
    ]


def _mutants(found: dict[str, Any]) -> list[str]:
    again = (
        ""
        if not any(entry.get("again") for entry in found.values())
        else (
            " Survivors for which tests were written since were tried again, so that the share is "
            "that of this sample: of a new one it may be lower."
        )
    )
    lines = [
        "## The tests detect a changed program",
        "",
        "`python -m campaigns.mutants` changes one operator, comparison or number at a time and "
        "runs the tests of that file. Where not all changes were tried, they were drawn at random."
        + again,
        "",
    ]
    if not found:
        lines += ["Not counted since the modules were merged.", ""]
    for folder in sorted({name.rpartition("/")[0] for name in found}):
        files = {name: entry for name, entry in found.items() if name.rpartition("/")[0] == folder}
        tried = sum(entry["mutants"] for entry in files.values())
        killed = sum(entry["killed"] for entry in files.values())
        lines += [
            f"`{folder}/`: {killed} of {tried} noticed, **{killed / max(tried, 1):.1%}** "
            f"({_drawn(files)}).",
            "",
            "| file | changes | tried | noticed | last count |",
            "|---|---:|---:|---:|---|",
            *(
                f"| `{name}` | {e['all']} | {e['mutants']} | {e['killed']} | {e['last']} |"
                for name, e in sorted(files.items())
            ),
            "",
        ]
    kept = [line for name, entry in sorted(found.items()) for line in _survivors(name, entry)]
    return [*lines, "What survived, and why:", "", *kept, ""] if kept else lines


def _drawn(files: dict[str, Any]) -> str:
    """Of which commits, by which seeds and to which share mutants were drawn."""
    names = ("commit", "seed", "share")
    told = {tuple(entry.get(name, "?") for name in names) for entry in files.values()}
    return "; ".join(
        ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
        for values in sorted(told, key=str)
    )


def _survivors(name: str, entry: dict[str, Any]) -> list[str]:
    return [f"- `{name}`: {change}: {why}" for change, why in sorted(entry["survivors"].items())]


def main() -> int:
    """Write the page, after the counts of a run on another machine were added."""
    parser = argparse.ArgumentParser(prog="campaigns.page", description=__doc__)
    parser.add_argument("--add", type=Path, help="counts of a run on another machine")
    given = parser.parse_args()
    if given.add:
        add(COUNTS, json.loads(given.add.read_text("utf-8")))
    counts = json.loads(COUNTS.read_text("utf-8")) if COUNTS.exists() else {}
    mutants = json.loads(MUTANTS.read_text("utf-8")) if MUTANTS.exists() else {}
    PAGE.write_text(page(counts, mutants), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
