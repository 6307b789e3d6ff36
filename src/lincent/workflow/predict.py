"""From a model and a table to a scored table, in batches: ``lincent predict``."""

from __future__ import annotations

import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from lincent._console import silent
from lincent._errors import AppError
from lincent._files import atomic_write, check_output
from lincent.export.model import Model, contributions_of, require_model
from lincent.inspection.thresholds import check_threshold, given_threshold
from lincent.sources.source import package_of
from lincent.tables.formats import CSV, PARQUET, arrow_csv, format_from_name, pa, parquet
from lincent.tables.read import DEFAULT_READ, ReadOptions, read_batches, read_table
from lincent.tables.schema import OddCells, to_frame
from lincent.workflow.check import TableCheck, failure_text


@dataclass
class Scored:
    """Counts of a prediction run."""

    rows: int = 0
    seconds: float = 0.0
    classes: Counter[str] = field(default_factory=Counter)
    odd: OddCells = field(default_factory=OddCells)
    check: dict[str, Any] | None = None  # the result of ``check_table``

    @property
    def warnings(self) -> list[str]:
        """What a user should know of the scored rows."""
        lines = self.odd.messages
        if self.check is not None and not self.check["passed"]:
            lines.append(
                f"the rows differ from the training rows: {failure_text(self.check)} (lincent "
                "check MODEL TABLE shows all)."
            )
        lines += [
            f"{count} rows have a value of {column!r} that training did not have; it adds 0."
            for column, count in sorted(self.odd.unknown.items())
        ]
        return lines

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
            "rows_per_second": round(self.rows / self.seconds) if self.seconds else None,
            "classes": dict(self.classes),
            "new_categories": dict(self.odd.unknown),
            "unreadable": {name: count for name, (count, _) in self.odd.unreadable.items()},
            "check": self.check,
        }


def predict_file(
    model: Model,
    data: Any,
    output: str | os.PathLike[str],
    *,
    ids: tuple[str, ...] | None = None,
    keep_all: bool = False,
    contributions: bool = False,
    threshold: float | None = None,
    strict: bool = False,
    reading: ReadOptions = DEFAULT_READ,
    force: bool = False,
    progress: Callable[[int], None] = silent,
) -> Scored:
    """Score a table in batches and write the predictions.

    Parameters
    ----------
    model : Model
        A fitted model.
    data : path, "-" or frame
        A table: a frame, or a file that is read in batches.
    output : path or "-"
        CSV or Parquet, written atomically.
    ids : tuple of str, default=None
        Columns to keep; None keeps the identifiers named at training, where the table has them.
    keep_all : bool, default=False
        Keep every column of the input.
    contributions : bool, default=False
        Also return the contribution of each column to the score (of the predicted class, where
        there are more than two).
    threshold : float, default=None
        Predict the positive class from this probability on, instead of the model's threshold.
    strict : bool, default=False
        A cell that holds no number or date where training had them is an error, not missing.
    reading : ReadOptions
        Format, separator, encoding and so on, where they are not to be inferred.
    force : bool, default=False
        Replace an output that exists.
    progress : callable
        Is given the number of rows done.

    Returns
    -------
    Scored
        Counts of rows, classes and new categories.
    """
    format = format_from_name(output) if Path(output).suffix else CSV
    if format not in (CSV, PARQUET):
        raise AppError(f"{output}: predictions are written as CSV or Parquet: name such a file.")
    check_output(output, force=force, others=(data,))
    run, started = Scored(), time.perf_counter()
    batches = _scored_batches(
        model, data, run, contributions, threshold, ids=ids, keep_all=keep_all,
        strict=strict, reading=reading,
    )  # fmt: skip
    first = next(batches)
    with atomic_write(output, force=force) as file:
        if format == CSV:
            writer = arrow_csv.CSVWriter(file, first.schema)
        else:
            # Few classes repeat; scores and identifiers do not, and looking for them takes time.
            repeated = [field.name for field in first.schema if field.name.endswith("class")]
            writer = parquet.ParquetWriter(file, first.schema, use_dictionary=repeated)
        with writer:
            for batch in chain([first], batches):
                writer.write_batch(batch)
                progress(run.rows)
    run.seconds = time.perf_counter() - started
    return run


def predict_table(
    model: Model,
    data: Any,
    *,
    keep_all: bool = False,
    contributions: bool = False,
    threshold: float | None = None,
    strict: bool = False,
) -> Any:
    """Score a frame and return a frame of the same library (pandas, polars or Arrow).

    Parameters
    ----------
    model : Model
        A fitted model.
    data : frame
        A table with the columns of the training table.
    keep_all : bool, default=False
        Keep every column of the input, not only the identifiers.
    contributions : bool, default=False
        Also return the contribution of each column to the score (of the predicted class, where
        there are more than two).
    threshold : float, default=None
        Predict the positive class from this probability on, instead of the model's threshold.
    strict : bool, default=False
        A cell that holds no number or date where training had them is an error, not missing.

    Returns
    -------
    frame of the given library
        Class, score and probabilities of each row.
    """
    run, table = Scored(), read_table(data)
    scored = _scored_batches(
        model, table, run, contributions, threshold, keep_all=keep_all, strict=strict
    )
    table = pa.Table.from_batches(scored)
    for message in run.odd.messages:
        warnings.warn(message, UserWarning, stacklevel=2)
    package = package_of(data)
    if package == "pandas":
        frame = table.to_pandas()
        frame.index = data.index
        return frame
    if package == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def _scored_batches(
    model: Model,
    data: Any,
    run: Scored,
    contributions: bool,
    threshold: float | None,
    *,
    ids: tuple[str, ...] | None = None,
    keep_all: bool = False,
    strict: bool = False,
    reading: ReadOptions = DEFAULT_READ,
) -> Iterator[Any]:
    """Yield record batches of kept and new columns; count what was done in ``run``."""
    require_model(model)
    classes = model.classifier.classes_
    if threshold is not None:
        positive = None if model.threshold is None else model.threshold.positive
        check_threshold(None, threshold, classes, positive)
        chosen = given_threshold(
            threshold, classes, positive, has_probabilities=model.has_probabilities
        )
        model = replace(model, summary=model.summary | {"threshold": asdict(chosen)})
    check = TableCheck(model)
    explainer = contributions_of(model) if contributions else None
    reading = replace(reading, expected_decimal=model.summary.get("decimal"))
    for batch in read_batches(data, reading):
        columns = batch.data.schema.names
        if keep_all:
            kept = columns
        elif ids is None:
            kept = [name for name in model.schema.ids if name in columns]
        else:
            kept = list(ids)
        for name in kept:
            if name not in columns:
                raise AppError(f"The table has no column {name!r} to keep.")
        frame = to_frame(model.schema, batch, None if strict else run.odd)
        new = model.score_frame(frame, explainer)
        check.rows += batch.data.num_rows
        check.add(frame, new)
        for name in new:
            if name in kept:
                raise AppError(f"The table has a column {name!r} already: rename or remove it.")
        run.rows += batch.data.num_rows
        labels, counts = np.unique(new["class"], return_counts=True)
        run.classes.update({str(k): int(n) for k, n in zip(labels, counts, strict=True)})
        arrays = [batch.data.column(name) for name in kept]
        arrays += [pa.array(values) for values in new.values()]
        yield pa.RecordBatch.from_arrays(arrays, names=[*kept, *new])
    if not run.rows:
        raise AppError("The table has no rows to score.")
    run.check = check.result()
