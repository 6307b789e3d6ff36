"""A file larger than memory allows: read in batches, the model that of all its rows.

    pass 1       a sample of rows, drawn by their numbers, says what the columns are
    pass 2       means and deviations of the columns, and the classes, over all rows
    the fit      reads the rows as often as the estimator asks, prepared a batch at a time
    once more    without the rows of the sample, which then say how good such a model is

Medians for missing values and the known categories come from the sample; everything else that is
learned comes from all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from lincent import _progress
from lincent._errors import AppError
from lincent._memory import available_memory, sample_entries
from lincent.estimators.probabilities import Unseen, unit_of
from lincent.inspection.held_out import FOLDS, HeldOut
from lincent.sources.batches import Batches
from lincent.tables.formats import arrow
from lincent.tables.infer import ColumnOptions, PreparedTable, infer_schema, read_labels
from lincent.tables.read import BATCH_ROWS, ReadOptions, UserTable, read_batches
from lincent.tables.schema import to_frame
from lincent.workflow.memory import needed

SAMPLE_ROWS = 20_000
LEAST_ROWS = 1_000
"""Of a sample, and of a batch, where memory is short."""
JUDGED_GAP = 1e-6
"""The relative gap of the fit that only says how good such a model is: the scores of its rows do
not show more digits, and each costs passes."""


@dataclass(frozen=True)
class LargeFile:
    """A table in a file that is read again for every pass."""

    data: Any
    reading: ReadOptions
    seed: int

    @cached_property
    def first(self) -> UserTable:
        """The first row."""
        parts: Any = read_batches(self.data, {}, self.reading, 1)
        with closing(parts):
            part: UserTable | None = next(parts, None)
        if part is None:
            raise AppError(f"{self.data}: the column names are followed by no rows.")
        return part

    @cached_property
    def sample_rows(self) -> int:
        """Rows of the sample."""
        return self._rows(SAMPLE_ROWS)

    @cached_property
    def batch_rows(self) -> int:
        """Rows of a batch, for all passes the same."""
        return self._rows(BATCH_ROWS)

    def _rows(self, most: int) -> int:
        """So many, fewer where memory is short."""
        columns = self.first.data.num_columns
        return max(min(LEAST_ROWS, most), sample_entries(2 * most * columns) // (2 * columns))

    def batches(self) -> Iterator[tuple[np.ndarray, UserTable]]:
        """Row numbers and rows, a batch at a time."""
        begin = 0
        for part in read_batches(self.data, {}, self.reading, self.batch_rows):
            yield np.arange(begin, begin + part.data.num_rows), part
            begin += part.data.num_rows

    def sampled(self) -> tuple[np.ndarray, UserTable]:
        """Rows with the smallest random keys, in their order, and their numbers."""
        pa = arrow()
        taken: list[tuple[np.ndarray, np.ndarray, Any]] = []
        wanted, below = self.sample_rows, np.inf
        for numbers, part in self.batches():
            keys = _keys(numbers, self.seed)
            kept = np.flatnonzero(keys < below)
            taken.append((keys[kept], numbers[kept], part.data.take(pa.array(kept))))
            if sum(len(keys) for keys, _, _ in taken) > 1.25 * wanted:
                taken = [_smallest(taken, wanted)]
                below = float(taken[0][0].max())
        _, numbers, rows = _smallest(taken, wanted)
        return numbers, replace(self.first, data=pa.Table.from_batches([rows]))


def _keys(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A number between 0 and 1 for each row number, random but the same each time."""
    mixed = (numbers.astype(np.uint64) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed / 2.0**64


def _smallest(taken: list[Any], wanted: int) -> tuple[np.ndarray, np.ndarray, Any]:
    pa = arrow()
    keys, numbers = (np.concatenate([part[k] for part in taken]) for k in (0, 1))
    chosen = np.sort(np.argsort(keys, kind="stable")[:wanted])
    rows = pa.Table.from_batches([part[2] for part in taken]).take(pa.array(chosen))
    rows = rows.combine_chunks().to_batches()[0]
    return keys[chosen], numbers[chosen], rows


def find_large(
    data: Any, reading: ReadOptions, wishes: ColumnOptions, seed: int
) -> LargeFile | None:
    """The file, where a fit would need more memory than there is; None where it would not."""
    most = available_memory()
    if needed(data, reading.format) <= most:
        return None
    if wishes.group is not None:
        raise AppError("--group needs the table in memory, and it is larger than memory allows.")
    return LargeFile(data, reading, seed)


def about_memory(file: LargeFile) -> str:
    """What is told: how much is needed, how much there is, and what is done."""
    want, have = (
        needed(file.data, file.reading.format) / 2**30,
        max(available_memory(), 0.0) / 2**30,
    )
    return (
        f"{file.data} would take about {want:.1f} GiB in memory, and {have:.1f} GiB are free: it "
        f"is read in batches; up to {file.sample_rows} of its rows say what the columns are."
    )


def _probability_later(classifier: Any) -> str | None:
    """The way to probabilities, where the estimator needs all rows in memory for it."""
    if getattr(classifier, "_folds_at_hand", True):
        return None
    method: str | None = classifier.probability
    classifier.set_params(probability=None)
    return method


def _calibrate(
    classifier: Any, unseen: Any, X: Any, labels: np.ndarray, parts: np.ndarray, method: str
) -> None:
    """Probabilities of both fits from the scores of rows that the second has not seen."""
    codes, weight = np.searchsorted(classifier.classes_, labels), np.ones(len(labels))
    count, strategy = len(classifier.classes_), classifier.multi_class
    units = [
        unit_of(model._task_scores(X), codes, weight, count, strategy)
        for model in (unseen, classifier)
    ]
    scores = unseen._task_scores(X) / units[0]
    found = Unseen(scores, codes, weight, parts, count, strategy)
    for model, unit in zip((unseen, classifier), units, strict=True):
        model.set_params(probability=method)
        model._calibration = found.calibration(method, unit)


class LargeFit:
    """A file, its sample with the columns judged, and the fits to all rows."""

    def __init__(self, file: LargeFile, target: str, wishes: ColumnOptions) -> None:
        self.file, self.target = file, target
        self.numbers, table = file.sampled()
        self.known: PreparedTable = infer_schema(table, target, wishes)
        self.classes: Counter[Any] = Counter()
        self.passes = 1  # that of the sample

    def _batches(self) -> Iterator[tuple[np.ndarray, UserTable]]:
        """One pass over the rows, which is told: there are a dozen, and each takes long."""
        self.passes += 1
        _progress.step(f"pass {self.passes} over the rows", 0, 0)
        yield from self.file.batches()

    def fitted(self, pipeline: Any) -> HeldOut | None:
        """Fit a pipeline to all rows; what a second fit, without the sample, says of that."""
        known, classifier = self.known, pipeline[-1]
        prepare = pipeline[0].fit(known.frame)
        self._scale(prepare)
        rows = self._stream(prepare, np.empty(0, dtype=np.intp))
        method = _probability_later(classifier)
        classifier.fit(rows, rows.target)
        places = self._judges()
        labels = known.labels[places]
        judged = Counter(labels.tolist())
        if any(not 0 < judged[name] < count for name, count in self.classes.items()):
            return None  # a class so rare that it is not on both sides
        rest = self._stream(prepare, self.numbers[places])
        unseen = clone(classifier)
        unseen.set_params(tol=max(unseen.tol, JUDGED_GAP)).fit(rest, rest.target)
        seen = prepare.transform(known.frame.iloc[places])
        parts = np.random.default_rng(self.file.seed).permutation(len(places)) % FOLDS
        if method is not None:
            _calibrate(classifier, unseen, seen, labels, parts, method)
        chances = unseen.predict_proba(seen) if hasattr(unseen, "predict_proba") else None
        how = f"{len(places)} rows, scored by a fit to all others"
        scores = np.asarray(unseen.decision_function(seen))
        return HeldOut(places, labels, scores, chances, parts, how)

    def _judges(self) -> np.ndarray:
        """Places of the rows of the sample that the second fit does not see: most rows stay."""
        most = sum(self.classes.values()) // FOLDS
        keys = _keys(self.numbers, self.file.seed)
        return np.sort(np.argsort(keys, kind="stable")[:most])

    def _labels(self, part: UserTable) -> np.ndarray:
        return read_labels(part, self.target).astype(self.known.labels.dtype.type)

    def _scale(self, prepare: Any) -> None:
        """Means and deviations over all rows, in place of those of the sample; the classes."""
        found, nothing = StandardScaler(), np.zeros(len(prepare.scale_))
        prepare.set_scale(nothing, nothing + 1.0)
        for _, part in self._batches():
            self.classes.update(self._labels(part).tolist())
            if prepare.scale:
                found.partial_fit(prepare.transform(to_frame(self.known.schema, part)))
        if prepare.scale:
            prepare.set_scale(found.mean_, found.scale_)

    def _stream(self, prepare: Any, without: np.ndarray) -> Batches:
        """The rows as numbers, but for those with these (sorted) row numbers."""

        def start() -> Iterator[tuple[Any, Any, Any]]:
            for numbers, part in self._batches():
                X = prepare.transform(to_frame(self.known.schema, part))
                weight = np.isin(numbers, without, invert=True).astype(np.float64)
                yield X, self._labels(part), weight if len(without) else None

        return Batches(start, None)

    def facts(self) -> dict[str, Any]:
        """What is known of all rows, for the summary."""
        total = sum(self.classes.values())
        names = sorted(self.classes, key=str)
        return {"rows": total, "classes": {str(name): self.classes[name] for name in names}}
