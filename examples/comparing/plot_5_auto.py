"""
What if I do not want to choose?
================================

:class:`lincent.AutoLCC` compares feature maps (columns, splines, local centers, kernel landmarks)
by cross-validation and averages the best few models. It takes frames as they are, with missing
values and text columns.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from lincent import AutoLCC, RegularizedLCC
from lincent.features import TableEncoder

rng = np.random.default_rng(0)
m = 900
table = pd.DataFrame(
    {
        "age": rng.uniform(18, 90, m),
        "dose": rng.lognormal(0, 0.6, m),
        "ward": rng.choice(["north", "south", "west"], m),
    }
)
risk = np.abs(table["age"] - 50) / 15 + np.log(table["dose"]) + 0.8 * (table["ward"] == "west")
y = np.where(risk + 0.5 * rng.normal(size=m) > 2, "ill", "well")
table.loc[rng.random(m) < 0.2, "dose"] = np.nan
X_train, X_test, y_train, y_test = train_test_split(table, y, stratify=y, random_state=0)
model = AutoLCC().fit(X_train, y_train)
print(f"nested-CV score (AUC): {model.nested_score_:.3f}")
print(f"held-out rows right: {model.score(X_test, y_test):.3f}")

# %%
# What was tried, and who votes
# -----------------------------
results = pd.DataFrame(model.cv_results_)
best = results.groupby("param_feature_map")["mean_test_score"].max().sort_values()
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 3.8), layout="constrained")
left.barh(best.index, best, color="#0072B2")
left.set(xlabel="AUC of held-out folds, best C", xlim=(best.min() - 0.02, best.max() + 0.005))
weights = pd.DataFrame(model.ensemble_).groupby("feature_map")["weight"].sum().sort_values()
right.barh(weights.index, weights, color="#007A5A")
right.set_xlabel("weight in the vote")
plt.show()

# %%
# The same numbers for another rule
# ---------------------------------
# What AutoLCC does with missing values and categories, :class:`lincent.features.TableEncoder` does
# for any classifier.
line = make_pipeline(TableEncoder(), RegularizedLCC()).fit(X_train, y_train)
print(", ".join(line[0].get_feature_names_out()))
print(f"one line, held-out rows right: {line.score(X_test, y_test):.3f}")
