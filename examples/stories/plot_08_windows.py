"""
A sensor: will the next value be higher?
========================================

300 years of sunspot counts (statsmodels). A window of past values becomes a row, and the future
must not leak into the past: the split is by time.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import AutoLCC, RegularizedLCC

data = sm.datasets.sunspots.load_pandas().data
years, counts = data["YEAR"].to_numpy().astype(int), data["SUNACTIVITY"].to_numpy()
length = 12
windows = np.lib.stride_tricks.sliding_window_view(counts, length)[:-1]
table = pd.DataFrame(windows, columns=[f"{length - k} years ago" for k in range(length)])
table["change"] = windows[:, -1] - windows[:, -2]
table["mean"] = windows.mean(axis=1)
rises = np.where(counts[length:] > counts[length - 1 : -1], "up", "down")
target_year = years[length:]
past, future = target_year < 1900, target_year >= 1900

# %%
# Trained before 1900, tested after
# ---------------------------------
truth = rises[future]
last_change = np.where(table["change"][future] > 0, "up", "down")
line = make_pipeline(StandardScaler(), RegularizedLCC()).fit(table[past], rises[past])
predictions = {
    "same way as last year": last_change,
    "RegularizedLCC": line.predict(table[future]),
    "AutoLCC": AutoLCC().fit(table[past], rises[past]).predict(table[future]),
}
for name, predicted in predictions.items():
    print(f"{name:22s} {balanced_accuracy_score(truth, predicted):.2f}")

# %%
# Where it is wrong
# -----------------
# Mostly at the turning points, as one would expect.
figure, ax = plt.subplots(figsize=(11, 3.4), layout="constrained")
ax.plot(years, counts, color="0.6")
wrong = predictions["RegularizedLCC"] != truth
when, count = target_year[future], counts[length:][future]
ax.plot(when, count, "o", ms=3, color="#0072B2", label="right")
ax.plot(when[wrong], count[wrong], "X", color="#B4421E", label="wrong")
ax.set(xlim=(1895, 2010), xlabel="year", ylabel="sunspots")
ax.legend(frameon=False)
plt.show()
