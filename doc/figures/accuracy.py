"""Mean ranks of the leaderboard, from the table of doc/leaderboard.md."""

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, INK
from measured import stamp, table_with

rows = table_with("leaderboard.md", "method", "hard", "AUC")
names = [row["method"].strip("*") for row in rows]
ranks = [float(row["rank"]) for row in rows]  # the last column of that name: score AUC
order = sorted(range(len(rows)), key=ranks.__getitem__)
figure, ax = plt.subplots(figsize=(7.2, 0.22 * len(rows) + 1), layout="constrained")
for place, k in enumerate(order):
    ours = rows[k]["method"].startswith("**")
    ax.plot([0, ranks[k]], [-place, -place], color=GREEN if ours else GREY, lw=3 if ours else 1.2)
    ax.plot(ranks[k], -place, "o", color=GREEN if ours else GREY)
ax.set_yticks([-p for p in range(len(order))], [names[k] for k in order], fontsize=8)
for label, k in zip(ax.get_yticklabels(), order, strict=True):
    label.set_fontweight("bold" if rows[k]["method"].startswith("**") else "normal")
ax.set(xlabel="mean rank in score AUC over all sets (1 is best)", xlim=(0, None))
ax.set_title(
    f"leaderboard.py, {stamp('leaderboard.md')}; ours in bold", loc="left", fontsize=9, color=INK
)
