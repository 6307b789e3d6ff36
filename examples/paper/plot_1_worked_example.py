"""
The worked example of the paper
===============================

Two Gaussian groups in the plane, the direction that LCC finds, and the rows on their line before
and after: the two figures of the section "A visual overview through an example".

The paper prints the means, (4, 5) for group -1 and (-7, -1) for group 1, and for each group a
matrix as its covariance. Neither matrix is symmetric, and the second is not positive definite, so
neither can be a covariance. :func:`lincent.paper.datasets.paper_covariances` takes the symmetric
polar factor of each instead, which keeps the printed sizes: [[0.98, -0.20], [-0.20, 3.77]] and
[[2.65, 0.42], [0.42, 0.91]].
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from lincent import LCC
from lincent.inspection import DirectionDisplay, ProjectionDisplay
from lincent.paper.datasets import make_paper_example, paper_covariances

X, y = make_paper_example(300, random_state=0)
print("covariances taken:", paper_covariances().round(2).tolist())

# %%
# The direction
# -------------
# Every row is mapped to the line along β; the threshold is half-way between the projected centers.
# Both coefficients sit at the box, which is what maximizes the distance of the centers once no row
# misses the margin.
model = LCC().fit(X, y)
print("β =", model.coef_[0], " objective", model.objective_, " gap", model.duality_gap_)
DirectionDisplay.from_estimator(model, X, y)

# %%
# The line, before and after
# --------------------------
# The paper does not say which β it started from. Here it is the direction at right angles to the
# line between the class centers, along which both centers fall on one point.
apart = model.centers_[1] - model.centers_[0]
before = np.array([-apart[1], apart[0]]) / np.linalg.norm(apart)
for name, direction in (("before", before), ("after", model.coef_[0])):
    auc = roc_auc_score(y, X @ direction)
    print(f"AUC {name}: {max(auc, 1 - auc):.2f}")
    assert (max(auc, 1 - auc) < 0.75) == (name == "before")
_, (upper, lower) = plt.subplots(2, 1, layout="constrained", figsize=(6.4, 5.8))
line, codes = X @ before, np.searchsorted(model.classes_, y)
centers = [line[codes == k].mean() for k in (0, 1)]
ProjectionDisplay(line, codes, centers, np.mean(centers), model.classes_).plot(upper)
ProjectionDisplay.from_estimator(model, X, y, ax=lower)
plt.show()
