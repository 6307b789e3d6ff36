"""What ``lincent fit --method`` can fit, by name, and how the options reach the estimator.

    auto         the best answer, chosen             AutoLCC
    linear       one line, tuned                     RegularizedLCCCV
    additive     one curve per column, tuned         AdditiveLCCCV
    structured   a line and local centers, tuned     StructuredLCCCV
    kernel       an RBF kernel                       KernelLCC
    lcc          the paper's method                  LCC, or LCCCV with ``tune``
    quick        one line, not tuned                 RegularizedLCC

The names of the classes and of the paper's methods (`lincent compare` prints them) work as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lincent._errors import AppError, nearest
from lincent.estimators.additive import AdditiveLCC
from lincent.estimators.additive_cv import AdditiveLCCCV
from lincent.estimators.auto import AutoLCC
from lincent.estimators.kernel import KernelLCC
from lincent.estimators.linear import LCC
from lincent.estimators.linear_cv import LCCCV
from lincent.estimators.quadratic import FQCC
from lincent.estimators.regularized import RegularizedLCC
from lincent.estimators.regularized_cv import RegularizedLCCCV
from lincent.estimators.structured import StructuredLCC
from lincent.estimators.structured_cv import StructuredLCCCV
from lincent.paper import baselines

AUTO, QUICK, PAPER_METHOD = "auto", "quick", "lcc"


def _rival(code: str) -> Callable[[], Any]:
    def make() -> Any:
        return baselines.paper_settings(code).estimator  # type: ignore[union-attr]

    return make


METHODS: dict[str, Callable[[], Any]] = {
    AUTO: AutoLCC,
    "linear": RegularizedLCCCV,
    "additive": AdditiveLCCCV,
    "structured": StructuredLCCCV,
    "kernel": KernelLCC,
    PAPER_METHOD: LCC,
    QUICK: RegularizedLCC,
    **{
        kind.__name__: kind
        for kind in (
            AutoLCC, AdditiveLCC, AdditiveLCCCV, LCCCV, KernelLCC, FQCC, RegularizedLCC,
            RegularizedLCCCV, StructuredLCC, StructuredLCCCV,
        )
    },
    "LCC-1NN": lambda: LCC(discriminator="nearest"),
    "LCC-1SV": lambda: LCC(discriminator="svm"),
    **{
        name: kind
        for name in baselines.__all__
        if hasattr(kind := getattr(baselines, name), "fit")
    },
    **{code: _rival(code) for code in ("LDA", "SVM", "DLS", "SMP", "WSV", "TSV", "DEL")},
}  # fmt: skip


def find_method(name: str) -> tuple[str, Callable[[], Any]]:
    """A method by its name, in capitals or not."""
    known = {known.lower(): known for known in METHODS}
    found = known.get(name.lower())
    if found is None:
        hint = nearest(name, list(METHODS)).replace("the columns are", "there are")
        raise AppError(f"The method {name!r} (--method) is not known: {hint}")
    return found, METHODS[found]


def make_classifier(
    name: str, settings: Mapping[str, Any], *, seed: int = 0, jobs: int | None = None
) -> Any:
    """The estimator of a method with the settings that the user gave; None was not given."""
    made = find_method(name)[1]()
    known = made.get_params(deep=False)
    given = {key: value for key, value in settings.items() if value is not None}
    for key in given:
        if key not in known:
            raise AppError(
                f"--method {name} ({type(made).__name__}) has no setting {key!r}; it has "
                f"{', '.join(sorted(known))}."
            )
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": jobs}
    if "probability" in known and "probability" not in given:
        shared["probability"] = "sigmoid"
    made.set_params(**{k: v for k, v in shared.items() if k in known}, **given)
    return made
