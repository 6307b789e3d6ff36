"""Centralization classifiers: pull rows to their own class center, push the centers apart."""

from typing import TYPE_CHECKING

from lincent._lazy import lazily
from lincent.estimators.registry import ESTIMATORS

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
__version__ = "0.3.0"

if TYPE_CHECKING:
    from lincent._versions import show_versions
    from lincent.estimators.additive import AdditiveLCC, AdditiveLCCCV
    from lincent.estimators.auto import AutoLCC
    from lincent.estimators.kernel import KernelLCC
    from lincent.estimators.linear import LCC
    from lincent.estimators.linear_cv import LCCCV, lcc_path
    from lincent.estimators.quadratic import FQCC
    from lincent.estimators.regularized import RegularizedLCC, RegularizedLCCCV
    from lincent.estimators.structured import StructuredLCC, StructuredLCCCV
    from lincent.sources.batches import batches
else:
    __getattr__ = lazily(
        __name__,
        {
            **{name: home.removeprefix("lincent.") for name, home in ESTIMATORS.items()},
            "batches": "sources.batches",
            "lcc_path": "estimators.linear_cv",
            "show_versions": "_versions",
        },
        modules=("export", "features", "inspection", "model_selection", "paper", "workflow"),
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
