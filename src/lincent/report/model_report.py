"""The report of a model: one page, made of the explanation of ``workflow.explain_model``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from lincent._console import json_text
from lincent._files import encode
from lincent.export.model import Model
from lincent.model_selection.metrics import TITLES
from lincent.report.blocks import (
    Block,
    Bullets,
    Code,
    Figure,
    Heading,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    Widget,
    number,
    tabulated,
    text,
)
from lincent.report.charts import bars, chart_figure, dots, heat, line, lines
from lincent.report.model_data import model_data
from lincent.report.rendering import render_html, render_markdown, render_text

MAX_BARS, MAX_WARNINGS = 20, 6
NOT_IN_TEXT = ("tuning", "columns", "use", "provenance")
BANDS = {
    "rows": " The band holds the curves of 80 % of the rows: wide where the effect of a column "
    "depends on the others.",
    "resamples": " The band holds 80 % of the curves of resampled rows.",
}
ENCODINGS = {
    "number": "mean 0, standard deviation 1",
    "flag": "0 and 1, then mean 0, standard deviation 1",
    "category": "one column of 0 and 1 for each value",
    "date": "days, month, weekday (and hour)",
    "": "left out",
}


def model_report(explanation: dict[str, Any], model: Model | None = None) -> str:
    """Return a self-contained HTML page; with the model it can be tried on any values."""
    return render_html(model_page(explanation, model))


def explanation_text(explanation: dict[str, Any]) -> str:
    """Return what a model uses and how good it is as plain text, for the terminal."""
    page = model_page(explanation)
    sections = tuple(section for section in page.sections if section.name not in NOT_IN_TEXT)
    return render_text(replace(page, sections=sections))


def report_files(
    explanation: dict[str, Any], model: Model, paths: Sequence[str]
) -> dict[str, bytes]:
    """Return the report as HTML, JSON (.json) or Markdown (.md), by the name of each file."""
    files = {}
    for path in paths:
        if path.endswith(".json"):
            text = json_text(explanation)
        elif path.endswith(".md"):
            text = render_markdown(model_page(explanation))
        else:
            text = model_report(explanation, model)
        files[path] = encode(text)
    return files


def model_page(explanation: dict[str, Any], model: Model | None = None) -> Page:
    """Return the report as a page."""
    evaluation, tuning = explanation["evaluation"] or {}, explanation.get("tuning") or {}
    by, curve = evaluation.get("by"), explanation.get("learning_curve")
    # What a section shows, if there is any, its function and the arguments.
    parts: list[tuple[Any, ...]] = [
        (evaluation, _evaluation, explanation),
        ((evaluation.get("curves") or {}).get("thresholds"), _threshold, explanation),
        (by, _groups, by),
        (model, _what_if, explanation, model),
        (explanation["importances"], _importances, explanation),
        *((p, _coefficients, k, p) for k, p in enumerate(explanation["problems"])),
        (explanation["suspected_label_errors"], _suspected_label_errors, explanation),
        (tuning.get("points") or tuning.get("maps"), _search, tuning),
        (curve, _learning_curve, curve),
        (explanation["columns"], _columns, explanation["columns"]),
        (explanation.get("model"), _usage, explanation),
        (explanation, _provenance, explanation),
    ]
    sections = [make(*arguments) for shown, make, *arguments in parts if shown]
    noticed = [*(explanation["warnings"] or ()), *(explanation.get("notes") or ())]
    if len(noticed) > MAX_WARNINGS:
        noticed = [
            *noticed[: MAX_WARNINGS - 1],
            f"{len(noticed) - MAX_WARNINGS + 1} more warnings stand at the end of the page.",
        ]
    return Page(
        title=f"A model for {explanation['target']}",
        answer=_answer(explanation),
        lead=_lead(explanation),
        facts=_facts(explanation),
        sections=tuple(sections),
        footer=f"Made by lincent {explanation['lincent']}.",
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
        return (first, "No row could be held out, so there is no estimate for new rows.")
    confusion, where = evaluation["confusion"], explanation["evaluated_on"]
    if "at_threshold" in evaluation:
        at, name = evaluation["at_threshold"], evaluation["positive"]
        false = at["called"] - at["found"]
        plain = f"Of {where} it finds {of_hundred(at['found'], at['rows'])} of class {name}; "
        plain += (
            f"{of_hundred(false, at['called'])} of its alarms (rows called {name}) are false."
            if at["called"]
            else "it raises no alarm."
        )
    else:
        right, rows = sum(row[k] for k, row in enumerate(confusion)), evaluation["rows"]
        present = [k for k, row in enumerate(confusion) if sum(row)]
        worst = min(present, key=lambda k: confusion[k][k] / sum(confusion[k]))
        least = of_hundred(confusion[worst][worst], sum(confusion[worst]))
        plain = (
            f"Of {where} it names the right class for {of_hundred(right, rows)}; hardest is "
            f"{names[worst]}, found in {least}."
        )
    score = evaluation["scores"][0]
    metric = (
        f"{TITLES[score['name']].capitalize()} {score['value']:.3f} (95 % interval "
        f"{score['low']:.3f} to {score['high']:.3f}); the best constant prediction has "
        f"{score['baseline']:.3f}."
    )
    return (first, plain, metric)


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
    if certificate:
        word = "certified" if certificate["certified"] else "not certified"
        facts.append(("Optimum", f"{word}, relative gap {certificate['relative_gap']:.1e}"))
    else:
        facts.append(("Optimum", "the method gives no certificate"))
    if explanation["tuned"]:
        score = explanation["tuned"]["mean_test_score"]
        facts.append((f"Cross-validated {explanation['tuned']['scoring']}", f"{score:.3f}"))
    return tuple(facts)


def _lead(explanation: dict[str, Any]) -> Figure | None:
    """Return the figure beside the answer: classes along the score, or the rows by class."""
    evaluation, where = explanation["evaluation"], explanation["evaluated_on"]
    if not evaluation:
        return None
    histogram = (evaluation.get("curves") or {}).get("histogram")
    if not histogram:
        names = [str(label) for label in explanation["classes"]]
        shares = [
            [round(100 * count / max(1, sum(row)), 1) for count in row]
            for row in evaluation["confusion"]
        ]
        chart = heat("true class", names, "called", names, shares, show=len(names) <= 8)
        caption = f"How the {where} of each class are called, in percent of it."
        return chart_figure("confusion", "True and predicted classes", caption, chart)
    edges = histogram["edges"]
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    chart = lines(
        "score, in distances between the classes",
        "percent of the class",
        *(
            line(name, middles, [100 * n / max(1, sum(own)) for n in own], steps=edges)
            for name, own in histogram["counts"].items()
        ),
        vline=histogram["threshold"],
        ylim=[0, None],
    )
    caption = f"Where the {where} of each class lie on the score; the class changes at the dashed "
    return chart_figure(
        "histogram", "Rows of both classes along the score", caption + "line.", chart
    )


# How good it is, and where to put the threshold.


def _evaluation(explanation: dict[str, Any]) -> Section:
    evaluation = explanation["evaluation"]
    curves = (evaluation.get("curves") or {}).get("by_class") or {}
    blocks: list[Block] = [scores_table(evaluation), _confusion(explanation)]
    if curves:
        blocks += _class_curves(explanation, curves)
    return Section("how-good", f"How good it is on {explanation['evaluated_on']}", tuple(blocks))


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
        caption=f"{evaluation['how']}; bounds of the 95 % interval. The last column is the best "
        "constant prediction, for log loss and Brier score the frequencies of the classes.",
    )


def _percent(part: float, whole: float) -> Item:
    return number(100 * part / whole if whole else float("nan"))


def _confusion(explanation: dict[str, Any]) -> Table:
    """Return the confusion matrix with recall and precision of each class."""
    classes = [str(label) for label in explanation["classes"]]
    counts = explanation["evaluation"]["confusion"]
    called = [sum(row[k] for row in counts) for k in range(len(classes))]
    threshold, where = explanation.get("threshold"), "the model's own threshold"
    if threshold:
        where = "{positive} from a {scale} of {at:.3g} on ({by})".format(**threshold)
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
        caption=f"Right and wrong at {where}; the last two columns in percent.",
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
    figures = (
        ("roc", f"share of the others called {it}", f"share of {it} found",
         f"How many of {it} are found, against false alarms, for every threshold (ROC curve). The "
         "dots are this model; the dotted line is a random prediction."),
        ("precision_recall", f"share of {it} found", "right among those called so",
         f"How often a call of {it} is right, against how many are found."),
        ("calibration", f"predicted probability of {it}", "observed share",
         f"Is the probability of {it} right? On the dotted line predictions come true as often as "
         "they say; larger dots have more rows."),
    )  # fmt: skip
    limits = {"xlim": [0, 1], "ylim": [0, 1]}
    return [
        chart_figure(
            key, f"{y} against {x}", caption,
            lines(x, y, *series[key], diagonal=key != "precision_recall", **limits),
        )
        for key, x, y, caption in figures
        if series[key]
    ]  # fmt: skip


def _threshold(explanation: dict[str, Any]) -> Section:
    evaluation = explanation["evaluation"]
    thresholds = evaluation["curves"]["thresholds"]
    name, at = str(evaluation["positive"]), evaluation["at_threshold"]
    classes = [str(label) for label in explanation["classes"]]
    own = explanation.get("threshold")
    data = {
        **thresholds,
        "positive": name,
        "negative": next(label for label in classes if label != name),
        "option": "" if name == classes[1] else f" --positive {shlex.quote(name)}",
        "rows": evaluation["rows"],
        "positives": at["rows"],
        "own": {
            "called": at["called"],
            "at": own["at"] if own and own["scale"] == "probability" else None,
        },
        "costs": [1, 1],
    }
    prices = (evaluation.get("costs") or {}).get("costs")
    if prices:
        data["costs"] = [prices[data["negative"]], prices[name]]
    lead = (
        f"From which probability on is a row called {name}? Move the threshold, and type what a "
        "false alarm and a missed row cost you. It starts beside the model's own threshold. The "
        "counts are those of the rows that you choose it on: new rows do a little worse. "
        f"lincent fit --positive {data['negative']} asks about the other class."
    )
    rows = at["rows"]
    table = tabulated(
        range(19, len(thresholds["at"]), 20),
        ("From probability#", lambda k: number(thresholds["at"][k], 2)),
        (Heading(f"called {name}", True), lambda k: number(thresholds["called"][k], 0)),
        ("of these right#", lambda k: _percent(thresholds["found"][k], thresholds["called"][k])),
        ("false alarms#", lambda k: number(thresholds["called"][k] - thresholds["found"][k], 0)),
        ("found#", lambda k: _percent(thresholds["found"][k], rows)),
        ("missed#", lambda k: number(rows - thresholds["found"][k], 0)),
        caption=f"What thresholds would do to {evaluation['rows']} rows, {rows} of them {name} "
        "(shares in percent).",
    )
    widget = Widget("threshold", data, lead)
    return Section("threshold", "Choose the threshold", (widget, table))


def _groups(by: dict[str, Any]) -> Section:
    return Section("groups", f"Errors by {by['column']}", (groups_table(by),))


def groups_table(by: dict[str, Any]) -> Table:
    """Return the errors for each value of a column."""

    def rate(group: dict[str, Any], key: str) -> Item:
        own = group.get(key)
        if own is None:
            return Item("–")
        low, high = 100 * own["low"], 100 * own["high"]
        return Item(f"{100 * own['value']:.1f} ({low:.1f} to {high:.1f})", own["value"])

    kinds = {"errors": "wrong", "missed": "missed", "false_alarms": "false alarms"}
    return tabulated(
        by["groups"],
        (Heading(by["column"]), lambda group: group["group"]),
        ("Rows#", lambda group: number(group["rows"], 0)),
        *(
            (f"{title}#", lambda group, key=key: rate(group, key))
            for key, title in kinds.items()
            if any(key in group for group in by["groups"])
        ),
        caption="In percent, with 95 % intervals.",
    )


def _what_if(explanation: dict[str, Any], model: Model) -> Section:
    data = model_data(model, explanation)
    if isinstance(data, str):
        return Section("what-if", "What if?", (Paragraph(data),))
    rows = len(data["rows"])
    lead = "Change any value and see what the model says. What the columns add to the score is "
    lead += "against the average row." if data["names"] else "not computed for this model here."
    blocks: list[Block] = [Widget("what-if", data, lead)]
    if rows:
        blocks.append(
            Paragraph(
                f"This page contains {rows} rows of the table, to start from. lincent fit --no-rows"
                " leaves them out of model and page, lincent explain --no-rows out of a page."
            )
        )
    return Section("what-if", "What if?", tuple(blocks))


# What it goes by.


def side_names(problem: dict[str, Any]) -> list[str]:
    """Return the names of both sides of a binary subproblem."""
    sides = problem["negative"], problem["positive"]
    return [str(side[0]) if len(side) == 1 else "the rest" for side in sides]


def term_name(term: dict[str, Any]) -> str:
    """Return the name of a column, or of a category of it."""
    return f"{term['column']} = {term['category']}" if "category" in term else term["column"]


def _importances(explanation: dict[str, Any]) -> Section:
    importances = explanation["importances"]
    shown = importances[:MAX_BARS]
    names, values = ([entry[key] for entry in shown] for key in ("column", "importance"))
    chart = bars(names, values, x="Column", y="Importance")
    caption = "How far the score moves on average when the column's values are permuted among the "
    caption += "rows (permutation importance), in distances between the classes."
    alt = "How far each column moves the score"
    blocks: list[Block] = [chart_figure("importances", alt, caption, chart)]
    curves = [entry["curve"] for entry in importances if entry.get("curve")]
    if curves:
        flags = {c["column"] for c in explanation["columns"] or () if c["used_as"] == "flag"}
        blocks.append(_partial_effects(curves, flags, str(explanation["classes"][-1])))
    if explanation.get("pairs"):
        blocks.append(_pairs(explanation["pairs"]))
    return Section("importances", "What it goes by", tuple(blocks))


def _partial_effects(curves: list[dict[str, Any]], flags: set[str], positive: str) -> Figure:
    """Return what single columns add to the score, value by value, on one scale."""
    charts, heights = [], [0.0]
    for curve in curves:
        name, band, numeric = curve["of"], curve.get("band"), curve["numeric"]
        xs = curve.get("x") or [x for x, _ in curve["points"]]
        ys = curve.get("lines") or {positive: [y for _, y in curve["points"]]}
        if name in flags:
            numeric, xs = False, ["yes" if x else "no" for x in xs]
        heights += [y for own in ys.values() for y in own] + [
            y for pair in band or () for y in pair
        ]
        if numeric:
            chart = lines(name, "", *(line(k, xs, own) for k, own in ys.items()))
            if band:
                chart["series"][0]["band"] = band
        elif len(ys) == 1:
            chart = bars(xs, next(iter(ys.values())), ranges=band)
        else:
            chart = heat(
                name, xs, "", list(ys), [list(row) for row in zip(*ys.values(), strict=True)]
            )
        charts.append(chart | {"title": name})
    margin = 0.08 * (max(heights) - min(heights) or 1.0)
    limits = {"ylim": [min(heights) - margin, max(heights) + margin]}
    toward = "a class" if any("lines" in curve for curve in curves) else positive
    bands = sorted({curve["band_of"] for curve in curves if "band" in curve})
    caption = (
        f"What a column adds to the score, value by value; up, right or blue speaks for {toward}. "
        "One scale for all, in distances between the classes."
        + "".join(BANDS[band] for band in bands)
    )
    alt = "The score along the columns with the largest effect"
    return chart_figure("partial-effects", alt, caption, *(chart | limits for chart in charts))


def _pairs(pairs: list[dict[str, Any]]) -> Figure:
    """Return what two columns add together, on a grid of their values."""
    charts = []
    for pair in pairs:
        (first, second), (rows, columns) = pair["columns"], (
            [value if isinstance(value, str) else f"{value:.4g}" for value in values]
            for values in pair["values"]
        )  # fmt: skip
        # Small numbers below.
        chart = heat(first, rows[::-1], second, columns, pair["scores"][::-1])
        charts.append(chart | {"title": f"{first} and {second}", "unit": f"toward {pair['class']}"})
    caption = (
        "The mean score for each combination of two columns that act together, against its average "
        "in the panel: blue speaks for the class named below, orange against it."
    )
    return chart_figure("pairs", "Pairs of columns that act together", caption, *charts)


def _coefficients(k: int, problem: dict[str, Any]) -> Section:
    (low, high), terms = side_names(problem), problem["terms"][:MAX_BARS]

    def signed(value: float) -> Item:
        return Item(f"{value:+.4g}".replace("-", "−"), float(value))

    numbers = tabulated(
        problem["terms"],
        ("Column", term_name),
        ("Coefficient#", lambda term: signed(term["coef"])),
        ("Effect#", lambda term: signed(term["effect"])),
    )
    chart = bars([term_name(term) for term in terms], [term["effect"] for term in terms])
    caption = (
        f"Right speaks for {high}, left for {low}. The effect is the coefficient times the "
        "standard deviation over the rows; a category's coefficient is against the average of its "
        "column."
    )
    alt = f"Effects of the columns: right for {high}, left for {low}."
    figure = replace(chart_figure(f"coefficients-{k}", alt, caption, chart), numbers=numbers)
    title = f"The linear score: what speaks for {high} and for {low}"
    return Section(f"coefficients-{k}", title, (figure,))


def _suspected_label_errors(explanation: dict[str, Any]) -> Section:
    suspects = explanation["suspected_label_errors"]
    names = list(suspects[0].get("values") or {})
    table = tabulated(
        suspects,
        ("Row#", lambda e: number(e["row"], 0)),
        ("Class", lambda e: e["label"]),
        (
            "Wrong by#|how far on the other side of the threshold",
            lambda e: number(e["distance"], 2),
        ),
        *(
            (Heading(name), lambda e, name=name: (e.get("values") or {}).get(name, ""))
            for name in names
        ),
    )
    lead = Paragraph(
        "The rows that lie farthest on the wrong side, scored by models that were fitted without "
        f"them ({explanation['evaluated_on']}); a wrong label is the first thing to check. Rows "
        "are counted as in the file."
    )
    title = "Rows that are probably mislabeled"
    return Section("suspected-label-errors", title, (lead, table))


# How it was made.


def learning_curve_text(curve: dict[str, Any]) -> str:
    """Return whether more rows would help."""
    last = curve["last"]
    return (
        f"From {last['from']} to {last['to']} rows the held-out balanced accuracy changes by "
        f"{100 * last['change']:+.1f} points, up in {last['up']} of {curve['splits']} splits."
    )


def _search(tuning: dict[str, Any]) -> Section:
    """Return what a cross-validated search has tried: values of C or of the margin, or maps."""
    if tuning.get("points"):
        name, (xs, ys) = tuning["parameter"], zip(*tuning["points"], strict=True)
        log = min(xs) > 0 and max(xs) > 20 * min(xs)
        chart = lines(name, "cross-validated", line("score", xs, ys, dots=True), log=log)
        alt = f"The cross-validated score along {name}"
        figure = chart_figure(
            "tuning", alt, f"{alt}. A flat curve means that the choice matters little.", chart
        )
    else:
        candidates = tuning["maps"]  # best first, so the first of a feature map is its best
        names = list(dict.fromkeys(candidate["map"] for candidate in candidates))
        best = [next(c["score"] for c in candidates if c["map"] == name) for name in names]
        used = {c["map"] for c in candidates if c["weight"] > 0}
        numbers = tabulated(
            candidates,
            ("Map", lambda c: c["map"]),
            ("C#", lambda c: number(c["C"], 4)),
            ("Score#", lambda c: number(c["score"], 4)),
            ("Folds#|weak candidates are dropped early", lambda c: number(c["folds"], 0)),
            ("Weight#|in the average", lambda c: number(c["weight"], 3)),
        )
        caption = (
            "The feature maps that were tried, each at its best C; larger is better. Blue is in "
            "use: the best candidates are averaged. Dots close together mean that the choice "
            "matters little."
        )
        chart = dots(names, best, ["best" if name in used else "far" for name in names])
        alt = "The cross-validated score of every feature map"
        figure = replace(chart_figure("feature-maps", alt, caption, chart), numbers=numbers)
    lead = Paragraph(
        "The search was cross-validated on the training rows; the held-out score above is separate."
    )
    return Section("tuning", "How it was tuned", (lead, figure))


def _learning_curve(curve: dict[str, Any]) -> Section:
    xs, ys, low, high = (
        [point[key] for point in curve["points"]] for key in ("rows", "score", "low", "high")
    )
    mean = line("mean", xs, ys, band=list(zip(low, high, strict=True)), dots=True)
    figure = chart_figure(
        "learning-curve",
        "Held-out balanced accuracy along the number of training rows",
        "Balanced accuracy on held-out rows of fits to growing subsets of the others: mean and "
        f"range over {curve['splits']} splits, at the method's own threshold.",
        lines("training rows", "balanced accuracy", mean, log=True),
    )
    lead = Paragraph(learning_curve_text(curve))
    return Section("learning-curve", "Would more rows help?", (lead, figure))


def _columns(columns: list[dict[str, Any]]) -> Section:
    shown: list[tuple[str, Callable[[Any], Any]]] = [
        ("Column", lambda c: c["column"]),
        ("Inferred type", lambda c: c["role"]),
        ("Encoding", lambda c: text(
            "predicted" if c["role"] == "target" else ENCODINGS[c["used_as"]], "wrap")),
    ]  # fmt: skip
    if any(column["reason"] for column in columns):
        shown.append(("Reason", lambda c: text(c["reason"], "wrap")))
    lead = Paragraph(
        "A missing number is replaced by the median, with an indicator column where missing values "
        "are frequent; a missing category is a category."
    )
    return Section("columns", "How each column is used", (lead, tabulated(columns, *shown)))


def _usage(explanation: dict[str, Any]) -> Section:
    path = str(explanation["model"])
    name = (explanation.get("data") or {}).get("name") or "new.csv"
    code = (
        "from lincent.export import load_model\n"
        "from lincent.workflow import predict_file\n\n"
        f"model = load_model({path!r})\n"
        f"scored = predict_file(model, {name!r}, 'scored.csv')\n"
        "print(scored.rows, dict(scored.classes))\n"
    )
    command = shlex.join(["lincent", "predict", path, name, "-o", "scored.csv"])
    lead = Paragraph(
        "Name your new rows in place of the training table; the target may be missing."
    )
    return Section("use", "How to use it", (lead, Code(code), Code(command)))


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
    return Section("provenance", "How it was made", (*blocks, table))
