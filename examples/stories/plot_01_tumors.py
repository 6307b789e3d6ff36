"""
Medical: how many tumors are missed, and at which price?
========================================================

569 samples of breast tissue, 30 measurements of their cell nuclei (scikit-learn's breast cancer
table). A missed malignant tumor is worse than a false alarm, so the threshold is a decision.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from lincent import AutoLCC

bunch = load_breast_cancer(as_frame=True)
malignant = (bunch.target == 0).map({True: "malignant", False: "benign"})
X_train, X_test, y_train, y_test = train_test_split(
    bunch.data, malignant, test_size=0.4, stratify=malignant, random_state=0
)
model = AutoLCC().fit(X_train, y_train)
probability = model.predict_proba(X_test)[:, list(model.classes_).index("malignant")]
sick = (y_test == "malignant").to_numpy()
print(f"AUC expected from the training rows {model.nested_score_:.3f}")
print(f"AUC on {len(y_test)} rows set aside {roc_auc_score(sick, probability):.3f}")

# %%
# Misses against false alarms
# ---------------------------
# Every threshold on the probability is a different trade. At 0.1 hardly a tumor is missed.
thresholds = np.array([0.02, 0.05, 0.1, 0.2, 0.5, 0.8])
for t in thresholds:
    missed, alarms = np.sum(sick & (probability < t)), np.sum(~sick & (probability >= t))
    print(f"from {t:4.0%} on: {missed} of {sick.sum()} missed, {alarms} of {(~sick).sum()} alarms")

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
grid = np.linspace(0.01, 0.99, 99)
ax.plot(grid, [np.mean(probability[sick] < t) for t in grid], label="tumors missed")
ax.plot(grid, [np.mean(probability[~sick] >= t) for t in grid], "--", label="false alarms")
ax.set(xlabel="threshold on the probability", ylabel="fraction", ylim=(0, 0.3))
ax.legend(frameon=False)
plt.show()

# %%
# What it looks at
# ----------------
importances = model.feature_importances_
order = np.argsort(importances)[-10:]
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.barh(bunch.data.columns[order], importances[order], color="#007A5A")
ax.set_xlabel("importance")
plt.show()
