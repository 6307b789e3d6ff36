"""Everyday use: from a table to a model to predictions and a report.

The commands ``lincent fit``, ``predict``, ``explain`` and ``check`` are these functions.
"""

from typing import TYPE_CHECKING

from lincent._lazy import lazily

__all__ = ["Model", "check_table", "explain_model", "fit_table", "predict_file", "predict_table"]

if TYPE_CHECKING:
    from lincent.export.model import Model
    from lincent.workflow.check import check_table
    from lincent.workflow.explain import explain_model
    from lincent.workflow.fit import fit_table
    from lincent.workflow.predict import predict_file, predict_table
else:
    __getattr__ = lazily(
        __name__,
        {
            "Model": "lincent.export.model",
            "check_table": "check",
            "explain_model": "explain",
            "fit_table": "fit",
            "predict_file": "predict",
            "predict_table": "predict",
        },
    )
