"""Centralization classifiers: pull rows to their own class center, push the centers apart."""

from lincent.estimators.exact_path import lcc_path
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.linear import LCC
from lincent.estimators.quadratic import FQCC
from lincent.estimators.regularized import RegularizedLCC
from lincent.estimators.regularized_cv import RegularizedLCCCV
from lincent.estimators.structured import StructuredLCC
from lincent.estimators.structured_cv import StructuredLCCCV
from lincent.estimators.tuned import LCCCV

__all__ = [
    "FQCC",
    "LCC",
    "LCCCV",
    "KernelLCC",
    "RegularizedLCC",
    "RegularizedLCCCV",
    "StructuredLCC",
    "StructuredLCCCV",
    "__version__",
    "lcc_path",
]
__version__ = "0.1.0"
