"""``lincent explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lincent import _console
from lincent._errors import AppError
from lincent._files import STREAM, check_output, write_file
from lincent.cli import options
from lincent.tables.formats import check_exists


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
