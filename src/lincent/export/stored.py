"""Parts of fitted models by the names that model files use.

A class may move to another file; its name here stays.
"""

from __future__ import annotations

from lincent.estimators.additive_terms import Terms
from lincent.estimators.calibration import Sigmoid, Steps
from lincent.estimators.discriminators import Cut, Nearest
from lincent.estimators.probabilities import JointCalibration, SeparateCalibration
from lincent.estimators.softmax import Softmax
from lincent.features.splines import ColumnCurve, IncreasingCurve
from lincent.tables.encoder import EncodedColumn, TableEncoder

__all__ = [
    "ColumnCurve",
    "Cut",
    "EncodedColumn",
    "IncreasingCurve",
    "JointCalibration",
    "Nearest",
    "SeparateCalibration",
    "Sigmoid",
    "Softmax",
    "Steps",
    "TableEncoder",
    "Terms",
]  # fmt: skip

PARTS = (
    Cut, Nearest, Sigmoid, Steps, Softmax, ColumnCurve, IncreasingCurve, EncodedColumn,
    TableEncoder, Terms, JointCalibration, SeparateCalibration,
)  # fmt: skip
for _part in PARTS:
    _part.__module__ = __name__
