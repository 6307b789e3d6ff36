"""Two bounds that close: what is reached, and what nobody can beat."""

import warnings

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, PURPLE
from sklearn.exceptions import ConvergenceWarning

from lincent import LCC
from lincent.paper.datasets import make_noisy_classes

# Large enough that no other solver is tried when the iterations are used up.
X, y = make_noisy_classes(52_000, 20, noise=0.2, separation=1.2, random_state=0)
steps, above, below = [], [], []
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # stopping early is the point here
    for step in range(1, 11):
        model = LCC(solver="interior-point", max_iter=step).fit(X, y)
        steps.append(step)
        above.append(model.objective_)
        below.append(model.dual_objective_)
best = model.objective_
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
left.fill_between(steps, below, above, color=GREEN, alpha=0.15)
left.plot(steps, above, "o-", color=GREEN, label="objective: reached")
left.plot(steps, below, "^--", color=PURPLE, label="dual objective: a proven bound")
spread = abs(best) * 1.5
left.set(xlabel="iterations allowed", ylim=(best - spread, best + spread), ylabel="value")
left.legend(frameon=False, fontsize=9)
gap = [max(a - b, 1e-13) / max(1, abs(a)) for a, b in zip(above, below, strict=True)]
right.semilogy(steps, gap, "o-", color=GREEN)
right.axhline(1e-9, color=GREY, ls="--", lw=1)
right.text(1, 1.6e-9, "tol", fontsize=9)
right.set(xlabel="iterations allowed", ylabel="relative gap")
