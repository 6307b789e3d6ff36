"""Few columns out of many: the coefficients of the L2 and of the L1 form."""

import matplotlib.pyplot as plt
import numpy as np
from figure_style import GREEN, GREY

from lincent import RegularizedLCC

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 1000))
truth = np.zeros(1000)
truth[:8] = rng.choice([-1.0, 1.0], 8)
y = (X @ truth + 0.5 * rng.standard_normal(300) > 0).astype(int)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), sharex=True, layout="constrained")
for norm, C, ax in (("l2", 1.0, axes[0]), ("l1", 0.1, axes[1])):
    coef = RegularizedLCC(norm=norm, C=C).fit(X, y).coef_[0]
    ax.vlines(np.arange(1000), 0, coef, color=GREY, lw=0.7)
    ax.vlines(np.arange(8), 0, coef[:8], color=GREEN, lw=3)
    ax.set_title(
        f'norm="{norm}", C={C:g}: {np.count_nonzero(coef)} of 1,000 columns',
        loc="left",
        fontsize=10,
    )
    ax.set(xlabel="column (the first eight matter)", ylabel="coefficient")
