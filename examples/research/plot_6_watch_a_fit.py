"""
Can I watch a fit, and stop it when it is good enough?
======================================================

A callback of scikit-learn (1.9 and newer) is told of every fold and of every point that the solver
proves, with its objective and gap. It may end the solve there. ``sklearn.callback.ProgressBar``
shows the same in a terminal.
"""

import matplotlib.pyplot as plt

from lincent import LCC
from lincent.callbacks import StopAtGap
from lincent.paper.datasets import make_noisy_classes

X, y = make_noisy_classes(3000, 100, noise=0.2, random_state=0)


class KeepGaps(StopAtGap):
    """Keeps the gaps on the way to the one at which to stop."""

    def __init__(self, gap):
        super().__init__(gap)
        self.seen = []

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if metadata is not None and "gap" in metadata:
            self.seen.append(metadata["gap"])
        return super().on_fit_task_end(estimator, context, metadata=metadata)


# %%
# The same problem, proved to one part in a thousand and to one in a billion
# --------------------------------------------------------------------------
figure, ax = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
for gap, color in ((1e-3, "#D55E00"), (1e-9, "#007A5A")):
    watcher = KeepGaps(gap)
    model = LCC(solver="interior-point").set_callbacks(watcher).fit(X, y)
    print(f"{watcher}: {model.n_iter_} steps, accuracy {model.score(X, y):.3f}")
    ax.semilogy(watcher.seen, "o-", color=color, label=f"stopped at {gap:g}")
ax.set(xlabel="points that the solver proved", ylabel="relative duality gap")
ax.legend(frameon=False)
plt.show()
