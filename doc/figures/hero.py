"""The picture of the landing page: the direction, and the rows on their line."""

import matplotlib.pyplot as plt

from lincent import LCC
from lincent.inspection import DirectionDisplay, ProjectionDisplay
from lincent.paper.datasets import make_paper_example

X, y = make_paper_example(100, random_state=0)
model = LCC().fit(X, y)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
DirectionDisplay.from_estimator(model, X, y, ax=left)
ProjectionDisplay.from_estimator(model, X, y, ax=right)
right.get_legend().remove()  # the left one names both classes
