"""Fit times of LCC beside scikit-learn's linear classifiers, from doc/measured/speed.md."""

import re

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, INK, RED
from measured import seconds, stamp, table_with

SHAPES = ("20,000 x 30", "50,000 x 100", "200,000 x 50", "1,000,000 x 50", "2,000,000 x 20")
METHODS = {"LogisticRegression()": GREY, "LinearSVC(dual='auto')": RED, "LDA(svd)": "#8C6D1F"}

rows = {row["data"]: row for row in table_with("measured/speed.md", "data", "LCC", "others")}
figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
places = range(len(SHAPES))
ax.plot(
    places, [seconds(rows[s]["LCC"]) for s in SHAPES], "o-", color=GREEN, lw=2.5, label="LCC, exact"
)
for (name, color), marker in zip(METHODS.items(), "s^D", strict=True):
    times = [
        seconds(re.search(re.escape(name) + r" ([\d.]+ m?s)", rows[s]["others"]).group(1))
        for s in SHAPES
    ]
    ax.plot(places, times, marker=marker, color=color, ls="--", label=name.split("(")[0])
ax.set(yscale="log", ylabel="seconds for a fit", xlabel="rows x columns")
ax.set_xticks(places, SHAPES, fontsize=8)
ax.legend(frameon=False, fontsize=9)
when = stamp("measured/speed.md", "## One friendly kind of data")
ax.set_title(f"bench_solver.py, two cores, {when}", loc="left", fontsize=9, color=INK)
