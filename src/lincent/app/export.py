"""A model for other systems: ``lincent export``."""

from __future__ import annotations

import os

from lincent._errors import AppError
from lincent._files import check_output, whole_file
from lincent.app.model import Model
from lincent.tables.schema import DATE, TEXT

FORMATS = ("onnx", "sql", "python")


def export_model(
    model: Model,
    output: str | os.PathLike[str],
    format: str = "onnx",
    *,
    table: str = "input_table",
    force: bool = False,
) -> None:
    """Write a model as an ONNX graph, a SQL query or a Python module.

    Parameters
    ----------
    model : Model
        A fitted model.
    output : path or "-"
        The file to write; it appears whole or not at all.
    format : {"onnx", "sql", "python"}, default="onnx"
        What is written.
    table : str, default="input_table"
        The table that the SQL query reads.
    force : bool, default=False
        Replace a file that exists.
    """
    check_output(output, force=force)
    data = export_bytes(model, format, table)
    with whole_file(output, force=force) as file:
        file.write(data)


def export_bytes(model: Model, format: str, table: str = "input_table") -> bytes:
    """What ``export_model`` writes."""
    _check_exportable(model, format)
    if format == "onnx":
        from lincent.app.onnx import onnx_bytes

        return onnx_bytes(model)
    from lincent.app.snippets import python_snippet, sql_snippet

    if format == "sql":
        return sql_snippet(model, table).encode()
    if format == "python":
        return python_snippet(model).encode()
    raise AppError(f"The format {format!r} is not known: choose one of {', '.join(FORMATS)}.")


def _check_exportable(model: Model, format: str) -> None:
    """Refuse what an export would get wrong."""
    cut = model.cut
    if cut is not None:
        raise AppError(
            f"The class of this model changes at a {cut.scale} of {cut.at:.4g} ({cut.by}), which "
            "an export does not know: fit without it, and compare with that number in its place."
        )
    made = [c.name for c in model.schema.columns if c.kind in (DATE, TEXT)]
    if made and format != "onnx":
        raise AppError(
            f"The column {made[0]!r} is a date or free text, which {format} has no form for: "
            "export to ONNX, whose inputs are its parts, or fit without it."
        )
