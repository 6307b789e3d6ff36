"""Accuracy over fit time on the leaderboard's small tables of two classes."""

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, INK
from measured import stamp, table_under

NAMES = {
    "AutoLCC": "AutoLCC",
    "AdditiveLCCCV": "AdditiveLCCCV",
    "CatBoost tuned": "CatBoost",
    "XGBoost tuned": "XGBoost",
    "LightGBM tuned": "LightGBM",
    "RandomForest tuned": "random forest",
    "ExtraTrees tuned": "extra trees",
    "SVC tuned": "SVM",
    "LogisticRegression tuned": "logistic regression",
}
"""The methods that are drawn; all but lincent's are tuned."""

rows = table_under("measured/leaderboard.md", "## Untouched, two classes, up to 3,000 rows")
shown = [row for row in rows if row["method"].strip("*") in NAMES]
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained", sharex=True)
for ax, measure in zip(axes, ("balanced accuracy", "AUC"), strict=True):
    order = sorted(shown, key=lambda row: -float(row[measure]))
    top, bottom = float(order[0][measure]), float(order[-1][measure])
    step = (top - bottom) / (len(order) - 1)
    for place, row in enumerate(order):
        method = row["method"].strip("*")
        x, y = float(row["seconds"]), float(row[measure])
        color = GREEN if row["method"].startswith("**") else GREY
        significant = method == "AutoLCC" or float(row[f"p ({measure})"].replace("<", "")) < 0.05
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
    ax.set(xscale="log", xlabel="seconds for a fit, tuning included", xlim=(0.05, 10))
    ax.set_title(f"{measure}, percent", loc="left", fontsize=10)
    ax.margins(y=0.1)
figure.suptitle(
    f"Means over untouched tables of two classes, {stamp('measured/leaderboard.md')}. "
    "Hollow: not significantly different from AutoLCC.",
    x=0.01, ha="left", fontsize=9, color=INK,
)  # fmt: skip
