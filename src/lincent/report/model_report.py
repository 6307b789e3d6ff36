"""The report of a model as one HTML page, made of the explanation of ``workflow.explain_model``."""

from __future__ import annotations

import shlex
from typing import Any

from lincent.inspection.evaluation import QUANTILES
from lincent.model_selection.metrics import TITLES
from lincent.report import model_figures as figures
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
    number,
    tabulated,
    text,
)
from lincent.report.rendering import render_html
from lincent.report.text import learning_curve_text, side_names, term_name

MAX_BARS = 20
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
    "text": "0 and 1 for each frequent word",
    "": "left out",
}


def model_report(explanation: dict[str, Any]) -> str:
    """Return a self-contained HTML page."""
    sections = [
        *_evaluation(explanation),
        *_warnings(explanation),
        *_importances(explanation),
        *(_coefficients(k, problem) for k, problem in enumerate(explanation["problems"])),
        *_score_quantiles(explanation),
        *_suspected_label_errors(explanation),
        *_search(explanation.get("tuning") or {}),
        *_learning_curve(explanation.get("learning_curve")),
        *_columns(explanation),
        *_usage(explanation),
        _provenance(explanation),
    ]
    page = Page(
        title=f"A model for {explanation['target']}",
        answer=_answer(explanation),
        lead=_histogram(explanation),
        facts=_facts(explanation),
        sections=tuple(sections),
        footer=f"Made by lincent {explanation['lincent']}.",
    )
    return render_html(page)


def _answer(explanation: dict[str, Any]) -> tuple[str, ...]:
    names = [str(label) for label in explanation["classes"]]
    first = f"{explanation['estimator']} tells {' from '.join(names[:3])}"
    first += f" and {len(names) - 3} more" if len(names) > 3 else ""
    evaluation = explanation["evaluation"]
    if not evaluation:
        return (first + ".", "No row could be held out, so there is no estimate for new rows.")
    score = evaluation["scores"][0]
    second = (
        f"On {explanation['evaluated_on']} its {TITLES[score['name']]} is {score['value']:.3f} "
        f"(95 % interval {score['low']:.3f} to {score['high']:.3f}); always predicting "
        f"{evaluation['largest_class']} has {score['baseline']:.3f}."
    )
    return (first + ".", second)


