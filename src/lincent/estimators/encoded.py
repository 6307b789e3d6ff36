"""What models that encode their rows say of rows, wherever these are.

Rows on a device that are numbers without gaps are encoded already, and stay there.  Where the model
knows categories, or a number is missing, they come here a part at a time, as sparse ones do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.validation import check_device_rows, refuse_namespace
from lincent.features.transformer import by_blocks
from lincent.sources.batches import BATCH_ROWS
from lincent.sources.source import Kind, kind_of, open_source
from lincent.tables.encoder import named_columns

Answer = Callable[[Any], Any]
"""From encoded rows to one row of numbers for each, in the same place."""


def of_encoded_rows(model: Any, answer: Answer, X: Any) -> np.ndarray:
    """The answers for all rows of X, here."""
    check_is_fitted(model)
    refuse_namespace(model, X)

    def here(rows: Any) -> np.ndarray:
        table = named_columns(model, rows, model.encoder_.categorical, reset=False)
        return by_blocks(answer, model.encoder_.encode(table))

    if kind_of(X) not in (Kind.DEVICE, Kind.SPARSE) or X.ndim != 2 or not X.shape[0]:
        return here(X)
    if kind_of(X) is Kind.DEVICE and model.encoder_.plain:
        found = _there(model, answer, X)
        if found is not None:
            return found
    X = X.tocsr() if kind_of(X) is Kind.SPARSE else X
    parts = (slice(k, k + BATCH_ROWS) for k in range(0, X.shape[0], BATCH_ROWS))
    return np.concatenate([here(open_source(X[part]).array()) for part in parts])


def _there(model: Any, answer: Answer, X: Any) -> np.ndarray | None:
    """The answers for rows on a device, or None where some numbers are missing."""
    from lincent.sources.array_namespace import DeviceNamespace
    from lincent.sources.device import not_finite, parts_of

    X = check_device_rows(model, X, reset=False, finite=False)
    if not_finite(X) is not None:
        return None
    device, width = DeviceNamespace(X), X.shape[1] + _features(model)
    parts = parts_of((X.shape[0], width))
    return np.concatenate([device.fetch(answer(device.doubles(X[part]))) for part in parts])


def _features(model: Any) -> int:
    """How many features a row has, of which parts are made."""
    coef = getattr(model, "_coef", None)
    return len(model.coef_) if coef is None else sum(len(part) for part in coef.values())
