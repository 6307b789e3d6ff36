"""
Which measurements decide, and how sure can we be?
==================================================

The coefficients of a linear model on standardized columns say how much each counts. Bootstrap
samples show which of them are more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCC

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
rng = np.random.default_rng(0)
drawn = [rng.integers(0, len(X), len(X)) for _ in range(60)]
coefs = np.array([RegularizedLCC(C=0.1).fit(X[k], data.target[k]).coef_[0] for k in drawn])
low, middle, high = np.percentile(coefs, [5, 50, 95], axis=0)
order = np.argsort(-np.abs(middle))[:15][::-1]

# %%
# The picture
# -----------
# Bars that do not touch zero keep their sign in nine of ten draws.
figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
certain = (low[order] > 0) | (high[order] < 0)
colors = np.where(certain, "#007A5A", "#999999")
ax.hlines(range(15), low[order], high[order], color=colors, lw=4)
ax.scatter(middle[order], range(15), color="k", zorder=3, s=18)
ax.axvline(0, color="k", lw=0.8)
ax.set_yticks(range(15), data.feature_names[order])
ax.set_xlabel("coefficient: towards malignant (left) or benign (right)")
plt.show()
