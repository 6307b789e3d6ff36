"""
How do I add a feature map or a loss of my own?
===============================================

A feature map is a transformer of scikit-learn: :class:`~lincent.AutoLCC` compares it with its own
feature maps on the same folds, and what it selects is certified. A loss is a subclass of
:class:`~lincent.problems.MarginLoss`: value, slope, curvature and convex conjugate. The Newton
solver needs the first three, the duality gap the last. The data of the first part was chosen so
that a feature map of one's own is selected; it shows the interface, not that such maps are better.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import entr, expit
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from lincent import AutoLCC
from lincent.problems import MarginLoss
from lincent.problems.joint import SeparateLoss
from lincent.solvers.newton.joint import Design, solve_path

# %%
# A feature map
# -------------
# Two of six columns act periodically, with a period that is short against their range. Random
# Fourier features (Rahimi and Recht, 2007), here each of a single column, suit that. AutoLCC hands
# over encoded and standardized columns, and fits the transformer to the training part of each fold.


class RandomFourier(TransformerMixin, BaseEstimator):
    """Cosines of the columns, with random frequencies and phases, of unit variance."""

    def __init__(self, frequency=1.0, n_components=200, seed=0):
        self.frequency, self.n_components, self.seed = frequency, n_components, seed

    def fit(self, X, y=None):
        rng = np.random.default_rng(self.seed)
        each = np.arange(self.n_components)
        self.frequencies_ = np.zeros((X.shape[1], self.n_components))
        self.frequencies_[each % X.shape[1], each] = self.frequency * rng.normal(size=each.shape)
        self.phases_ = rng.uniform(0, 2 * np.pi, self.n_components)
        return self

    def transform(self, X):
        return np.sqrt(2) * np.cos(X @ self.frequencies_ + self.phases_)


rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 6))
y = np.sin(5 * X[:, 0]) + np.sin(5 * X[:, 1]) + 0.2 * rng.normal(size=1000) > 0
own = {f"Fourier {frequency}": RandomFourier(frequency) for frequency in (1, 3, 10)}
auto = AutoLCC(feature_maps=own).fit(X, y)
print(f"nested AUC {auto.nested_score_:.3f}, largest duality gap {auto.duality_gap_:.0e}")

results = auto.cv_results_
best = {}
for params, score in zip(results["params"], results["mean_test_score"], strict=True):
    best[params["feature_map"]] = max(score, best.get(params["feature_map"], 0.0))
ranked = sorted(best, key=best.get)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
colors = ["C1" if name in own else "C0" for name in ranked]
ax.barh(ranked, [best[name] for name in ranked], color=colors)
ax.set(xlim=(0.45, 1), xlabel="AUC of the best C, cross-validated (orange: our own)")
plt.show()

# %%
# A loss
# ------
# The logistic loss log(1 + exp(-z)), in the place of the smoothed hinge. Its conjugate at v = -u is
# u log u + (1 - u) log(1 - u).


class Logistic(MarginLoss):
    max_curvature = 0.25

    def value(self, z):
        return np.logaddexp(0, -z)

    def slope(self, z):
        return -expit(-z)

    def curvature(self, z):
        return expit(z) * expit(-z)

    def conjugate(self, v):
        return -entr(-v) - entr(1 + v)


def fit_path(X, codes, phi, Cs, tol=1e-9):
    """Minimize |beta|^2 / 2 + C sum_i phi(y_i (x_i.beta + b)) for each C, smallest first."""
    weight = np.ones(len(codes))
    side, cost = np.array([[-1.0, 1.0]]), np.ones((1, 2))  # of the two classes
    loss = SeparateLoss(codes, weight, side, cost, phi)
    return solve_path(Design(X, codes, weight), loss, Cs, tol, max_iter=100)


X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
Cs = np.logspace(-4, 2, 13)
path = fit_path(X, y, Logistic(), Cs)
gaps = [solution.relative_gap[0] for solution in path]
print(f"largest duality gap {max(gaps):.0e}, {sum(one.iterations for one in path)} Newton steps")

reference = LogisticRegression(C=Cs[8], tol=1e-10, max_iter=10_000).fit(X, y)
difference = np.abs(path[8].rules[:-1, 0] - reference.coef_[0]).max()
print(f"largest difference to scikit-learn's coefficients {difference:.0e}")

# %%
# The path of the coefficients, every point of it within 1e-9 of the optimum.

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.semilogx(Cs, [solution.rules[:-1, 0] for solution in path], color="C0", lw=0.8)
ax.set(xlabel="C", ylabel="coefficient")
plt.show()
