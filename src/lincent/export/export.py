"""A model for other systems: ``lincent export``."""

from __future__ import annotations

import os

from lincent._errors import AppError
from lincent._files import check_output, whole_file
from lincent.export.contributions import contributions_of
from lincent.export.model import Model
from lincent.tables.schema import DATE, TEXT

FORMATS = ("onnx", "sql", "python")


def export_model(
    model: Model,
    output: str | os.PathLike[str],
    format: str = "onnx",
    *,
    table: str = "input_table",
    contributions: bool = False,
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
    contributions : bool, default=False
        Give what each column adds to the score as well; ONNX has their names in its metadata.
    force : bool, default=False
        Replace a file that exists.
    """
    check_output(output, force=force)
    data = export_bytes(model, format, table, contributions=contributions)
    with whole_file(output, force=force) as file:
        file.write(data)


def export_bytes(
    model: Model, format: str, table: str = "input_table", *, contributions: bool = False
) -> bytes:
    """What ``export_model`` writes."""
    made = [c.name for c in model.schema.columns if c.kind in (DATE, TEXT)]
    if made and format != "onnx":
        raise AppError(
            f"The column {made[0]!r} is a date or free text, which {format} has no form for: "
            "export to ONNX, whose inputs are its parts, or fit without it."
        )
    parts = contributions_of(model) if contributions else None
    if format == "onnx":
        from lincent.export.onnx import onnx_bytes

        return onnx_bytes(model, parts)
    from lincent.export.snippets import python_snippet, sql_snippet

    if format == "sql":
        return sql_snippet(model, table, contributions=contributions).encode()
    if format == "python":
        return python_snippet(model, contributions=contributions).encode()
    raise AppError(f"The format {format!r} is not known: choose one of {', '.join(FORMATS)}.")
