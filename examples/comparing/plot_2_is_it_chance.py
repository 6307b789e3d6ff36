"""
Is one method better on my table, or was it chance?
===================================================

:func:`lincent.model_selection.compare` is ``lincent compare`` on the command line: the same splits
for every method, tuning inside the training part where asked for, and tests that say what is
more than luck.
"""

import tempfile

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from lincent.model_selection import compare, find_method, load_result, make_problem

frame = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 2, 3, 6, 30]]
try:
    make_problem(frame, "tumor")
except ValueError as error:
    print("A wrong column is named:", error)

# %%
# Five methods, ten splits
# ------------------------
methods = ["LogReg-bal", "LCC", "RegularizedLCC", "StructuredLCC", "SVC-RBF"]
print([find_method(code).title for code in methods])
folder = tempfile.mkdtemp()
result = compare(frame, "target", methods=methods, n_splits=10, folder=folder)
result.save(folder)
again = load_result(folder)  # every fit is on disk; a second call does only what is missing
print(type(again).__name__, len(again.frame), "rows")

# %%
# The picture
# -----------
# A line joins what the same split gave: if lines cross, the difference depends on the split.
table = result.frame.pivot_table(index="split", columns="method", values="test_balanced_accuracy")
table = 100 * table[methods]
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.plot(methods, table.T, color="#999999", lw=0.8)
ax.plot(methods, table.mean(), "D", color="#007A5A", ms=9)
ax.set(ylabel="balanced accuracy, percent", title="one line per split, mean in green")
plt.show()
