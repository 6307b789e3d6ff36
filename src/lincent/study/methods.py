"""The methods of a study, by name: the paper's, the family of this package, and today's usual ones.

A method is an estimator that is not fitted, the grid of its tuning, and how it is described. The
paper's methods stand at the settings that reproduce its figures. Features reach every method
z-scored. A user's own joins with `register_method`, by passing an estimator, or on the command line
as ``package.module:Class``.
"""

from __future__ import annotations

import difflib
import importlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import ParameterGrid

from lincent.rivals.settings import POWERS_OF_TEN
from lincent.study import paper


@dataclass(frozen=True)
class Method:
    """One method of a study.

    Attributes
    ----------
    code, title : str
        Short name for tables, full name for people.
    family : {"centralization", "paper", "today", "own"}
    estimator : classifier
        Not fitted.
    grid : tuple of dict
        The values that tuning tries, one dictionary of parameters each; empty: nothing to tune.
    paper_scoring : callable or None
        Where the paper scores this method its own way.
    note : str
        A reading or a setting that a reader of the report should know.
    """

    code: str
    title: str
    family: str
    estimator: BaseEstimator
    grid: tuple[dict[str, Any], ...] = ()
    paper_scoring: Any = field(default=None, compare=False)
    note: str = ""


_BUILDERS: dict[str, Callable[[], Method]] = {}
_EXTRA: dict[str, Method] = {}


def _method(code: str) -> Callable[[Callable[[], Method]], Callable[[], Method]]:
    def keep(build: Callable[[], Method]) -> Callable[[], Method]:
        _BUILDERS[code] = build
        return build

    return keep


def _grid(**values: list[Any]) -> tuple[dict[str, Any], ...]:
    return tuple(ParameterGrid(values))


# The centralization family.


def _lcc(code: str, title: str, discriminator: str) -> Method:
    from lincent.estimators.linear import LCC

    return Method(
        code,
        title,
        "centralization",
        LCC(C=2.0, margin=0.01, discriminator=discriminator),
        _grid(margin=paper.MARGINS),
        note="Margins beyond the distance of the class centers have no solution; such a grid value "
        "is a marked cell and is not chosen.",
    )


@_method("LCC")
def _lcc_distance() -> Method:
    return _lcc("LCC", "Linear centralization, nearer center", "distance")


@_method("LCC-1NN")
def _lcc_nearest() -> Method:
    return _lcc("LCC-1NN", "Linear centralization, nearest neighbor on the line", "nearest")


@_method("LCC-1SV")
def _lcc_svm() -> Method:
    return _lcc("LCC-1SV", "Linear centralization, SVM on the line", "svm")


@_method("FQCC")
def _fqcc() -> Method:
    FQCC = _from("lincent.estimators.quadratic", "FQCC")
    return Method(
        "FQCC", "Quadratic centralization", "centralization", FQCC(), _grid(margin=paper.MARGINS)
    )


@_method("KernelLCC")
def _kernel() -> Method:
    KernelLCC = _from("lincent.estimators.kernel", "KernelLCC")
    gammas = [2.0**k for k in range(-4, 5, 2)]
    return Method(
        "KernelLCC",
        "Kernel centralization, RBF",
        "centralization",
        KernelLCC(kernel="rbf"),
        _grid(gamma=gammas),
    )


@_method("RegularizedLCC")
def _regularized() -> Method:
    RegularizedLCC = _from("lincent.estimators.regularized", "RegularizedLCC")
    return Method(
        "RegularizedLCC",
        "Regularized centralization",
        "centralization",
        RegularizedLCC(),
        _grid(C=POWERS_OF_TEN),
    )


@_method("RegularizedLCCCV")
def _regularized_cv() -> Method:
    RegularizedLCCCV = _from("lincent.estimators.regularized_cv", "RegularizedLCCCV")
    return Method(
        "RegularizedLCCCV",
        "Regularized centralization, tuned inside",
        "centralization",
        RegularizedLCCCV(),
        note="Chooses its strength by cross-validation inside the training part.",
    )


@_method("StructuredLCC")
def _structured() -> Method:
    StructuredLCC = _from("lincent.estimators.structured", "StructuredLCC")
    return Method(
        "StructuredLCC",
        "Structured centralization",
        "centralization",
        StructuredLCC(),
    )