def _facts(explanation: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = [("Training rows", str(explanation["training_rows"]))]
    if explanation["evaluation"]:
        facts.append(("Evaluated on", explanation["evaluation"]["how"]))
    if explanation["columns"]:
        used = sum(bool(column["used_as"]) for column in explanation["columns"])
        facts.append(("Columns used", f"{used} of {len(explanation['columns']) - 1}"))
    certificate = explanation["certificate"]
    if certificate:
        word = "certified" if certificate["certified"] else "not certified"
        facts.append(("Optimum", f"{word}, relative gap {certificate['relative_gap']:.1e}"))
    if explanation["tuned"]:
        score = explanation["tuned"]["mean_test_score"]
        facts.append((f"Cross-validated {explanation['tuned']['scoring']}", f"{score:.3f}"))
    return tuple(facts)


def _histogram(explanation: dict[str, Any]) -> Figure | None:
    """Return the figure beside the answer: both classes along the score."""
    line = ((explanation["evaluation"] or {}).get("curves") or {}).get("histogram")
    if not line:
        return None
    edges, counts = line["edges"], line["counts"]
    numbers = tabulated(
        range(len(edges) - 1),
        ("From#", lambda k: number(edges[k], 2, signed=True)),
        ("To#", lambda k: number(edges[k + 1], 2, signed=True)),
        *(
            (Heading(name, True), lambda k, name=name: number(counts[name][k], 0))
            for name in counts
        ),
    )
    return Figure(
        "histogram",
        figures.histogram(line),
        "Rows of both classes along the score",
        f"Where the {explanation['evaluated_on']} of each class lie on the score; the class "
        "changes at the dashed line.",
        numbers,
    )


def _evaluation(explanation: dict[str, Any]) -> list[Section]:
    evaluation = explanation["evaluation"]
    if not evaluation:
        return []
    curves = evaluation.get("curves") or {}
    blocks: list[Block] = [_scores(evaluation), _confusion(explanation)]
    if "roc" in curves:
        blocks += _threshold_curves(explanation, curves)
    if curves.get("calibration"):
        blocks.append(_calibration(curves["calibration"], str(evaluation["positive"])))
    if curves.get("thresholds"):
        blocks.append(_thresholds(curves["thresholds"], evaluation))
    title = f"How good it is on {explanation['evaluated_on']}"
    return [Section("how-good", title, tuple(blocks))]


def _scores(evaluation: dict[str, Any]) -> Table:
    """Return metrics with intervals, beside a constant prediction."""
    always = Heading(f"always {evaluation['largest_class']}", True, "a constant prediction")
    first = evaluation["scores"][0]
    return tabulated(
        evaluation["scores"],
        ("Metric", lambda s: TITLES[s["name"]]),
        ("Score#", lambda s: number(s["value"], 3, mark="best" if s is first else "")),
        ("from#|95 % interval", lambda s: number(s["low"], 3)),
        ("to#|95 % interval", lambda s: number(s["high"], 3)),
        (always, lambda s: number(s["baseline"], 3)),
        caption=f"{evaluation['how']}; bounds of the 95 % interval.",
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


def _threshold_curves(explanation: dict[str, Any], curves: dict[str, Any]) -> list[Block]:
    """Return the ROC curve and the precision-recall curve with the operating point."""
    evaluation = explanation["evaluation"]
    names = [str(label) for label in explanation["classes"]]
    side = names.index(str(evaluation["positive"]))
    (hit, missed), (false_alarms, right) = (
        (row[side], row[1 - side])
        for row in (evaluation["confusion"][side], evaluation["confusion"][1 - side])
    )
    name = figures.short(names[side])
    recall = hit / max(1, hit + missed)
    prevalence = (hit + missed) / max(1, hit + missed + false_alarms + right)
    drawn = (
        ("roc", None, (false_alarms / max(1, false_alarms + right), recall),
         (f"share of the others called {name}", f"share of {name} found"),
         f"How many of {names[side]} are found, against false alarms, for every threshold (ROC "
         "curve). The dot is this model; the dotted line is a random prediction."),
        ("precision_recall", prevalence, (recall, hit / max(1, hit + false_alarms)),
         (f"share of {name} found", "right among those called so"),
         f"How often a call of {names[side]} is right, against how many are found."),
    )  # fmt: skip
    blocks: list[Block] = []
    for key, baseline, point, labels, caption in drawn:
        numbers = Table(
            tuple(Heading(label, True) for label in labels),
            tuple((number(x, 3), number(y, 3)) for x, y in curves[key]),
        )
        svg = figures.threshold_curve(curves[key], point, baseline, labels)
        blocks.append(Figure(key, svg, f"{labels[1]} against {labels[0]}", caption, numbers))
    return blocks


def _calibration(bins: list[dict[str, Any]], positive: str) -> Figure:
    return Figure(
        "calibration",
        figures.calibration(bins, positive),
        f"Predicted and observed share of {positive}",
        f"Is the probability of {positive} right? On the dotted line predictions come true as "
        "often as they say; larger dots have more rows.",
        tabulated(
            bins,
            ("Probability", lambda b: f"{b['from']:.1f} to {b['to']:.1f}"),
            ("Rows#", lambda b: number(b["rows"], 0)),
            ("Predicted#", lambda b: number(b["predicted"], 3)),
            ("Observed#", lambda b: number(b["observed"], 3)),
        ),
    )


def _thresholds(thresholds: list[dict[str, float]], evaluation: dict[str, Any]) -> Table:
    """Return what other thresholds would do."""
    name, rows = evaluation["positive"], evaluation["at_threshold"]["rows"]
    found = Heading("found", True, f"share of {name} that is called so, in percent")
    return tabulated(
        thresholds,
        (
            "From probability#|fit --threshold moves the threshold there",
            lambda t: number(t["at"], 2),
        ),
        (Heading(f"called {name}", True), lambda t: number(t["called"], 0)),
        ("of these right#", lambda t: _percent(t["found"], t["called"])),
        ("false alarms#", lambda t: number(t["called"] - t["found"], 0)),
        (found, lambda t: _percent(t["found"], rows)),
        ("missed#", lambda t: number(rows - t["found"], 0)),
        caption=f"What other thresholds would do to {evaluation['rows']} rows, {rows} of them "
        f"{name} (shares in percent); lincent fit --threshold P predicts it from the "
        "probability P on.",
    )


def _warnings(explanation: dict[str, Any]) -> list[Section]:
    warnings = tuple(explanation["warnings"] or ())
    return [Section("warnings", "What to keep in mind", (Bullets(warnings),))] if warnings else []


def _importances(explanation: dict[str, Any]) -> list[Section]:
    importances = explanation["importances"]
    if not importances:
        return []
    shown = importances[:MAX_BARS]
    blocks: list[Block] = [
        Figure(
            "importances",
            figures.bars([e["column"] for e in shown], [e["importance"] for e in shown],
                         "effect on the score", "importances"),
            "How far each column moves the score",
            "How far the score moves on average when the column's values are permuted among the "
            "rows (permutation importance), in distances between the classes.",
            tabulated(importances, ("Column", lambda e: e["column"]),
                      ("Effect#", lambda e: number(e["importance"], 4))),
        )
    ]  # fmt: skip
    curves = [entry["curve"] for entry in importances if entry.get("curve")]
    if curves:
        blocks.append(_partial_effects(curves, str(explanation["classes"][-1])))
    return [Section("importances", "What it goes by", tuple(blocks))]


def _partial_effects(curves: list[dict[str, Any]], positive: str) -> Figure:
    """Return what single columns add to the score, value by value."""
    points = [
        (curve["of"], x if isinstance(x, str) else f"{x:.4g}", y, *band)
        for curve in curves
        for (x, y), band in zip(
            curve["points"], curve.get("band") or [(y, y) for _, y in curve["points"]], strict=True
        )
    ]
    bands = sorted({curve["band_of"] for curve in curves if "band" in curve})
    return Figure(
        "partial-effects",
        figures.partial_effects(curves, positive),
        "The score along the columns with the largest effect",
        f"What a column adds to the score, value by value; up speaks for {positive}. One scale for "
        "all, in distances between the classes." + "".join(BANDS[band] for band in bands),
        tabulated(
            points,
            ("Column", lambda p: p[0]),
            ("Value", lambda p: p[1]),
            ("Adds#", lambda p: number(p[2], 3)),
            ("from#", lambda p: number(p[3], 3)),
            ("to#", lambda p: number(p[4], 3)),
        ),
        panels=True,
    )


def _coefficients(k: int, problem: dict[str, Any]) -> Section:
    low, high = side_names(problem)
    terms = problem["terms"][:MAX_BARS]

    def signed(value: float) -> Item:
        return Item(f"{value:+.4g}".replace("-", "−"), float(value))

    drawn = Figure(
        f"coefficients-{k}",
        figures.bars([term_name(term) for term in terms], [term["effect"] for term in terms],
                     "effect on the score", f"coefficients{k}"),
        f"Effects of the columns: right for {high}, left for {low}.",
        f"Right speaks for {high}, left for {low}. The effect is the coefficient times the "
        "standard deviation over the rows; a category's coefficient is against the average of its "
        "column.",
        tabulated(problem["terms"], ("Column", term_name),
                  ("Coefficient#", lambda term: signed(term["coef"])),
                  ("Effect#", lambda term: signed(term["effect"]))),
    )  # fmt: skip
    title = f"The linear score: what speaks for {high} and for {low}"
    return Section(f"coefficients-{k}", title, (drawn,))


def _score_quantiles(explanation: dict[str, Any]) -> list[Section]:
    scores = explanation["score_quantiles"]
    if not scores:
        return []
    columns = (
        Heading("Class"),
        Heading("Center", True),
        *(Heading(f"{round(100 * q)} %", True) for q in QUANTILES),
    )
    blocks: list[Block] = [
        Paragraph(
            "Positions on the score, from the model's own threshold at 0, in units of the distance "
            "between the classes."
            if len(scores) == 1
            else "Positions on the score of each class, in units of the distance between it and "
            "the rest; the largest score wins."
        )
    ]
    for sides in scores:
        rows = []
        for name in ("negative", "positive"):
            side = sides[name]
            label = str(side["classes"][0]) if len(side["classes"]) == 1 else "the rest"
            values = [side["center"], *side["quantiles"]]
            rows.append((text(label), *(number(value, 2, signed=True) for value in values)))
        blocks.append(Table(columns[: max(map(len, rows))], tuple(rows)))
    return [Section("score-quantiles", "Where the classes lie", tuple(blocks))]


def _suspected_label_errors(explanation: dict[str, Any]) -> list[Section]:
    suspects = explanation["suspected_label_errors"]
    if not suspects:
        return []
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
    title = "Rows that are farthest from their class"
    return [Section("suspected-label-errors", title, (lead, table))]


def _search(tuning: dict[str, Any]) -> list[Section]:
    """Return what a cross-validated search has tried: values of C or of the margin, or maps."""
    if tuning.get("points"):
        name = tuning["parameter"]
        drawn = Figure(
            "tuning",
            figures.search_curve(tuning),
            f"The cross-validated score along {name}",
            f"The cross-validated score along {name}. A flat curve means that the choice matters "
            "little.",
            tabulated(tuning["points"], (name, lambda p: f"{p[0]:.4g}"),
                      ("Score#", lambda p: number(p[1], 4))),
        )  # fmt: skip
    elif tuning.get("maps"):
        candidates = tuning["maps"]  # best first, so the first of a feature map is its best
        names = list(dict.fromkeys(candidate["map"] for candidate in candidates))
        best = [next(c["score"] for c in candidates if c["map"] == name) for name in names]
        used = [any(c["weight"] > 0 for c in candidates if c["map"] == name) for name in names]
        drawn = Figure(
            "feature-maps",
            figures.feature_maps(names, best, used),
            "The cross-validated score of every feature map",
            "The feature maps that were tried, each at its best C. Blue is in use: the best "
            "candidates are averaged. Dots close together mean that the choice matters little.",
            tabulated(
                candidates,
                ("Map", lambda c: c["map"]),
                ("C#", lambda c: number(c["C"], 4)),
                ("Score#", lambda c: number(c["score"], 4)),
                ("Folds#|weak candidates are dropped early", lambda c: number(c["folds"], 0)),
                ("Weight#|in the average", lambda c: number(c["weight"], 3)),
            ),
        )
    else:
        return []
    lead = Paragraph(
        "The search was cross-validated on the training rows; the held-out score above is separate."
    )
    return [Section("tuning", "How it was tuned", (lead, drawn))]


def _learning_curve(curve: dict[str, Any] | None) -> list[Section]:
    if not curve:
        return []
    drawn = Figure(
        "learning-curve",
        figures.learning_curve(curve["points"]),
        "Held-out balanced accuracy along the number of training rows",
        "Balanced accuracy on held-out rows of fits to growing subsets of the others: mean and "
        f"range over {curve['splits']} splits, at the method's own threshold.",
        tabulated(
            curve["points"],
            ("Rows#", lambda p: number(p["rows"], 0)),
            ("Mean#", lambda p: number(p["score"], 3)),
            ("least#", lambda p: number(p["low"], 3)),
            ("most#", lambda p: number(p["high"], 3)),
        ),
    )
    lead = Paragraph(learning_curve_text(curve))
    return [Section("learning-curve", "Would more rows help?", (lead, drawn))]


def _columns(explanation: dict[str, Any]) -> list[Section]:
    columns = explanation["columns"]
    if not columns:
        return []
    shown: list[tuple[str, Any]] = [
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
    table = tabulated(columns, *shown)
    return [Section("columns", "How each column is used", (lead, table))]


def _usage(explanation: dict[str, Any]) -> list[Section]:
    if not explanation.get("model"):
        return []
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
    return [Section("use", "How to use it", (lead, Code(code), Code(command)))]


def _provenance(explanation: dict[str, Any]) -> Section:
    """Return parameters, versions and the fingerprint of the data: enough to fit it again."""
    blocks: list[Block] = []
    if explanation.get("notes"):
        blocks += [Paragraph("Noticed in the table:"), Bullets(tuple(explanation["notes"]))]
    facts = [(name, explanation.get(name)) for name in ("estimator", "created", "seconds")]
    facts += [(f"data: {k}", v) for k, v in (explanation.get("data") or {}).items()]
    facts += [(f"parameter: {k}", v) for k, v in (explanation.get("params") or {}).items()]
    versions = (explanation.get("versions") or {}).items()
    facts += [(f"version: {k}", v) for k, v in versions if v != "absent"]
    stated = [(name, value) for name, value in facts if value is not None]
    table = tabulated(stated, ("What", lambda f: f[0]), ("Value", lambda f: text(f[1], "wrap")))
    return Section("provenance", "How it was made", (*blocks, table))
