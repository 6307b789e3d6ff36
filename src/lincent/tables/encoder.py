"""From a table as users have it to numbers: missing values, categories, frames.

A missing number becomes the median of its column, which gains an indicator where at least a
hundredth of the values are missing in training.  A column of categories becomes one indicator for
each of its most frequent categories (a missing value is a category); a category that training did
not see, or saw too rarely, has all of them zero.  Which columns are categories follows from the
frame (text, categorical) or from ``categorical_features``, as in HistGradientBoostingClassifier.

A fitted encoder is small arrays, and encoding is a pure function of the rows.  It is the only one:
estimators that take frames use it, and so does what prepares a user's table for all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from lincent._marks import MISSING, unused_mark
from lincent.sources.source import package_of
from lincent.tables.weighted import median

MOST_CATEGORIES = 30
"""Further categories of a column share the place of unknown ones: all indicators zero."""
LEAST_GAPS = 0.01
"""Share of missing numbers from which on they are told: fewer are some rows, not a kind of rows."""
GONE = "missing"
"""The last word in the name of the indicator of a column of numbers."""


@dataclass(frozen=True)
class ColumnCode:
    """How one column of the table is encoded."""

    name: str
    categories: tuple[str, ...] | None
    fill: float
    indicator: bool

    @property
    def names(self) -> list[str]:
        """The names of the encoded columns."""
        if self.categories is not None:
            return [f"{self.name}={category}" for category in self.categories]
        return [self.name, f"{self.name} {GONE}"] if self.indicator else [self.name]


class TableEncoder:
    """Numbers for the rows of a table; see the module.

    ``missing`` is how a missing category is written; no category of training reads like it.
    """

    def __init__(self, columns: list[ColumnCode], missing: str = MISSING) -> None:
        self.columns, self.missing = columns, missing
        self.plain = all(c.categories is None and not c.indicator for c in columns)

    @classmethod
    def learn(cls, table: NamedColumns, weight: np.ndarray) -> TableEncoder:
        """Categories, medians and where values are missing, from the rows that count."""
        counted, columns = weight > 0, table.items()
        words = [_words(column[counted]) if category else None for _, column, category in columns]
        mark = unused_mark(word for found in words if found is not None for word in found if word)
        codes = [
            _learn_numbers(name, column, counted, weight)
            if found is None
            else _learn_categories(name, found, weight[counted], mark)
            for (name, column, _), found in zip(columns, words, strict=True)
        ]
        return cls(codes, mark)

    @property
    def categorical(self) -> list[bool]:
        return [column.categories is not None for column in self.columns]

    @property
    def sources(self) -> np.ndarray:
        """For each encoded column, the column of the table it comes from."""
        return np.repeat(np.arange(len(self.columns)), [len(c.names) for c in self.columns])

    @property
    def names(self) -> list[str]:
        return [name for column in self.columns for name in column.names]

    @property
    def indicators(self) -> list[bool]:
        """For each encoded column, whether it is an indicator that encoding made."""
        return [
            column.categories is not None or k > 0
            for column in self.columns
            for k in range(len(column.names))
        ]

    def renamed(self, names: Any) -> list[str]:
        """The names of the encoded columns for a table with these names."""
        pairs = zip(self.columns, names, strict=True)
        return [name for column, given in pairs for name in replace(column, name=str(given)).names]

    def encode(self, table: NamedColumns) -> np.ndarray:
        """The rows as a float64 array without missing values."""
        if self.plain and table.matrix is not None and not np.isnan(table.matrix).any():
            return np.asarray(table.matrix, dtype=np.float64)
        parts: list[np.ndarray] = []
        for code, (_, column, _) in zip(self.columns, table.items(), strict=True):
            if code.categories is not None:
                words = self._marked(column)
                parts += [(words == category).astype(np.float64) for category in code.categories]
                continue
            values = _numbers(column, code.name)
            gone = np.isnan(values)
            parts.append(np.where(gone, code.fill, values))
            if code.indicator:
                parts.append(gone.astype(np.float64))
        return np.stack(parts, axis=1)

    def _marked(self, column: np.ndarray) -> np.ndarray:
        """Categories as text; what reads like the mark for missing, but is there, is unknown."""
        words = _words(column)
        words[words == self.missing] = self.missing + "'"
        words[[word is None for word in words]] = self.missing
        return words


class NamedColumns:
    """The columns of X, with their names and whether they are categories."""

    def __init__(self, X: Any, names: list[str], categorical: list[bool]) -> None:
        self.matrix = None if _is_frame(X) else X
        self._frame, self.names, self.categorical = X, names, categorical
        self.shape: tuple[int, int] = (int(X.shape[0]), len(names))

    def items(self) -> list[tuple[str, np.ndarray, bool]]:
        columns = self.matrix.T if self.matrix is not None else _frame_columns(self._frame)
        return list(zip(self.names, columns, self.categorical, strict=True))


def named_columns(
    estimator: Any, X: Any, categorical_features: Any, *, reset: bool
) -> NamedColumns:
    """X checked, its columns counted and named for the estimator; in ``fit`` ``reset`` is true."""
    if _is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if min(X.shape) == 0:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) "
                f"(shape={tuple(X.shape)}) while a minimum of 1 is required."
            )
        names = [str(name) for name in X.columns]
        found = [_is_category(column) for column in _series(X)]
        return NamedColumns(X, names, _chosen(categorical_features, names, found))
    X = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
    )
    names = [f"x{j}" for j in range(X.shape[1])]
    return NamedColumns(X, names, _chosen(categorical_features, names, [False] * len(names)))


def _is_frame(X: Any) -> bool:
    return package_of(X) in ("pandas", "polars") and hasattr(X, "columns")


def _is_polars(X: Any) -> bool:
    return package_of(X) == "polars"


def _series(X: Any) -> list[Any]:
    """The columns of a frame; pandas gives them one after the other faster than by their names."""
    return X.get_columns() if _is_polars(X) else [column for _, column in X.items()]


def _is_category(column: Any) -> bool:
    kind = str(column.dtype)
    if _is_polars(column):
        return kind.startswith(("String", "Utf8", "Categorical", "Enum"))
    if kind == "object":
        return any(isinstance(value, str) for value in column)
    return kind.startswith(("category", "str"))


def _chosen(asked: Any, names: list[str], found: list[bool]) -> list[bool]:
    """Which columns are categories: those of the frame, or those asked for as well."""
    if asked is None or (isinstance(asked, str) and asked == "from_dtype"):
        return found
    wanted = np.atleast_1d(np.asarray(asked))
    if wanted.size == 0:
        return found
    if wanted.dtype == bool:
        if len(wanted) != len(names):
            raise ValueError(
                f"categorical_features is a mask of {len(wanted)} entries, but X has {len(names)} "
                "columns: give one entry per column."
            )
        chosen = {int(j) for j in np.flatnonzero(wanted)}
    elif wanted.dtype.kind in "iu":
        chosen = {int(j) for j in wanted}
    else:
        chosen = {names.index(str(n)) if str(n) in names else -1 for n in wanted}
    if chosen and not all(0 <= j < len(names) for j in chosen):
        raise ValueError(
            f"categorical_features={asked!r} names a column that X does not have; it has "
            f"{len(names)} columns: give their numbers from 0, their names or a mask."
        )
    return [there or j in chosen for j, there in enumerate(found)]


def _frame_columns(X: Any) -> list[np.ndarray]:
    polars = _is_polars(X)
    return [_polars_column(column) if polars else column.to_numpy() for column in _series(X)]


def _polars_column(series: Any) -> np.ndarray:
    if series.dtype.is_numeric() and not series.null_count():
        return np.asarray(series.to_numpy())
    return np.asarray(series.to_list(), dtype=object)


def _learn_categories(name: str, words: np.ndarray, weight: np.ndarray, mark: str) -> ColumnCode:
    there = [mark if word is None else word for word in words]
    kinds, place = np.unique(np.array(there, dtype=object), return_inverse=True)
    often = np.bincount(place.reshape(-1), weights=weight)
    kept = np.argsort(-often, kind="stable")[:MOST_CATEGORIES]
    return ColumnCode(name, tuple(str(kind) for kind in kinds[np.sort(kept)]), 0.0, False)


def _learn_numbers(
    name: str, column: np.ndarray, counted: np.ndarray, weight: np.ndarray
) -> ColumnCode:
    values = _numbers(column, name)
    gone = np.isnan(values)
    there = counted & ~gone
    if not np.any(there):
        return ColumnCode(name, None, 0.0, False)
    told = weight[gone].sum() >= LEAST_GAPS * weight.sum() * (1 - 1e-12) if gone.any() else False
    return ColumnCode(name, None, median(values[there], weight[there]), bool(told))


def _numbers(column: np.ndarray, name: str) -> np.ndarray:
    if column.dtype.kind == "f" and column.dtype.itemsize >= 4:
        values = column
    else:
        try:
            if column.dtype.kind in "mM":
                raise TypeError
            values = np.array(
                [np.nan if _gone(v) else v for v in column] if column.dtype == object else column,
                dtype=np.float64,
            )
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


def _gone(value: Any) -> bool:
    """Whether a value is missing: None, NaN, pandas.NA or NaT."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True


def _words(column: np.ndarray) -> np.ndarray:
    """Categories as text, None where there is none."""
    return np.array(
        [None if _gone(value) else word(value) for value in column.tolist()], dtype=object
    )


def word(value: Any) -> str:
    """A category as text; a whole number is written the same as an integer and as a float."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
