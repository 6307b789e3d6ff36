"""
Which labels should be looked at again?
=======================================

Eights and threes, some of them with the wrong label. The rows that cost LCC most are the first to
look at: :meth:`lincent.LCC.misclassification_impact` sorts them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lincent import LCC
from lincent.inspection import ImpactDisplay

digits = load_digits()
rows = np.isin(digits.target, (3, 8))
X, truth = digits.data[rows] / 16, digits.target[rows]
rng = np.random.default_rng(0)
flipped = rng.choice(len(truth), 12, replace=False)
given = truth.copy()
given[flipped] = 11 - given[flipped]  # 3 becomes 8 and 8 becomes 3

model = LCC().fit(X, given)
impact = model.misclassification_impact(X, given)
order = np.argsort(-impact)
print("flipped labels among the first 12:", int(np.isin(order[:12], flipped).sum()), "of 12")

# %%
# The first sixteen, as pictures
# ------------------------------
# The title has the given label; red where it had been changed.
figure, axes = plt.subplots(2, 8, figsize=(11, 3.2), layout="constrained")
for ax, k in zip(axes.ravel(), order, strict=False):
    ax.imshow(X[k].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"'{given[k]}'", color="#B4421E" if k in flipped else "k", fontsize=11)
    ax.set(xticks=[], yticks=[])

# %%
# The list
# --------
ImpactDisplay.from_estimator(model, X, given, n_largest=20)
plt.show()