@_method("StructuredLCCCV")
def _structured_cv() -> Method:
    StructuredLCCCV = _from("lincent.estimators.structured_cv", "StructuredLCCCV")
    return Method(
        "StructuredLCCCV",
        "Structured centralization, tuned inside",
        "centralization",
        StructuredLCCCV(),
        note="Chooses its structure by cross-validation inside the training part.",
    )


# The paper's seven other methods.

TWINS = ("TSV", "WSV")
_PAPER = {
    "LDA": ("Discriminant analysis, shrunk half-way to the diagonal", ""),
    "SVM": ("Linear support vector machine", "lambda = 1 of the paper is read as C = 1."),
    "DLS": (
        "Discriminative least squares, nearest neighbor",
        "One nearest neighbor among the regressions, so its training score is 100.",
    ),
    "SMP": ("Minimax probability machine", "One component per class."),
    "WSV": (
        "Weighted linear loss twin SVM",
        "The published program divides by c1 = 0.1, so c1 = c2 = 10 here.",
    ),
    "TSV": ("Twin bounded SVM", "Distances divided by the length of the normal."),
    "DEL": (
        "Discriminative elastic-net regression",
        "paper_auc is the mean over its two regressions of the AUC of their signs, as the paper "
        "has it; the other scores use the larger regression, which is the method's own rule.",
    ),
}


def _paper_builder(code: str) -> Callable[[], Method]:
    def build() -> Method:
        from lincent.rivals import paper_settings

        title, note = _PAPER[code]
        settings = paper_settings(code)
        assert not isinstance(settings, dict)
        scoring = settings.scoring if code == "DEL" else None
        grid = tuple(ParameterGrid(settings.grid)) if settings.grid else ()
        if code in TWINS:
            grid = tuple(point for point in grid if _tied(code, point))
        return Method(code, title, "paper", settings.estimator, grid, scoring, note)

    return build


def _tied(code: str, point: dict[str, float]) -> bool:
    """Whether the cost and the ridge of a twin machine have one value of the paper's."""
    cost = 1 / point["c1"] if code == "WSV" else point["c1"]  # its program divides by c1
    return math.isclose(cost, point["c3"])


def _untied_builder(code: str) -> Callable[[], Method]:
    def build() -> Method:
        from lincent.rivals import paper_settings

        tied, settings = find_method(code), paper_settings(code)
        assert not isinstance(settings, dict)
        return replace(
            tied,
            code=f"{code}-untied",
            title=f"{tied.title}, cost and ridge tuned apart",
            grid=tuple(ParameterGrid(settings.grid)),
            note="The paper lists four constants and one range; here c1 = c2 and c3 = c4 take "
            "their fifteen values independently, 225 points.",
        )

    return build


for _code in _PAPER:
    _BUILDERS[_code] = _paper_builder(_code)
for _code in TWINS:
    _BUILDERS[f"{_code}-untied"] = _untied_builder(_code)


@_method("StructuralMPM")
def _structural_mpm() -> Method:
    StructuralMPM = _from("lincent.rivals", "StructuralMPM")
    return Method(
        "StructuralMPM",
        "Structural minimax probability machine, two components per class",
        "paper",
        StructuralMPM(n_components=2),
        note="SMP as the paper describes it; its figures are those of one component, which is SMP "
        "here.",
    )


# What people use today.


def _logistic(code: str, title: str, class_weight: str | None) -> Method:
    from sklearn.linear_model import LogisticRegression

    estimator = LogisticRegression(class_weight=class_weight, max_iter=2000)
    return Method(code, title, "today", estimator, _grid(C=POWERS_OF_TEN))


@_method("LogReg")
def _logreg() -> Method:
    return _logistic("LogReg", "Logistic regression", None)


@_method("LogReg-bal")
def _logreg_balanced() -> Method:
    return _logistic("LogReg-bal", "Logistic regression, balanced classes", "balanced")


def _linear_svc(code: str, title: str, class_weight: str | None) -> Method:
    from sklearn.svm import LinearSVC

    estimator = LinearSVC(class_weight=class_weight, max_iter=20_000)
    return Method(code, title, "today", estimator, _grid(C=POWERS_OF_TEN))


