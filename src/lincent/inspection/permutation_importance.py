"""Permutation importance and partial dependence of the columns of a table.

importance    how far the score moves on average when the column's values are permuted
curve         the mean score when the column has one value in all rows (partial dependence); for an
              additive model it is the shape function of the column
band          80 % of the curves of single rows, each shifted to the height of the mean: how much
              the effect of a column depends on the other columns; of a number in an additive
              model 80 % of the shape functions of resampled rows instead

pair          the same for two columns that interact, on a grid

All are normalized by the distance between the mean scores of the classes.  With more than two
classes, the importance is the mean over their scores, a curve has a line for each class, and a pair
is that of the class which it moves most.

``sklearn.inspection.permutation_importance`` measures the loss of a metric instead, needs labels,
and scores one permutation at a time.  Everything here works on encoded rows: the table is not
encoded again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lincent.estimators.validation import plain
from lincent.inspection.evaluation import spread
from lincent.tables.schema import CATEGORY, DATE, Column, Schema

CURVE_POINTS = 21
BATCH_ROWS = 2_000


def column_importances(
    pipeline: Any,
    frame: Any,
    encoded: np.ndarray,
    schema: Schema,
    score_scale: float,
    random_state: int = 0,
) -> dict[str, list[dict[str, Any]]]:
    """Return ``importances`` of the columns, largest first, with curves of some, and ``pairs``.

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
    # With 85 columns and AutoLCC, 500 rows took as long as the search: at most 10,000 scores.
    count = max(100, min(500, 10_000 // max(len(schema.columns), 1)))
    rows = np.sort(rng.permutation(len(frame))[:count])
    encoded, classifier = np.asarray(encoded[rows]), pipeline[-1]
    owner = encoded_owners(pipeline)
    scores = np.asarray(classifier.decision_function(encoded))
    names = [column.name for column in schema.columns[:300]]
    moves = _mean_moves(classifier, encoded, scores, [owner == name for name in names], rng)
    entries: list[dict[str, Any]] = [
        {"column": name, "importance": move / score_scale}
        for name, move in zip(names, moves, strict=True)
    ]
    entries.sort(key=lambda entry: -entry["importance"])
    by_name = {column.name: column for column in schema.columns}
    drawn = [entry["column"] for entry in entries[:6] if entry["importance"] > 0]
    pairs = _interacting(classifier, owner, by_name)
    columns = list(dict.fromkeys([*drawn, *(name for pair in pairs for name in pair)]))
    grids = _grids(pipeline, frame, [by_name[name] for name in columns])
    by_column = dict(zip(columns, grids, strict=True))
    for entry in entries[: len(drawn)]:
        grid = by_column[entry["column"]]
        entry["curve"] = _curve(classifier, encoded[:100], grid, score_scale)
    few, both = encoded[:30], [(by_column[a], by_column[b]) for a, b in pairs]
    effects = [_pair_effect(classifier, few, *grids, score_scale) for grids in both]
    return {"importances": entries, "pairs": effects}


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


def encoded_owners(pipeline: Any) -> np.ndarray:
    """Return the column of the table that each encoded column comes from."""
    encoder = pipeline[0]
    columns = np.array([column.name for column in encoder.columns_], dtype=object)
    return np.asarray(columns[encoder.sources])


@dataclass(frozen=True)
class _Grid:
    """Values of an input along its curve, and as the encoder writes them."""

    name: str
    values: list[Any]
    numeric: bool
    places: np.ndarray
    """Encoded columns of the input."""
    encoded: np.ndarray
    """Their values, a row for each of ``values``."""

    def take(self, count: int) -> _Grid:
        """Return at most so many values, both ends among them."""
        kept = spread(len(self.values), count)
        values = [self.values[k] for k in kept]
        return replace(self, values=values, encoded=self.encoded[kept])


def _grid_values(frame: Any, column: Column, missing: str) -> list[Any]:
    """Return quantiles of a column of numbers, or its most frequent categories."""
    name = column.name
    if column.kind == CATEGORY:
        counts = frame[name].fillna(missing).value_counts()
        return [str(value) for value in counts.index[:12]]
    numbers = np.asarray(frame[name], dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    values = np.unique(numbers)
    if len(values) > CURVE_POINTS:
        values = np.unique(np.quantile(numbers, np.linspace(0.01, 0.99, CURVE_POINTS)))
    return list(values.tolist())


def _grids(pipeline: Any, frame: Any, columns: list[Column]) -> list[_Grid]:
    """Return the grids of columns, whose values are encoded at once."""
    import pandas as pd

    if not columns:
        return []
    token = pipeline[0].missing_
    pairs = [(column.name, _grid_values(frame, column, token)) for column in columns]
    rows = []
    for name, values in pairs:
        cells = [None if value == token else value for value in values]
        rows.append(frame.iloc[np.zeros(len(cells), dtype=int)].assign(**{name: cells}))
    encoded = np.asarray(pipeline[:-1].transform(pd.concat(rows)))
    owner = encoded_owners(pipeline)
    places = [np.flatnonzero(owner == name) for name, _ in pairs]
    parts = np.split(encoded, np.cumsum([len(v) for _, v in pairs])[:-1])
    return [
        _Grid(name, values, column.kind != CATEGORY, own, part[:, own])
        for (name, values), column, own, part in zip(pairs, columns, places, parts, strict=True)
    ]


def _scores_on(classifier: Any, encoded: np.ndarray, *grids: _Grid) -> np.ndarray:
    """Return the scores of rows with the values of grids, (values of each grid, rows, outputs)."""
    shape = [len(grid.values) for grid in grids]
    stacked = np.tile(encoded, (*shape, 1, 1))
    for axis, grid in enumerate(grids):
        along = np.moveaxis(stacked, axis, -3)  # a view
        along[..., grid.places] = grid.encoded[:, None]
    scores = np.asarray(classifier.decision_function(stacked.reshape(-1, encoded.shape[1])))
    return scores.reshape(*shape, len(encoded), -1)


def _curve(classifier: Any, encoded: np.ndarray, grid: _Grid, score_scale: float) -> dict[str, Any]:
    """Return a line of mean scores for each class (of two the second), and the band of two."""
    each = _scores_on(classifier, encoded, grid) / score_scale
    each = each - each.mean(axis=0)
    lines = each.mean(axis=1).T.round(5).tolist()
    labels = [str(plain(label)) for label in classifier.classes_][-len(lines) :]
    curve: dict[str, Any] = {"of": grid.name, "numeric": grid.numeric, "x": grid.values}
    curve["lines"] = dict(zip(labels, lines, strict=True))
    low, high = np.quantile(each[:, :, 0], (0.1, 0.9), axis=1)
    resampled = grid.numeric and hasattr(classifier, "shape")
    if resampled:
        shape, mean = classifier.shape(int(grid.places[0])), np.array(lines[0])
        low, high = (
            mean + np.interp(grid.values, shape["x"], (shape[side] - shape["value"]) / score_scale)
            for side in ("low", "high")
        )
    if len(lines) == 1 and np.max(high - low) > 1e-6:
        curve["band"] = np.column_stack([low, high]).round(5).tolist()
        curve["band_of"] = "resamples" if resampled else "rows"
    return curve


def _interacting(
    classifier: Any, owner: np.ndarray, by_name: Mapping[str, Column]
) -> list[tuple[str, str]]:
    """Return pairs of columns that the classifier uses together, the strongest first."""
    places = [pair["columns"] for pair in getattr(classifier, "interactions_", ())]
    places += getattr(vars(classifier).get("_terms"), "pairs", ())
    names = [(str(owner[a]), str(owner[b])) for a, b in places]
    single = {name for name, column in by_name.items() if column.kind != DATE}
    pairs = [pair for pair in names if len({*pair} & single) == 2]
    return list(dict.fromkeys(pairs))[:4]


def _pair_effect(
    classifier: Any, encoded: np.ndarray, first: _Grid, second: _Grid, score_scale: float
) -> dict[str, Any]:
    """Return the mean score on a grid of the values of two columns, less its mean."""
    first, second = (g.take(11) if g.numeric else g for g in (first, second))
    mean = _scores_on(classifier, encoded, first, second).mean(axis=2) / score_scale
    mean = mean - mean.mean(axis=(0, 1))
    k = int(np.ptp(mean, axis=(0, 1)).argmax())
    label = str(plain(classifier.classes_[-1 if mean.shape[2] == 1 else k]))
    axes = {"columns": [first.name, second.name], "values": [first.values, second.values]}
    return axes | {"scores": mean[:, :, k].round(4).tolist(), "class": label}
