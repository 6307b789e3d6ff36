"""
Far outliers: LCC and FQCC
==========================

A few rows with the wrong label, far out, affect LCC in proportion to their distance. In
:class:`lincent.FQCC` a row beyond the wrong center costs no more for being further out.
"""

import matplotlib.pyplot as plt
import numpy as np

from lincent import FQCC, LCC
from lincent.inspection import BoundaryDisplay, ImpactDisplay

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([-2, 0], 1, (100, 2)), rng.normal([2, 0], 1, (100, 2))])
y = np.repeat(["left", "right"], 100)
outliers = rng.normal([20, 10], 0.7, (8, 2))
X_all = np.vstack([X, outliers])
y_all = np.append(y, np.repeat("left", 8))

# %%
# The boundaries
# --------------
# LCC turns its boundary to have the eight rows on their side, and gives up rows of both groups for
# them: the right panel shows mostly these (rows from 200 on are the outliers).
models = {"LCC": LCC(), "FQCC": FQCC(n_init=2)}
figure, axes = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
for (name, model), ax in zip(models.items(), axes, strict=False):
    model.fit(X_all, y_all)
    BoundaryDisplay.from_estimator(model, X_all, y_all, ax=ax)
    ax.set_title(f"{name}: {100 * model.score(X, y):.1f} % of the clean rows right", loc="left")
ImpactDisplay.from_estimator(models["LCC"], X_all, y_all, ax=axes[2])
axes[2].set_title("What LCC pays for", loc="left")

# %%
# A local optimum
# ---------------
# FQCC is not convex. The objective falls at every step, but where LCC has already turned, the
# outliers are no longer beyond the wrong center, and a descent from the LCC solution alone stays
# there. The second start of ``n_init=2``, the difference of the centers, finds the better optimum.
print("objective per step:", models["FQCC"].objective_history_)
for model in (LCC(), FQCC(), FQCC(n_init=2)):
    score = model.fit(X_all, y_all).score(X, y)
    print(f"{model!s:16s} objective {model.objective_:7.3f}, {100 * score:.1f} % of the clean rows")
plt.show()
