"""Model files, and models as ONNX, SQL and Python for other systems."""

from typing import TYPE_CHECKING

from lincent._lazy import lazily

__all__ = ["export_model", "load_model", "save_model"]

if TYPE_CHECKING:
    from lincent.export.code import export_model
    from lincent.export.model_file import load_model, save_model
else:
    __getattr__ = lazily(
        __name__,
        {"export_model": "code", "load_model": "model_file", "save_model": "model_file"},
    )
