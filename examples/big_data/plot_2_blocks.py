"""
Does a fit in blocks find the same model?
=========================================

A Dask array is read block by block, on threads here, on a cluster in production. The result is
the same optimum, to the last digits, because only the reading differs.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from lincent import LCC, KernelLCC
from lincent.paper.datasets import make_noisy_classes

X, y = make_noisy_classes(120_000, 8, noise=0.1, separation=2.0, random_state=0)
whole = LCC(random_state=0).fit(X, y)
differences, coefs = [], []
for rows in (60_000, 20_000, 5_000):
    blocks = da.from_array(X, chunks=(rows, 8)), da.from_array(y, chunks=rows)
    model = LCC(random_state=0).fit(*blocks)
    coefs.append(model.coef_[0])
    differences.append(abs(model.objective_ - whole.objective_) / abs(whole.objective_))
    print(f"blocks of {rows:6d}: objective differs by {differences[-1]:.0e}, {model.solver_}")

# %%
# A map from landmarks works on blocks, too
# -----------------------------------------
kernel = KernelLCC(n_components=40, random_state=0).fit(*blocks)
print("kernel:", round(float(np.mean(kernel.predict(X[:2000]) == y[:2000])), 3))

# %%
# The coefficients lie on each other
# ----------------------------------
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.bar(range(8), whole.coef_[0], color="#C6DDEC", edgecolor="k", label="in memory")
for coef, marker, rows in zip(coefs, "o^s", (60_000, 20_000, 5_000), strict=True):
    ax.plot(range(8), coef, marker, ms=5, label=f"blocks of {rows:,} rows")
ax.set(xlabel="column", ylabel="coefficient")
ax.legend(frameon=False, fontsize=9)
plt.show()
