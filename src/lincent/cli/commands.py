"""The work of ``lincent fit``, ``predict``, ``explain`` and ``export``, without argument parsing.

Exit codes: 0 done; 1 done, with a remark that matters (the optimum is not certified); 2 not done,
and one sentence on the error stream says why; 130 interrupted, and one sentence says what is kept.

What the work needs is imported when the options are checked and the person has seen the first word:
scikit-learn alone takes a second.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lincent._console import stages
from lincent._errors import AppError
from lincent._files import STREAM, check_output, is_stream, whole_file
from lincent.cli import terminal
from lincent.tables.formats import check_exists

if TYPE_CHECKING:
    from lincent.tables.read import ReadOptions

DONE, DOUBTFUL = 0, 1


def run_fit(
    data: str, model: str, *, report: bool, force: bool, json: bool, quiet: bool, **settings: Any
) -> int:
    """Fit and write the model, and the report beside it."""
    page = str(Path(model).with_suffix(".html")) if report else None
    if is_stream(model):
        raise AppError("A model is written to a file: name it with -o MODEL.")
    check_output(model, force=force)
    if page is not None:
        check_output(page, force=force)
    check_exists(data)
    tell = terminal.silence if quiet else terminal.remark
    with stages(quiet) as stage:
        stage("reading " + ("standard input" if data == STREAM else data), 0, 0)
        from lincent.export.storage import save_model
        from lincent.workflow.explain import explain_model
        from lincent.workflow.fit import fit_table

        fitted = fit_table(data, tell=tell, stage=stage, **settings)
    html = _page_of(explain_model(fitted) | {"model": model}) if page is not None else b""
    save_model(fitted, model, force=force)
    if page is not None:
        with whole_file(page, force=force) as file:
            file.write(html)
    for warning in fitted.summary["warnings"]:
        tell(warning)
    found = terminal.fit_summary(fitted, data, model, page)
    if json:
        terminal.answer_json(found)
    else:
        terminal.answer(terminal.fit_text(found))
    certificate = fitted.summary["certificate"]
    return DONE if certificate is None or certificate["certified"] else DOUBTFUL


def run_predict(model: str, data: str, output: str, *, json: bool, **settings: Any) -> int:
    """Score a table; the summary goes where the answers do not."""
    check_exists(model)
    check_exists(data)
    from lincent.export.storage import load_model
    from lincent.workflow.predict import predict_file

    loaded = load_model(model)
    with terminal.row_counter() as progress:
        run = predict_file(loaded, data, output, progress=progress, **settings)
    terminal.tell_new_categories(run)
    terminal.tell_unlikely(run, loaded)
    if output == STREAM:
        terminal.remark(terminal.predict_text(run))
    elif json:
        terminal.answer_json(run.to_json() | {"output": output})
    else:
        terminal.answer(terminal.predict_text(run))
    return DONE


def run_explain(
    model: str,
    data: str | None,
    *,
    output: str | None,
    reading: ReadOptions,
    force: bool,
    json: bool,
) -> int:
    """Print the explanation, and write it as a page where asked."""
    if output is not None:
        check_output(output, force=force)
    check_exists(model)
    from lincent.export.storage import described_by, load_model
    from lincent.report.text import explain_text
    from lincent.workflow.explain import explain_model

    loaded = load_model(model)
    with described_by(model):
        found = explain_model(loaded, data, reading=reading)
        html = _page_of(found | {"model": model}) if output is not None else b""
        text = "" if json else explain_text(found)
    if output is not None:
        with whole_file(output, force=force) as file:
            file.write(html)
    if output == STREAM:
        return DONE
    if json:
        terminal.answer_json(found)
    else:
        terminal.answer(text)
    return DONE


def run_export(
    model: str,
    output: str,
    *,
    format: str | None,
    table: str,
    contributions: bool,
    force: bool,
    json: bool,
) -> int:
    """Write the model in another language."""
    kind = format or {".onnx": "onnx", ".sql": "sql", ".py": "python"}.get(Path(output).suffix)
    if kind is None:
        raise AppError(f"What {output} should be is not clear: say --format onnx, sql or python.")
    from lincent.export.export import export_model
    from lincent.export.storage import load_model

    export_model(
        load_model(model), output, kind, table=table, contributions=contributions, force=force
    )
    if output != STREAM:
        if json:
            terminal.answer_json({"output": output, "format": kind})
        else:
            terminal.answer(f"written to {output} as {kind}")
    return DONE


def _page_of(found: dict[str, Any]) -> bytes:
    from lincent.report.page import explanation_html

    return explanation_html(found).encode()
