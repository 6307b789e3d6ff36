"""Permutation importance and partial dependence of the columns of a table.

importance    how far the score moves on average when the column's values are permuted
curve         the mean score when the column has one value in all rows (partial dependence); for an
              additive model it is the shape function of the column
band          80 % of the curves of single rows, each shifted to the height of the mean: how much
              the effect of a column depends on the other columns.  An additive model has one curve
              for all rows; its band holds 80 % of the curves of resampled rows

Both are normalized by the distance between the mean scores of the classes.  Binary models have
curves; with more classes, the importance is the mean over their scores.

``sklearn.inspection.permutation_importance`` measures the loss of a metric instead, needs labels,
and scores one permutation at a time.  Everything here works on encoded rows: the table is not
encoded again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.tables.schema import CATEGORY, FLAG, NUMBER, Column, Schema

MAX_ROWS, CURVE_ROWS, CURVE_POINTS = 500, 100, 21
MAX_SCORES, MIN_ROWS = 10_000, 100
"""Decision values that importances may take: with many columns fewer rows are used.  With 85
columns and AutoLCC, 500 rows took as long as the search."""
BATCH_ROWS = 2_000
BAND, MIN_WIDTH = (0.1, 0.9), 1e-6
N_CURVES, MAX_COLUMNS, MAX_CATEGORIES = 6, 300, 12


def column_importances(
    pipeline: Any,
    frame: Any,
    encoded: np.ndarray,
    schema: Schema,
    score_scale: float,
    random_state: int = 0,
) -> list[dict[str, Any]]:
    """Return the importances of the columns, largest first, with curves of the first few.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted encoder and classifier.
    frame : DataFrame
        The table with the columns of the schema.
    encoded : ndarray of shape (n_rows, n_features_out)
        The rows of ``frame`` as the encoder returns them.
    schema : Schema
        The columns of the table.
    score_scale : float
        The divisor of scores.
    random_state : int, default=0
        Seed for the rows and permutations.
    """
    rng = np.random.default_rng(random_state)
    count = max(MIN_ROWS, min(MAX_ROWS, MAX_SCORES // max(len(schema.columns), 1)))
    rows = np.sort(rng.permutation(len(frame))[:count])
    encoded, classifier = np.asarray(encoded[rows]), pipeline[-1]
    owner = encoded_owners(pipeline, schema)
    scores = np.asarray(classifier.decision_function(encoded))
    names = [column.name for column in schema.columns[:MAX_COLUMNS]]
    moves = _mean_moves(classifier, encoded, scores, [owner == name for name in names], rng)
    entries: list[dict[str, Any]] = [
        {"column": name, "importance": move / score_scale}
        for name, move in zip(names, moves, strict=True)
    ]
    entries.sort(key=lambda entry: -entry["importance"])
    if scores.ndim == 1:
        by_name = {column.name: column for column in schema.columns}
        drawn = [entry for entry in entries[:N_CURVES] if entry["importance"] > 0]
        grids = [_grid(frame, by_name[entry["column"]]) for entry in drawn]
        for entry, grid, values in zip(
            drawn, grids, _encoded_grids(pipeline, frame, grids), strict=True
        ):
            first = int(np.flatnonzero(owner == entry["column"])[0])
            entry["curve"] = _curve(
                classifier, encoded[:CURVE_ROWS], grid, values, first, score_scale
            )
    return entries


def _mean_moves(
    classifier: Any,
    encoded: np.ndarray,
    scores: np.ndarray,
    columns: list[np.ndarray],
    rng: np.random.Generator,
) -> list[float]:
    """Return the mean change of the score when each set of columns is permuted.

    Several sets are scored at a time: for few rows most of the time is that of a call.
    """
    moves: list[float] = []
    batch = max(1, BATCH_ROWS // len(encoded))
    for start in range(0, len(columns), batch):
        masks = columns[start : start + batch]
        permuted = np.tile(encoded, (len(masks), 1, 1))
        for rows, mask in zip(permuted, masks, strict=True):
            rows[:, mask] = encoded[rng.permutation(len(encoded))][:, mask]
        new = np.asarray(classifier.decision_function(permuted.reshape(-1, encoded.shape[1])))
        moved = np.abs(new.reshape(len(masks), *scores.shape) - scores)
        moves += moved.reshape(len(masks), -1).mean(axis=1).tolist()
    return moves


def encoded_owners(pipeline: Any, schema: Schema) -> np.ndarray:
    """Return the column of the table that each encoded column comes from."""
    owner = {name: column.name for column in schema.columns for name in column.inputs}
    encoder = pipeline[0]
    columns = np.array([owner[column.name] for column in encoder.columns_], dtype=object)
    return np.asarray(columns[encoder.sources])


def _grid(frame: Any, column: Column) -> tuple[str, list[Any], bool]:
    """Return the input, the values of its curve (quantiles or categories), if it is numeric."""
    name = column.inputs[0]
    if column.kind == CATEGORY:
        counts = frame[name].value_counts()
        return name, [str(value) for value in counts.index[:MAX_CATEGORIES]], False
    numbers = np.asarray(frame[name], dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    values = np.unique(numbers)
    if len(values) > CURVE_POINTS:
        values = np.quantile(numbers, np.linspace(0.01, 0.99, CURVE_POINTS))
        if column.kind in (NUMBER, FLAG):
            values = np.unique(values)
    return name, [float(value) for value in values], True


def _encoded_grids(
    pipeline: Any, frame: Any, grids: list[tuple[str, list[Any], bool]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each grid, the encoded columns of its input and their values; encoded at once."""
    if not grids:
        return []
    encoder = pipeline[0]
    stacked = frame.iloc[np.zeros(sum(len(values) for _, values, _ in grids), dtype=int)]
    stacked = stacked.reset_index(drop=True)
    start, slices = 0, []
    for name, values, numeric in grids:
        column = stacked[name].to_numpy(dtype=float if numeric else object).copy()
        column[start : start + len(values)] = values
        stacked[name] = column
        slices.append(slice(start, start + len(values)))
        start += len(values)
    encoded = np.asarray(pipeline[:-1].transform(stacked))
    inputs = np.array([column.name for column in encoder.columns_], dtype=object)[encoder.sources]
    places = [np.flatnonzero(inputs == name) for name, _, _ in grids]
    return [(place, encoded[rows][:, place]) for place, rows in zip(places, slices, strict=True)]


