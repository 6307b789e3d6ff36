"""The methods of an experiment by name: this package's, the paper's, and scikit-learn's.

A method is an unfitted estimator, the grid of its tuning, and a description; the built-in ones are
listed in ``methods.toml`` and imported when they are asked for. The paper's methods have the
settings that reproduce its numbers, which were found by comparison with them:

    LDA   covariance shrunk half-way to its diagonal, class frequencies as priors
    SVM   lambda = 1 is the cost C = 1 of the usual form, not the printed formula
    DLS   one nearest neighbor among the regressions, where the published program stops
    SMP   one component per class
    TSV   all four constants 0.1, distances divided by |w|
    WSV   the program divides by c1 = 0.1, so c1 = c2 = 10
    DEL   the nuclear norm is inert in the program, so 0; each column scored by its sign

A user's own method takes part as an estimator object, as a `Method` where it has a grid, or on the
command line as ``package.module:Class``.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import ParameterGrid

from lincent._errors import nearest
from lincent._files import read_toml
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

    def describe(self) -> dict[str, Any]:
        """Return what a report shows of the method.

        Returns
        -------
        dict
            Names, settings, number of grid values and note, as plain values.
        """
        data = {name: getattr(self, name) for name in ("code", "title", "family", "note")}
        return data | {"settings": describe_estimator(self.estimator), "grid": len(self.grid)}


def describe_estimator(estimator: BaseEstimator) -> str:
    """Return the class and the non-default parameters of an estimator as JSON."""
    try:
        default = type(estimator)().get_params(deep=False)
    except TypeError:  # a parameter without a default
        default = {}
    params = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in default or repr(default[name]) != repr(value)
    }
    path = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    return json.dumps({"class": path, "params": params}, sort_keys=True, default=repr)


BINARY_ONLY = ("sk-LDA-bal",)
"""Methods whose settings are for two classes."""
FIFTEENTHS = [k / 15 for k in range(1, 16)]
POWERS_OF_TEN = [10.0 ** (k / 15) for k in range(-30, 27, 4)]
GRIDS: dict[str, Any] = {
    "margins": {"margin": [2.0**k for k in range(-7, 8)]},
    "costs": {"C": POWERS_OF_TEN},
    "shrinkages": {"shrinkage": FIFTEENTHS},
    "ridges": {"ridge": FIFTEENTHS},
    "TSV": [{name: [cost] for name in ("c1", "c2", "c3", "c4")} for cost in POWERS_OF_TEN],
    # WSV divides by the cost.
    "WSV": [
        {"c1": [1 / cost], "c2": [1 / cost], "c3": [cost], "c4": [cost]} for cost in POWERS_OF_TEN
    ],
}
"""The fifteen values of the paper's second procedure."""
_DATA = read_toml("lincent.model_selection", "methods.toml")
_BUILT_IN = {code: family for family, methods in _DATA.items() for code in methods}


def _build(code: str) -> Method:
    """Make a built-in method."""
    family = _BUILT_IN[code]
    data = _DATA[family][code]
    try:
        estimator = _find_class(data["class"])(**data.get("params", {}))
    except ImportError as error:
        if "install" not in data:
            raise
        raise ImportError(f"is not installed: pip install {data['install']}") from error
    grid, note = data.get("grid", {}), data.get("note", "")
    if grid == "margins":
        note = "A margin beyond the largest feasible one has no solution: a marked run, not chosen."
    grid = GRIDS[grid] if isinstance(grid, str) else grid
    scoring = _find_class(data["scoring"]) if "scoring" in data else None
    candidates = tuple(ParameterGrid(grid)) if grid else ()
    return Method(code, data["title"], family, estimator, candidates, scoring, note)


def _find_class(path: str) -> Any:
    """Import ``module:name``, or an estimator of lincent by its name."""
    module, _, name = path.rpartition(":")
    return getattr(importlib.import_module(module), name) if module else estimator_class(name)


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
    return list(_BUILT_IN)


def _own_method(estimator: Any, code: str = "") -> Method:
    """Make a method of a user's estimator."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"A method is an estimator object such as LCC(), got {estimator!r}.")
    if not is_classifier(estimator):
        raise TypeError(f"{type(estimator).__name__} is not a classifier.")
    name = type(estimator).__name__
    return Method(code or name, name, "own", estimator)


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
        return _build(code)
    if ":" in method:
        try:
            value = _find_class(method)
            estimator = value() if isinstance(value, type) else value
            return _own_method(estimator, method.rpartition(":")[2])
        except (ImportError, AttributeError, TypeError) as error:
            raise ValueError(f"The method {method!r} cannot be made: {error}.") from error
    hint = nearest(method, list_methods(), "names", len(codes))
    raise ValueError(f"Unknown method {method!r}: {hint}")
