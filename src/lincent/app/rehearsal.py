"""Whether the parts of a model go together: a rehearsal before the first row of a user.

The columns that are prepared are those of the schema, and rows of every kind (numbers, nothing, a
category that is not known) get a finite score and a class.
"""

from __future__ import annotations

import warnings

import numpy as np

from lincent.app.archive import Unacceptable
from lincent.app.contents import check_part
from lincent.app.model import Model
from lincent.app.terms import is_linear, scores_in_units
from lincent.tables import Schema, UserTable
from lincent.tables.schema import CATEGORY, DATE, FLAG, NUMBER, TEXT


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
    columns = steps[0][1]
    if len(steps) != 2 or not hasattr(columns, "transformers_"):
        raise Unacceptable("is damaged: its columns are not prepared as lincent does")
    width = 0
    order = [entry[0] for entry in columns.transformers_ if entry[0] != "remainder"]
    if order != [name for name, names in _prepared(schema) if names]:
        raise Unacceptable("is damaged: its columns are not prepared in the order of lincent")
    for name, part, names in columns.transformers_:
        kind = type(part).__name__
        if (name, kind, names) == ("numbers", "Pipeline", schema.numeric):
            kinds = [type(step).__name__ for _, step in part.steps]
            sizes = {getattr(step, "n_features_in_", None) for _, step in part.steps}
            fits = kinds == ["SimpleImputer", "StandardScaler"] and sizes == {len(names)}
            width += len(names)
        elif (name, kind, names) == ("categories", "OneHotEncoder", schema.categorical):
            wanted = [
                list(column.categories) for column in schema.columns if column.kind == CATEGORY
            ]
            fits = [np.asarray(found).tolist() for found in part.categories_] == wanted
            width += sum(map(len, wanted))
        else:
            fits = (name, part, names) == ("remainder", "drop", [])
        if not fits:
            raise Unacceptable("is damaged: its columns are not prepared as its description says")
    if width != model.classifier.n_features_in_:
        raise Unacceptable(
            f"is damaged: its columns become {width} numbers, and its classifier takes "
            f"{model.classifier.n_features_in_}"
        )


def _prepared(schema: Schema) -> list[tuple[str, list[str]]]:
    return [("numbers", schema.numeric), ("categories", schema.categorical)]


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
