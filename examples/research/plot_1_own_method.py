"""
How do I put my own method into the study?
==========================================

Any scikit-learn classifier takes part once it has a name and, if it is to be tuned, a grid. Here a
nearest-center classifier, the simplest relative of LCC.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.neighbors import NearestCentroid

from lincent.model_selection import ExperimentResult, Method, Problem, compare, list_methods

grid = tuple({"shrink_threshold": value} for value in (None, 0.1, 0.5))
method = Method("centers", "nearest center", "own", NearestCentroid(), grid)
print(method.title, "beside", len(list_methods()), "methods that are known by name")

# %%
# Its first study
# ---------------
wine = load_wine()
problem = Problem("wine", wine.data, wine.target_names[wine.target], title="wine cultivars")
codes = ["centers", "LCC", "RegularizedLCC", "LDA"]
result: ExperimentResult = compare(problem, methods=[method, *codes[1:]], n_splits=8, tune=False)
table = result.frame.pivot_table(index="split", columns="method", values="test_balanced_accuracy")[
    codes
]
print((100 * table).describe().loc[["mean", "min", "max"]].round(1))

# %%
# The picture
# -----------
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.boxplot(100 * table.to_numpy(), tick_labels=codes)
ax.set(ylabel="balanced accuracy, percent", title="eight splits of the wine table")
plt.show()
