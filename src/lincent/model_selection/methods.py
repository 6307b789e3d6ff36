"""The methods of an experiment by name: this package's, the paper's, and scikit-learn's.

A method is an unfitted estimator, the grid of its tuning, and a description. The paper's methods
have the settings that reproduce its numbers (`lincent.paper.baselines.paper_settings`). Estimators
are imported when they are asked for. A user's own method takes part by `register_method`, as an
estimator object, or on the command line as ``package.module:Class``.
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

from lincent.estimators.registry import estimator_class


@dataclass(frozen=True)
class Method:
    """One method of an experiment.

    Parameters
    ----------
    code, title : str
        Short name for tables, full name for people.
    family : {"centralization", "paper", "modern", "own"}
        Where the method is from.
    estimator : classifier
        Not fitted.
    grid : tuple of dict, default=()
        The hyperparameter candidates of tuning; empty: nothing to tune.
    paper_scoring : callable, default=None
        ``paper_scoring(model, X, y)`` where the paper scores this method in its own way.
    note : str, default=''
        A setting or an interpretation that a reader of the report should know.
    """

    code: str
    title: str
    family: str
    estimator: BaseEstimator
    grid: tuple[dict[str, Any], ...] = ()
    paper_scoring: Any = field(default=None, compare=False)
    note: str = ""


TWINS = ("TSV", "WSV")
COSTS = {"C": [10.0 ** (k / 15) for k in range(-30, 27, 4)]}
MARGINS = {"margin": [2.0**k for k in range(-7, 8)]}
"""The fifteen values of the paper's second procedure."""
_INFEASIBLE = (
    "Margins beyond the largest feasible one have no solution; such a grid value is a marked run "
    "and is not chosen."
)
_INSIDE = "Chooses its parameters by cross-validation inside the training part."
_LDA: dict[str, Any] = {"solver": "lsqr", "shrinkage": "auto"}

# code: title, class, parameters, grid, note
_CENTRALIZATION: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], str]] = {
    "LCC": ("Linear centralization, nearer center", "LCC", {}, MARGINS, _INFEASIBLE),
    "LCC-1NN": (
        "Linear centralization, nearest neighbor on the line",
        "LCC", {"discriminator": "nearest"}, MARGINS, _INFEASIBLE,
    ),
    "LCC-1SV": (
        "Linear centralization, SVM on the line",
        "LCC", {"discriminator": "svm"}, MARGINS, _INFEASIBLE,
    ),
    "FQCC": ("Quadratic centralization", "FQCC", {}, MARGINS, _INFEASIBLE),
    "KernelLCC": (
        "Kernel centralization, RBF",
        "KernelLCC", {}, {"gamma": [2.0**k for k in range(-4, 5, 2)]}, "",
    ),
    "AutoLCC": ("Automatic model selection", "AutoLCC", {}, {}, _INSIDE),
    "RegularizedLCC": ("Regularized centralization", "RegularizedLCC", {}, COSTS, ""),
    "RegularizedLCCCV": (
        "Regularized centralization, tuned inside", "RegularizedLCCCV", {}, {}, _INSIDE
    ),
    "StructuredLCC": ("Structured centralization", "StructuredLCC", {}, {}, ""),
    "StructuredLCCCV": (
        "Structured centralization, tuned inside", "StructuredLCCCV", {}, {}, _INSIDE
    ),
}  # fmt: skip
_MODERN: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "LogReg": (
        "Logistic regression", "linear_model:LogisticRegression", {"max_iter": 2000}, COSTS
    ),
    "LogReg-bal": (
        "Logistic regression, balanced classes", "linear_model:LogisticRegression",
        {"class_weight": "balanced", "max_iter": 2000}, COSTS,
    ),
    "LinearSVC": ("Linear SVM of scikit-learn", "svm:LinearSVC", {"max_iter": 20_000}, COSTS),
    "LinearSVC-bal": (
        "Linear SVM of scikit-learn, balanced classes", "svm:LinearSVC",
        {"class_weight": "balanced", "max_iter": 20_000}, COSTS,
    ),
    "sk-LDA": (
        "Discriminant analysis, priors as found",
        "discriminant_analysis:LinearDiscriminantAnalysis", _LDA, {},
    ),
    "sk-LDA-bal": (
        "Discriminant analysis, equal priors",
        "discriminant_analysis:LinearDiscriminantAnalysis", _LDA | {"priors": [0.5, 0.5]}, {},
    ),
    "SVC-RBF": (
        "Support vector machine, RBF kernel", "svm:SVC", {}, {"C": [0.1, 1.0, 10.0, 100.0]}
    ),
    "HistGB": (
        "Gradient boosting by histograms",
        "ensemble:HistGradientBoostingClassifier", {}, {"max_leaf_nodes": [7, 15, 31]},
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
        "SMP as the paper describes it; its numbers are those of one component.",
    ),
}
BINARY_ONLY = ("sk-LDA-bal",)
"""Methods whose settings are for two classes."""
_BUILT_IN = (*_CENTRALIZATION, *_PAPER, *_MODERN)
_REGISTERED: dict[str, Method] = {}


