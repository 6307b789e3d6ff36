"""
Does the database give the same answer as Python?
=================================================

A linear model is a sum, so it can be a SELECT. The model is exported to SQL and to a Python module
without imports, and all three are asked the same rows.
"""

import runpy
import sqlite3
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from lincent.export import export_model
from lincent.workflow import fit_table, predict_table

data = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 4, 6, 30]]
data.columns = ["radius", "texture", "smoothness", "concavity", "benign"]
model = fit_table(data, "benign", method="lcc")
folder = Path(tempfile.mkdtemp())
export_model(model, folder / "model.sql", format="sql", table="cells")
export_model(model, folder / "model.py", format="python")
print((folder / "model.sql").read_text()[:600])

# %%
# Three answers
# -------------
ours = predict_table(model, data)["score"].to_numpy(float)
with sqlite3.connect(":memory:") as base:
    data.to_sql("cells", base, index=False)
    sql = pd.read_sql((folder / "model.sql").read_text(), base)
predict = runpy.run_path(str(folder / "model.py"))["predict"]
plain = [predict(row) for row in data.to_dict("records")]
print("columns of the query:", list(sql.columns))
print("one answer of the module:", plain[0])

# %%
# The differences are rounding
# ----------------------------
column = next(name for name in sql.columns if "score" in name)
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.scatter(ours, np.abs(sql[column] - ours) + 1e-18, s=8, color="#007A5A")
ax.set(yscale="log", ylim=(1e-18, 1e-10), xlabel="score", ylabel="SQL minus Python, absolute")
plt.show()
