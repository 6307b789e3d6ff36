"""
Credit: a bad loan costs five times a lost customer. Whom to refuse?
====================================================================

German credit: 1,000 applicants, 24 columns, three in ten did not pay back. The set comes with a
cost table: granting a bad loan costs 5, refusing a good one costs 1.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from lincent import AutoLCC, RegularizedLCC
from lincent.paper.datasets import DatasetNotFoundError, load_dataset

try:
    X, y = (load_dataset("GR")[key] for key in ("data", "target"))
except DatasetNotFoundError as error:  # the package with the set is not installed
    print(error)
    X, y = np.random.default_rng(0).normal(size=(1000, 24)), np.arange(1000) % 10 < 3
values, counts = np.unique(y, return_counts=True)
bad = y == values[np.argmin(counts)]
X_train, X_test, bad_train, bad_test = train_test_split(
    X, bad, test_size=0.4, stratify=bad, random_state=0
)
model = AutoLCC().fit(X_train, bad_train)
print(f"expected AUC {model.nested_score_:.3f}")


# %%
# The price of a threshold
# ------------------------
# With calibrated probabilities theory gives the threshold: refuse from 1 / (1 + 5) on.
def price(refused, truly_bad):
    return 5 * np.sum(~refused & truly_bad) + np.sum(refused & ~truly_bad)


probability = model.predict_proba(X_test)[:, 1]
rules = {
    "grant all": np.zeros(len(bad_test), bool),
    "refuse all": np.ones(len(bad_test), bool),
    "AutoLCC, default threshold": model.predict(X_test),
    "AutoLCC, from 1/6 on": probability >= 1 / 6,
    "RegularizedLCC, cost 5 in the fit": RegularizedLCC(class_weight={False: 1, True: 5})
    .fit(X_train, bad_train)
    .predict(X_test),
}
prices = {name: price(refused, bad_test) / len(bad_test) for name, refused in rules.items()}
for name, value in prices.items():
    print(f"{name:35s} {value:.2f} per applicant")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
grid = np.linspace(0, 1, 101)
left.plot(grid, [price(probability >= t, bad_test) / len(bad_test) for t in grid])
left.axvline(1 / 6, ls=":", color="k")
left.set(xlabel="refuse from this probability on", ylabel="price per applicant")
right.barh(list(prices), list(prices.values()), color="#0072B2")
right.set_xlabel("price per applicant")
plt.show()