def _curve(
    classifier: Any,
    encoded: np.ndarray,
    grid: tuple[str, list[Any], bool],
    grid_encoded: tuple[np.ndarray, np.ndarray],
    position: int,
    score_scale: float,
) -> dict[str, Any]:
    name, values, numeric = grid
    place, columns = grid_encoded
    stacked = np.repeat(encoded, len(values), axis=0)
    stacked[:, place] = np.tile(columns, (len(encoded), 1))
    scores = np.asarray(classifier.decision_function(stacked))
    each = scores.reshape(len(encoded), -1) / score_scale
    each = each - each.mean(axis=1, keepdims=True)
    mean = each.mean(axis=0)
    low, high = np.quantile(each, BAND, axis=0)
    resampled = numeric and hasattr(classifier, "shape")
    if resampled:
        shape = classifier.shape(position)
        low, high = (
            mean + np.interp(values, shape["x"], (shape[side] - shape["value"]) / score_scale)
            for side in ("low", "high")
        )
    points = [[value, round(float(y), 5)] for value, y in zip(values, mean, strict=True)]
    curve = {"of": name, "numeric": numeric, "points": points}
    if np.max(high - low) > MIN_WIDTH:
        band = [[round(float(a), 5), round(float(b), 5)] for a, b in zip(low, high, strict=True)]
        curve |= {"band": band, "band_of": "resamples" if resampled else "rows"}
    return curve
