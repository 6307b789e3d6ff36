"""
Must columns be on one scale?
=============================

It depends on who measures. LCC with a small margin gives the same predictions in any unit; the
regularized form hardly notices; local centers live by distances, where the column with the largest
numbers decides alone. Coefficients can be compared on one scale only, for all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, RobustScaler, StandardScaler

from lincent import FQCC, LCC, RegularizedLCC, StructuredLCC

X, y = load_wine(return_X_y=True)
print("standard deviations of the columns:", np.std(X, axis=0).round(2))

# %%
# The measurement
# ---------------
scalers = {
    "as they are": FunctionTransformer(),
    "StandardScaler": StandardScaler(),
    "RobustScaler": RobustScaler(),
}
models = [LCC(), FQCC(), RegularizedLCC(), StructuredLCC()]
scores = np.array(
    [
        [cross_val_score(make_pipeline(scaler, m), X, y, cv=3).mean() for m in models]
        for scaler in scalers.values()
    ]
)

# %%
# The picture
# -----------
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for k, (name, color) in enumerate(zip(scalers, ("#999999", "#0072B2", "#E69F00"), strict=True)):
    places = np.arange(len(models)) + 0.26 * (k - 1)
    ax.bar(places, scores[k], width=0.24, label=name, color=color, edgecolor="k", linewidth=0.5)
ax.set_xticks(range(len(models)), [type(m).__name__ for m in models])
ax.set(ylabel="share of right classes, 3 folds", ylim=(0.4, 1.02))
ax.legend(frameon=False, ncols=3, loc="lower right")
plt.show()
