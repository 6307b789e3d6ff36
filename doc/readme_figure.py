"""Draws doc/images/direction.svg, the figure of the README, from the paper's worked example."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from lincent import LCC
from lincent.inspection import DirectionDisplay, ProjectionDisplay
from lincent.paper.datasets import make_paper_example

mpl.rcParams["svg.hashsalt"] = "lincent"  # the same file each time

X, y = make_paper_example(100, random_state=0)
model = LCC().fit(X, y)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
DirectionDisplay.from_estimator(model, X, y, ax=left)
ProjectionDisplay.from_estimator(model, X, y, ax=right)
figure.savefig(Path(__file__).parent / "images" / "direction.svg", metadata={"Date": None})
