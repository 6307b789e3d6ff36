"""The seven methods the paper compares with."""

from lincent.rivals.dls import DiscriminativeLeastSquares
from lincent.rivals.elastic import DiscriminativeElasticNet
from lincent.rivals.lda import RegularizedLDA
from lincent.rivals.mpm import MinimaxProbabilityMachine
from lincent.rivals.settings import PaperSettings, column_mean_auc, hard_auc, paper_settings
from lincent.rivals.structural import StructuralMPM
from lincent.rivals.svm import LinearSVM
from lincent.rivals.twin import TwinSVC
from lincent.rivals.weighted_twin import WeightedTwinSVC

__all__ = [
    "DiscriminativeElasticNet",
    "DiscriminativeLeastSquares",
    "LinearSVM",
    "MinimaxProbabilityMachine",
    "PaperSettings",
    "RegularizedLDA",
    "StructuralMPM",
    "TwinSVC",
    "WeightedTwinSVC",
    "column_mean_auc",
    "hard_auc",
    "paper_settings",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # where users and model files find it
