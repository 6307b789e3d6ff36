"""
Which tumors are malignant?
===========================

A first model: thirty measurements of cell nuclei, a linear classifier that weighs them, and a test
set to see how good it is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import RocCurveDisplay, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import LCC
from lincent.inspection import CoefficientsDisplay, ProjectionDisplay, ScoresDisplay

data = load_breast_cancer()
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, y, stratify=y, random_state=0)

# %%
# Fit
# ---
# Columns are standardized, so that coefficients can be compared.
model = make_pipeline(StandardScaler(), LCC()).fit(X_train, y_train)
print("held-out rows:", round(balanced_accuracy_score(y_test, model.predict(X_test)), 3))
print("relative gap: ", model[-1].duality_gap_)

# %%
# Look
# ----
# Left, the held-out rows on the line that LCC has found; right, every threshold on it at once.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ProjectionDisplay.from_estimator(model, X_test, y_test, ax=left)
RocCurveDisplay.from_estimator(model, X_test, y_test, ax=right, plot_chance_level=True)
plt.show()

# %%
# Which measurements weigh, and how sure the rule is of the held-out rows of each class.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
CoefficientsDisplay.from_estimator(model, feature_names=data.feature_names, n_largest=10, ax=left)
ScoresDisplay.from_estimator(model, X_test, y_test, ax=right)
plt.show()
