"""Encode a table with missing values and categorical columns as numbers.

A missing number becomes the median of its column, which gains an indicator where at least one
percent of the training values are missing.  A categorical column is one-hot encoded: one indicator
for each of its most frequent categories (a missing value is a category); other categories, rare or
unknown in training, have all indicators zero.  Which columns are categorical follows from the frame
(text, categorical) or from ``categorical_features``, as in HistGradientBoostingClassifier.

The package has no other encoder: estimators that take frames use it, and so do the pipelines of
``lincent fit``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from lincent.sources.source import in_memory, package_of
from lincent.tables.weighted import check_magnitude, check_weights, mean_and_deviation, median

MOST_CATEGORIES = 30  # the indicators of further categories are all zero
LEAST_MISSING = 0.01  # fraction of missing numbers from which on there is an indicator
MISSING = "(missing)"
REMEDY = (
    "fill, encode or leave out these cells, or give a data frame to AutoLCC or AdditiveLCC, which "
    "take missing values and categories"
)


@dataclass(frozen=True)
class EncodedColumn:
    """The encoding of one column: its categories, or None and the value for missing numbers."""

    name: str
    categories: tuple[str, ...] | None
    fill: float
    indicator: bool

    @property
    def names(self) -> list[str]:
        """The names of the encoded columns."""
        if self.categories is not None:
            return [f"{self.name}={category}" for category in self.categories]
        return [self.name, f"{self.name} missing"] if self.indicator else [self.name]


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode a table with missing values and categorical columns as numbers.

    A missing number becomes the median of its column; where at least one percent of the training
    rows has none, the column gains a missing indicator.  A column of text or categories becomes one
    indicator for each of its 30 most frequent categories, a missing one among them; for any other
    category all of these are 0.

    Parameters
    ----------
    scale : bool, default=True
        Standardize the columns of numbers; indicators stay 0 and 1.
    categorical_features : array-like of bool, int or str, default=None
        Further columns to read as categories, beside text and categorical columns of a frame.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        The encoding of each column of the table.
    missing_ : str
        The token for a missing category; no category of training equals it.
    center_, scale_ : ndarray of shape (n_features_out,)
        The mean that is subtracted from each encoded column, and the divisor.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    See Also
    --------
    lincent.AutoLCC : Encodes tables itself, in the same way.

    Examples
    --------
    >>> import pandas as pd
    >>> from lincent.features import TableEncoder
    >>> table = pd.DataFrame({"age": [30.0, None, 50.0], "city": ["Rome", "Oslo", "Rome"]})
    >>> encoder = TableEncoder(scale=False).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age missing', 'city=Oslo', 'city=Rome']
    >>> encoder.transform(table).tolist()
    [[30.0, 0.0, 0.0, 1.0], [30.0, 1.0, 1.0, 0.0], [50.0, 0.0, 0.0, 1.0]]
    """

    scale: bool = True
    _: KW_ONLY
    categorical_features: Any = None

    _parameter_constraints = {
        "scale": ["boolean"],
        "categorical_features": ["array-like", Integral, str, None],
    }

    @classmethod
    def for_numbers(cls, names: Iterable[Any]) -> TableEncoder:
        """Return a fitted encoder for columns of numbers without missing values.

        Parameters
        ----------
        names : iterable of str
            The names of the columns.

        Returns
        -------
        TableEncoder
            The encoder, which leaves all numbers unchanged.
        """
        encoder = cls(scale=False)
        encoder.columns_ = [EncodedColumn(str(name), None, 0.0, False) for name in names]
        encoder.missing_ = MISSING
        return encoder

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TableEncoder:
        """Learn categories, medians and scales.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Missing values and, in a frame, text and categories are accepted.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        self
            The fitted encoder.
        """
        self.fit_transform(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn categories, medians and scales, and return the encoded rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Missing values and, in a frame, text and categories are accepted.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; any nonnegative numbers.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The encoded rows.
        """
        self._validate_params()
        table = named_columns(self, X, self.categorical_features, reset=True)
        weight = check_weights(sample_weight, table.shape[0])
        Z = self.fit_columns(table, weight)
        if not self.scale:
            self.set_scale(np.zeros(Z.shape[1]), np.ones(Z.shape[1]))
            return Z
        self.set_scale(*mean_and_deviation(Z, weight))
        return np.asarray((Z - self.center_) / self.scale_)

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The encoded rows.
        """
        check_is_fitted(self)
        Z = self.encode(named_columns(self, X, self.categorical, reset=False))
        return np.asarray((Z - self.center_) / self.scale_) if self.scale else Z

    def set_scale(self, mean: np.ndarray, deviation: np.ndarray) -> None:
        """Set mean and standard deviation of the encoded columns; indicators are not scaled.

        Parameters
        ----------
        mean, deviation : ndarray of shape (n_features_out,)
            As ``fit`` computes them; for a table out of core they are accumulated over its batches.
        """
        indicators = np.array(self.indicators)
        self.center_ = np.where(indicators, 0.0, mean)
        self.scale_ = np.where(indicators, 1.0, deviation)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the encoded columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where ``fit`` has not seen any.

        Returns
        -------
        ndarray of str
            One name per encoded column.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.asarray(self.renamed(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # Encoding without scaling, for estimators that take tables.

    def fit_columns(self, table: NamedColumns, weight: np.ndarray) -> np.ndarray:
        """Learn the encoding of each column and return the encoded rows, in one pass.

        Parameters
        ----------
        table : NamedColumns
            The columns of the training rows.
        weight : ndarray of shape (n_samples,)
            How often each row counts.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The encoded rows, not scaled.
        """
        columns = table.read()
        counted = weight > 0
        texts = (column[counted] for column in columns if column.dtype == object)
        words = {word for column in texts for word in column}
        self.missing_ = MISSING
        while self.missing_ in words:
            self.missing_ += "'"
        self.columns_ = []
        for name, column, categorical in zip(table.names, columns, table.categorical, strict=True):
            if categorical:
                cells = [self.missing_ if word is None else word for word in column[counted]]
                distinct, code = np.unique(np.array(cells, dtype=object), return_inverse=True)
                count = np.bincount(code.reshape(-1), weights=weight[counted])
                kept = np.sort(np.argsort(-count, kind="stable")[:MOST_CATEGORIES])
                categories = tuple(str(category) for category in distinct[kept])
                self.columns_.append(EncodedColumn(name, categories, 0.0, False))
                continue
            missing, fill, indicator = np.isnan(column), 0.0, False
            present = counted & ~missing
            if np.any(present):
                least = LEAST_MISSING * weight.sum() * (1 - 1e-12)
                indicator = bool(missing.any() and weight[missing].sum() >= least)
                fill = median(column[present], weight[present])
            self.columns_.append(EncodedColumn(name, None, fill, indicator))
        Z = self.encode(table, columns)
        check_magnitude(Z, self.names)
        return Z

    def encode(self, table: NamedColumns, columns: list[np.ndarray] | None = None) -> np.ndarray:
        """Encode rows without scaling.

        Parameters
        ----------
        table : NamedColumns
            The columns of the rows.
        columns : list of ndarray, default=None
            The result of ``table.read()`` where it is available.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The rows as float64 without missing values.
        """
        if self.plain and table.matrix is not None and not np.isnan(table.matrix).any():
            return np.asarray(table.matrix, dtype=np.float64)
        if columns is None:  # read as training read them
            names = [column.name for column in self.columns_]
            columns = NamedColumns(table.frame, names, self.categorical).read()
        parts: list[np.ndarray] = []
        for encoding, column in zip(self.columns_, columns, strict=True):
            if encoding.categories is not None:
                # A value that equals the token for missing, but is there, is unknown.
                words = np.where(column == self.missing_, self.missing_ + "'", column)
                words[[word is None for word in words]] = self.missing_
                parts += [(words == category).astype(float) for category in encoding.categories]
                continue
            missing = np.isnan(column)
            parts.append(np.where(missing, encoding.fill, column))
            if encoding.indicator:
                parts.append(missing.astype(np.float64))
        return np.stack(parts, axis=1)

    @property
    def plain(self) -> bool:
        """Whether every column is encoded as one number."""
        return all(c.categories is None and not c.indicator for c in self.columns_)

    @property
    def categorical(self) -> list[bool]:
        """For each column of the table, whether it is categorical."""
        return [column.categories is not None for column in self.columns_]

    @property
    def sources(self) -> np.ndarray:
        """For each encoded column, the index of its column of the table."""
        return np.repeat(np.arange(len(self.columns_)), [len(c.names) for c in self.columns_])

    @property
    def names(self) -> list[str]:
        """The names of the encoded columns."""
        return [name for column in self.columns_ for name in column.names]

    @property
    def indicators(self) -> list[bool]:
        """For each encoded column, whether it is an indicator made by the encoder."""
        return [
            column.categories is not None or k > 0
            for column in self.columns_
            for k in range(len(column.names))
        ]

    def renamed(self, names: Any) -> list[str]:
        """Return the names of the encoded columns for other names of the columns.

        Parameters
        ----------
        names : iterable of str
            One name for each column of the table.

        Returns
        -------
        list of str
            One name for each encoded column.
        """
        pairs = zip(self.columns_, names, strict=True)
        return [name for column, given in pairs for name in replace(column, name=str(given)).names]


class NamedColumns:
    """The columns of X, with their names and whether they are categorical."""

    def __init__(self, X: Any, names: list[str], categorical: list[bool]) -> None:
        self.matrix = None if _is_frame(X) else X
        self.frame, self.names, self.categorical = X, names, categorical
        self.shape: tuple[int, int] = (int(X.shape[0]), len(names))

    def select(self, columns: np.ndarray) -> NamedColumns:
        """Return some of the columns, by their positions."""
        X = getattr(self.frame, "iloc", self.frame)[:, columns.tolist()]
        return NamedColumns(
            X, [self.names[j] for j in columns], [self.categorical[j] for j in columns]
        )

    def read(self) -> list[np.ndarray]:
        """Return numbers, NaN where missing, or text, None where missing, for each column."""
        if self.matrix is not None:
            arrays = list(self.matrix.T)
        else:
            arrays = [
                np.asarray(series.array.__arrow_array__().to_pylist(), dtype=object)
                if str(series.dtype).startswith(("string_view", "dictionary"))
                else series.to_numpy()
                for series in _series(self.frame)
            ]
        return [
            _read_words(array) if is_words else _read_numbers(array, name)
            for name, array, is_words in zip(self.names, arrays, self.categorical, strict=True)
        ]


@contextmanager
def one_number_per_cell() -> Iterator[None]:
    """Turn errors about cells of X that are no number into a short message with the remedy."""
    try:
        yield
    except (ValueError, OverflowError, np.exceptions.DTypePromotionError) as error:
        if "contains NaN" in str(error):  # scikit-learn names estimators of its own
            raise ValueError(f"Input X contains NaN: {REMEDY}.") from error
        if "could not convert" in str(error) or isinstance(error, TypeError):
            reason = str(error).split(". ")[0]
            raise ValueError(f"X has text or dates ({reason}): {REMEDY}.") from error
        if isinstance(error, OverflowError) or "with a sequence" in str(error):
            raise ValueError(
                "X has a cell with a list, or an integer beyond 1.8e308: give one number per cell."
            ) from error
        if str(error).startswith("Complex data"):  # scikit-learn adds the data
            raise ValueError("Complex data not supported: give real numbers.") from error
        raise


def named_columns(
    estimator: Any, X: Any, categorical_features: Any, *, reset: bool
) -> NamedColumns:
    """Validate X for an estimator and return its columns with their names.

    ``reset`` is true in ``fit``.
    """
    X = in_memory(X)
    if _is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if min(X.shape) == 0:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) "
                f"(shape={tuple(X.shape)}) while a minimum of 1 is required."
            )
        return frame_columns(X, categorical_features)
    types = [np.float64, np.float32]
    with one_number_per_cell():
        X = validate_data(estimator, X, reset=reset, dtype=types, ensure_all_finite="allow-nan")
    names = [f"x{j}" for j in range(X.shape[1])]
    by_type = [False] * len(names)
    return NamedColumns(X, names, select_categorical(categorical_features, names, by_type))


def frame_columns(X: Any, categorical_features: Any) -> NamedColumns:
    """Return the columns of a frame with their names."""
    names = [str(name) for name in X.columns]
    by_type = [_is_category(column) for column in _series(X)]
    return NamedColumns(X, names, select_categorical(categorical_features, names, by_type))


def _is_frame(X: Any) -> bool:
    return package_of(X) in ("pandas", "polars") and hasattr(X, "columns")


def _series(X: Any) -> list[Any]:
    """Return the columns of a frame; pandas iterates faster than it looks them up by name."""
    return X.get_columns() if package_of(X) == "polars" else [column for _, column in X.items()]


def _is_category(column: Any) -> bool:
    kind = str(column.dtype)
    if package_of(column) == "polars":
        return kind.startswith(("String", "Utf8", "Categorical", "Enum"))
    if kind == "object":
        return any(isinstance(value, str) for value in column)
    return kind.startswith(("category", "str", "large_string", "dictionary"))


def select_categorical(asked: Any, names: list[str], by_type: list[bool]) -> list[bool]:
    """Return which columns are categorical: by their type or by ``categorical_features``."""
    if asked is None:
        return by_type
    wanted = np.atleast_1d(np.asarray(asked))
    if wanted.dtype.kind == "b":
        chosen = set(np.flatnonzero(wanted).tolist()) if len(wanted) == len(names) else {-1}
    elif wanted.dtype.kind in "iu":
        chosen = set(wanted.tolist())
    else:
        chosen = {names.index(str(name)) if str(name) in names else -1 for name in wanted}
    if not chosen <= set(range(len(names))):
        raise ValueError(
            f"categorical_features={asked!r} names a column that X does not have: give numbers "
            f"from 0, names, or a mask of its {len(names)} columns."
        )
    return [typed or j in chosen for j, typed in enumerate(by_type)]


def _read_numbers(column: np.ndarray, name: str) -> np.ndarray:
    values, kind = column, column.dtype.kind
    if column.ndim != 1 or kind != "f" or column.dtype.itemsize < 4:
        try:
            if kind in "mc":
                raise TypeError
            if kind == "M":  # days, NaN where missing
                values = (column - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
            cells = [np.nan if is_missing(v) else v for v in column] if kind == "O" else values
            values = np.array(cells, dtype=np.float64)
            if values.ndim != 1:
                raise TypeError
        except OverflowError:
            raise ValueError(
                f"Column {name!r} holds an integer beyond 1.8e308, the largest float64: give "
                "smaller numbers."
            ) from None
        except (TypeError, ValueError):
            raise ValueError(
                f"Column {name!r} holds {column.dtype} values that are not numbers: give numbers, "
                "text, or name it in categorical_features."
            ) from None
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise ValueError(
            f"Input X contains infinity: column {name!r}, row {row}; give finite numbers, or NaN "
            "where a value is missing."
        )
    return values


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, pandas.NA or NaT."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True


def _read_words(column: np.ndarray) -> np.ndarray:
    """Return categories as text, None where missing."""

    def text(value: Any) -> str | None:
        return None if is_missing(value) else category_text(value)

    values = column.tolist()
    return np.array([v if type(v) is str else text(v) for v in values], dtype=object)


def category_text(value: Any) -> str:
    """Return a category as text; a whole number has the text of an integer, also as a float."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
