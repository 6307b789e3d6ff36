"""The report of a model: one page, made of the explanation of ``workflow.explain_model``."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from lincent._console import json_text
from lincent._errors import AppError
from lincent.export.code import describe
from lincent.export.model import Model, contributions_of
from lincent.inspection.thresholds import cost_text
from lincent.model_selection.metrics import TITLES
from lincent.report.blocks import (
    Block,
    Bullets,
    Code,
    Column,
    Figure,
    Heading,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    Widget,
    bars,
    chart_figure,
    heat,
    line,
    lines,
    number,
    prose,
    section,
    tabulated,
    text,
    texts_of,
)
from lincent.report.rendering import render_html, render_text
from lincent.tables.schema import CATEGORY, FLAG

MAX_BARS, MAX_WARNINGS = 20, 6
NOT_IN_TEXT = ("columns", "use", "provenance")


def model_report(explanation: dict[str, Any], model: Model | None = None) -> str:
    """Return a self-contained HTML page; with the model it can be tried on any values."""
    return render_html(model_page(explanation, model))


def explanation_text(explanation: dict[str, Any]) -> str:
    """Return what a model uses and how good it is as plain text, for the terminal."""
    page = model_page(explanation)
    sections = tuple(section for section in page.sections if section.name not in NOT_IN_TEXT)
    return render_text(replace(page, sections=sections))


def fit_text(explanation: dict[str, Any]) -> str:
    """Return how good a model is as plain text; its warnings are log messages of the fit."""
    evaluation, sections = explanation["evaluation"] or {}, []
    if evaluation:
        tables = scores_table(evaluation), _confusion(explanation)
        sections.append(section("how-good", *tables, where=explanation["evaluated_on"]))
    if evaluation.get("by"):
        sections.append(_groups(evaluation["by"]))
    page = Page("", _answer(explanation), None, _facts(explanation), tuple(sections), "")
    return render_text(page)


def report_file(explanation: dict[str, Any], model: Model, path: str) -> str:
    """Return the report as JSON or HTML, by the suffix of the file."""
    return json_text(explanation) if path.endswith(".json") else model_report(explanation, model)


def model_page(explanation: dict[str, Any], model: Model | None = None) -> Page:
    """Return the report as a page."""
    evaluation = explanation["evaluation"] or {}
    by = evaluation.get("by")
    # What a section shows, if there is any, its function and the arguments.
    parts: list[tuple[Any, ...]] = [
        (evaluation, _evaluation, explanation),
        ((evaluation.get("curves") or {}).get("thresholds"), _threshold, explanation),
        (by, _groups, by),
        (model, _what_if, explanation, model),
        (explanation["importances"], _importances, explanation),
        *((p, _coefficients, k, p) for k, p in enumerate(explanation["problems"])),
        (explanation["suspected_label_errors"], _suspected_label_errors, explanation),
        (explanation["columns"], _columns, explanation["columns"]),
        (explanation.get("model"), _usage, explanation),
        (explanation, _provenance, explanation),
    ]
    sections = [make(*arguments) for shown, make, *arguments in parts if shown]
    noticed = [*(explanation["warnings"] or ()), *(explanation.get("notes") or ())]
    if len(noticed) > MAX_WARNINGS:
        rest = prose("model", "more-warnings", count=len(noticed) - MAX_WARNINGS + 1)
        noticed = [*noticed[: MAX_WARNINGS - 1], rest]
    return Page(
        title=prose("model", "title", target=explanation["target"]),
        answer=_answer(explanation),
        lead=_lead(explanation),
        facts=_facts(explanation),
        sections=tuple(sections),
        footer=prose("model", "footer", version=explanation["lincent"]),
        warnings=tuple(noticed),
    )


# The first screen.


def of_hundred(part: float, whole: float) -> str:
    """Return a fraction as people say it.

    Examples
    --------
    >>> of_hundred(279, 300), of_hundred(1, 900), of_hundred(899, 900), of_hundred(0, 5)
    ('93 of 100', 'fewer than 1 of 100', 'more than 99 of 100', 'none')
    """
    if part == 0:
        return "none"
    if part == whole:
        return "all"
    percent = int(100 * part / whole + 0.5)
    if percent == 0:
        return "fewer than 1 of 100"
    return "more than 99 of 100" if percent == 100 else f"{percent} of 100"


def _answer(explanation: dict[str, Any]) -> tuple[str, ...]:
    """Return what is predicted, how good in plain words, and the first metric."""
    names = [str(label) for label in explanation["classes"]]
    listed = f"{', '.join(names[:5])} and {len(names) - 5} more"
    if len(names) <= 5:
        listed = f"{', '.join(names[:-1])} or {names[-1]}"
    used = sum(bool(column["used_as"]) for column in explanation["columns"] or ())
    first = f"Predicts {explanation['target']}: {listed}"
    first += f", from {used} column{'s' * (used != 1)}." if used else "."
    evaluation = explanation["evaluation"]
    if not evaluation:
        return (first, prose("model", "nothing-held-out"))
    confusion, where = evaluation["confusion"], explanation["evaluated_on"]
    if "at_threshold" in evaluation:
        at, name = evaluation["at_threshold"], evaluation["positive"]
        alarms = prose("model", "no-alarm")
        if at["called"]:
            false = of_hundred(at["called"] - at["found"], at["called"])
            alarms = prose("model", "false-alarms", false=false, name=name)
        found = of_hundred(at["found"], at["rows"])
        plain = prose("model", "found", where=where, found=found, name=name, alarms=alarms)
    else:
        right = of_hundred(sum(row[k] for k, row in enumerate(confusion)), evaluation["rows"])
        present = [k for k, row in enumerate(confusion) if sum(row)]
        k = min(present, key=lambda k: confusion[k][k] / sum(confusion[k]))
        least = of_hundred(confusion[k][k], sum(confusion[k]))
        plain = prose("model", "right", where=where, right=right, worst=names[k], least=least)
    score = evaluation["scores"][0]
    metric = TITLES[score["name"]].capitalize()
    answer = (first, plain, prose("model", "score", metric=metric, **score))
    if not evaluation.get("costs"):
        return answer
    costs, always = evaluation["costs"], evaluation["costs"]["always"]
    constant = min(always, key=always.get)
    costs = costs | {"costs": cost_text(costs["costs"])}
    return (*answer, prose("model", "costs", constant=constant, least=always[constant], **costs))


def _facts(explanation: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = [
        ("Method", str(explanation["estimator"])),
        ("Training rows", str(explanation["training_rows"])),
    ]
    if explanation["evaluation"]:
        facts.append(("Evaluated on", explanation["evaluation"]["how"]))
    if explanation["columns"]:
        used = sum(bool(column["used_as"]) for column in explanation["columns"])
        facts.append(("Columns used", f"{used} of {len(explanation['columns']) - 1}"))
    certificate = explanation["certificate"]
    optimum = "the method gives no certificate"
    if certificate:
        word = "certified" if certificate["certified"] else "not certified"
        optimum = f"{word}, relative gap {certificate['relative_gap']:.1e}"
    facts.append(("Optimum", optimum))
    return tuple(facts)


def _lead(explanation: dict[str, Any]) -> Figure | None:
    """Return the figure beside the answer: classes along the score, or the rows by class."""
    evaluation, where = explanation["evaluation"], explanation["evaluated_on"]
    if not evaluation:
        return None
    histogram = (evaluation.get("curves") or {}).get("histogram")
    if not histogram:
        names = [str(label) for label in explanation["classes"]]
        counts = evaluation["confusion"]
        shares = [[round(100 * n / max(1, sum(row)), 1) for n in row] for row in counts]
        chart = heat("true class", names, "called", names, shares, show=len(names) <= 8)
        return chart_figure("confusion", chart, where=where)
    edges, series = histogram["edges"], []
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    for name, own in histogram["counts"].items():
        percent = [100 * n / max(1, sum(own)) for n in own]
        series.append(line(name, middles, percent, steps=edges))
    x, y = "score, in distances between the classes", "percent of the class"
    chart = lines(x, y, *series, vline=histogram["threshold"], ylim=[0, None])
    return chart_figure("histogram", chart, where=where)


# How good it is, and where to put the threshold.


def _evaluation(explanation: dict[str, Any]) -> Section:
    evaluation = explanation["evaluation"]
    curves = (evaluation.get("curves") or {}).get("by_class") or {}
    blocks: list[Block] = [scores_table(evaluation), _confusion(explanation)]
    if curves:
        blocks += _class_curves(explanation, curves)
    return section("how-good", *blocks, where=explanation["evaluated_on"])


def scores_table(evaluation: dict[str, Any]) -> Table:
    """Return metrics with intervals, beside a constant prediction."""
    first = evaluation["scores"][0]
    return tabulated(
        evaluation["scores"],
        ("Metric", lambda s: TITLES[s["name"]]),
        ("Score#", lambda s: number(s["value"], 3, mark="best" if s is first else "")),
        ("95 % from#|95 % interval", lambda s: number(s["low"], 3)),
        ("to#|95 % interval", lambda s: number(s["high"], 3)),
        ("constant#|the best constant prediction", lambda s: number(s["baseline"], 3)),
        caption=prose("model", "scores", how=evaluation["how"]),
    )


def _percent(part: float, whole: float) -> Item:
    return number(100 * part / whole if whole else float("nan"))


def _confusion(explanation: dict[str, Any]) -> Table:
    """Return the confusion matrix with recall and precision of each class."""
    classes = [str(label) for label in explanation["classes"]]
    counts = explanation["evaluation"]["confusion"]
    called = [sum(row[k] for row in counts) for k in range(len(classes))]
    where = prose("model", "own-threshold")
    if explanation.get("threshold"):
        where = prose("model", "threshold", **explanation["threshold"])
    return tabulated(
        range(len(classes)),
        ("True class", lambda k: classes[k]),
        *(
            (Heading(f"called {name}", True), lambda k, j=j: number(counts[k][j], 0))
            for j, name in enumerate(classes)
        ),
        ("found#|share of the class that is predicted as such (recall)",
         lambda k: _percent(counts[k][k], sum(counts[k]))),
        ("right when called#|share of the predictions that are right (precision)",
         lambda k: _percent(counts[k][k], called[k])),
        caption=prose("model", "confusion", where=where),
    )  # fmt: skip


def _class_curves(explanation: dict[str, Any], curves: dict[str, Any]) -> list[Block]:
    """Return ROC curve, precision and recall, and calibration, a line for each class."""
    names, counts = [str(c) for c in explanation["classes"]], explanation["evaluation"]["confusion"]
    rows = sum(map(sum, counts))
    series: dict[str, list[Any]] = {"roc": [], "precision_recall": [], "calibration": []}
    for name, own in curves.items():
        k = names.index(name)
        hit, present, called = counts[k][k], sum(counts[k]), sum(row[k] for row in counts)
        false, recall = (called - hit) / max(1, rows - present), hit / max(1, present)
        dots = {"roc": [false, recall], "precision_recall": [recall, hit / max(1, called)]}
        for key, dot in dots.items():
            series[key].append(line(name, *zip(*own[key], strict=True), dot=dot))
        bins = own.get("calibration")
        if bins:
            x, y, sizes = ([b[key] for b in bins] for key in ("predicted", "observed", "rows"))
            series["calibration"].append(line(name, x, y, sizes=sizes))
    it = next(iter(curves)) if len(curves) == 1 else "the class"
    figures: list[Block] = []
    for key, own in series.items():
        if own:
            x, y = (texts_of("figures", key)[axis].format(it=it) for axis in ("x", "y"))
            limits = {"diagonal": key != "precision_recall", "xlim": [0, 1], "ylim": [0, 1]}
            figures.append(chart_figure(key, lines(x, y, *own, **limits), it=it, x=x, y=y))
    return figures


def _threshold(explanation: dict[str, Any]) -> Section:
    evaluation = explanation["evaluation"]
    thresholds = evaluation["curves"]["thresholds"]
    name, at = str(evaluation["positive"]), evaluation["at_threshold"]
    classes = [str(label) for label in explanation["classes"]]
    data = {
        **thresholds,
        "positive": name,
        "negative": next(label for label in classes if label != name),
        "option": "" if name == classes[1] else f" --positive {shlex.quote(name)}",
        "rows": evaluation["rows"],
        "positives": at["rows"],
        "own": {"called": at["called"], "at": (explanation.get("threshold") or {}).get("at")},
        "costs": [1, 1],
    }
    prices = (evaluation.get("costs") or {}).get("costs")
    if prices:
        data["costs"] = [prices[data["negative"]], prices[name]]
    rows = at["rows"]
    table = tabulated(
        range(19, len(thresholds["at"]), 20),
        ("From probability#", lambda k: number(thresholds["at"][k], 2)),
        (Heading(f"called {name}", True), lambda k: number(thresholds["called"][k], 0)),
        ("of these right#", lambda k: _percent(thresholds["found"][k], thresholds["called"][k])),
        ("false alarms#", lambda k: number(thresholds["called"][k] - thresholds["found"][k], 0)),
        ("found#", lambda k: _percent(thresholds["found"][k], rows)),
        ("missed#", lambda k: number(rows - thresholds["found"][k], 0)),
        caption=prose("model", "thresholds", rows=evaluation["rows"], positives=rows, name=name),
    )
    lead = prose("model", "threshold-lead", name=name, other=data["negative"])
    return section("threshold", Widget("threshold", data, lead), table)


def _groups(by: dict[str, Any]) -> Section:
    """Return the errors for each value of a column."""

    def rate(group: dict[str, Any], key: str) -> Item:
        own = group.get(key)
        if own is None:
            return Item("–")
        low, high = 100 * own["low"], 100 * own["high"]
        return Item(f"{100 * own['value']:.1f} ({low:.1f} to {high:.1f})", own["value"])

    kinds = {"errors": "wrong", "missed": "missed", "false_alarms": "false alarms"}
    table = tabulated(
        by["groups"],
        (Heading(by["column"]), lambda group: group["group"]),
        ("Rows#", lambda group: number(group["rows"], 0)),
        *(
            (f"{title}#", lambda group, key=key: rate(group, key))
            for key, title in kinds.items()
            if any(key in group for group in by["groups"])
        ),
        caption=prose("model", "groups"),
    )
    return section("groups", table, column=by["column"])


def _what_if(explanation: dict[str, Any], model: Model) -> Section:
    data = model_data(model, explanation)
    if isinstance(data, str):
        return section("what-if", Paragraph(data))
    kind = "contributions" if data["names"] else "no-contributions"
    lead = prose("model", "what-if", contributions=prose("model", kind))
    blocks: list[Block] = [Widget("what-if", data, lead)]
    if data["rows"]:
        blocks.append(Paragraph(prose("model", "rows", rows=len(data["rows"]))))
    return section("what-if", *blocks)


def model_data(model: Model, explanation: dict[str, Any]) -> dict[str, Any] | str:
    """Return what the page computes with, or why it cannot.

    The script of the page evaluates the operations of ``inspection.expression``.

    Parameters
    ----------
    model : Model
        A fitted model.
    explanation : dict
        That of ``explain_model``: importances order the inputs, ``examples`` are rows to start
        from.
    """
    if len(model.schema.columns) > 300:
        return f"The model has {len(model.schema.columns)} inputs, too many to change here."
    explainer = contributions_of(model)
    # Contributions of many leaves take far more space than the scores, which then stay.
    for parts in [None] if explainer.rest else [explainer, None]:
        try:
            data = describe(model, parts.exact if parts else None)
        except AppError as error:
            return f"The model cannot be computed in a page: {error}"
        if len(json.dumps(data["nodes"])) <= 12_000_000:  # characters in the page
            break
    else:
        return "The model is too large to be computed in a page."
    data.setdefault("contribution", None)
    return data | {
        "classes": [str(label) for label in model.classes],
        "names": list(parts.names) if parts else [],
        "base": parts.base.tolist() if parts else [],
        "inputs": _inputs(model, explanation),
        "rows": explanation.get("examples") or [],
    }


def _inputs(model: Model, explanation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return name, kind, range and a typical value of each input, the most important first."""
    encoder, drawn = model.pipeline[0], np.array(model.summary["background"]["rows"])
    first = np.searchsorted(encoder.sources, np.arange(len(encoder.columns_)))
    kinds = {column.name: column for column in model.schema.columns}
    rank = {entry["column"]: k for k, entry in enumerate(explanation["importances"] or ())}
    inputs = []
    for code, k in zip(encoder.columns_, first, strict=True):
        column = kinds[code.name]
        entry: dict[str, Any] = {"name": code.name, "column": column.name, "kind": column.kind}
        if column.kind == CATEGORY:
            shares = model.summary["shares"].get(code.name, {})
            words = [value for value in code.categories if value != encoder.missing_]
            entry["values"] = words
            entry["typical"] = max(words, key=lambda word: shares.get(word, 0.0), default=None)
        else:
            values = drawn[:, k]
            if encoder.scale:
                values = values * encoder.scale_[k] + encoder.center_[k]
            values = values.round(10)
            entry["kind"] = FLAG if column.kind == FLAG else "number"
            entry |= {"low": float(values.min()), "high": float(values.max())}
            entry["whole"] = bool(np.all(np.abs(values - values.round()) < 1e-6))
            typical = float(np.median(values))
            entry["typical"] = round(typical) if entry["whole"] else float(f"{typical:.4g}")
        inputs.append(entry)
    return sorted(inputs, key=lambda entry: rank.get(entry["column"], len(rank)))


