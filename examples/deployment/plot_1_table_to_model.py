"""
Missing values, text and an ID: from a table to predictions
===========================================================

What ``lincent fit``, ``predict`` and ``explain`` do, as functions. The model knows how each column
was prepared and travels with that knowledge.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lincent._errors import AppError
from lincent.export import load_model, save_model
from lincent.export.model_file import TRUSTED_TYPES
from lincent.workflow import Model, explain_model, fit_table, predict_file, predict_table

rng = np.random.default_rng(0)
m = 800
table = pd.DataFrame(
    {
        "customer": [f"C{k:05d}" for k in range(m)],
        "age": rng.normal(48, 15, m).round(),
        "income": rng.lognormal(10.8, 0.4, m).round(-2),
        "city": rng.choice(["Basel", "Bern", "Chur"], m),
        "contract": rng.choice(["monthly", "yearly"], m, p=[0.6, 0.4]),
    }
)
leaning = 0.04 * (45 - table["age"]) + 1.2 * (table["contract"] == "monthly") - 0.5
table["leaves"] = np.where(leaning + rng.logistic(size=m) > 0, "yes", "no")
table.loc[rng.random(m) < 0.3, "income"] = np.nan

# %%
# Fit, keep, load
# ---------------
model: Model = fit_table(table, "leaves", ids=["customer"], method="lcc")
folder = Path(tempfile.mkdtemp())
save_model(model, folder / "leaves.lincent")
again = load_model(folder / "leaves.lincent")
print(len(TRUSTED_TYPES), "types of ours may be in a model file; nothing else is built")
try:
    fit_table(table, "leavers")
except AppError as error:
    print("A wrong name gives this message:", error)

# %%
# Score a frame, or a file in batches
# -----------------------------------
scored = predict_table(again, table.drop(columns="leaves"))
table.drop(columns="leaves").to_csv(folder / "new.csv", index=False)
predict_file(again, folder / "new.csv", folder / "scored.csv")
print(pd.read_csv(folder / "scored.csv").head(3))

# %%
# What it says
# ------------
terms = pd.DataFrame(explain_model(again)["problems"][0]["terms"])
print(terms.head(6).to_string())
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
names = terms["column"] + terms["category"].map(lambda c: f" = {c}" if isinstance(c, str) else "")
left.barh(names[:8][::-1], terms["effect"][:8][::-1], color="#007A5A")
left.set_xlabel("effect of one standard deviation: stays (left), leaves (right)")
for answer, color in (("no", "#0072B2"), ("yes", "#E69F00")):
    right.hist(
        scored["probability_yes"][table["leaves"] == answer],
        bins=30,
        alpha=0.7,
        color=color,
        label=answer,
    )
right.set(xlabel="probability of leaving", ylabel="customers")
right.legend(frameon=False, title="did leave")
plt.show()
