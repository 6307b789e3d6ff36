"""
How sure is the model, and where should it hand over to a person?
=================================================================

With ``probability="sigmoid"`` a score becomes a probability. Rows in the middle can be given to
somebody who looks; the more of them, the fewer errors are left.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from lincent import LCC
from lincent.paper.datasets import make_noisy_classes

X, y = make_noisy_classes(3000, 12, noise=0.08, separation=2.0, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = LCC(probability="sigmoid").fit(X_train, y_train)
probability = model.predict_proba(X_test)[:, 1]
wrong = (probability > 0.5) != (y_test == model.classes_[1])

# %%
# Handing over
# ------------
# Rows are sorted by how sure the model is; the least sure ones are handed over first.
sure = np.abs(probability - 0.5)
order = np.argsort(sure)
shares = np.linspace(0, 0.6, 61)
left_errors = [wrong[order[int(share * len(order)) :]].mean() for share in shares]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
for k, color in ((0, "#0072B2"), (1, "#E69F00")):
    part = probability[y_test == model.classes_[k]]
    left.hist(
        part, bins=40, range=(0, 1), alpha=0.7, color=color, label=f"class {model.classes_[k]}"
    )
left.set(xlabel=f"probability of class {model.classes_[1]}", ylabel="rows")
left.legend(frameon=False)
right.plot(100 * shares, 100 * np.array(left_errors), color="#007A5A", lw=2.5)
right.set(xlabel="handed over, percent of rows", ylabel="errors among the others, percent", ylim=0)
plt.show()
