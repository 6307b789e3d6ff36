"""Figures as objects: drawn from a fitted estimator, the numbers at hand.

Each display has ``from_estimator(..., ax=)``, which draws as scikit-learn's do, ``plot(ax=)``,
which draws again, and ``frame()``, the numbers behind the figure as a pandas table.  The two
classes differ in color (readable without color vision), in lightness (readable in grey) and in
shape or hatching.  An estimator that a display cannot show is refused in a sentence.
"""

from lincent.displays.boundary import BoundaryDisplay
from lincent.displays.coefficients import CoefficientsDisplay
from lincent.displays.direction import DirectionDisplay
from lincent.displays.impact import ImpactDisplay
from lincent.displays.path import PathDisplay
from lincent.displays.projection import ProjectionDisplay
from lincent.displays.scores import ScoresDisplay
from lincent.displays.shape import ShapeDisplay

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
