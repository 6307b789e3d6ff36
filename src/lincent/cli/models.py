"""Commands on models: ``lincent fit``, ``predict``, ``explain``, ``check`` and ``export``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import typer

from lincent import _console
from lincent._errors import AppError
from lincent._files import STREAM, OutputError, check_output, write_file
from lincent.cli import options
from lincent.tables.formats import check_exists


@options.command
def fit(
    data: str,
    target: str | None = None,
    output: str | None = None,
    method: str = "auto",
    report: bool | None = None,
    report_json: bool = False,
    rows: bool = True,
    costs: str | None = None,
    metric: str | None = None,
    threshold: float | None = None,
    positive: str | None = None,
    by: str | None = None,
    id: options.Names = None,
    set: options.Names = None,
    strict: bool = False,
    jobs: int = 1,
    seed: int = 0,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
    columns: Any = None,
    reading: Any = None,
) -> None:
    """Fit a classifier to a table.

    It is evaluated on rows that were held out.
    """
    with options.errors_as_messages("nothing was written; the same command starts again"):
        report = output is None if report is None else report
        if output is None and data != STREAM:
            output = str(Path(data).with_name(Path(data).name.split(".")[0] + ".lincent"))
        if output in (None, STREAM):
            raise AppError("A model is written to a file: name it with -o MODEL.")
        suffixes = [".html"] * report + [".json"] * report_json
        written = [str(Path(output).with_suffix(suffix)) for suffix in suffixes]
        check_output(output, force=force, others=(data,))
        for path in written:
            check_output(path, force=force, others=(data, output))
        check_exists(data)
        params = options.parse_params(set)
        log = _console.silent if quiet else _console.log
        with _console.progress_bar(quiet) as progress:
            progress("reading " + ("standard input" if data == STREAM else data), 0, 0)
            from lincent.export.model_file import save_model
            from lincent.report.model_report import fit_text, report_file
            from lincent.workflow.explain import explain_model
            from lincent.workflow.fit import fit_table

            model = fit_table(
                data, target, method=method, params=params, metric=metric, threshold=threshold,
                costs=options.parse_costs(costs), positive=positive, by=by, ids=tuple(id or ()),
                **columns, strict=strict, reading=reading, rows=rows,
                n_jobs=options.worker_count(jobs), random_state=seed, log=log, progress=progress,
            )  # fmt: skip
        explanation = explain_model(model) | {"model": output}
        files = {path: report_file(explanation, model, path) for path in written}
        save_model(model, output, force=force)
    with options.errors_as_messages(f"the model was written to {output}"):
        try:
            for path, content in files.items():
                write_file(path, content, force=force)
            for warning in model.summary["warnings"]:
                log(warning)
            page = written[0] if report else None
            command = shlex.join(["lincent", "predict", output, "new.csv", "-o", "scored.csv"])
            if json:
                _console.answer_json(explanation | {"report": page, "next": command})
            else:
                lines = [fit_text(explanation), "", f"written to {output}"]
                lines += [f"report in {page}"] if page else []
                _console.answer("\n".join([*lines, f"next: {command}"]))
        except OutputError as error:
            raise OutputError(f"The model was written to {output}. {error}") from error
    certificate = model.summary["certificate"]
    raise typer.Exit(0 if certificate is None or certificate["certified"] else 1)


@options.command
def predict(
    model: str,
    data: str,
    output: str = STREAM,
    id: options.Names = None,
    all_columns: bool = False,
    threshold: float | None = None,
    contributions: bool = False,
    strict: bool = False,
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

    with _console.progress_bar(quiet or not sys.stderr.isatty()) as show:
        run = predict_file(
            load_model(model), data, output, ids=tuple(id) if id else None,
            keep_all=all_columns, threshold=threshold, contributions=contributions,
            strict=strict, reading=reading, force=force,
            progress=lambda rows: show("scoring", 0, 0, f"{rows:,} rows"),
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
    rows: bool = True,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
    reading: Any = None,
) -> None:
    """Show what a model goes by, and how good it is.

    How far each column moves the score, and rows with suspect labels.
    """
    if output is not None:
        check_output(output, force=force, others=(model, data))
    check_exists(model)
    from lincent.export.model_file import load_model, summary_errors
    from lincent.report.model_report import explanation_text, report_file
    from lincent.workflow.explain import explain_model

    loaded = load_model(model)
    with summary_errors(model):
        explanation = explain_model(loaded, data, by=by, strict=strict, reading=reading, rows=rows)
        for note in () if quiet else explanation["table_notes"]:
            _console.log(note)
        if output is not None:
            content = report_file(explanation | {"model": model}, loaded, output)
        text = _console.json_text(explanation) if json else explanation_text(explanation)
    if output is not None:
        write_file(output, content, force=force)
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
