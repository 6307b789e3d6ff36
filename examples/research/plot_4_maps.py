"""
How does a linear classifier become nonlinear?
==============================================

By a feature map in front of it. The transformers of :mod:`lincent.features` are steps of a pipeline
like any other: splines of each column, similarities to local centers or landmarks. The classifier
behind them is the same, and so is its certificate.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

from lincent import RegularizedLCC
from lincent.features import KernelLandmarks, LocalCenters, SplineFeatures
from lincent.inspection import BoundaryDisplay

X, y = make_moons(300, noise=0.2, random_state=0)
maps = {
    "no map": None,
    "SplineFeatures": SplineFeatures(),
    "LocalCenters": LocalCenters(),
    "KernelLandmarks": KernelLandmarks(),
}

# %%
# The same rule on four maps
# --------------------------
figure, axes = plt.subplots(1, 4, figsize=(14, 3.6), layout="constrained")
for (name, step), ax in zip(maps.items(), axes, strict=True):
    steps = [RegularizedLCC()] if step is None else [step, RegularizedLCC()]
    model = make_pipeline(*steps).fit(X, y)
    BoundaryDisplay.from_estimator(model, X, y, ax=ax)
    columns = model[-1].coef_.shape[1]
    ax.set_title(f"{name}: {columns} features, {model.score(X, y):.0%}", loc="left", fontsize=10)
    if ax.get_legend():
        ax.get_legend().remove()
plt.show()
