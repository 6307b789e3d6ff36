"""
Images as pixels: which handwritten digits are confused?
========================================================

1,797 digits of 8 x 8 pixels (scikit-learn). For real photographs take a pretrained network and
give lincent its features; small images work as they are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from lincent import AutoLCC, RegularizedLCC

digits = load_digits()
X = digits.data / 16
X_train, X_test, y_train, y_test = train_test_split(
    X, digits.target, test_size=0.5, stratify=digits.target, random_state=0
)
models = {
    "RegularizedLCC, linear": RegularizedLCC(),
    "AutoLCC": AutoLCC(),
    "SVC, kernel": SVC(),
}
for name, model in models.items():
    print(f"{name:30s} {model.fit(X_train, y_train).score(X_test, y_test):.3f}")

# %%
# Confusions, and the digits themselves
# -------------------------------------
predicted = models["AutoLCC"].predict(X_test)
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ConfusionMatrixDisplay.from_predictions(y_test, predicted, ax=ax, colorbar=False)
plt.show()

wrong = np.flatnonzero(predicted != y_test)[:8]
figure, axes = plt.subplots(1, 8, figsize=(11, 1.8), layout="constrained")
for ax in axes:
    ax.axis("off")
for k, ax in zip(wrong, axes, strict=False):
    ax.imshow(X_test[k].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{y_test[k]}, read as {predicted[k]}", fontsize=9)
plt.show()
