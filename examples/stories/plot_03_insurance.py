"""
Customers: who will not use the service next year?
==================================================

The RAND health insurance experiment, 20,190 person-years (statsmodels). A third sees no doctor in
a year. Who will it be? The same question as churn: a weak signal, many rows, probabilities wanted.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.calibration import calibration_curve
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from lincent import AdditiveLCCCV, AutoLCC, RegularizedLCCCV

table = sm.datasets.randhie.load_pandas().data
absent = (table.pop("mdvis") == 0).to_numpy()
X_train, X_test, y_train, y_test = train_test_split(
    table, absent, train_size=6000, stratify=absent, random_state=0
)

# %%
# A readable model beside boosting
# --------------------------------
# Where boosting is well ahead of the readable models, columns act together. Then take it, if the
# ranking is all that counts.
models = {
    "RegularizedLCCCV": RegularizedLCCCV(),
    "AdditiveLCCCV": AdditiveLCCCV(),
    "AutoLCC": AutoLCC(),
    "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
}
probabilities = {}
for name, model in models.items():
    began = time.process_time()
    probabilities[name] = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    print(
        f"{name:21s} AUC {roc_auc_score(y_test, probabilities[name]):.3f}, "
        f"log loss {log_loss(y_test, probabilities[name]):.3f}, "
        f"{time.process_time() - began:.1f} s"
    )

# %%
# Can the probabilities be used as they are?
# ------------------------------------------
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for name, marker in zip(probabilities, "osD^", strict=True):
    share, given = calibration_curve(y_test, probabilities[name], n_bins=10, strategy="quantile")
    left.plot(given, share, marker=marker, label=name)
left.plot([0, 0.8], [0, 0.8], ":", color="k")
left.set(xlabel="probability given", ylabel="fraction that stayed away")
left.legend(frameon=False)
importances = models["AdditiveLCCCV"].feature_importances_
order = np.argsort(importances)[-8:]
right.barh(table.columns[order], importances[order], color="#007A5A")
right.set_xlabel("importance of each column in AdditiveLCCCV")
plt.show()
