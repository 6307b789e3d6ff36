"""Where methods put the threshold when one class is small."""

import matplotlib.pyplot as plt
from figure_style import GREY, RED, bare, boundary, clouds, scatter
from sklearn.linear_model import LogisticRegression

from lincent import LCC, RegularizedLCC

X, y = clouds(seed=4, sizes=(240, 16), spread=1.1)
models = {
    "LogisticRegression()": LogisticRegression().fit(X, y),
    "LCC()": LCC().fit(X, y),
    "RegularizedLCC()": RegularizedLCC().fit(X, y),
    "LCC(class_weight={0: 1, 1: 10})": LCC(class_weight={0: 1, 1: 10}).fit(X, y),
}
figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for (name, model), ax in zip(models.items(), axes, strict=True):
    scatter(ax, X, y, s=14)
    boundary(ax, model.coef_[0], model.intercept_[0], X, color=RED if "LCC" in name else GREY)
    found = model.predict(X)[y == 1].mean()
    false = model.predict(X)[y == 0].mean()
    bare(
        ax,
        f"{name}\n{found:.0%} of the small class found,\n{false:.0%} of the large one taken for it",
    )
    ax.title.set_fontsize(8.5)
