"""Mean ranks on the leaderboard's sets that took part in no choice of defaults."""

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, INK
from measured import stamp, table_under

rows = table_under("measured/leaderboard.md", "### Sets that took part in no choice")
figure, axes = plt.subplots(1, 2, figsize=(9.5, 0.2 * len(rows) + 1), layout="constrained")
for ax, (title, column) in zip(
    axes, (("balanced accuracy", "rank"), ("AUC", "rank 2")), strict=True
):
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
    f"Two classes, untouched sets, {stamp('measured/leaderboard.md')}; ours in bold",
    loc="left", fontsize=9, color=INK,
)  # fmt: skip