@_method("LinearSVC")
def _linearsvc() -> Method:
    return _linear_svc("LinearSVC", "Linear SVM of scikit-learn", None)


@_method("LinearSVC-bal")
def _linearsvc_balanced() -> Method:
    return _linear_svc("LinearSVC-bal", "Linear SVM of scikit-learn, balanced classes", "balanced")


@_method("sk-LDA")
def _sk_lda() -> Method:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    estimator = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return Method("sk-LDA", "Discriminant analysis, priors as found", "today", estimator)


@_method("sk-LDA-bal")
def _sk_lda_balanced() -> Method:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    # Two classes; with more, the length of priors is known only in fit and the cell says so.
    estimator = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[0.5, 0.5])
    return Method("sk-LDA-bal", "Discriminant analysis, equal priors", "today", estimator)


@_method("SVC-RBF")
def _svc() -> Method:
    from sklearn.svm import SVC

    grid = _grid(C=[0.1, 1.0, 10.0, 100.0])
    return Method("SVC-RBF", "Support vector machine, RBF kernel", "today", SVC(), grid)


@_method("HistGB")
def _boosting() -> Method:
    from sklearn.ensemble import HistGradientBoostingClassifier

    estimator = HistGradientBoostingClassifier()
    grid = _grid(max_leaf_nodes=[7, 15, 31])
    return Method("HistGB", "Gradient boosting by histograms", "today", estimator, grid)


def _from(module: str, name: str) -> Any:
    """Import a class of this package that an installation may lack."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ImportError(f"{name} is not part of this installation ({error}).") from error


# Finding and adding.


def list_methods() -> list[str]:
    """List the codes of all methods.

    Examples
    --------
    >>> from lincent.study import list_methods
    >>> "LCC" in list_methods()
    True
    """
    return [*_BUILDERS, *_EXTRA]


def register_method(
    code: str,
    estimator: BaseEstimator,
    *,
    grid: Iterable[dict[str, Any]] = (),
    title: str = "",
) -> Method:
    """Add a method of one's own under a name.

    Parameters
    ----------
    code : str
        Name in tables; must not be taken.
    estimator : classifier
        Not fitted; it receives z-scored features.
    grid : iterable of dict
        Values that tuning tries, one dictionary of parameters each.
    title : str
        Full name; the class name if empty.

    Returns
    -------
    Method
    """
    if code in _BUILDERS:
        raise ValueError(f"The method name {code!r} is taken; choose another one.")
    _EXTRA[code] = own_method(estimator, code, tuple(grid), title)
    return _EXTRA[code]


def own_method(
    estimator: Any, code: str = "", grid: tuple[dict[str, Any], ...] = (), title: str = ""
) -> Method:
    """Make a method of a user's estimator."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"A method is an estimator object such as LCC(), got {estimator!r}.")
    if not is_classifier(estimator):
        raise TypeError(f"{type(estimator).__name__} is not a classifier.")
    name = type(estimator).__name__
    return Method(code or name, title or name, "own", estimator, grid)


def find_method(method: Any) -> Method:
    """Return a method from its code, an estimator, a (name, estimator) pair or a Method.

    Examples
    --------
    >>> from lincent.study import find_method
    >>> find_method("LCC").title
    'Linear centralization, nearer center'
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, tuple) and len(method) == 2:
        return own_method(method[1], str(method[0]))
    if not isinstance(method, str):
        return own_method(method)
    codes = {code.lower(): code for code in list_methods()}
    code = codes.get(method.strip().lower())
    if code is not None:
        return _EXTRA[code] if code in _EXTRA else _BUILDERS[code]()
    if ":" in method:
        return _imported(method)
    close = difflib.get_close_matches(method.lower(), codes, 3, 0.5)
    hint = (
        "did you mean " + " or ".join(codes[name] for name in close) + "?"
        if close
        else ("the names are " + ", ".join(list_methods()) + ".")
    )
    raise ValueError(f"Unknown method {method!r}: {hint}")


def _imported(path: str) -> Method:
    module, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
        estimator = found() if isinstance(found, type) else found
    except (ImportError, AttributeError, TypeError) as error:
        raise ValueError(f"The method {path!r} cannot be made: {error}.") from error
    return own_method(estimator, name)
