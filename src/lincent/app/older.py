"""Model files of version 0.1.0, whose columns were prepared by parts of scikit-learn.

There numbers came first, each with its median, mean and deviation, and then the categories.  The
same numbers come from ``TableNumbers`` and a schema whose columns stand in that order: columns are
found by name, so their order is free.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lincent._marks import unused_mark
from lincent.app.archive import Unacceptable
from lincent.app.contents import check_part
from lincent.features import TableNumbers
from lincent.stored import ColumnCode, TableEncoder
from lincent.tables import Schema
from lincent.tables.schema import CATEGORY


def as_today(pipeline: Any, schema: Schema) -> tuple[Any, Schema]:
    """Pipeline and schema in today's form; what is in it already stays as it is."""
    steps = getattr(pipeline, "steps", None)
    if not isinstance(steps, list) or not steps or not _is_step(steps[0]):
        return pipeline, schema
    columns = steps[0][1]
    check_part(columns)
    parts = _parts(columns, schema)
    codes, center, unit = [], [np.empty(0)], [np.empty(0)]
    if "numbers" in parts:
        impute, scaler = (step for _, step in parts["numbers"].steps)
        pairs = zip(schema.numeric, impute.statistics_.tolist(), strict=True)
        codes += [ColumnCode(name, None, float(fill), False) for name, fill in pairs]
        center, unit = [scaler.mean_], [scaler.scale_]
    if "categories" in parts:
        pairs = zip(schema.categorical, parts["categories"].categories_, strict=True)
        for name, found in pairs:
            codes.append(ColumnCode(name, tuple(str(word) for word in found), 0.0, False))
            center.append(np.zeros(len(found)))
            unit.append(np.ones(len(found)))
    made = TableNumbers()
    words = (word for code in codes for word in code.categories or ())
    made.encoder_ = TableEncoder(codes, unused_mark(words))
    made.center_, made.unit_ = np.concatenate(center), np.concatenate(unit)
    made.feature_names_in_ = np.array([code.name for code in codes], dtype=object)
    made.n_features_in_ = len(codes)
    pipeline.steps = [(steps[0][0], made), *steps[1:]]
    order = sorted(schema.columns, key=lambda column: column.kind == CATEGORY)
    return pipeline, replace(schema, columns=tuple(order))


def _is_step(step: Any) -> bool:
    """A name and what scikit-learn calls a ColumnTransformer."""
    return isinstance(step, tuple) and len(step) == 2 and hasattr(step[1], "transformers_")


def _parts(columns: Any, schema: Schema) -> dict[str, Any]:
    """The parts by name, if they are those of version 0.1.0 and for the columns of the schema."""
    wanted = {"numbers": schema.numeric, "categories": schema.categorical}
    found = {
        name: (part, names) for name, part, names in columns.transformers_ if name != "remainder"
    }
    if list(found) != [name for name, names in wanted.items() if names]:
        raise Unacceptable("is damaged: its columns are not prepared in the order of lincent")
    for name, (part, names) in found.items():
        kinds = [type(step).__name__ for _, step in getattr(part, "steps", [(None, part)])]
        if names != wanted[name] or kinds not in (
            ["SimpleImputer", "StandardScaler"],
            ["OneHotEncoder"],
        ):
            raise Unacceptable("is damaged: its columns are not prepared as its description says")
    return {name: part for name, (part, _) in found.items()}
