"""
How many rows does it take?
===========================

A flexible model needs more samples. The same test set, ever larger training sets.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import learning_curve
from sklearn.svm import SVC

from lincent import LCC, RegularizedLCC, StructuredLCC

digits = load_digits()
X, y = digits.data / 16, (digits.target > 4).astype(int)  # small or large digit
models = {
    "LCC": LCC(),
    "RegularizedLCC": RegularizedLCC(),
    "StructuredLCC": StructuredLCC(),
    "LogisticRegression": LogisticRegression(max_iter=1000),
    "SVC": SVC(),
}
sizes = np.array([60, 120, 250, 500, 1000, 1340])
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for (name, model), marker in zip(models.items(), "os^DX", strict=True):
    _, _, scores = learning_curve(
        model, X, y, train_sizes=sizes, cv=4, shuffle=True, random_state=0
    )
    style = "-" if "LCC" in name else "--"
    ax.plot(sizes, 100 * scores.mean(axis=1), style, marker=marker, label=name)
ax.set(xscale="log", xlabel="training rows", ylabel="held-out rows right, percent")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
