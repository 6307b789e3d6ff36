"""``lincent fit``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from lincent import _console
from lincent._errors import AppError
from lincent._files import STREAM, OutputError, atomic_write, check_output, encode, is_stream
from lincent.cli import options
from lincent.tables.formats import check_exists

Names = list[str] | None
OF_LCC = ("lcc", "lcccv", "lcc-1nn", "lcc-1sv")


def fit(
    data: Annotated[
        str,
        typer.Argument(
            help="CSV (any separator, also gzip or zip), Parquet, Feather, Excel or JSON lines; "
            "- is stdin."
        ),
    ],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    output: Annotated[str, typer.Option("-o", "--output", help="Model file to write.")],
    method: Annotated[
        str, typer.Option(help="auto, linear, additive, structured, kernel, lcc, quick or a class.")
    ] = "auto",
    quick: Annotated[
        bool, typer.Option("--quick", help="--method quick: linear, not tuned.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write an HTML page beside the model.")
    ] = False,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Also show how the score grows with the rows.")
    ] = False,
    metric: Annotated[
        str | None,
        typer.Option(help="Threshold with the best balanced_accuracy, accuracy, f1 or mcc."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Predict --positive from this probability on.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Class that probability and F1 refer to.")
    ] = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    role: options.Role = None,
    dates: options.Dates = False,
    text: options.Text = False,
    id: Annotated[Names, typer.Option("--id", help="Column that identifies a row; repeat.")] = None,
    group: options.Group = None,
    set: Annotated[
        Names, typer.Option("--set", help="NAME=VALUE of the estimator; repeat.")
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="With --method lcc: choose the margin.")
    ] = False,
    C: Annotated[float | None, typer.Option("--C", help="With --method lcc: cost C.")] = None,
    margin: Annotated[float | None, typer.Option(help="With --method lcc: margin.")] = None,
    discriminator: Annotated[
        str | None, typer.Option(help="With --method lcc: distance, nearest or svm.")
    ] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give the classes equal total cost.")
    ] = False,
    multi_class: Annotated[str | None, typer.Option(help="ovr or ovo, for many classes.")] = None,
    probability: Annotated[
        str | None, typer.Option(help="sigmoid, isotonic or none, where there is a choice.")
    ] = None,
    format: options.Format = None,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    sheet: options.Sheet = None,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Fit a classifier to a table.

    It is evaluated on rows that were held out.
    """
    with options.errors_as_messages("nothing was written; the same command starts again"):
        page = str(Path(output).with_suffix(".html")) if report else None
        if is_stream(output):
            raise AppError("A model is written to a file: name it with -o MODEL.")
        check_output(output, force=force, others=(data,))
        if page is not None:
            check_output(page, force=force, others=(data, output))
        check_exists(data)
        if quick and method != "auto":
            raise AppError("--quick and --method exclude each other: --quick is --method quick.")
        method = "quick" if quick else method
        params = options.parse_params(set)
        method = _set_lcc_options(method, params, tune, C, margin, discriminator)
        params |= {"class_weight": "balanced"} if balanced else {}
        params |= {} if multi_class is None else {"multi_class": multi_class}
        if probability is not None:
            params["probability"] = None if probability == "none" else probability
        log = _console.silent if quiet else _console.log
        columns = options.column_options(drop, keep, role, dates, text, group)
        reading = options.read_options(format, separator, encoding, decimal, sheet)
        with _console.progress_bar(quiet) as progress:
            progress("reading " + ("standard input" if data == STREAM else data), 0, 0)
            from lincent.export.model_file import save_model
            from lincent.workflow.explain import explain_model
            from lincent.workflow.fit import fit_table

            model = fit_table(
                data, target, method=method, params=params, metric=metric, threshold=threshold,
                positive=positive, ids=tuple(id or ()), **columns, reading=reading,
                learning_curve=learning_curve, n_jobs=options.worker_count(jobs),
                random_state=seed, log=log, progress=progress,
            )  # fmt: skip
        html = b""
        if page is not None:
            from lincent.report.model_report import model_report

            html = encode(model_report(explain_model(model) | {"model": output}))
        save_model(model, output, force=force)
    with options.errors_as_messages(f"the model was written to {output}"):
        try:
            if page is not None:
                with atomic_write(page, force=force) as file:
                    file.write(html)
            for warning in model.summary["warnings"]:
                log(warning)
            summary = _summary(model, data, output, page)
            if json:
                _console.answer_json(summary)
            else:
                _console.answer(_summary_text(summary))
        except OutputError as error:
            raise OutputError(f"The model was written to {output}. {error}") from error
    certificate = model.summary["certificate"]
    raise typer.Exit(0 if certificate is None or certificate["certified"] else 1)


