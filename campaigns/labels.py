"""Labels that look alike, in every container: as many classes as there are different labels.

A model that is fitted to the labels and one that is fitted to their codes predict the same; the
classes survive a model file.  Labels that cannot be classes are refused with a message.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from campaigns.outcome import Outcome
from lincent.estimators.registry import estimator_class

TEXTS = (
    ("01", "1"), ("1", "1.0", "1e0"), ("a", "A"), ("a", "a "), ("\u00e4", "a\u0308"), ("x", "x\0"),
    ("x y", "x\u00a0y"), ("nan", "NaN"), ("", " "), ("True", "true"), ("\u0131", "i"),
    ("Q" * 900, "Q" * 899), ("no", "n\u043e"), ("0", "-0"), ("None", "none"), ("\u212b", "\u00c5"),
)  # fmt: skip
NUMBERS: tuple[tuple[Any, ...], ...] = (
    (2**53, 2**53 + 1), (-1, 1), (0, 255, 256), (True, False), (0.5, 0.25), (1.0, 1.0 + 2**-52),
    (-(2**63), 2**63 - 1), (0, 2**64 - 1), (1e300, 1e-300), (2**70, 2**70 + 1), (1, "1"),
)  # fmt: skip
NAMES = ("LCC", "RegularizedLCC", "AdditiveLCC", "KernelLCC", "FQCC", "RegularizedLDA", "TwinSVC")
CONTAINERS = ("list", "array", "object", "series", "category", "string", "arrow", "polars")


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check({"seed": int(rng.integers(2**31))})


def contained(labels: list[Any], kind: str) -> Any:
    """Return labels in a container; it may not hold them, which is an error of its own."""
    if kind == "list":
        return labels
    if kind == "array":
        return np.array(labels)
    if kind == "object":
        return np.array(labels, dtype=object)
    if kind == "series":
        return pd.Series(labels)
    if kind == "category":
        return pd.Series(labels, dtype="category")
    if kind == "string":
        return pd.Series(labels, dtype="string")
    if kind == "arrow":
        import pyarrow as pa

        return pd.Series(pd.array(pa.array(labels), dtype=pd.ArrowDtype(pa.array(labels).type)))
    import polars

    return polars.Series(labels)


def check(instance: dict[str, Any]) -> Outcome:
    rng = np.random.default_rng(instance["seed"])
    texts = rng.random() < 0.7
    choices: Any = TEXTS if texts else NUMBERS
    names = list(choices[rng.integers(len(choices))])
    if texts and rng.random() < 0.3:
        names += [name for name in choices[rng.integers(len(choices))] if name not in names]
    codes = rng.permutation(np.arange(20 * len(names)) % len(names))
    X = rng.normal(size=(len(codes), 3))
    X[:, 0] += codes
    kind, name = str(rng.choice(CONTAINERS)), str(rng.choice(NAMES))
    settings = {"n_components": 8} if name == "KernelLCC" else {}
    try:
        given = contained([names[code] for code in codes], kind)
    except Exception:  # of the container
        return Outcome("not contained", checks=0)
    held = list(given)  # NumPy drops NUL at the end of text, and makes one type of several
    held = [value.item() if isinstance(value, np.generic) else value for value in held]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = estimator_class(name)(**settings).fit(X, given)
        except Exception as error:
            # polars has its own errors, for integers of 128 bits that NumPy does not have.
            if not isinstance(error, ValueError | TypeError) and kind != "polars":
                raise
            short = 0 < len(str(error)) < 2000
            fault = "" if short else f"{name}, {kind}: {type(error).__name__} of {len(str(error))}"
            return Outcome("refused", fault, instance if fault else {})
        fault = _fault(model, X, held, settings)
    fault = f"{name}, {kind}, {names!r:.80}: {fault}" if fault else ""
    return Outcome("fitted", fault, instance if fault else {})


def _fault(model: Any, X: np.ndarray, held: list[Any], settings: dict[str, Any]) -> str:
    classes = model.classes_.tolist()
    if len(classes) != len({*held}):
        return f"{len(classes)} classes of {len({*held})} labels"
    if any(label not in classes for label in held):
        return "a label is no class"
    codes = np.array([classes.index(label) for label in held])
    other = type(model)(**settings).fit(X, codes)
    predicted = model.predict(X).tolist()
    if predicted != [classes[code] for code in other.predict(X)]:
        return "other predictions than of the codes"
    right = np.mean([a == b for a, b in zip(predicted, held, strict=True)])
    return "" if abs(model.score(X, model.classes_[codes]) - right) < 1e-12 else "another score"
