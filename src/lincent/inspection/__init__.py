"""Figures as objects: drawn from a fitted estimator, the numbers at hand.

Each display has ``from_estimator(..., ax=)``, which draws as scikit-learn's do, ``plot(ax=)``,
which draws again, and ``frame()``, the numbers behind the figure as a pandas table.  The two
classes differ in color (readable without color vision), in lightness (readable in grey) and in
shape or hatching.  An estimator that a display cannot show is refused in a sentence.
"""

from lincent.inspection.boundary import BoundaryDisplay
from lincent.inspection.coefficients import CoefficientsDisplay
from lincent.inspection.direction import DirectionDisplay
from lincent.inspection.impact import ImpactDisplay
from lincent.inspection.path import PathDisplay
from lincent.inspection.projection import ProjectionDisplay
from lincent.inspection.scores import ScoresDisplay
from lincent.inspection.shape import ShapeDisplay

__all__ = [
    "BoundaryDisplay",
    "CoefficientsDisplay",
    "DirectionDisplay",
    "ImpactDisplay",
    "PathDisplay",
    "ProjectionDisplay",
    "ScoresDisplay",
    "ShapeDisplay",
]
for _display in __all__:
    globals()[_display].__module__ = __name__
