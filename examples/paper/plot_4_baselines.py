"""
What do the paper's baselines see?
==================================

The seven methods that the paper compares with, and a plain minimax probability machine, on one
small plane problem; each with the settings that the paper uses for it.
"""

import matplotlib.pyplot as plt
from sklearn.base import clone
from sklearn.datasets import make_classification

from lincent import LCC
from lincent.inspection import BoundaryDisplay
from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    PaperSettings,
    RegularizedLDA,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
    column_mean_auc,
    hard_auc,
    paper_settings,
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
    ax.set_title(
        f"{type(model).__name__}: {100 * hard_auc(model, X, y):.1f} %", loc="left", fontsize=10
    )
    ax.set(xlabel="", ylabel="")
    if ax.get_legend():
        ax.get_legend().remove()

# %%
# As the paper sets them
# ----------------------
for code, setting in paper_settings(shape=X.shape).items():
    assert isinstance(setting, PaperSettings)
    fitted = clone(setting.estimator).fit(X, y)
    print(f"{code:4s} {100 * setting.scoring(fitted, X, y):5.1f} %")
elastic = DiscriminativeElasticNet().fit(X, y)
print(
    f"its two regressions, as the paper scores them: {100 * column_mean_auc(elastic, X, y):.1f} %"
)
plt.show()
