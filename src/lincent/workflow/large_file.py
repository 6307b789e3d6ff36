"""Fit to a file that does not fit into memory, read in batches.

    pass 1        a random sample of rows, from which the schema is inferred
    pass 2        means and standard deviations of the columns, and the classes, over all rows
    the fit       reads the rows as often as the estimator asks, encoded a batch at a time
    second fit    without some rows of the sample, which then evaluate such a model, in the same
                  passes

Medians for missing values and the categories come from the sample; everything else that is learned
comes from all rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from lincent import _console
from lincent._errors import AppError
from lincent._files import is_stream
from lincent._memory import available_memory, sample_entries
from lincent.estimators.calibration import OutOfFoldScores, score_scale
from lincent.inspection.thresholds import HeldOut
from lincent.sources.batches import Batches
from lincent.sources.shared_reads import run_concurrently
from lincent.tables.formats import (
    CSV,
    PARQUET,
    format_from_name,
    most_unpacked,
    pa,
    parquet,
    unpacked_size,
)
from lincent.tables.infer import ColumnOptions, PreparedTable, hash_rows, labeled_rows
from lincent.tables.read import BATCH_ROWS, ReadOptions, UserTable, read_batches
from lincent.tables.schema import OddCells, to_frame
from lincent.workflow.check import MOST_HASHES, pack_hashes
from lincent.workflow.out_of_fold import N_SPLITS

SAMPLE_ROWS = 20_000
MIN_ROWS = 1_000  # of a sample and of a batch, where memory is short
EVALUATION_TOL = 1e-4
"""Relative gap of the second fit: the scores of its rows do not show more digits, and each costs
passes over the data."""


def needed_memory(data: Any, format: str | None = None) -> float:
    """Estimate the bytes that a fit to this table takes; 0 where it is in memory already."""
    if not isinstance(data, str | os.PathLike) or is_stream(data):
        return 0.0
    format = format or format_from_name(data)
    with suppress(Exception):  # whatever is wrong with the file, reading it reports that
        if format == PARQUET:
            # About six copies: as read, as a frame, encoded, and in folds; text cells are objects.
            metadata = parquet.read_metadata(data)
            columns = (metadata.schema.column(k) for k in range(metadata.num_columns))
            row = sum(20 if column.physical_type == "BYTE_ARRAY" else 8 for column in columns)
            return float(6 * metadata.num_rows * row)
        if format == CSV:
            return 8 * unpacked_size(data)
    return 0.0


class LargeFile:
    """A table in a file that is read again for every pass over the data.

    ``first`` is the first row, as a table; ``sample_rows`` and ``batch_rows`` are the numbers of
    rows of the sample and of the batches of all passes.
    """

    def __init__(self, data: Any, reading: ReadOptions, seed: int) -> None:
        self.data, self.reading, self.seed = data, reading, seed
        self.classes: Counter[Any] = Counter()
        self.hashes = np.empty(0, dtype=np.uint64)
        self.passes = 1  # that of the sample
        batches: Any = read_batches(data, reading, 1)
        with closing(batches):
            first: UserTable | None = next(batches, None)
        if first is None:
            raise AppError(f"{data}: the column names are followed by no rows.")
        self.first, columns = first, first.data.num_columns
        self.sample_rows, self.batch_rows = (  # fewer where memory is short
            max(min(MIN_ROWS, most), sample_entries(2 * most * columns) // (2 * columns))
            for most in (SAMPLE_ROWS, BATCH_ROWS)
        )

    def batches(self) -> Iterator[UserTable]:
        """Yield the rows, a batch at a time."""
        return read_batches(self.data, self.reading, self.batch_rows)

    def sample(self) -> UserTable:
        """Return the rows with the smallest random keys, in file order."""
        taken: list[tuple[np.ndarray, np.ndarray, Any]] = []
        wanted, below, rng = self.sample_rows, np.inf, np.random.default_rng(self.seed)
        for batch in self.batches():
            keys = rng.random(batch.data.num_rows)
            kept = np.flatnonzero(keys < below)
            positions = batch.rows(kept) - self.first.first_row
            taken.append((keys[kept], positions, batch.data.take(pa.array(kept))))
            if sum(len(keys) for keys, _, _ in taken) > 1.25 * wanted:
                taken = [_smallest(taken, wanted)]
                below = float(taken[0][0].max())
        _, positions, rows = _smallest(taken, wanted)
        return replace(self.first, data=pa.Table.from_batches([rows]), positions=positions)

    def fit(self, pipeline: Any, table: PreparedTable, strict: bool = False) -> HeldOut | None:
        """Fit a pipeline to all rows; return the predictions of the second fit.

        ``table`` is the sample with its schema.
        """
        classifier, encoder = pipeline[-1], pipeline[0].fit(table.frame)
        scaler, zeros = StandardScaler(), np.zeros(len(encoder.scale_))
        encoder.set_scale(zeros, zeros + 1.0)
        for _, frame, labels in self._labeled(table, strict):
            self.classes.update(labels.tolist())
            self.hashes = np.union1d(self.hashes, hash_rows(frame, labels))[:MOST_HASHES]
            if encoder.scale:
                scaler.partial_fit(encoder.transform(frame))
        if encoder.scale:
            encoder.set_scale(scaler.mean_, scaler.scale_)
        probability = None
        if not getattr(classifier, "_searches_folds", True):  # calibrated below instead
            probability = classifier.probability
            classifier.set_params(probability=None)
        # At most a fifth of all rows evaluates.
        most, rng = sum(self.classes.values()) // N_SPLITS, np.random.default_rng(self.seed)
        rows = np.sort(rng.permutation(len(table.labels))[:most])
        labels = table.labels[rows]
        counts = Counter(labels.tolist())
        second = clone(classifier)
        second.set_params(tol=max(second.tol, EVALUATION_TOL))
        held_out = table.table.rows(rows)

        def read() -> Iterator[tuple[Any, Any, Any]]:
            for numbers, frame, labels in self._labeled(table, strict):
                weight = np.isin(numbers, held_out, invert=True).astype(np.float64)
                yield encoder.transform(frame), labels, weight

        everything = Batches(read, None, lambda X, y, weight: (X, y, None))
        rest = Batches(read, None)
        fits = [partial(classifier.fit, everything, everything.target)]
        if any(not 0 < counts[name] < count for name, count in self.classes.items()):
            fits[0]()
            return None  # a class so rare that it is not on both sides
        run_concurrently([*fits, partial(second.fit, rest, rest.target)], 2)
        encoded = encoder.transform(table.frame.iloc[rows])
        folds = rng.permutation(len(rows)) % N_SPLITS
        classes, codes = classifier.classes_, np.searchsorted(classifier.classes_, labels)
        if probability is not None:  # of both fits, by scores of rows that the second has not seen
            weight, n_classes = np.ones(len(labels)), len(classes)
            strategy = classifier.multi_class
            scales = [
                score_scale(model._task_scores(encoded), codes, weight, n_classes, strategy)
                for model in (second, classifier)
            ]
            scores = second._task_scores(encoded) / scales[0]
            held = OutOfFoldScores(scores, codes, weight, folds, n_classes, strategy)
            for model, scale in zip((second, classifier), scales, strict=True):
                model.set_params(probability=probability)
                model._calibration = held.calibration(scale)
        probabilities = second.predict_proba(encoded) if hasattr(second, "predict_proba") else None
        how = f"{len(rows)} rows, scored by a fit to all others"
        scores = np.asarray(second.decision_function(encoded))
        return HeldOut(rows, codes, classes, scores, probabilities, folds, how)

    def summary(self) -> dict[str, Any]:
        """Return the number of all rows, by class, for the summary of the model."""
        names = sorted(self.classes, key=str)
        return {
            "row_hashes": pack_hashes(self.hashes),
            "rows": sum(self.classes.values()),
            "classes": {str(name): self.classes[name] for name in names},
        }

    def _labeled(
        self, table: PreparedTable, strict: bool
    ) -> Iterator[tuple[np.ndarray, Any, np.ndarray]]:
        """Yield row numbers, features and classes of the rows, and report the pass."""
        self.passes += 1
        _console.step(f"pass {self.passes} over the rows", 0, 0)
        type, odd = table.labels.dtype, OddCells(strict)
        for batch in self.batches():
            rows, labels = labeled_rows(batch, table.schema.target, strict, least=0)
            if not len(labels):
                continue
            if type.kind not in "UO" or labels.dtype.kind not in "UO":
                labels = labels.astype(str if type.kind in "UO" else type)
            numbers = rows.rows(np.arange(len(labels)))
            yield numbers, to_frame(table.schema, rows, odd), labels


def _smallest(taken: list[Any], wanted: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return the ``wanted`` rows with the smallest keys of several batches."""
    keys, positions = (np.concatenate([batch[k] for batch in taken]) for k in (0, 1))
    chosen = np.sort(np.argsort(keys, kind="stable")[:wanted])
    rows = pa.Table.from_batches([batch[2] for batch in taken]).take(pa.array(chosen))
    rows = rows.combine_chunks().to_batches()[0]
    return keys[chosen], positions[chosen], rows


def find_large(
    data: Any,
    reading: ReadOptions,
    options: ColumnOptions,
    random_state: int,
    log: Callable[[str], None] = _console.silent,
) -> LargeFile | None:
    """Return the file where a fit needs more memory than there is, or far more than the file.

    None otherwise.
    """
    needed, available = needed_memory(data, reading.format), available_memory()
    if not needed or needed <= min(available, 8 * most_unpacked(data)):
        return None
    if options.group is not None:
        raise AppError("--group needs the table in memory, and it is larger than memory allows.")
    file = LargeFile(data, reading, random_state)
    log(
        f"{data} would take about {needed / 2**30:.1f} GiB in memory, and "
        f"{max(available, 0.0) / 2**30:.1f} GiB are free: it is read in batches; the schema is "
        f"inferred from up to {file.sample_rows} rows."
    )
    return file
