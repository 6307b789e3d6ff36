"""
Schools: a model that a ministry can read
=========================================

303 Californian school districts (statsmodels): in which are more than half of the pupils above the
national median in mathematics? A model with one number per column, each with its bootstrap range.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from lincent import AutoLCC, RegularizedLCC

table = sm.datasets.star98.load_pandas().data
above = (table.pop("NABOVE") > table.pop("NBELOW")).map({True: "above", False: "below"})
table = table.iloc[:, :12]  # the columns themselves, without products of them
model = make_pipeline(StandardScaler(), RegularizedLCC(C=0.1))

# %%
# Is the readable model good enough?
# ----------------------------------
for name, estimator in (("RegularizedLCC, linear", model), ("AutoLCC, any shape", AutoLCC())):
    scores = cross_val_score(estimator, table, above, scoring="balanced_accuracy")
    print(f"{name:24s} {scores.mean():.3f} +- {scores.std() / np.sqrt(len(scores)):.3f}")

# %%
# How sure is each number?
# ------------------------
# Columns that go together share their weight, and the range of their coefficients is wide.
rng = np.random.RandomState(0)
coefs = []
for _ in range(100):
    X, y = resample(table, above, random_state=rng, stratify=above)
    coefs.append(model.fit(X, y)[-1].coef_[0])
low, middle, high = np.quantile(coefs, [0.05, 0.5, 0.95], axis=0)
order = np.argsort(middle)
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.hlines(np.arange(len(order)), low[order], high[order], color="#0072B2", lw=3)
ax.plot(middle[order], np.arange(len(order)), "o", color="k")
ax.axvline(0, color="0.6", lw=0.8)
ax.set_yticks(np.arange(len(order)), table.columns[order])
sides = " (left), ".join(model[-1].classes_)
ax.set_xlabel(f"effect of one standard deviation: {sides} (right)")
plt.show()
