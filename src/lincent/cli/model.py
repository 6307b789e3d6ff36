"""What is done with a model file: ``lincent predict``, ``explain``, ``check`` and ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from lincent import _console
from lincent._errors import AppError
from lincent._files import STREAM, check_output, write_file
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


@options.command
def explain(
    model: str,
    data: str | None = None,
    output: str | None = None,
    by: str | None = None,
    strict: bool = False,
    report_json: bool = False,
    rows: bool = True,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
    reading: Any = None,
) -> None:
    """Show what a model goes by, and how good it is.

    How far each column moves the score, and rows with suspect labels.
    """
    if report_json and output in (None, STREAM):
        raise AppError("--report-json writes files beside the page: name it with -o PAGE.html.")
    written = [] if output is None else [output]
    for suffix in (".json", ".md") if report_json else ():
        written.append(str(Path(written[0]).with_suffix(suffix)))
    for path in written:
        check_output(path, force=force, others=(model, data))
    check_exists(model)
    from lincent.export.model_file import load_model, summary_errors
    from lincent.report.model_report import explanation_text
    from lincent.workflow.explain import explain_model

    loaded = load_model(model)
    files: dict[str, bytes] = {}
    with summary_errors(model):
        explanation = explain_model(loaded, data, by=by, strict=strict, reading=reading, rows=rows)
        for note in () if quiet else explanation["table_notes"]:
            _console.log(note)
        if output is not None:
            from lincent.report.model_report import report_files

            files = report_files(explanation | {"model": model}, loaded, written)
        text = _console.json_text(explanation) if json else explanation_text(explanation)
    for path, content in files.items():
        write_file(path, content, force=force)
    if output != STREAM:
        _console.answer(text)


@options.command
def check(
    model: str, data: str, quiet: bool = False, json: bool = False, reading: Any = None
) -> None:
    """Check new rows against the training table of a model.

    Columns, missing values, ranges, unseen categories, and drift of columns and scores. The exit
    code is 1 where a check fails.
    """
    check_exists(model)
    check_exists(data)
    from lincent.export.model_file import load_model, summary_errors
    from lincent.workflow.check import check_table

    loaded = load_model(model)
    with summary_errors(model):
        result = check_table(loaded, data, reading=reading)
    if json:
        _console.answer_json(result | {"model": model, "data": data})
    elif not quiet:
        _console.answer(check_text(result, loaded.summary.get("rows"), data))
    raise typer.Exit(0 if result["passed"] else 1)


def check_text(result: dict[str, Any], trained: Any, data: str) -> str:
    """Return the findings of a check, a line each."""
    failed = len({f["column"] for f in result["findings"] if f["failed"]})
    outcome = f"{failed} columns differ" if failed else "no column differs"
    lines = [
        f"{data}: {outcome} from training ({result['rows']:,} rows against {trained:,}; "
        f"{result['tests']} tests, a false alarm in 1 of 100 tables)"
    ]
    width = max((len(f["column"][:32]) for f in result["findings"]), default=0)
    lines += [
        f"  {'FAILED' if f['failed'] else 'note  '}  {f['column'][:32]:<{width}}  {f['check']}: "
        f"{f['message']}"
        for f in result["findings"]
    ]
    return "\n".join(lines)


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
