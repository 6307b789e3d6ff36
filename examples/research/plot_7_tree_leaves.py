"""
Leaves of trees under a certified linear classifier
===================================================

A forest averages what its leaves have seen. :class:`~lincent.features.TreeLeaves` makes every leaf
an indicator feature instead, and :class:`~lincent.RegularizedLCC` gives all leaves their weights at
once, as the certified optimum of one convex problem. The trees are the same; only the weights of
their leaves differ. The two features of this data matter only together: the class is the sign of
their product.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from lincent import RegularizedLCC
from lincent.features import TreeLeaves

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 8))
y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=3000) > 0).astype(int)
train, test = slice(0, 1500), slice(1500, 3000)

names = {
    "extra_trees": "extra trees",
    "random_forest": "random forest",
    "hist_gradient_boosting": "histogram boosting",
}
scores = {}
for kind, name in names.items():
    leaves = TreeLeaves(kind, n_estimators=50).fit(X[train], y[train])
    model = RegularizedLCC(C=0.1).fit(leaves.transform(X[train]), y[train])
    scores[name] = (
        roc_auc_score(y[test], leaves.ensemble_.predict_proba(X[test])[:, 1]),
        roc_auc_score(y[test], model.decision_function(leaves.transform(X[test]))),
    )
    print(f"{name}: {leaves.n_leaves_.sum()} leaves, duality gap {np.max(model.duality_gap_):.0e}")

# %%
# The score AUC on new samples, of the trees alone and of the classifier on their leaves.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
positions = np.arange(len(scores))
for offset, (label, values) in enumerate(
    zip(
        ("trees", "RegularizedLCC on their leaves"), zip(*scores.values(), strict=True), strict=True
    )
):
    bars = ax.barh(positions + 0.4 * offset, values, height=0.38, label=label)
    ax.bar_label(bars, fmt="%.3f", padding=3)
ax.set(yticks=positions + 0.2, yticklabels=list(scores), xlim=(0.7, 0.88), xlabel="AUC")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
plt.show()

# %%
# A leaf has its rule as a name, so the largest weights can be read.

leaves = TreeLeaves(n_estimators=50, max_leaf_nodes=8).fit(X[train], y[train])
model = RegularizedLCC(C=0.1).fit(leaves.transform(X[train]), y[train])
rules = leaves.get_feature_names_out()
for column in np.argsort(-np.abs(model.coef_[0]))[:4]:
    print(f"{model.coef_[0, column]:+.2f}  {rules[column]}")
