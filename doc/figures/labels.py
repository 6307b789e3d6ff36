"""Rows with a wrong label stand at the top of the list of impacts."""

import matplotlib.pyplot as plt
import numpy as np
from figure_style import GREEN, GREY, RED
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from lincent import LCC

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
rng = np.random.default_rng(0)
wrong = rng.choice(len(y), 20, replace=False)
given = y.copy()
given[wrong] = 1 - given[wrong]
impact = LCC().fit(X, given).misclassification_impact(X, given)
order = np.argsort(-impact)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
colors = [RED if k in wrong else GREY for k in order[:40]]
left.bar(range(40), impact[order[:40]], color=colors)
left.set(xlabel="rows, largest impact first", ylabel="impact")
left.set_title("red: labels that were flipped on purpose", loc="left", fontsize=10)
looked = np.arange(1, 101)
right.plot(looked, np.cumsum(np.isin(order[:100], wrong)), color=GREEN, lw=2.5, label="by impact")
right.plot(looked, looked * 20 / len(y), color=GREY, ls="--", label="by chance")
right.set(xlabel="rows looked at", ylabel="wrong labels found, of 20")
right.legend(frameon=False)
