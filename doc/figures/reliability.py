"""Do probabilities hold? Predicted against observed on rows that were not trained on."""

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, PURPLE
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.model_selection import train_test_split

from lincent import LCC
from lincent.paper.datasets import make_noisy_classes

X, y = make_noisy_classes(6000, 10, noise=0.1, separation=1.5, random_state=0)
train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
ax.plot([0, 1], [0, 1], color=GREY, lw=1)
isotonic = CalibratedClassifierCV(LCC(), method="isotonic", ensemble=False)
for name, model, color, marker in (
    ('probability="sigmoid"', LCC(probability="sigmoid"), GREEN, "o"),
    ("isotonic regression", isotonic, PURPLE, "^"),
):
    model.fit(train, y_train)
    share, predicted = calibration_curve(
        y_test == model.classes_[1], model.predict_proba(test)[:, 1], n_bins=10
    )
    ax.plot(predicted, share, marker=marker, color=color, label=name)
ax.set(xlabel="probability given", ylabel="share that was of that class", aspect="equal")
ax.legend(frameon=False, fontsize=9)
