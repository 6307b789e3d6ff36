"""
Has the world moved since the model was trained?
================================================

Labels come late, scores come at once. If their distribution drifts, something has changed: here a
sensor that slowly loses its calibration, seen months before the errors are known. ``lincent check``
does the same with files, and its exit code stops a pipeline.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lincent.workflow import check_table, fit_table, predict_table

rng = np.random.default_rng(0)


def month(k, rows=400):
    table = pd.DataFrame(rng.normal(size=(rows, 5)), columns=[f"sensor {j}" for j in range(5)])
    table["fault"] = table @ [1, 0.7, -0.5, 0, 0] + 0.6 * rng.normal(size=rows) > 0
    table["sensor 1"] += 0.18 * max(0, k - 4)  # from the fifth month on it drifts
    return table


model = fit_table(month(0, 1500), "fault", method="quick")
months = range(1, 15)
tables = [month(k) for k in months]
checks = [check_table(model, table.drop(columns="fault")) for table in tables]
for k, check in zip(months, checks, strict=True):
    for finding in check["findings"]:
        print(f"month {k:2}: {finding['column']} ({finding['check']}): {finding['message']}")

# %%
# Scores by month, and what labels would have told later
# ------------------------------------------------------
scored = [predict_table(model, table) for table in tables]
errors = [
    (one["class"] != table["fault"]).mean() for one, table in zip(scored, tables, strict=True)
]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
parts = left.violinplot([one["score"] for one in scored], list(months), showmedians=True)
for body, check in zip(parts["bodies"], checks, strict=True):
    body.set_facecolor("#0072B2" if check["passed"] else "#B4421E")
left.set(xlabel="month", ylabel="score", title="red: a check has failed")
right.plot(months, 100 * np.array(errors), "o-", color="#007A5A")
right.set(xlabel="month", ylabel="errors, percent (known months later)", ylim=0)
plt.show()
