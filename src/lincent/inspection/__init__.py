"""Inspection of fitted models.

Displays have ``from_estimator(..., ax=)``, which computes and draws as in scikit-learn, and
``plot``, which draws again; the numbers behind the figure are their attributes.  Classes differ
in color (readable without color vision), in lightness (readable in grey) and in shape or hatching.
A display raises an error for estimators that it cannot show.
"""

from lincent.inspection.attribution import contributions
from lincent.inspection.displays import (
    BoundaryDisplay,
    CoefficientsDisplay,
    DirectionDisplay,
    ImpactDisplay,
    PathDisplay,
    ProjectionDisplay,
    ScoresDisplay,
    ShapeDisplay,
)

__all__ = [
    "BoundaryDisplay",
    "CoefficientsDisplay",
    "DirectionDisplay",
    "ImpactDisplay",
    "PathDisplay",
    "ProjectionDisplay",
    "ScoresDisplay",
    "ShapeDisplay",
    "contributions",
]