def _set_lcc_options(
    method: str,
    params: dict[str, Any],
    tune: bool,
    C: float | None,
    margin: float | None,
    discriminator: str | None,
) -> str:
    """Put the options of ``--method lcc`` into the parameters; return the method."""
    given = {"C": C, "margin": margin, "discriminator": discriminator}
    given = {name: value for name, value in given.items() if value is not None}
    asked = [f"--{name}" for name in given] + ["--tune"] * tune
    if asked and method.lower() not in OF_LCC:
        from lincent.workflow.methods import make_classifier

        instead = ""
        accepted = make_classifier(method, {}).get_params(deep=False)
        if given and next(iter(given)) in accepted:
            instead = f" (--set {next(iter(given))}=VALUE sets that of --method {method})"
        elif C is not None:
            instead = " (the price of an error is set by --threshold)"
        raise AppError(f"{asked[0]} belongs to --method lcc: add --method lcc{instead}.")
    if tune and "margin" in given:
        raise AppError("--margin and --tune exclude each other: tuning chooses the margin.")
    if tune or method.lower() == "lcccv":
        several = {"C": "Cs", "discriminator": "discriminators"}
        params |= {several[name]: (value,) for name, value in given.items() if name in several}
        return "LCCCV"
    params |= given
    return method


def _summary(model: Any, data: str, path: str, page: str | None) -> dict[str, Any]:
    """Return what ``lincent fit`` prints as JSON."""
    summary = dict(model.summary)
    del summary["suspected_label_errors"]
    if summary["held_out"]:
        summary["held_out"] = {k: v for k, v in summary["held_out"].items() if k != "curves"}
    new = "new" + "".join(Path(data).suffixes[-2:]) if data != STREAM else "new.csv"
    command = shlex.join(["lincent", "predict", path, new, "-o", "scored.csv"])
    return {"model": path, "report": page, "lincent": model.version, "next": command, **summary}


def _summary_text(summary: dict[str, Any]) -> str:
    """Return the summary of a fit in a few lines, the held-out score first."""
    from lincent.report.text import learning_curve_text, scores_text

    held = summary["held_out"]
    lines = scores_text(held, "held-out rows") if held else ["No row could be held out."]
    if held and "at_threshold" in held:
        lines.append(threshold_text(held["positive"], **held["at_threshold"]))
    if summary.get("learning_curve"):
        lines.append(learning_curve_text(summary["learning_curve"]))
    used = sum(bool(column["used_as"]) for column in summary["columns"])
    classes = ", ".join(f"{name} ({count})" for name, count in summary["classes"].items())
    certificate = summary["certificate"]
    gap = f"relative duality gap {certificate['relative_gap']:.1e}; " if certificate else ""
    lines += [
        f"{summary['estimator']} on {summary['rows']} rows, {used} of "
        f"{len(summary['columns']) - 1} columns, classes {classes}; {gap}"
        f"{summary['seconds']:.2f} s",
        f"written to {summary['model']}",
    ]
    if summary["report"]:
        lines.append(f"report in {summary['report']}")
    lines.append(f"next: {summary['next']}")
    return "\n".join(lines)


def threshold_text(name: Any, found: int, rows: int, called: int) -> str:
    """Return what a decision on the threshold is about: rows found, and false alarms."""
    return (
        f"At the threshold: {found} of {rows} rows of {name} are found; {called - found} of the "
        f"{called} rows called {name} are not."
    )
