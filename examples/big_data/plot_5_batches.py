"""
Files larger than memory, and no cluster: what then?
====================================================

:func:`lincent.batches` reads Parquet files (or anything that can be started again) batch by batch.
The exact fit needs a handful of passes; the gap is certified over every row of every file.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lincent import LCC, batches
from lincent.paper.datasets import make_noisy_classes

folder = Path(tempfile.mkdtemp())
X, y = make_noisy_classes(120_000, 6, noise=0.1, separation=2.0, random_state=0)
columns = [f"sensor {k}" for k in range(6)]
for number, part in enumerate(np.array_split(np.arange(len(y)), 4)):
    frame = pd.DataFrame(X[part], columns=columns).assign(state=y[part])
    frame.to_parquet(folder / f"part-{number}.parquet")

# %%
# Fit from the files
# ------------------
rows = batches(str(folder / "part-*.parquet"), target="state")
model = LCC(random_state=0).fit(rows, rows.target)
print(f"{model.solver_}, gap {model.duality_gap_:.0e} of {abs(model.objective_):.0f}")

# %%
# The same rule as in memory
# --------------------------
whole = LCC(random_state=0).fit(X, y)
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.bar(columns, whole.coef_[0], color="#C6DDEC", edgecolor="k", label="in memory")
ax.plot(columns, model.coef_[0], "o", color="#007A5A", label="from four files")
ax.set_ylabel("coefficient")
ax.legend(frameon=False)
plt.show()
