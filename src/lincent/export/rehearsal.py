"""Whether the parts of a model go together: a rehearsal before the first row of a user.

The columns that are prepared are those of the schema, and rows of every kind (numbers, nothing, a
category that is not known) get a finite score and a class.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lincent.export.archive import Unacceptable
from lincent.export.contents import check_part
from lincent.export.model import Model
from lincent.export.terms import is_linear, scores_in_units
from lincent.tables.encoder import MOST_CATEGORIES, EncodedColumn, TableEncoder
from lincent.tables.read import UserTable
from lincent.tables.schema import CATEGORY, DATE, FLAG, NUMBER, TEXT, Column


def check_model(model: Model) -> None:
    """Raise Unacceptable unless all parts fit and rows can be scored."""
    pipeline = model.pipeline
    if type(pipeline).__name__ != "Pipeline" or not hasattr(pipeline, "steps"):
        raise Unacceptable(f"holds a {type(pipeline).__name__}, not a fitted lincent pipeline")
    check_part(pipeline)
    classifier = pipeline.steps[-1][1]
    if not hasattr(classifier, "classes_") or not hasattr(classifier, "decision_function"):
        raise Unacceptable(f"holds a {type(classifier).__name__}, not a fitted lincent pipeline")
    check_columns(model)
    probe(model)


def check_columns(model: Model) -> None:
    """Whether what prepares the columns is made for the columns of the schema."""
    steps, schema = model.pipeline.steps, model.schema
    encoder = steps[0][1]
    if len(steps) != 2 or not _is_encoder(encoder):
        raise Unacceptable("is damaged: its columns are not prepared as lincent does")
    wanted = {name: column for column in schema.columns for name in column.inputs}
    if [code.name for code in encoder.columns_] != list(wanted):
        raise Unacceptable("is damaged: its columns are not prepared in the order of lincent")
    if list(getattr(encoder, "feature_names_in_", ())) != list(wanted) or not all(
        _fits(code, wanted[code.name]) for code in encoder.columns_
    ):
        raise Unacceptable("is damaged: its columns are not prepared as its description says")
    width = len(encoder.sources)
    for name in ("center_", "scale_"):
        numbers = getattr(encoder, name, None)
        if not isinstance(numbers, np.ndarray) or numbers.shape != (width,):
            raise Unacceptable(f"is damaged: its columns have no {name} for each")
    if not np.all(encoder.scale_ > 0):
        raise Unacceptable("is damaged: the unit of a column is not positive")
    if width != model.classifier.n_features_in_:
        raise Unacceptable(
            f"is damaged: its columns become {width} numbers, and its classifier takes "
            f"{model.classifier.n_features_in_}"
        )


def _is_encoder(encoder: Any) -> bool:
    return (
        isinstance(encoder, TableEncoder)
        and type(vars(encoder).get("missing_")) is str
        and type(vars(encoder).get("columns_")) is list
        and all(type(code) is EncodedColumn for code in encoder.columns_)
        and all(set(vars(code)) == set(EncodedColumn.__annotations__) for code in encoder.columns_)
    )


def _fits(code: Any, column: Column) -> bool:
    """Whether a column is encoded as what it is; of many categories, rare ones have no place."""
    if type(code.fill) is not float or type(code.indicator) is not bool:
        return False
    if column.kind != CATEGORY:
        return code.categories is None
    found = code.categories
    return (
        isinstance(found, tuple)
        and all(isinstance(category, str) for category in found)
        and len(set(found)) == len(found) > 0
        and set(found) <= set(column.categories)
        and len(found) >= min(len(column.categories), MOST_CATEGORIES)
        and not code.indicator
    )


def probe(model: Model) -> None:
    """Score rows of every kind: what cannot be computed is found here, not in the user's data."""
    import pyarrow as pa

    some = {
        NUMBER: pa.array([0.0, None, 1.0]),
        FLAG: pa.array([False, None, True]),
        CATEGORY: pa.array(["", None, "?"]),
        TEXT: pa.array(["", None, "two words"]),
        DATE: pa.array([0, None, 10**6], pa.timestamp("s")),
    }
    batch = UserTable(pa.record_batch({c.name: some[c.kind] for c in model.schema.columns}))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = model.score_batch(batch)
            if is_linear(model.classifier):
                scores_in_units(model)
    except Exception as error:
        text = ascii(" ".join(str(error).split()))[1:-1]
        raise Unacceptable(f"cannot score a row ({type(error).__name__}, {text[:200]})") from error
    for name, column in found.items():
        if np.shape(column) != (3,):
            raise Unacceptable(f"gives {np.shape(column)} answers to three rows")
        if name != "class" and not np.isfinite(column).all():
            raise Unacceptable("gives a score that is not a finite number")
