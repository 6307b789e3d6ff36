"""
Has the world moved since the model was trained?
================================================

Labels come late, scores come at once. If their distribution drifts, something has changed: here a
sensor that slowly loses its calibration, seen months before the errors are known.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import ks_2samp

from lincent import RegularizedLCC

rng = np.random.default_rng(0)


def month(k, rows=400):
    X = rng.normal(size=(rows, 5))
    y = (X @ [1, 0.7, -0.5, 0, 0] + 0.6 * rng.normal(size=rows) > 0).astype(int)
    X[:, 1] += 0.18 * max(0, k - 4)  # from the fifth month on the second sensor drifts
    return X, y


model = RegularizedLCC().fit(*month(0, 1500))
reference = model.decision_function(month(0, 1500)[0])
months = range(1, 15)
data = [month(k) for k in months]
scores = [model.decision_function(X) for X, _ in data]
tests = [ks_2samp(reference, score).pvalue for score in scores]
errors = [1 - model.score(X, y) for X, y in data]

# %%
# Scores by month, and what labels would have told later
# ------------------------------------------------------
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
parts = left.violinplot(scores, list(months), showmedians=True, widths=0.8)
for body, p in zip(parts["bodies"], tests, strict=True):
    body.set_facecolor("#B4421E" if p < 0.001 else "#0072B2")
left.axhline(np.median(reference), color="k", lw=0.8, ls="--")
left.set(xlabel="month", ylabel="score", title="red: differs from the training month (p < 0.001)")
right.plot(months, 100 * np.array(errors), "o-", color="#007A5A")
right.set(xlabel="month", ylabel="errors, percent (known months later)", ylim=0)
plt.show()
