"""
What does the margin do to the coefficients?
============================================

:func:`lincent.lcc_path` solves a whole range of margins exactly. At the left end all coefficients
are proportional to the margin, so the predictions do not change; at the right end, the largest
margin there is, each is 1 or -1 and the rule is a vote of the columns.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from lincent import LCCCV, lcc_path
from lincent.inspection import PathDisplay

wine = load_wine()
two = wine.target < 2
X, y = StandardScaler().fit_transform(wine.data[two]), wine.target[two]
largest = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).sum()
path = lcc_path(X, y, margins=largest * np.geomspace(1e-3, 1, 40))
print("largest relative gap:", float(path.duality_gaps.max()))

# %%
# The path
# --------
figure, axes = plt.subplots(2, 1, figsize=(8, 6.4), layout="constrained")
PathDisplay(path.margins, path.coefs[0], path.objectives[0], wine.feature_names).plot(axes)
search = LCCCV().fit(X, y)
axes[0].axvline(search.margin_, color="k", ls=":", lw=1)
coefs = pd.DataFrame(path.coefs[0], pd.Index(path.margins, name="margin"), wine.feature_names)
print(coefs.round(3).iloc[::10, :4])
print(f"chosen by cross-validation (dotted): {search.margin_:.3f}")
plt.show()
