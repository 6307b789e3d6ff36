"""What each column does to the score of any classifier, measured on rows.

effect    how far the score moves on average when the column's values are dealt anew among the rows
curve     the mean score when the column has a value in all rows (partial dependence); for a sum of
          curves, one per column, it is that curve itself
band      where 80 % of the curves of single rows lie, each moved to the height of the mean: how
          much the column's part hangs on the other columns.  A sum of curves has one curve for all
          rows; its band is where 80 % of the curves of resampled rows lie

Both in units of the distance between the mean scores of the classes.  Two classes have curves; with
more, the effect is the mean over the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.tables.schema import CATEGORY, FLAG, NUMBER, Column, Schema

EFFECT_ROWS, CURVE_ROWS, CURVE_POINTS = 500, 100, 21
EFFECT_SCORES, FEWEST_ROWS = 10_000, 100
"""Scores that effects may cost: with many columns fewer rows are asked.  With 85 columns and
AutoLCC 500 rows took as long as the search."""
ASKED_ROWS = 2_000
"""Rows that are scored at a time."""
BAND, NO_WIDTH = (0.1, 0.9), 1e-6
CURVES, MOST_COLUMNS, MOST_BARS = 6, 300, 12


def column_effects(
    pipeline: Any, frame: Any, schema: Schema, unit: float, seed: int = 0
) -> list[dict[str, Any]]:
    """Effects of the columns, largest first, and curves of the first few."""
    rng = np.random.default_rng(seed)
    count = max(FEWEST_ROWS, min(EFFECT_ROWS, EFFECT_SCORES // max(len(schema.columns), 1)))
    rows = np.sort(rng.permutation(len(frame))[:count])
    sample = frame.iloc[rows].reset_index(drop=True)
    # Values are dealt anew after the preparation, which treats each column by itself.
    prepared, classifier = np.asarray(pipeline[:-1].transform(sample)), pipeline[-1]
    owner = prepared_from(pipeline, schema)
    before = np.asarray(classifier.decision_function(prepared))
    names = [column.name for column in schema.columns[:MOST_COLUMNS]]
    moves = _moves(classifier, prepared, before, [owner == name for name in names], rng)
    found: list[dict[str, Any]] = [
        {"column": name, "effect": move / unit} for name, move in zip(names, moves, strict=True)
    ]
    found.sort(key=lambda entry: -entry["effect"])
    if before.ndim == 1:
        by_name = {column.name: column for column in schema.columns}
        few = sample.iloc[:CURVE_ROWS]
        for entry in found[:CURVES]:
            if entry["effect"] > 0:
                column = by_name[entry["column"]]
                place = int(np.flatnonzero(owner == column.name)[0])
                entry["curve"] = _curve(pipeline, few, frame, column, unit, place)
    return found


def _moves(
    classifier: Any, prepared: np.ndarray, before: np.ndarray, columns: list[np.ndarray], rng: Any
) -> list[float]:
    """The mean move of the score when the values of each set of columns are dealt anew.

    Several sets are scored at a time: most of the price of few rows is that of asking.
    """
    moves: list[float] = []
    together = max(1, ASKED_ROWS // len(prepared))
    for start in range(0, len(columns), together):
        some = columns[start : start + together]
        mixed = np.tile(prepared, (len(some), 1, 1))
        for rows, mine in zip(mixed, some, strict=True):
            rows[:, mine] = prepared[rng.permutation(len(prepared))][:, mine]
        scores = classifier.decision_function(mixed.reshape(-1, prepared.shape[1]))
        moved = np.abs(np.asarray(scores).reshape(len(some), *before.shape) - before)
        moves += moved.reshape(len(some), -1).mean(axis=1).tolist()
    return moves


def prepared_from(pipeline: Any, schema: Schema) -> np.ndarray:
    """The column of the table that each prepared column comes from."""
    owner = {name: column.name for column in schema.columns for name in column.inputs}
    encoder = pipeline[0]
    columns = np.array([owner[column.name] for column in encoder.columns_], dtype=object)
    return np.asarray(columns[encoder.sources])


def _curve(
    pipeline: Any, few: Any, frame: Any, column: Column, unit: float, place: int
) -> dict[str, Any]:
    name = column.inputs[0]
    values, numeric = _places(frame[name], column)
    stacked = few.loc[np.repeat(few.index, len(values))].reset_index(drop=True)
    tiled = np.tile(np.asarray(values, dtype=float if numeric else object), len(few))
    stacked[name] = tiled
    each = np.asarray(pipeline.decision_function(stacked)).reshape(len(few), -1) / unit
    each = each - each.mean(axis=1, keepdims=True)
    scores = each.mean(axis=0)
    low, high = np.quantile(each, BAND, axis=0)
    resampled = numeric and hasattr(pipeline[-1], "shape")
    if resampled:
        shape = pipeline[-1].shape(place)
        low, high = (
            scores + np.interp(values, shape["x"], (shape[side] - shape["value"]) / unit)
            for side in ("low", "high")
        )
    points = [[value, round(float(s), 5)] for value, s in zip(values, scores, strict=True)]
    found = {"of": name, "numeric": numeric, "points": points}
    if np.max(high - low) > NO_WIDTH:
        band = [[round(float(a), 5), round(float(b), 5)] for a, b in zip(low, high, strict=True)]
        found |= {"band": band, "band_of": "resamples" if resampled else "rows"}
    return found


def _places(values: Any, column: Column) -> tuple[list[Any], bool]:
    """Where a curve is drawn: quantiles of numbers, the most frequent categories."""
    if column.kind == CATEGORY:
        return [str(value) for value in values.value_counts().index[:MOST_BARS]], False
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    if column.kind not in (NUMBER, FLAG) or len(np.unique(numbers)) <= CURVE_POINTS:
        places = np.unique(numbers)
    else:
        places = np.unique(np.quantile(numbers, np.linspace(0.01, 0.99, CURVE_POINTS)))
    if len(places) > CURVE_POINTS:
        places = np.quantile(numbers, np.linspace(0.01, 0.99, CURVE_POINTS))
    return [float(place) for place in places], True
