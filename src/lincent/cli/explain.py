"""``lincent explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from lincent import _console
from lincent._files import STREAM, atomic_write, check_output, encode
from lincent.cli import options
from lincent.tables.formats import check_exists


def explain(
    model: options.ModelFile,
    data: Annotated[
        str | None, typer.Argument(help="Table with the target to evaluate on; - is stdin.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="HTML page to write; - is stdout.")
    ] = None,
    format: options.Format = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Show what a model goes by, and how good it is.

    How far each column moves the score, where the classes lie, and rows with suspect labels.
    """
    with options.errors_as_messages():
        if output is not None:
            check_output(output, force=force, others=(model, data))
        check_exists(model)
        from lincent.export.model_file import load_model, summary_errors
        from lincent.report.text import explanation_text
        from lincent.workflow.explain import explain_model

        loaded, html = load_model(model), ""
        reading = options.read_options(format, separator, encoding, decimal, sheet)
        with summary_errors(model):
            explanation = explain_model(loaded, data, reading=reading)
            if output is not None:
                from lincent.report.model_report import model_report

                html = model_report(explanation | {"model": model})
            text = "" if json else explanation_text(explanation)
        if output is not None:
            with atomic_write(output, force=force) as file:
                file.write(encode(html))
        if output == STREAM:
            return
        if json:
            _console.answer_json(explanation)
        else:
            _console.answer(text)
