"""Centralization classifiers: pull rows to their own class center, push the centers apart."""

from lincent._versions import show_versions
from lincent.estimators.additive import AdditiveLCC
from lincent.estimators.additive_cv import AdditiveLCCCV
from lincent.estimators.auto import AutoLCC
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.lcc_path import lcc_path
from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV
from lincent.estimators.quadratic import FQCC
from lincent.estimators.regularized import RegularizedLCC
from lincent.estimators.regularized_cv import RegularizedLCCCV
from lincent.estimators.structured import StructuredLCC
from lincent.estimators.structured_cv import StructuredLCCCV
from lincent.passes.batches import batches

__all__ = [
    "FQCC",
    "LCC",
    "LCCCV",
    "AdditiveLCC",
    "AdditiveLCCCV",
    "AutoLCC",
    "KernelLCC",
    "RegularizedLCC",
    "RegularizedLCCCV",
    "StructuredLCC",
    "StructuredLCCCV",
    "__version__",
    "batches",
    "lcc_path",
    "show_versions",
]
__version__ = "0.2.0"

# Users, pickles and model files know a class by where it is imported from, not by its file.
for _name in set(__all__) - {"__version__"}:
    globals()[_name].__module__ = __name__
