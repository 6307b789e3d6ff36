"""Mean ranks on the leaderboard's small tables of two classes."""

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, INK
from measured import stamp, table_under

rows = table_under("measured/leaderboard.md", "## Untouched, two classes, up to 3,000 rows")
figure, axes = plt.subplots(1, 3, figsize=(11, 0.2 * len(rows) + 1), layout="constrained")
for ax, title in zip(axes, ("balanced accuracy", "AUC", "log loss"), strict=True):
    column = f"rank ({title})"
    order = sorted(rows, key=lambda row: float(row[column]))
    for place, row in enumerate(order):
        ours, rank = row["method"].startswith("**"), float(row[column])
        color = GREEN if ours else GREY
        ax.plot([0, rank], [-place, -place], color=color, lw=3 if ours else 1.2)
        ax.plot(rank, -place, "o", color=color)
    names = [row["method"].strip("*") for row in order]
    ax.set_yticks([-place for place in range(len(order))], names, fontsize=7.5)
    for label, row in zip(ax.get_yticklabels(), order, strict=True):
        label.set_fontweight("bold" if row["method"].startswith("**") else "normal")
    ax.set(xlabel=f"mean rank in {title} (1 is best)", xlim=(0, None))
axes[0].set_title(
    f"Untouched tables of two classes, {stamp('measured/leaderboard.md')}; ours in bold",
    loc="left", fontsize=9, color=INK,
)  # fmt: skip
