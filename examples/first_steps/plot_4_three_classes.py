"""
Three species: one against the rest, or pair by pair?
=====================================================

The middle species of iris lies between the other two. No single line cuts it off from both, so
one-vs-rest has to guess; a line for each pair does not.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import RegularizedLCC, StructuredLCC

iris = load_iris()
names = iris.target_names[iris.target]
models = {
    "RegularizedLCC, one-vs-rest": RegularizedLCC(multi_class="ovr"),
    "RegularizedLCC, one-vs-one": RegularizedLCC(),
    "StructuredLCC, one-vs-rest": StructuredLCC(),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for (title, model), ax in zip(models.items(), axes, strict=True):
    predicted = cross_val_predict(make_pipeline(StandardScaler(), model), iris.data, names)
    right = (predicted == names).mean()
    ConfusionMatrixDisplay.from_predictions(
        names, predicted, ax=ax, colorbar=False, cmap="Blues", xticks_rotation=20
    )
    ax.set_title(f"{title}: {right:.0%}", loc="left", fontsize=10)
plt.show()
