"""The classifiers of the package by name, with the modules that define them.

``lincent``, the command line, the model files and the study all read these tables, so a new
estimator is added here and nowhere else.  Nothing is imported before ``estimator_class`` is called;
``BASELINES``, the methods that the paper compares with, belong to a package above this one and are
only known by name.
"""

from __future__ import annotations

import importlib
from typing import Any

ESTIMATORS = {
    "LCC": "lincent.estimators.linear",
    "LCCCV": "lincent.estimators.linear_cv",
    "FQCC": "lincent.estimators.quadratic",
    "KernelLCC": "lincent.estimators.kernel",
    "RegularizedLCC": "lincent.estimators.regularized",
    "RegularizedLCCCV": "lincent.estimators.regularized",
    "StructuredLCC": "lincent.estimators.structured",
    "StructuredLCCCV": "lincent.estimators.structured",
    "AdditiveLCC": "lincent.estimators.additive",
    "AdditiveLCCCV": "lincent.estimators.additive",
    "AutoLCC": "lincent.estimators.auto",
}
BASELINES = {
    "RegularizedLDA": "lincent.paper.baselines.lda",
    "LinearSVM": "lincent.paper.baselines.svm",
    "DiscriminativeLeastSquares": "lincent.paper.baselines.regression",
    "MinimaxProbabilityMachine": "lincent.paper.baselines.minimax",
    "StructuralMPM": "lincent.paper.baselines.minimax",
    "TwinSVC": "lincent.paper.baselines.svm",
    "WeightedTwinSVC": "lincent.paper.baselines.svm",
    "DiscriminativeElasticNet": "lincent.paper.baselines.regression",
}


def estimator_class(name: str) -> Any:
    """Return the estimator class of this name, a baseline included.

    Raises
    ------
    KeyError
        If there is no such class.
    """
    return getattr(importlib.import_module({**ESTIMATORS, **BASELINES}[name]), name)
