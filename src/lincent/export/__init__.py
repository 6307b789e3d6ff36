"""Model files, and models as ONNX, SQL and Python for other systems."""

from typing import TYPE_CHECKING

from lincent._lazy import lazily

__all__ = ["export_model", "load_model", "save_model"]

if TYPE_CHECKING:
    from lincent.export.export import export_model
    from lincent.export.storage import load_model, save_model
else:
    __getattr__ = lazily(
        __name__,
        {"export_model": "export", "load_model": "storage", "save_model": "storage"},
    )
