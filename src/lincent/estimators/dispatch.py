"""scikit-learn's ``array_api_dispatch``: what a fit keeps is in the array library of X.

Without dispatch a model holds NumPy arrays wherever X was, and loads anywhere.  With dispatch on,
an estimator with the tag ``array_api_support`` promises fitted arrays in the library of X and on
its device.  So a fit and an answer run as without dispatch, and only the ends differ: after ``fit``
the arrays of the model go to where X is; an answer is that of a copy of the model in NumPy, which
reads torch and CuPy arrays on their device.  Rows of other libraries are read as NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from lincent.sources.source import Kind, kind_of, namespace_of, package_of

FOLLOWED = "_arrays_followed"
"""The attribute of a model whose arrays are not NumPy's."""


def is_foreign(values: Any) -> bool:
    """Whether this is an array of another library than NumPy."""
    if isinstance(values, np.ndarray | np.generic):
        return False
    return kind_of(values) is Kind.DEVICE or hasattr(values, "__array_namespace__")


def in_numpy(values: Any) -> Any:
    """An array of any library in NumPy; all else as it is."""
    if not is_foreign(values):
        return values
    if kind_of(values) is Kind.DEVICE:
        return namespace_of(values).fetch(values)
    library = values.__array_namespace__()
    home = library.__array_namespace_info__().default_device()
    return np.asarray(library.asarray(values, device=home))


def refuse_namespace(estimator: Any, X: Any) -> None:
    """Say that scikit-learn must not dispatch to the array library of X, which is not NumPy."""
    if is_foreign(X) and kind_of(X) is not Kind.DEVICE and get_config()["array_api_dispatch"]:
        raise TypeError(
            f"{type(estimator).__name__} does not dispatch to the array library of X "
            f"({package_of(X)} {type(X).__name__}): convert X with np.asarray, or set "
            "array_api_dispatch=False. LCC takes torch and CuPy arrays as they are."
        )


def fit(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """``_fit_rows``, after which the arrays of the model are where X is."""
    supported = model.__sklearn_tags__().array_api_support
    if not supported:
        refuse_namespace(model, X)
    rows = X if kind_of(X) is Kind.DEVICE else in_numpy(X)
    given = (part if _together(part, rows) else in_numpy(part) for part in (y, sample_weight))
    with config_context(array_api_dispatch=False):
        model._fit_rows(rows, *given)
    vars(model).pop(FOLLOWED, None)
    if supported and is_foreign(X):
        parameters = model.get_params(deep=False)
        for name, value in vars(model).items():
            if name not in parameters and name != "classes_":
                setattr(model, name, _sent(value, X))
        setattr(model, FOLLOWED, True)
    return model


def answer(model: Any, method: Callable[..., Any], name: str, X: Any, *rest: Any) -> Any:
    """What a method says of rows in the library of X, which must be that of ``fit``."""
    kept = next((value for value in vars(model).values() if is_foreign(value)), None)
    if kept is not None and not _together(kept, X):
        raise ValueError(
            f"Inputs passed to {type(model).__name__}.{name}() must use the same namespace and the "
            f"same device as those passed to fit(): these were {_described(kept)}, and X is "
            f"{_described(X)}."
        )
    if not model.__sklearn_tags__().array_api_support:
        refuse_namespace(model, X)
    rows = X if kind_of(X) is Kind.DEVICE else in_numpy(X)
    with config_context(array_api_dispatch=False):
        found = method(numpy_copy(model), rows, *(in_numpy(part) for part in rest))
    return _sent(found, X) if rows is not X else found


def numpy_copy(model: Any) -> Any:
    """The model with all its arrays in NumPy."""
    other = copy(model)
    vars(other).pop(FOLLOWED, None)
    vars(other).update({name: in_numpy(value) for name, value in vars(other).items()})
    return other


def _sent(value: Any, X: Any) -> Any:
    """A NumPy array of numbers in the library of X and on its device; all else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        return value
    if kind_of(X) is Kind.DEVICE:
        return namespace_of(X).send(value)
    return X.__array_namespace__().asarray(value, device=X.device)


def _together(values: Any, X: Any) -> bool:
    same = type(values) is type(X)
    return same and getattr(values, "device", None) == getattr(X, "device", None)


def _described(values: Any) -> str:
    where = getattr(values, "device", None)
    kind = f"{package_of(values)} {type(values).__name__}"
    return kind if where is None else f"{kind} on {where}"
