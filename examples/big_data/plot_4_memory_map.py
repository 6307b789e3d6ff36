"""
Can a file be read in place?
============================

``np.load(..., mmap_mode="r")`` opens a file without reading it. A fit goes over it about a dozen
times and never copies it: memory stays far below the size of the data.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from lincent import LCC
from lincent.paper.datasets import make_noisy_classes

X, y = make_noisy_classes(200_000, 20, random_state=0)
path = Path(tempfile.mkdtemp()) / "X.npy"
np.save(path, X)
size = X.nbytes
del X

# %%
# What the fit takes beyond the file
# ----------------------------------
X = np.load(path, mmap_mode="r")
tracemalloc.start()
model = LCC(random_state=0).fit(X, y)
_, peak = tracemalloc.get_traced_memory()
tracemalloc.stop()
print(f"{model.solver_}, relative gap {model.duality_gap_:.0e}")

figure, ax = plt.subplots(figsize=(7, 1.8), layout="constrained")
ax.barh(
    ["the file", "the fit beyond it"], [size / 2**20, peak / 2**20], color=["#C6DDEC", "#007A5A"]
)
ax.set_xlabel("MiB")
plt.show()
