"""
How do I find the one in fifty?
===============================

Two percent of the rows are what we look for. A model that counts errors ignores them; here are
four ways to say that they matter, and what each costs in false alarms.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from lincent import LCC, RegularizedLCC, StructuredLCC

X, y = make_classification(
    6000, 12, n_informative=6, weights=[0.98], flip_y=0.005, class_sep=1.4, random_state=3
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
models = {
    "LogisticRegression": LogisticRegression(),
    "LCC: half-way": LCC(),
    "LCC: the rare class counts 5 times": LCC(class_weight={0: 1, 1: 5}),
    "LCC: threshold tuned for balanced accuracy": TunedThresholdClassifierCV(
        LCC(), scoring="balanced_accuracy"
    ),
    "RegularizedLCC: balanced": RegularizedLCC(),
    "StructuredLCC: balanced": StructuredLCC(),
}
found, alarms = [], []
for model in models.values():
    predicted = model.fit(X_train, y_train).predict(X_test)
    (_, false), (missed, hits) = confusion_matrix(y_test, predicted)
    found.append(hits / (hits + missed))
    alarms.append(false)

# %%
# What is found, and what it costs
# --------------------------------
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.4), sharey=True, layout="constrained")
left.barh(list(models), [100 * f for f in found], color="#007A5A")
left.set_xlabel("percent of the rare class found")
right.barh(list(models), alarms, color="#B4421E")
right.set_xlabel(f"false alarms among {int((y_test == 0).sum())} rows")
left.invert_yaxis()
plt.show()
