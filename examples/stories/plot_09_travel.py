"""
Choice of travel: plane, train, bus or car?
===========================================

210 travelers between Sydney and Melbourne, with waiting time, cost and travel time of each mode
(statsmodels). Four classes, few rows: how sure can one be?
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.metrics import ConfusionMatrixDisplay, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCCCV, StructuredLCCCV

long = sm.datasets.modechoice.load_pandas().data
long["mode"] = long["mode"].map({1.0: "air", 2.0: "train", 3.0: "bus", 4.0: "car"})
chosen = long[long["choice"] == 1].set_index("individual")["mode"]
table = long.pivot(index="individual", columns="mode", values=["ttme", "invc", "invt"])
table.columns = [f"{name} {mode}" for name, mode in table.columns]
person = long.drop_duplicates("individual").set_index("individual")
table = table.join(person[["hinc", "psize"]]).loc[:, lambda t: t.nunique() > 1]

# %%
# Out-of-fold predictions, and how far chance may move the score
# --------------------------------------------------------------
folds = StratifiedKFold(5, shuffle=True, random_state=0)
rng = np.random.default_rng(0)
for model in (RegularizedLCCCV(), StructuredLCCCV()):
    pipeline = make_pipeline(StandardScaler(), model)
    predicted = cross_val_predict(pipeline, table, chosen, cv=folds)
    resampled = [
        balanced_accuracy_score(chosen.to_numpy()[rows], predicted[rows])
        for rows in rng.integers(0, len(chosen), (300, len(chosen)))
    ]
    low, high = np.quantile(resampled, [0.025, 0.975])
    score = balanced_accuracy_score(chosen, predicted)
    print(f"{type(model).__name__:17s} {score:.2f} (95 % interval {low:.2f} to {high:.2f})")
print("guessing          0.25")

# %%
# Who is mistaken for whom
# ------------------------
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
ConfusionMatrixDisplay.from_predictions(chosen, predicted, ax=ax, colorbar=False)
plt.show()