def _build(code: str) -> Method:
    """Make a built-in method."""
    if code in _CENTRALIZATION:
        title, name, params, grid, note = _CENTRALIZATION[code]
        estimator = estimator_class(name)(**params)
        candidates = tuple(ParameterGrid(grid)) if grid else ()
        return Method(code, title, "centralization", estimator, candidates, note=note)
    if code in _MODERN:
        title, path, params, grid = _MODERN[code]
        module, _, name = path.partition(":")
        estimator = getattr(importlib.import_module(f"sklearn.{module}"), name)(**params)
        return Method(code, title, "modern", estimator, tuple(ParameterGrid(grid)) if grid else ())
    title, note = _PAPER[code]
    if code == "StructuralMPM":
        estimator = estimator_class("StructuralMPM")(n_components=2)
        return Method(code, title, "paper", estimator, note=note)
    base = code.removesuffix("-untied")
    settings = importlib.import_module("lincent.paper.baselines").paper_settings(base)
    candidates = tuple(ParameterGrid(settings.grid)) if settings.grid else ()
    if code in TWINS:  # cost and ridge have one value; the program of WSV divides by c1
        candidates = tuple(
            point
            for point in candidates
            if math.isclose(1 / point["c1"] if code == "WSV" else point["c1"], point["c3"])
        )
    elif base in TWINS:
        note = (
            "The paper lists four constants and one range; here c1 = c2 and c3 = c4 take their "
            f"values independently, {len(candidates)} points."
        )
    scoring = settings.scoring if code == "DEL" else None
    return Method(code, title, "paper", settings.estimator, candidates, scoring, note)


def list_methods() -> list[str]:
    """List the codes of all methods.

    Returns
    -------
    list of str
        The codes.

    Examples
    --------
    >>> from lincent.model_selection import list_methods
    >>> "LCC" in list_methods()
    True
    """
    return [*_BUILT_IN, *_REGISTERED]


def register_method(
    code: str, estimator: BaseEstimator, *, grid: Iterable[dict[str, Any]] = (), title: str = ""
) -> Method:
    """Add a method of one's own under a name.

    Parameters
    ----------
    code : str
        Name in tables; must not be taken.
    estimator : classifier
        Not fitted; it receives standardized features.
    grid : iterable of dict
        The hyperparameter candidates of tuning.
    title : str
        Full name; the class name if empty.

    Returns
    -------
    Method
        The method, found by its code from now on.
    """
    if code in _BUILT_IN:
        raise ValueError(f"The method name {code!r} is taken; choose another one.")
    _REGISTERED[code] = _own_method(estimator, code, tuple(grid), title)
    return _REGISTERED[code]


def _own_method(
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
        A code of `list_methods`, a path ``package.module:Class``, a classifier, a pair or a method.

    Returns
    -------
    Method
        The method.

    Examples
    --------
    >>> from lincent.model_selection import find_method
    >>> find_method("LCC").title
    'Linear centralization, nearer center'
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, tuple) and len(method) == 2:
        return _own_method(method[1], str(method[0]))
    if not isinstance(method, str):
        return _own_method(method)
    codes = {code.lower(): code for code in list_methods()}
    code = codes.get(method.strip().lower())
    if code is not None:
        return _REGISTERED[code] if code in _REGISTERED else _build(code)
    if ":" in method:
        module, _, name = method.partition(":")
        try:
            value = getattr(importlib.import_module(module), name)
            return _own_method(value() if isinstance(value, type) else value, name)
        except (ImportError, AttributeError, TypeError) as error:
            raise ValueError(f"The method {method!r} cannot be made: {error}.") from error
    close = difflib.get_close_matches(method.lower(), codes, 3, 0.5)
    hint = f"the names are {', '.join(list_methods())}."
    if close:
        hint = f"did you mean {' or '.join(codes[name] for name in close)}?"
    raise ValueError(f"Unknown method {method!r}: {hint}")
