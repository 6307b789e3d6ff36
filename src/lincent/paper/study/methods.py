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
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import ParameterGrid

from lincent.paper.baselines.settings import POWERS_OF_TEN
from lincent.paper.study import paper


@dataclass(frozen=True)
class Method:
    """One method of a study.

    Parameters
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


_EXTRA: dict[str, Method] = {}
TWINS = ("TSV", "WSV")
_MARGINS, _COSTS = {"margin": paper.MARGINS}, {"C": POWERS_OF_TEN}
_BEYOND = (
    "Margins beyond the largest feasible one have no solution; such a grid value is a marked cell "
    "and is not chosen."
)
_INSIDE = "Chooses its parameters by cross-validation inside the training part."
_BALANCED: dict[str, Any] = {"class_weight": "balanced"}
_LDA: dict[str, Any] = {"solver": "lsqr", "shrinkage": "auto"}

# code: title, module, class, parameters, grid, note
_CENTRALIZATION: dict[str, tuple[Any, ...]] = {
    "LCC": ("Linear centralization, nearer center", "linear", "LCC", {}, _MARGINS, _BEYOND),
    "LCC-1NN": (
        "Linear centralization, nearest neighbor on the line",
        "linear", "LCC", {"discriminator": "nearest"}, _MARGINS, _BEYOND,
    ),
    "LCC-1SV": (
        "Linear centralization, SVM on the line",
        "linear", "LCC", {"discriminator": "svm"}, _MARGINS, _BEYOND,
    ),
    "FQCC": ("Quadratic centralization", "quadratic", "FQCC", {}, _MARGINS, _BEYOND),
    "KernelLCC": (
        "Kernel centralization, RBF",
        "kernel", "KernelLCC", {}, {"gamma": [2.0**k for k in range(-4, 5, 2)]}, "",
    ),
    "AutoLCC": ("The best of the family, chosen inside", "auto", "AutoLCC", {}, {}, _INSIDE),
    "RegularizedLCC": (
        "Regularized centralization", "regularized", "RegularizedLCC", {}, _COSTS, ""
    ),
    "RegularizedLCCCV": (
        "Regularized centralization, tuned inside",
        "regularized_cv", "RegularizedLCCCV", {}, {}, _INSIDE,
    ),
    "StructuredLCC": ("Structured centralization", "structured", "StructuredLCC", {}, {}, ""),
    "StructuredLCCCV": (
        "Structured centralization, tuned inside",
        "structured_cv", "StructuredLCCCV", {}, {}, _INSIDE,
    ),
}  # fmt: skip
_TODAY: dict[str, tuple[Any, ...]] = {
    "LogReg": (
        "Logistic regression",
        "linear_model", "LogisticRegression", {"max_iter": 2000}, _COSTS, "",
    ),
    "LogReg-bal": (
        "Logistic regression, balanced classes",
        "linear_model", "LogisticRegression", _BALANCED | {"max_iter": 2000}, _COSTS, "",
    ),
    "LinearSVC": (
        "Linear SVM of scikit-learn", "svm", "LinearSVC", {"max_iter": 20_000}, _COSTS, ""
    ),
    "LinearSVC-bal": (
        "Linear SVM of scikit-learn, balanced classes",
        "svm", "LinearSVC", _BALANCED | {"max_iter": 20_000}, _COSTS, "",
    ),
    "sk-LDA": (
        "Discriminant analysis, priors as found",
        "discriminant_analysis", "LinearDiscriminantAnalysis", _LDA, {}, "",
    ),
    # Two classes; with more, the length of priors is known only in fit and the cell says so.
    "sk-LDA-bal": (
        "Discriminant analysis, equal priors",
        "discriminant_analysis", "LinearDiscriminantAnalysis", _LDA | {"priors": [0.5, 0.5]}, {},
        "",
    ),
    "SVC-RBF": (
        "Support vector machine, RBF kernel", "svm", "SVC", {}, {"C": [0.1, 1.0, 10.0, 100.0]}, ""
    ),
    "HistGB": (
        "Gradient boosting by histograms",
        "ensemble", "HistGradientBoostingClassifier", {}, {"max_leaf_nodes": [7, 15, 31]}, "",
    ),
}  # fmt: skip
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
    "WSV-untied": ("Weighted linear loss twin SVM, cost and ridge tuned apart", ""),
    "TSV-untied": ("Twin bounded SVM, cost and ridge tuned apart", ""),
    "StructuralMPM": (
        "Structural minimax probability machine, two components per class",
        "SMP as the paper describes it; its figures are those of one component.",
    ),
}
_CODES = (*_CENTRALIZATION, *_PAPER, *_TODAY)


def _build(code: str) -> Method:
    """Make a method of the tables above; its package is imported here and not before."""
    if code in _PAPER:
        return _build_paper(code)
    family = "centralization" if code in _CENTRALIZATION else "today"
    room = "lincent.estimators" if family == "centralization" else "sklearn"
    table = _CENTRALIZATION if family == "centralization" else _TODAY
    title, module, name, settings, grid, note = table[code]
    kind = getattr(importlib.import_module(f"{room}.{module}"), name)
    points = tuple(ParameterGrid(grid)) if grid else ()
    return Method(code, title, family, kind(**settings), points, note=note)


def _build_paper(code: str) -> Method:
    from lincent.paper.baselines import StructuralMPM, paper_settings

    title, note = _PAPER[code]
    if code == "StructuralMPM":
        return Method(code, title, "paper", StructuralMPM(n_components=2), note=note)
    base = code.removesuffix("-untied")
    settings = paper_settings(base)
    assert not isinstance(settings, dict)
    grid = tuple(ParameterGrid(settings.grid)) if settings.grid else ()
    if base in TWINS and base == code:
        grid = tuple(point for point in grid if _tied(code, point))
    elif base in TWINS:
        note = (
            "The paper lists four constants and one range; here c1 = c2 and c3 = c4 take their "
            f"values independently, {len(grid)} points."
        )
    scoring = settings.scoring if code == "DEL" else None
    return Method(code, title, "paper", settings.estimator, grid, scoring, note)


def _tied(code: str, point: dict[str, float]) -> bool:
    """Whether the cost and the ridge of a twin machine have one value of the paper's."""
    cost = 1 / point["c1"] if code == "WSV" else point["c1"]  # its program divides by c1
    return math.isclose(cost, point["c3"])


# Finding and adding.


def list_methods() -> list[str]:
    """List the codes of all methods.

    Returns
    -------
    list of str
        The codes.

    Examples
    --------
    >>> from lincent.paper.study import list_methods
    >>> "LCC" in list_methods()
    True
    """
    return [*_CODES, *_EXTRA]


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
        The method, known by its code from now on.
    """
    if code in _CODES:
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

    Parameters
    ----------
    method : object
        A code, a title, a method or a classifier.

    Returns
    -------
    Method
        The method.

    Examples
    --------
    >>> from lincent.paper.study import find_method
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
        return _EXTRA[code] if code in _EXTRA else _build(code)
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
