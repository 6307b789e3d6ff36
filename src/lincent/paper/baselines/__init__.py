"""The seven methods the paper compares with."""

from lincent.paper.baselines.lda import RegularizedLDA
from lincent.paper.baselines.minimax import MinimaxProbabilityMachine, StructuralMPM
from lincent.paper.baselines.regression import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    column_mean_auc,
)
from lincent.paper.baselines.svm import LinearSVM, TwinSVC, WeightedTwinSVC

__all__ = [
    "DiscriminativeElasticNet",
    "DiscriminativeLeastSquares",
    "LinearSVM",
    "MinimaxProbabilityMachine",
    "RegularizedLDA",
    "StructuralMPM",
    "TwinSVC",
    "WeightedTwinSVC",
    "column_mean_auc",
]
