"""
Refit the best candidate, or average them all?
==============================================

:class:`lincent.RegularizedLCCCV` and :class:`lincent.StructuredLCCCV` fit every candidate on every
fold and average the models, weighted by their score. On small tables the best candidate is partly
luck, and the average is steadier.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCCCV, StructuredLCCCV

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
line = RegularizedLCCCV().fit(X, y)
bent = StructuredLCCCV().fit(X, y)
print(
    f"one linear rule in the end: {line.coef_.shape}, largest relative gap {line.duality_gap_:.0e}"
)

# %%
# Scores and weights of the settings
# ----------------------------------
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
members = ["straight", "local centers, wide", "local centers, narrow"]
for ax, model in zip(axes, (line, bent), strict=True):
    table = [model.cv_results_[name] for name in ("mean_test_score", "weight")]
    table = [values.reshape(-1, len(model.Cs_)) for values in table]
    for scores, weights, name in zip(*table, members, strict=False):
        (curve,) = ax.plot(model.Cs_, scores, lw=1.2, label=name)
        ax.scatter(
            model.Cs_,
            scores,
            s=8 + 500 * weights / np.max(model.cv_results_["weight"]),
            alpha=0.6,
            color=curve.get_color(),
        )
    ax.set(xscale="log", xlabel="C", ylabel="AUC of held-out scores", ylim=(0.975, 1.0))
    ax.set_title(f"{type(model).__name__}: size is the weight in the vote", loc="left", fontsize=10)
    ax.legend(frameon=False, fontsize=9)
plt.show()
