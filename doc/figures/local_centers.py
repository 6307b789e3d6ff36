"""One center per class is not enough for bent groups; several are."""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from lincent import RegularizedLCC, StructuredLCC
from lincent.inspection import BoundaryDisplay

X, y = make_moons(260, noise=0.18, random_state=0)
models = {
    "RegularizedLCC": RegularizedLCC(),
    "StructuredLCC(n_centers=3)": StructuredLCC(n_centers=3),
    "StructuredLCC(n_centers=30)": StructuredLCC(n_centers=30),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for (name, model), ax in zip(models.items(), axes, strict=True):
    BoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)
    ax.set_title(f"{name}: {model.score(X, y):.0%}", loc="left", fontsize=10)
    if ax.get_legend():
        ax.get_legend().remove()
