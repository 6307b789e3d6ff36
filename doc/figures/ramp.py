"""What a row costs: LCC's hinge, FQCC's ramp; and where outliers move the line."""

import matplotlib.pyplot as plt
import numpy as np
from figure_style import GREEN, GREY, PURPLE, bare, boundary, clouds, scatter

from lincent import FQCC, LCC

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
z = np.linspace(-4, 3, 300)
left.plot(z, np.maximum(-0.5, -z), color=GREEN, lw=2.5, label="LCC: max(-s, -z)")
left.plot(
    z, np.maximum(-0.5, np.minimum(2, -2 * z)), "--", color=PURPLE, lw=2.5, label="FQCC: capped"
)
left.axvline(-1, color=GREY, lw=1)
left.text(-1.06, 3.2, "beyond the\nwrong center", ha="right", fontsize=8.5)
left.set(xlabel="how far the row is on its own side", ylabel="what it costs")
left.legend(frameon=False, fontsize=9)

X, y = clouds(seed=0, sizes=(80, 80))
X = np.vstack([X, np.random.default_rng(1).normal((9, 6), 0.4, (7, 2))])
y = np.append(y, np.zeros(7, int))
scatter(right, X, y, s=16)
for model, color, style in ((LCC(), GREEN, "-"), (FQCC(n_init=2), PURPLE, "--")):
    model.fit(X, y)
    name = type(model).__name__
    boundary(right, model.coef_[0], model.intercept_[0], X, color=color, ls=style, label=name)
right.legend(frameon=False, fontsize=9, loc="upper left")
bare(right, "seven rows with a wrong label, far out")
