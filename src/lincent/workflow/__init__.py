"""Everyday use: from a table to a model to predictions and a report.

The commands ``lincent fit``, ``predict``, ``explain`` and ``check`` are these functions.
"""

from lincent.export.model import Model
from lincent.workflow.check import check_table
from lincent.workflow.explain import explain_model
from lincent.workflow.fit import fit_table
from lincent.workflow.predict import predict_file, predict_table

__all__ = ["Model", "check_table", "explain_model", "fit_table", "predict_file", "predict_table"]