# What it goes by.


def term_name(term: dict[str, Any]) -> str:
    """Return the name of a column, or of a category of it."""
    return f"{term['column']} = {term['category']}" if "category" in term else term["column"]


def _importances(explanation: dict[str, Any]) -> Section:
    importances = explanation["importances"]
    shown = importances[:MAX_BARS]
    names, values = ([entry[key] for entry in shown] for key in ("column", "importance"))
    chart = bars(names, values, x="Column", y="Importance")
    blocks: list[Block] = [chart_figure("importances", chart)]
    curves = [entry["curve"] for entry in importances if entry.get("curve")]
    if curves:
        flags = {c["column"] for c in explanation["columns"] or () if c["used_as"] == "flag"}
        blocks.append(_partial_effects(curves, flags, str(explanation["classes"][-1])))
    if explanation.get("pairs"):
        blocks.append(_pairs(explanation["pairs"]))
    return section("importances", *blocks)


def _partial_effects(curves: list[dict[str, Any]], flags: set[str], positive: str) -> Figure:
    """Return what single columns add to the score, value by value, on one scale."""
    charts, heights = [], [0.0]
    for curve in curves:
        name, numeric, xs, ys = (curve[key] for key in ("of", "numeric", "x", "lines"))
        band = curve.get("band")
        if name in flags:
            numeric, xs = False, ["yes" if x else "no" for x in xs]
        heights += [y for own in (*ys.values(), *(band or ())) for y in own]
        if numeric:
            chart = lines(name, "", *(line(k, xs, own) for k, own in ys.items()))
            if band:
                chart["series"][0]["band"] = band
        elif len(ys) == 1:
            chart = bars(xs, next(iter(ys.values())), ranges=band)
        else:
            cells = [list(row) for row in zip(*ys.values(), strict=True)]
            chart = heat(name, xs, "", list(ys), cells)
        charts.append(chart | {"title": name})
    margin = 0.08 * (max(heights) - min(heights) or 1.0)
    limits = {"ylim": [min(heights) - margin, max(heights) + margin]}
    toward = "a class" if len(curves[0]["lines"]) > 1 else positive
    kinds = sorted({curve["band_of"] for curve in curves if "band" in curve})
    bands = "".join(prose("bands", kind) for kind in kinds)
    charts = [chart | limits for chart in charts]
    return chart_figure("partial-effects", *charts, toward=toward, bands=bands)


