"""Everyday use: from a table to a model to an answer, stored safely and deployed.

The commands ``lincent fit``, ``predict``, ``explain`` and ``export`` are these functions.
"""

from typing import TYPE_CHECKING

from lincent._errors import AppError
from lincent._lazy import lazily

__all__ = [
    "TRUSTED_TYPES",
    "AppError",
    "Model",
    "explain_model",
    "export_model",
    "fit_table",
    "load_model",
    "predict_file",
    "predict_table",
    "save_model",
]

if TYPE_CHECKING:
    from lincent.app.explain import explain_model
    from lincent.app.fit import fit_table
    from lincent.app.predict import predict_file, predict_table
    from lincent.export.export import export_model
    from lincent.export.model import Model
    from lincent.export.storage import TRUSTED_TYPES, load_model, save_model
else:
    __getattr__ = lazily(
        __name__,
        {
            "Model": "lincent.export.model",
            "TRUSTED_TYPES": "lincent.export.storage",
            "explain_model": "explain",
            "export_model": "lincent.export.export",
            "fit_table": "fit",
            "load_model": "lincent.export.storage",
            "predict_file": "predict",
            "predict_table": "predict",
            "save_model": "lincent.export.storage",
        },
    )
