"""Everyday use: from a table to a model to an answer, stored safely and deployed.

The commands ``lincent fit``, ``predict``, ``explain`` and ``export`` are these functions.
"""

from __future__ import annotations

from lincent._errors import AppError
from lincent.app.explain import explain_model
from lincent.app.export import export_model
from lincent.app.fit import fit_table
from lincent.app.model import Model
from lincent.app.predict import predict_file, predict_table
from lincent.app.storage import TRUSTED_TYPES, load_model, save_model

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