def _pairs(pairs: list[dict[str, Any]]) -> Figure:
    """Return what two columns add together, on a grid of their values."""
    charts = []
    for pair in pairs:
        first, second = pair["columns"]
        rows, columns = (
            [v if isinstance(v, str) else f"{v:.4g}" for v in p] for p in pair["values"]
        )
        # Small numbers below.
        chart = heat(first, rows[::-1], second, columns, pair["scores"][::-1])
        charts.append(chart | {"title": f"{first} and {second}", "unit": f"toward {pair['class']}"})
    return chart_figure("pairs", *charts)


def _coefficients(k: int, problem: dict[str, Any]) -> Section:
    both, terms = (problem["negative"], problem["positive"]), problem["terms"][:MAX_BARS]
    low, high = (str(side[0]) if len(side) == 1 else "the rest" for side in both)

    def signed(value: float) -> Item:
        return Item(f"{value:+.4g}".replace("-", "−"), float(value))

    numbers = tabulated(
        problem["terms"],
        ("Column", term_name),
        ("Coefficient#", lambda term: signed(term["coef"])),
        ("Effect#", lambda term: signed(term["effect"])),
    )
    chart = bars([term_name(term) for term in terms], [term["effect"] for term in terms])
    name, sides = f"coefficients-{k}", {"high": high, "low": low}
    return section(name, chart_figure(name, chart, numbers=numbers, **sides), **sides)


