"""``lincent export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lincent import _console
from lincent._errors import AppError
from lincent._files import STREAM, check_output
from lincent.cli import options


def export(
    model: options.ModelFile,
    output: Annotated[str, typer.Argument(help="File to write; - is stdout.")],
    format: Annotated[
        str | None, typer.Option(help="onnx, sql or python; else by the name.")
    ] = None,
    table: Annotated[str, typer.Option(help="Table that the SQL reads.")] = "input_table",
    contributions: options.Contributions = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write a model as ONNX, SQL or Python code."""
    with options.errors_as_messages():
        by_name = {".onnx": "onnx", ".sql": "sql", ".py": "python"}
        format = format or by_name.get(Path(output).suffix)
        if format is None:
            raise AppError(
                f"What {output} should be is not clear: say --format onnx, sql or python."
            )
        check_output(output, force=force, others=(model,))
        from lincent.export import export_model, load_model

        difference = export_model(
            load_model(model), output, format, table=table, contributions=contributions, force=force
        )
        if output == STREAM:
            return
        if json:
            _console.answer_json({"output": output, "format": format, "difference": difference})
        else:
            _console.answer(
                f"written to {output} as {format}; its scores are within {difference:.1e} of those "
                "of predict, on 200 rows drawn around the centers of its columns"
            )
