"""``lincent predict``."""

from __future__ import annotations

from typing import Any

from lincent import _console
from lincent._files import STREAM, check_output
from lincent.cli import options
from lincent.tables.formats import check_exists


@options.command
def predict(
    model: str,
    data: str,
    output: str = STREAM,
    id: options.Names = None,
    all_columns: bool = False,
    prefix: str = "",
    threshold: float | None = None,
    contributions: bool = False,
    reasons: int = 0,
    strict: bool = False,
    output_format: str | None = None,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
    reading: Any = None,
) -> None:
    """Score a table with a model.

    Its rows get a class, a score and probabilities; it may exceed the memory.
    """
    check_exists(model)
    check_exists(data)
    check_output(output, force=force, others=(model, data))
    from lincent.export.model_file import load_model
    from lincent.workflow.predict import predict_file

    with _console.row_counter(quiet) as progress:
        run = predict_file(
            load_model(model), data, output, ids=tuple(id) if id else None,
            keep_all=all_columns, prefix=prefix, threshold=threshold,
            contributions=contributions, reasons=reasons, strict=strict, reading=reading,
            output_format=output_format, force=force, progress=progress,
        )  # fmt: skip
    for line in () if quiet else run.warnings:
        _console.log(line)
    summary = run.to_json()
    classes = ", ".join(f"{name} {count}" for name, count in sorted(summary["classes"].items()))
    text = f"{summary['rows']:,} rows in {summary['seconds']:.2f} s: {classes}"
    if output == STREAM:
        (_console.silent if quiet else _console.log)(text)
    elif json:
        _console.answer_json(summary | {"output": output})
    else:
        _console.answer(f"{text}; written to {output}")
