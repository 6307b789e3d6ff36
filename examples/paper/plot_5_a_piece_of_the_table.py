"""
Does a piece of the paper's table come out again?
=================================================

The crab data, four methods, both procedures of the paper in small. Every fit is a row on disk; a
second run does only what is missing. The whole study is ``lincent reproduce``.
"""

import tempfile

import matplotlib.pyplot as plt
import pandas as pd

from lincent.model_selection import Plan, plan_runs, read_runs, run_plan
from lincent.paper.datasets import (
    DatasetNotFoundError,
    DatasetRecord,
    cache_folder,
    list_datasets,
    load_dataset,
)
from lincent.paper.study import Extent, load_problem, reproduce

records: list[DatasetRecord] = list_datasets()
print(pd.DataFrame([(r.code, r.rows, r.features, r.available) for r in records[:7]]))
try:
    crabs = load_dataset("crab_gender", download_if_missing=False)
    print(crabs.data.shape, "found without the network; downloads would go to", cache_folder().name)
    problem = load_problem("CG")
except DatasetNotFoundError as error:
    raise SystemExit(f"This example needs the crab data: {error}") from error

# %%
# Plans are sums of runs
# ----------------------
methods = ["LCC", "LDA", "SVM", "TSV"]
plan: Plan = plan_runs([problem], methods, n_splits=10)
plan += plan_runs([problem], ["LCC", "SVM"], "folds", n_splits=5, every=4)
plan += plan_runs([problem], ["LDA"], "nested", n_splits=2)
folder = tempfile.mkdtemp()
run_plan(plan, folder)
runs = read_runs(folder)
print(runs.groupby(["procedure", "method"]).size())

# %%
# The same by one command
# -----------------------
extent = Extent(runs=3)
result = reproduce(
    sets=["CG"],
    methods=["LCC", "SVM"],
    extent=extent,
    parts=["procedure1"],
    folder=tempfile.mkdtemp(),
)
print(len(result.frame), "fits")

# %%
# Train and test
# --------------
first = runs[runs["procedure"] == runs["procedure"].iloc[0]]
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for place, method in enumerate(methods):
    part = first[first["method"] == method]
    ax.scatter([place - 0.1] * len(part), 100 * part["train_hard_auc"], color="#0072B2", s=18)
    ax.scatter(
        [place + 0.1] * len(part), 100 * part["test_hard_auc"], color="#E69F00", marker="^", s=18
    )
ax.set_xticks(range(len(methods)), methods)
ax.set(ylabel="hard-label AUC, percent", title="train (blue), test (orange), one mark per split")
plt.show()
