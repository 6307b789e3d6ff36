"""Feature maps as transformers, on which the classifiers are linear."""

from lincent.features.similarity import KernelLandmarks, LocalCenters
from lincent.features.splines import SplineFeatures
from lincent.features.tree_leaves import TreeLeaves
from lincent.tables.encoder import TableEncoder

__all__ = ["KernelLandmarks", "LocalCenters", "SplineFeatures", "TableEncoder", "TreeLeaves"]

# Users and model files know a class by where it is imported from, not by its file.
for _name in __all__:
    globals()[_name].__module__ = __name__
