"""
A poll: what decides a vote, and does the model treat groups alike?
===================================================================

The American National Election Study of 1996, 944 voters (statsmodels): Clinton or Dole? An
additive model draws one curve per question. Then the errors are compared between groups.
"""

import matplotlib.pyplot as plt
import statsmodels.api as sm
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from lincent import AdditiveLCCCV
from lincent.inspection import ShapeDisplay

table = sm.datasets.anes96.load_pandas().data.drop(columns="logpopul")
vote = table.pop("vote").map({0.0: "Clinton", 1.0: "Dole"})
X_train, X_test, y_train, y_test = train_test_split(
    table, vote, test_size=0.4, stratify=vote, random_state=0
)
model = AdditiveLCCCV().fit(X_train, y_train)
predicted = model.predict(X_test)
score = balanced_accuracy_score(y_test, predicted)
print(f"balanced accuracy on {len(y_test)} voters: {score:.2f}")

# %%
# Curves of the four questions that matter most
# ---------------------------------------------
# Above zero speaks for Dole, below for Clinton. The band holds 80 % of resampled curves.
names = [str(table.columns[k]) for k in model.feature_importances_.argsort()[::-1][:4]]
figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained", sharey=True)
for name, ax in zip(names, axes, strict=True):
    ShapeDisplay.from_estimator(model, name, ax=ax)
plt.show()

# %%
# Who is predicted well, and who is not?
# --------------------------------------
# PID is the party a voter feels close to, from 0 (strong Democrat) to 6 (strong Republican). In the
# middle there is little to go by.
right = predicted == y_test
for name, group in (("Democrats", X_test.PID < 2), ("in between", X_test.PID.between(2, 4)),
                    ("Republicans", X_test.PID > 4)):  # fmt: skip
    print(f"{name:12s} {right[group].mean():.0%} right of {group.sum()}")
for name, group in (("below 45", X_test.age < 45), ("45 and above", X_test.age >= 45)):
    print(f"{name:12s} {right[group].mean():.0%} right of {group.sum()}")