def _suspected_label_errors(explanation: dict[str, Any]) -> Section:
    suspects = explanation["suspected_label_errors"]
    wrong = "Wrong by#|how far on the other side of the threshold"
    shown: list[Any] = [
        (Heading(name), lambda e, name=name: (e.get("values") or {}).get(name, ""))
        for name in suspects[0].get("values") or {}
    ]
    table = tabulated(
        suspects,
        ("Row#", lambda e: number(e["row"], 0)),
        ("Class", lambda e: e["label"]),
        (wrong, lambda e: number(e["distance"], 2)),
        *shown,
    )
    return section("suspected-label-errors", table, where=explanation["evaluated_on"])


# How it was made.


def _columns(columns: list[dict[str, Any]]) -> Section:
    def encoding(column: Any) -> Item:
        role = "target" if column["role"] == "target" else column["used_as"] or "unused"
        return text(prose("encodings", role), "wrap")

    shown: list[Column] = [
        ("Column", lambda c: c["column"]),
        ("Inferred type", lambda c: c["role"]),
        ("Encoding", encoding),
    ]
    if any(column["reason"] for column in columns):
        shown.append(("Reason", lambda c: text(c["reason"], "wrap")))
    return section("columns", tabulated(columns, *shown))


def _usage(explanation: dict[str, Any]) -> Section:
    path = str(explanation["model"])
    name = (explanation.get("data") or {}).get("name") or "new.csv"
    command = shlex.join(["lincent", "predict", path, name, "-o", "scored.csv"])
    return section("use", Code(prose("model", "code", path=path, name=name)), Code(command))


def _provenance(explanation: dict[str, Any]) -> Section:
    """Return parameters, versions and the fingerprint of the data: enough to fit it again."""
    blocks: list[Block] = []
    for key, title in (("warnings", "Keep in mind:"), ("notes", "Noticed in the table:")):
        if explanation.get(key):
            blocks += [Paragraph(title), Bullets(tuple(explanation[key]))]
    facts = [(name, explanation.get(name)) for name in ("estimator", "created", "seconds")]
    facts += [(f"data: {k}", v) for k, v in (explanation.get("data") or {}).items()]
    facts += [(f"parameter: {k}", v) for k, v in (explanation.get("params") or {}).items()]
    versions = (explanation.get("versions") or {}).items()
    facts += [(f"version: {k}", v) for k, v in versions if v != "absent"]
    stated = [(name, value) for name, value in facts if value is not None]
    table = tabulated(stated, ("What", lambda f: f[0]), ("Value", lambda f: text(f[1], "wrap")))
    return section("provenance", *blocks, table)
