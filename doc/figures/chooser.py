"""Which estimator when, as a chart."""

import matplotlib.pyplot as plt
from figure_style import GREEN, GREY, INK

BOXES = {
    "start": (0.5, 0.93, "A table with a class to predict"),
    "try": (0.17, 0.72, "Automatic?"),
    "read": (0.5, 0.72, "Must people read it?"),
    "paper": (0.85, 0.72, "Is it about the paper?"),
    "auto": (0.17, 0.44, "AutoLCC\nlincent fit"),
    "linear": (0.38, 0.44, "RegularizedLCC(CV)\na number per column"),
    "additive": (0.62, 0.44, "AdditiveLCC(CV)\na curve per column"),
    "lcc": (0.85, 0.44, "LCC, LCCCV\nexact linear program"),
    "structured": (0.17, 0.13, "StructuredLCC(CV)\nlocal centers"),
    "l1": (0.38, 0.13, "RegularizedLCC\n(norm='l1')\nfew columns"),
    "kernel": (0.62, 0.13, "KernelLCC\nsmooth borders,\nfew rows"),
    "fqcc": (0.85, 0.13, "FQCC\nfar outliers"),
}
ARROWS = [
    ("start", "try", ""), ("start", "read", ""), ("start", "paper", ""),
    ("try", "auto", "yes"), ("read", "linear", "straight"), ("read", "additive", "curved"),
    ("paper", "lcc", "yes"), ("auto", "structured", "bent borders"),
    ("linear", "l1", "too many columns"), ("additive", "kernel", "no"), ("lcc", "fqcc", "outliers"),
]  # fmt: skip

figure, ax = plt.subplots(figsize=(10, 5.2), layout="constrained")
ax.set(xlim=(0, 1), ylim=(0, 1))
ax.axis("off")
for start, end, label in ARROWS:
    (x0, y0, _), (x1, y1, _) = BOXES[start], BOXES[end]
    arrow = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 22, "shrinkB": 26}
    ax.annotate("", (x1, y1), (x0, y0), arrowprops=arrow)
    middle = ((x0 + x1) / 2 + 0.008, (y0 + y1) / 2 + 0.012)
    ax.annotate(label, middle, fontsize=8, style="italic", color=INK)
for name, (x, y, text) in BOXES.items():
    question = name in ("start", "try", "read", "paper")
    box = {"boxstyle": "round,pad=0.5", "fc": "#F3F3F0" if question else "#E3F2EC"}
    box["ec"] = GREY if question else GREEN
    ax.text(x, y, text, ha="center", va="center", fontsize=9.5, color=INK, bbox=box)
