"""
What does a tumor's size say, all other things equal?
=====================================================

:class:`lincent.AdditiveLCC` draws a curve for each column; :class:`lincent.AdditiveLCCCV` chooses
how smooth. The bands hold 80 percent of the curves fitted to bootstrap samples.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from lincent import AdditiveLCC, AdditiveLCCCV, RegularizedLCC
from lincent.inspection import ShapeDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean radius", "mean texture", "mean smoothness", "mean concavity", "mean symmetry"]]
standardized = (X - X.mean()) / X.std()
for model, rows in ((RegularizedLCC(), standardized), (AdditiveLCC(), X)):
    score = cross_val_score(model, rows, y, scoring="roc_auc").mean()
    print(f"{type(model).__name__:15s} AUC {score:.4f}")

# %%
# The curves
# ----------
model = AdditiveLCCCV(interactions=0).fit(X, y)
print(f"chosen: C {model.C_:.2g}, smoothing {model.smoothing_:g}")
figure, axes = plt.subplots(1, 5, figsize=(14, 3.2), sharey=True, layout="constrained")
for name, ax in zip(X, axes, strict=True):
    ShapeDisplay.from_estimator(model, name, ax=ax)
    ax.set_ylabel("")
axes[0].set_ylabel("malignant  <  added  >  benign")

# %%
# One row, column by column
# -------------------------
scores = model.decision_function(X)
row = int(np.argmin(np.abs(scores)))
parts = model.contributions(X.iloc[[row]])[0]
figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
ax.barh(X.columns, parts, color=np.where(parts > 0, "#0072B2", "#E69F00"))
ax.axvline(0, color="k", lw=0.8)
ax.set_title(f"row {row}, the closest call: {scores[row]:+.3f}", loc="left")
plt.show()
