"""
How few columns are enough?
===========================

``norm="l1"`` keeps some columns and sets the others to exactly zero. Stronger regularization
leaves fewer; held-out rows say what is lost.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lincent import RegularizedLCC

digits = load_digits()
X, y = digits.data / 16, digits.target % 2  # odd or even, from 64 pixels
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
costs = np.geomspace(0.002, 1, 14)
models = [RegularizedLCC(norm="l1", C=C).fit(X_train, y_train) for C in costs]
counts = [np.count_nonzero(model.coef_) for model in models]
scores = [model.score(X_test, y_test) for model in models]

# %%
# Accuracy against the number of columns, and where they are
# ----------------------------------------------------------
figure, axes = plt.subplots(
    1, 4, figsize=(13, 3.4), width_ratios=(2, 1, 1, 1), layout="constrained"
)
axes[0].plot(counts, scores, "o-", color="#007A5A")
axes[0].set(xlabel="pixels used, of 64", ylabel="held-out rows right")
for ax, share in zip(axes[1:], (8, 20, 50), strict=True):
    nearest = int(np.argmin(np.abs(np.array(counts) - share)))
    coef = models[nearest].coef_[0].reshape(8, 8)
    ax.imshow(coef, cmap="PuOr", vmin=-np.abs(coef).max(), vmax=np.abs(coef).max())
    ax.set_title(f"{counts[nearest]} pixels: {scores[nearest]:.0%}", loc="left", fontsize=10)
    ax.set(xticks=[], yticks=[])
plt.show()
