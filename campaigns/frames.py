"""Frames of all kinds: the answers for a plain pandas frame, or one message.

A table of numbers, categories and missing values is given to `fit` as one kind of frame and to
`decision_function` as another.  Frames with a column of lists, complex or huge numbers, or masked
entries are right or refused.
"""

from __future__ import annotations

import warnings
from typing import Any

import narwhals
import numpy as np
import pandas as pd
import polars
import pyarrow as pa

from campaigns.outcome import Outcome
from lincent.estimators.registry import estimator_class

KINDS = (
    "pandas", "nullable", "arrow", "large_string", "dictionary", "string_view", "category",
    "polars", "lazy", "pyarrow", "narwhals", "narwhals lazy", "object",
)  # fmt: skip
ODD = ("list", "arrow list", "complex", "huge", "bytes", "dict", "dates", "decimal", "masked")
TABLE_MODELS = {"AdditiveLCC": {}, "AutoLCC": {"feature_maps": ["splines"], "cv": 2}}
NUMBER_MODELS = ("LCC", "RegularizedLCC", "LinearSVM", "KernelLCC")
LONGEST = 2000
"""Characters of a message: scikit-learn adds a paragraph about missing values."""


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    return check({"seed": int(rng.integers(2**31))})


def draw(rng: np.random.Generator, *, text: bool, missing: bool) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table and its classes."""
    y = np.arange(60) % 2
    columns: dict[str, Any] = {"x": rng.normal(size=60) + y, "count": rng.integers(0, 9, 60)}
    if text:
        words = np.array([("u", "v", "w"), ("10", "20", "007"), ("", "NA", "x")][rng.integers(3)])
        columns["word"] = words[(rng.integers(3, size=60) + y) % 3].astype(object)
        columns["flag"] = rng.random(60) < 0.3 + 0.4 * y
    if missing:
        columns["x"] = np.where(rng.random(60) < 0.2, np.nan, columns["x"])
        if text:
            columns["word"] = np.where(rng.random(60) < 0.2, None, columns["word"])
    return pd.DataFrame(columns), y


def converted(frame: pd.DataFrame, kind: str) -> Any:
    """Return a frame of another kind with the same cells."""
    if kind in ("large_string", "dictionary", "string_view"):
        types = {
            "large_string": pa.large_string(),
            "dictionary": pa.dictionary(pa.int32(), pa.string()),
            "string_view": pa.string_view(),
        }
        made = frame.copy()
        for name in frame.select_dtypes(["object", "str"]):
            cells = [None if pd.isna(cell) else cell for cell in frame[name]]
            words = pa.array(cells, pa.string())
            made[name] = pd.array(words.cast(types[kind]), dtype=pd.ArrowDtype(types[kind]))
        return made
    table = pa.Table.from_pandas(frame, preserve_index=False)
    ways: dict[str, Any] = {
        "pandas": lambda: frame,
        "nullable": frame.convert_dtypes,
        "arrow": lambda: frame.convert_dtypes(dtype_backend="pyarrow"),
        "category": lambda: frame.astype(
            dict.fromkeys(frame.select_dtypes(["object", "str"]), "category")
        ),
        "object": lambda: frame.astype(object),
        "pyarrow": lambda: table,
        "polars": lambda: polars.from_arrow(table),
        "lazy": lambda: polars.DataFrame(polars.from_arrow(table)).lazy(),
        "narwhals": lambda: narwhals.from_native(polars.from_arrow(table)),
        "narwhals lazy": lambda: narwhals.from_native(
            polars.DataFrame(polars.from_arrow(table)).lazy()
        ),
    }
    return ways[kind]()


def odd(frame: pd.DataFrame, kind: str) -> Any:
    """Return a frame with a column that is neither numbers nor text, or a masked array."""
    n = len(frame)
    if kind == "masked":
        values = frame[["x", "count"]].to_numpy(dtype=float)
        return np.ma.masked_array(values, mask=np.arange(2 * n).reshape(n, 2) % 7 == 0)
    days = pd.date_range("2024-01-01", periods=n)
    cells: dict[str, Any] = {
        "list": [[1, 2]] * n,
        "arrow list": lambda: pd.array([[1, 2]] * n, dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        "complex": frame["x"].to_numpy() + 1j,
        "huge": [10 ** (400 if k == 3 else 30) for k in range(n)],
        "bytes": [b"a", b"b"] * (n // 2),
        "dict": [{"a": 1}] * n,
        "dates": days,
        "decimal": lambda: pd.array([1, 2] * (n // 2), dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
    }
    values = cells[kind]() if callable(cells[kind]) else cells[kind]
    return frame.assign(odd=values)


def check(instance: dict[str, Any]) -> Outcome:
    rng = np.random.default_rng(instance["seed"])
    tables = rng.random() < 0.5
    name = str(rng.choice([*TABLE_MODELS] if tables else NUMBER_MODELS))
    model = estimator_class(name)(**TABLE_MODELS.get(name, {}))
    frame, y = draw(rng, text=tables, missing=tables and rng.random() < 0.5)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if rng.random() < 0.3:
            column = str(rng.choice(ODD))
            kind, fault = _odd(model, odd(frame, column), y, column)
            fault = f"{name}, {column}: {fault}" if fault else ""
            return Outcome(kind, fault, instance if fault else {})
        first, second = (str(rng.choice(KINDS)) for _ in range(2))
        expected = model.fit(frame, y).decision_function(frame)
        try:
            model.fit(converted(frame, first), y)
            scores = model.decision_function(converted(frame, second))
            off = float(np.abs(scores - expected).max() / np.abs(expected).max())
            fault = f"differs by {off:.1e}" if not off <= 1e-9 else ""
        except Exception as error:
            fault = f"{type(error).__name__}: {str(error)[:200]}"
    fault = f"{name} fitted to {first}, given {second}: {fault}" if fault else ""
    return Outcome("equal", fault, instance if fault else {})


def _odd(model: Any, frame: Any, y: np.ndarray, column: str) -> tuple[str, str]:
    """Return how a fit to a frame with an odd column ends: right, with a warning, or refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scores = model.fit(frame, y).decision_function(frame)
        except (ValueError, TypeError) as error:
            fine = 0 < len(str(error)) < LONGEST and "\n0 " not in str(error)  # no printed frame
            return "refused", "" if fine else f"{type(error).__name__}: {str(error)[:200]}"
        except Exception as error:
            return "broken", f"{type(error).__name__}: {str(error)[:200]}"
    if column == "masked":
        same = model.fit(frame.filled(np.nan), y).decision_function(frame.filled(np.nan))
        return "read", "" if np.array_equal(scores, same) else "a mask is ignored"
    warned = any("'odd'" in str(warning.message) for warning in caught)
    if column != "decimal" and not warned:
        return "read", "used without a warning"
    return "read with a warning" if warned else "read", ""
