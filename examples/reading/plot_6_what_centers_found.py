"""
What have the local centers found?
==================================

:class:`lincent.StructuredLCC` puts several centers into each class. On handwritten digits, odd
against even, they can be looked at: nobody told the model that there are ten digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lincent import RegularizedLCC, StructuredLCC

digits = load_digits()
y = np.where(digits.target % 2, "odd", "even")
X_train, X_test, y_train, y_test = train_test_split(digits.data / 16, y, stratify=y, random_state=0)
model = StructuredLCC(n_centers=16, gamma=1.0).fit(X_train, y_train)
straight = RegularizedLCC().fit(X_train, y_train)
for rule in (straight, model):
    print(f"{type(rule).__name__:15s} held-out rows right: {rule.score(X_test, y_test):.3f}")

# %%
# The centers
# -----------
figure, axes = plt.subplots(4, 8, figsize=(9, 5), layout="constrained")
sides = np.argsort(model.local_classes_, kind="stable")
for ax, k in zip(axes.ravel(), sides, strict=False):
    ax.imshow(model.local_centers_[k].reshape(8, 8), cmap="gray_r")
    color = "#0072B2" if model.local_classes_[k] == "even" else "#C77C00"
    for spine in ax.spines.values():
        spine.set(color=color, linewidth=3)
    ax.set(xticks=[], yticks=[])
figure.suptitle("local centers: even (blue), odd (orange)")
plt.show()
