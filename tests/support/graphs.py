"""What an exported graph says of the rows of a frame."""

import numpy as np


def answers_of(session, model, rows):
    """The outputs of a graph for the rows of a frame."""
    inputs = {}
    for column in model.schema.columns:
        values = rows[column.name]
        if column.kind == "category":
            values = values.astype(object).where(values.notna(), "(missing)")
            inputs[column.name] = values.to_numpy(dtype=object)[:, None]
        else:
            inputs[column.name] = values.to_numpy(dtype=np.float64)[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))
