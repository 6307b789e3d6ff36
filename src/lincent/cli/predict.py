"""``lincent predict``."""

from __future__ import annotations

from typing import Annotated

import typer

from lincent import _console
from lincent._files import STREAM, check_output
from lincent.cli import options
from lincent.tables.formats import check_exists


def predict(
    model: options.ModelFile,
    data: Annotated[str, typer.Argument(help="A table as for fit; - is stdin.")],
    output: Annotated[
        str, typer.Option("-o", "--output", help="CSV or Parquet file to write; - is stdout.")
    ],
    id: Annotated[
        list[str] | None, typer.Option("--id", help="Column to keep; else those named in fit.")
    ] = None,
    all_columns: Annotated[
        bool, typer.Option("--all-columns", help="Keep every column of the input.")
    ] = False,
    prefix: Annotated[str, typer.Option(help="Goes before the names of new columns.")] = "",
    contributions: options.Contributions = False,
    format: options.Format = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    output_format: Annotated[
        str | None, typer.Option(help="csv or parquet; else by the name.")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Score a table with a model.

    Its rows get a class, a score and probabilities; it may exceed the memory.
    """
    with options.errors_as_messages():
        check_exists(model)
        check_exists(data)
        check_output(output, force=force, others=(model, data))
        from lincent.export.model_file import load_model
        from lincent.workflow.predict import predict_file

        loaded = load_model(model)
        reading = options.read_options(format, separator, encoding, decimal, sheet)
        with _console.row_counter() as progress:
            run = predict_file(
                loaded, data, output, ids=tuple(id) if id else None, keep_all=all_columns,
                prefix=prefix, contributions=contributions, reading=reading,
                output_format=output_format, force=force, progress=progress,
            )  # fmt: skip
        for column, count in sorted(run.new_categories.items()):
            _console.log(
                f"{count} rows have a value of {column!r} that training did not have; it adds 0."
            )
        if run.unlikely:
            threshold = loaded.threshold
            why = "counts both classes the same" if threshold is None else f"is {threshold.by}"
            _console.log(
                f"In {run.unlikely} rows the class is not the most probable one: the threshold "
                f"{why}."
            )
        summary = run.to_json()
        classes = ", ".join(f"{name} {count}" for name, count in sorted(summary["classes"].items()))
        speed = f"{summary['rows_per_second']:,}" if summary["rows_per_second"] else "–"
        text = f"{summary['rows']:,} rows in {summary['seconds']:.2f} s ({speed} rows/s): {classes}"
        if output == STREAM:
            _console.log(text)
        elif json:
            _console.answer_json(summary | {"output": output})
        else:
            _console.answer(text)
