"""
What do the decision boundaries look like?
==========================================

The estimators on four shapes. The numbers are accuracies on held-out samples.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lincent import FQCC, LCC, KernelLCC, RegularizedLCC, StructuredLCC

rng = np.random.default_rng(0)
outliers = make_classification(
    200, 2, n_redundant=0, n_clusters_per_class=1, class_sep=1.3, random_state=4
)
outliers[0][:6] = rng.normal([8, 8], 0.5, (6, 2))
shapes = {
    "two groups": make_classification(
        200, 2, n_redundant=0, n_clusters_per_class=1, random_state=1
    ),
    "with outliers": outliers,
    "moons": make_moons(200, noise=0.25, random_state=0),
    "ring": make_circles(200, noise=0.15, factor=0.4, random_state=0),
}
models = [
    LogisticRegression(),
    LCC(),
    FQCC(n_init=2),
    RegularizedLCC(),
    StructuredLCC(),
    KernelLCC(),
    SVC(),
]

# %%
# The picture
# -----------
figure, axes = plt.subplots(len(shapes), len(models), figsize=(14, 7.4), layout="constrained")
for line, (name, (X, y)) in zip(axes, shapes.items(), strict=True):
    parts = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    low, high = np.percentile(X, [0, 97], axis=0) + np.array([[-0.5], [0.5]])
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 90).T), axis=-1)
    for ax, model in zip(line, models, strict=True):
        fitted = make_pipeline(StandardScaler(), model).fit(parts[0], parts[2])
        score = fitted.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        ax.contourf(*np.moveaxis(grid, 2, 0), score > 0, levels=1, colors=["#C6DDEC", "#FBEBC8"])
        for k, (color, marker) in enumerate((("#0072B2", "o"), ("#B86E00", "^"))):
            ax.scatter(*parts[1][parts[3] == k].T, s=9, color=color, marker=marker)
        ax.set(xticks=[], yticks=[], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        right = fitted.score(parts[1], parts[3])
        ax.text(0.97, 0.03, f"{right:.0%}", transform=ax.transAxes, ha="right", fontsize=11)
        if line is axes[0]:
            ax.set_title(type(model).__name__, fontsize=10)
    line[0].set_ylabel(name)
plt.show()
