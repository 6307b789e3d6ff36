"""Coefficients along the margin, and what the margin does to a held-out score."""

import matplotlib.pyplot as plt
import numpy as np
from figure_style import GREEN, GREY
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from lincent import LCCCV, lcc_path

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, :10]
largest = float(np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).sum())
margins = largest * np.geomspace(1e-4, 1, 25)
path = lcc_path(X, y, margins=margins)
search = LCCCV(margins=margins / largest).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(path.margins / largest, path.coefs[0], lw=1.5)
left.set(xscale="log", xlabel="margin, as a share of the largest", ylabel="coefficients")
left.axhline(1, color=GREY, lw=0.8)
left.axhline(-1, color=GREY, lw=0.8)
scores = search.cv_results_["mean_test_score"]
shares = search.cv_results_["param_relative_margin"]
right.plot(shares, scores, "o-", color=GREEN)
right.set(xscale="log", xlabel="margin, as a share of the largest", ylabel="balanced accuracy")
right.set_title("five folds, rows not trained on", loc="left", fontsize=10)
