"""
What do the paper's baselines see?
==================================

The seven methods that the paper compares with, and a plain minimax probability machine, on one
small plane problem; each with the settings that the paper uses for it.
"""

import matplotlib.pyplot as plt
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score

from lincent import LCC
from lincent.inspection import BoundaryDisplay
from lincent.model_selection import find_method
from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    RegularizedLDA,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
    column_mean_auc,
)

X, y = make_classification(
    160, 2, n_redundant=0, n_clusters_per_class=2, class_sep=1.1, flip_y=0.04, random_state=7
)
models = [
    LCC(),
    RegularizedLDA(),
    LinearSVM(),
    DiscriminativeLeastSquares(),
    MinimaxProbabilityMachine(),
    StructuralMPM(random_state=0),
    TwinSVC(),
    WeightedTwinSVC(),
    DiscriminativeElasticNet(),
]

# %%
# The borders
# -----------
figure, axes = plt.subplots(3, 3, figsize=(10, 8.4), layout="constrained")
for model, ax in zip(models, axes.ravel(), strict=True):
    model.fit(X, y)
    BoundaryDisplay.from_estimator(model, X, y, ax=ax)
    score = balanced_accuracy_score(y, model.predict(X))
    ax.set_title(f"{type(model).__name__}: {100 * score:.1f} %", loc="left", fontsize=10)
    ax.set(xlabel="", ylabel="")
    if ax.get_legend():
        ax.get_legend().remove()

# %%
# As the paper sets them
# ----------------------
for code in ("LDA", "SVM", "DLS", "SMP", "TSV", "WSV", "DEL"):
    method = find_method(code)
    fitted = clone(method.estimator).fit(X, y)
    print(f"{code:4s} {100 * balanced_accuracy_score(y, fitted.predict(X)):5.1f} %")
elastic = DiscriminativeElasticNet().fit(X, y)
print(
    f"its two regressions, as the paper scores them: {100 * column_mean_auc(elastic, X, y):.1f} %"
)
plt.show()
