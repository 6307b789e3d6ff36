"""Accuracy over fit time on the leaderboard's sets that took part in no choice of defaults."""

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, INK
from measured import stamp, table_under

NAMES = {
    "AutoLCC": "AutoLCC",
    "AdditiveLCCCV": "AdditiveLCCCV",
    "RegularizedLCC": "RegularizedLCC",
    "LogisticRegression balanced, tuned": "logistic regression",
    "SVC-RBF balanced, tuned": "SVM",
    "RandomForest balanced, tuned": "random forest",
    "ExtraTrees balanced, tuned": "extra trees",
    "HistGradientBoosting balanced, tuned": "gradient boosting",
}
"""The methods that are drawn; those of scikit-learn are tuned and have balanced classes."""

rows = table_under("measured/leaderboard.md", "### Sets that took part in no choice")
shown = [row for row in rows if row["method"].strip("*") in NAMES]
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained", sharex=True)
panels = (("balanced accuracy, percent", "hard", "p"), ("AUC, percent", "AUC", "p 2"))
for ax, (title, measure, p_value) in zip(axes, panels, strict=True):
    order = sorted(shown, key=lambda row: -float(row[measure]))
    top, bottom = float(order[0][measure]), float(order[-1][measure])
    step = (top - bottom) / (len(order) - 1)
    for place, row in enumerate(order):
        method = row["method"].strip("*")
        x, y = float(row["fit, ms"]) / 1000, float(row[measure])
        color = GREEN if row["method"].startswith("**") else GREY
        significant = method == "AutoLCC" or float(row[p_value].replace("<", "")) < 0.05
        ax.plot(x, y, "o", color=color, mfc=color if significant else "white", ms=7, zorder=3)
        ax.annotate(
            NAMES[method],
            (x, y),
            xytext=(14, top - place * step),
            va="center",
            fontsize=8.5,
            color=INK,
            fontweight="bold" if color == GREEN else "normal",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.5, "shrinkB": 4},
        )
    ax.set(xscale="log", xlabel="seconds for a fit, tuning included", xlim=(1.5e-3, 10))
    ax.set_title(title, loc="left", fontsize=10)
    ax.margins(y=0.1)
figure.suptitle(
    f"Means over the untouched two-class sets, {stamp('measured/leaderboard.md')}. "
    "Hollow: not significantly different from AutoLCC.",
    x=0.01, ha="left", fontsize=9, color=INK,
)  # fmt: skip
