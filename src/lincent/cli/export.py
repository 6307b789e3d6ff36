"""``lincent export``."""

from __future__ import annotations

from pathlib import Path

from lincent import _console
from lincent._errors import AppError
from lincent._files import STREAM, check_output
from lincent.cli import options


@options.command
def export(
    model: str,
    output: str,
    output_format: str | None = None,
    table: str = "input_table",
    data: str | None = None,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
) -> None:
    """Write a model as ONNX, SQL or Python code."""
    by_name = {".onnx": "onnx", ".sql": "sql", ".py": "python"}
    format = output_format or by_name.get(Path(output).suffix)
    if format is None:
        raise AppError(
            f"What {output} should be is not clear: say --output-format onnx, sql or python."
        )
    check_output(output, force=force, others=(model,))
    from lincent.export import export_model, load_model

    difference = export_model(
        load_model(model), output, format, table=table, data=data, force=force
    )
    if output == STREAM or (quiet and not json):
        return
    if json:
        _console.answer_json({"output": output, "format": format, "difference": difference})
    else:
        _console.answer(
            f"written to {output} as {format}; its scores are within {difference:.1e} of those "
            "of predict, on 200 rows drawn around the centers of its columns"
            + (f" and on rows of {data}" if data else "")
        )
