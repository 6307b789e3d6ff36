"""Parts of fitted models by the names that model files use.

A class may move to another file; its name here stays, so that old model files can be read.
``NAMES_OF_0_1_0`` are the names that version 0.1.0 wrote; ``with_todays_names`` does the same for
parameters.
"""

from __future__ import annotations

from typing import Any

from lincent.estimators.additive_terms import Terms
from lincent.estimators.calibration import Sigmoid, Steps
from lincent.estimators.discriminators import Cut, Nearest
from lincent.estimators.probabilities import JointCalibration, SeparateCalibration
from lincent.estimators.renamed import UNUSED
from lincent.estimators.softmax import Softmax
from lincent.features.monotone import IncreasingCurve
from lincent.features.splines import ColumnCurve
from lincent.features.table import ColumnCode, TableEncoder
from lincent.paper import baselines as rivals

__all__ = [
    "NAMES_OF_0_1_0", "ColumnCode", "ColumnCurve", "Cut", "IncreasingCurve", "JointCalibration",
    "Nearest", "SeparateCalibration", "Sigmoid", "Softmax", "Steps", "TableEncoder", "Terms",
    "with_todays_names",
]  # fmt: skip

PARTS = (
    Cut, Nearest, Sigmoid, Steps, Softmax, ColumnCurve, IncreasingCurve, ColumnCode, TableEncoder,
    Terms, JointCalibration, SeparateCalibration,
)  # fmt: skip
for _part in PARTS:
    _part.__module__ = __name__

NAMES_OF_0_1_0 = {
    "lincent.estimators.calibration": __name__,
    "lincent.estimators.discriminators": __name__,
    **{
        f"lincent.estimators.{file}": "lincent"
        for file in (
            "kernel", "linear", "quadratic", "regularized", "regularized_cv", "structured",
            "structured_cv", "tuned",
        )
    },
    **{
        f"lincent.paper.baselines.{file}": rivals.__name__
        for file in (
            "dls", "elastic", "lda", "mpm", "structural", "svm", "twin", "weighted_twin",
        )
    },
}  # fmt: skip
"""Where the classes of a file of version 0.1.0 are today, by the module it names."""


def with_todays_names(kind: type, state: dict[str, Any]) -> dict[str, Any]:
    """What a model file says of an object, by the names that its parameters have today."""
    known: list[str] = getattr(kind, "_get_param_names", list)()
    if "margin_range" in known and "margin_range" not in state and "margins" in state:
        return {**state, "margin_range": state["margins"], "margins": UNUSED}
    return state
