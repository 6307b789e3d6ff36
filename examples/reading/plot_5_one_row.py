"""
Why was this row decided so?
============================

A linear score is a sum: one term per column and the intercept. Sorted, the terms explain one
decision; the same terms for an average row of each class show what is unusual about it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCC

data = load_breast_cancer()
model = make_pipeline(StandardScaler(), RegularizedLCC(norm="l1", C=0.3))
model.fit(data.data, data.target)
rule, Z = model[-1], model[:-1].transform(data.data)
row = int(np.argmin(np.abs(rule.decision_function(Z))))  # the closest call of all
terms = rule.coef_[0] * Z[row]
order = np.argsort(-np.abs(terms))[:10]
print("columns used:", np.count_nonzero(rule.coef_))

# %%
# From zero to the score, term by term
# ------------------------------------
figure, ax = plt.subplots(figsize=(9, 4.4), layout="constrained")
steps = np.append(terms[order], rule.intercept_[0] + np.delete(terms, order).sum())
names = [*data.feature_names[order], "all others and the intercept"]
start = np.concatenate([[0], np.cumsum(steps)[:-1]])
ax.barh(
    names, steps, left=start, color=np.where(steps > 0, "#0072B2", "#E69F00"), edgecolor="k", lw=0.5
)
ax.axvline(0, color="k", lw=0.8)
ax.axvline(steps.sum(), color="k", ls="--", lw=1)
ax.invert_yaxis()
ax.set_xlabel("score so far: benign to the right, malignant to the left; dashed: the end")
ax.set_title(
    f"row {row}: decided as {data.target_names[model.predict(data.data[[row]])[0]]}", loc="left"
)
plt.show()
