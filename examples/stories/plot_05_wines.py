"""
A laboratory: which measurements tell three wines apart?
========================================================

178 Italian wines of three cultivars, 13 chemical measurements (scikit-learn). Every measurement
costs money. How few are enough?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCC

X, y = load_wine(return_X_y=True, as_frame=True)

# %%
# An L1 term leaves columns out
# -----------------------------
costs = np.logspace(-2.2, 0, 9)
used, scores = [], []
for C in costs:
    model = make_pipeline(StandardScaler(), RegularizedLCC(norm="l1", C=C, multi_class="ovr"))
    scores.append(cross_val_score(model, X, y, scoring="balanced_accuracy").mean())
    coef = model.fit(X, y)[-1].coef_
    used.append(int(np.any(coef != 0, axis=0).sum()))
for C, number, score in zip(costs, used, scores, strict=True):
    print(f"C = {C:5.3f}: {number:2d} measurements, balanced accuracy {score:.2f}")

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.plot(used, scores, "o-", color="#0072B2")
ax.set(xlabel="measurements used", ylabel="balanced accuracy, 5 folds")
plt.show()

# %%
# The smallest set within a point of the best
# -------------------------------------------
enough = min(k for k, score in enumerate(scores) if score >= max(scores) - 0.01)
best = RegularizedLCC(norm="l1", C=costs[enough], multi_class="ovr")
model = make_pipeline(StandardScaler(), best).fit(X, y)
weight = np.abs(model[-1].coef_).max(axis=0)
order = np.flatnonzero(weight)[np.argsort(weight[weight > 0])]
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.barh(X.columns[order], weight[order], color="#007A5A")
ax.set_xlabel("largest coefficient for any wine")
plt.show()
