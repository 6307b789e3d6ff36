"""Methods that answer in the kind of array they are asked with.

``@where_rows_live`` goes on the public methods that take rows.  NumPy, sparse and data frames pass
through.  A Dask collection gives a lazy Dask array whose blocks are made by the same method; the
shape of a block's answer is found by asking for one row of zeros.  A torch or CuPy array gives one
on the same device; labels that are not numbers stay NumPy's.  ``score`` is scikit-learn's, also for
labels on a device.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from lincent.estimators import dispatch
from lincent.estimators.validation import check_batch_columns, check_dask_columns
from lincent.sources.source import Kind, kind_of

Method = Callable[..., Any]


def where_rows_live(method: Method) -> Method:
    """The method, for rows in this process, in Dask blocks or on a device."""

    @wraps(method)
    def answer(self: Any, X: Any, *rest: Any) -> Any:
        if get_config()["array_api_dispatch"]:
            return dispatch.answer(self, answer, method.__name__, X, *rest)
        if dispatch.FOLLOWED in vars(self):
            self = dispatch.numpy_copy(self)
        kind = kind_of(X)
        if kind is Kind.DASK:
            return _lazy(self, method, X, *rest)
        if kind is Kind.BATCHES:
            return _batch_by_batch(self, method, X, *rest)
        if kind is Kind.DEVICE:
            return _sent_back(method(self, X, *rest), X)
        return method(self, X, *rest)

    return answer


def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """The share of rows whose class is predicted.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The accuracy.
    """
    from sklearn.metrics import accuracy_score

    found = (dispatch.in_numpy(values) for values in (y, self.predict(X), sample_weight))
    labels, predicted, weight = found
    return float(accuracy_score(labels, predicted, sample_weight=weight))


def _batch_by_batch(model: Any, method: Method, X: Any, *rest: Any) -> np.ndarray:
    """The answers for each batch, one after the other, as one array."""
    check_is_fitted(model)
    check_batch_columns(model, X, reset=False)
    answers = []
    for rows, labels, _ in X.start():
        given = [labels if one is X.target else one for one in rest]
        with warnings.catch_warnings():
            # The names were compared above; a batch is an array without names.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            answers.append(np.asarray(method(model, rows, *given)))
    return np.concatenate(answers)


def _sent_back(values: Any, X: Any) -> Any:
    from lincent.sources.array_namespace import DeviceNamespace

    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
        return values
    return DeviceNamespace(X).send(values)


def _lazy(model: Any, method: Method, X: Any, *rest: Any) -> Any:
    """A lazy block of answers for each block of rows (and of labels, if the method takes them)."""
    check_is_fitted(model)
    check_dask_columns(model, X, reset=False)
    named = hasattr(X, "columns")
    row = np.zeros((1, model.n_features_in_), dtype=np.float64 if named else X.dtype)
    example = X._meta_nonempty.iloc[:1] if named else row
    one = np.asarray(method(model, example, *(model.classes_[:1] for _ in rest)))
    make = partial(_block, model, method.__name__, one[:0])
    blocks = _of_partitions if named else _of_chunks
    return blocks(make, f"lincent-{method.__name__}", one, X, *rest)


def _of_chunks(make: Method, name: str, one: np.ndarray, X: Any, *rest: Any) -> Any:
    import dask.array as da

    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    labels = [
        y if kind_of(y) is Kind.DASK else da.from_array(np.asarray(y), chunks=X.chunks[0])
        for y in rest
    ]
    axes = "ikl"[: one.ndim]
    return da.blockwise(
        make,
        axes,
        *(X, "ij"),
        *(argument for y in labels for argument in (y, "i")),
        new_axes=dict(zip(axes[1:], one.shape[1:], strict=True)),
        concatenate=True,
        align_arrays=not np.isnan(X.chunks[0]).any(),
        dtype=one.dtype,
        meta=one[:0],
        token=name,
    )


def _of_partitions(make: Method, name: str, one: np.ndarray, X: Any, *rest: Any) -> Any:
    import dask.array as da
    from dask import delayed

    from lincent.sources.dask.table import pieces, row_blocks

    rows = row_blocks(X)
    call = delayed(make, pure=False)
    blocks = [
        da.from_delayed(
            call(*parts, dask_key_name=f"{name}-{uuid.uuid4().hex}"),
            shape=(np.nan, *one.shape[1:]),
            dtype=one.dtype,
        )
        for parts in zip(rows, *(pieces("y", y, len(rows), None) for y in rest), strict=True)
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _block(model: Any, name: str, nothing: np.ndarray, rows: Any, *rest: Any) -> np.ndarray:
    if rows.shape[0] == 0:
        return nothing
    return np.asarray(getattr(model, name)(rows, *rest))
