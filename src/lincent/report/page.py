"""The report of a model: one HTML page, made of the blocks that all reports are made of."""

from __future__ import annotations

from typing import Any

from lincent.inspection.score_intervals import TITLES
from lincent.report import figures
from lincent.report.blocks import (
    Block,
    Bullets,
    Figure,
    Heading,
    Item,
    Page,
    Section,
    Table,
    number,
    text,
)
from lincent.report.page_search import tuning_sections
from lincent.report.page_sections import (
    columns_section,
    confusion_table,
    cuts_table,
    line_section,
    made_section,
    rows_section,
    scores_table,
    use_section,
)
from lincent.report.rendering import render_html
from lincent.report.text import side_names, term_name

SHOWN = 20


def explanation_html(found: dict[str, Any]) -> str:
    """A self-contained page."""
    return render_html(_page(found))


def _page(found: dict[str, Any]) -> Page:
    judged = found["judged"]
    sections = [_how_good(found)] if judged else []
    sections += [_doubts(found)] if found["warnings"] else []
    sections += [_effects(found)] if found["effects"] else []
    sections += [_uses(k, problem) for k, problem in enumerate(found["problems"])]
    sections += [line_section(found)] if found["line"] else []
    sections += [rows_section(found)] if found["impact"] else []
    sections += tuning_sections(found)
    sections += [columns_section(found)] if found["columns"] else []
    sections += [use_section(found)] if found.get("model") else []
    sections.append(made_section(found))
    return Page(
        title=f"A model for {found['target']}",
        answer=_answer(found),
        lead=_lead(found),
        facts=_facts(found),
        sections=tuple(sections),
        footer=f"Made by lincent {found['lincent']}.",
    )


def _answer(found: dict[str, Any]) -> tuple[str, ...]:
    names = [str(label) for label in found["classes"]]
    first = f"{found['estimator']} tells {' from '.join(names[:3])}"
    first += f" and {len(names) - 3} more" if len(names) > 3 else ""
    judged = found["judged"]
    if not judged:
        return (first + ".", "No row could be held out, so nothing is said about new rows.")
    score = judged["scores"][0]
    second = (
        f"On {found['judged_on']} its {TITLES[score['name']]} is {score['value']:.3f} (95 % "
        f"interval {score['low']:.3f} to {score['high']:.3f}); always answering "
        f"{judged['largest_class']} has {score['baseline']:.3f}."
    )
    return (first + ".", second)


def _facts(found: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = [("Training rows", str(found["training_rows"]))]
    if found["judged"]:
        facts.append(("Judged on", found["judged"]["how"]))
    if found["columns"]:
        used = sum(bool(column["used_as"]) for column in found["columns"])
        facts.append(("Columns used", f"{used} of {len(found['columns']) - 1}"))
    certificate = found["certificate"]
    if certificate:
        word = "certified" if certificate["certified"] else "not certified"
        facts.append(("Optimum", f"{word}, relative gap {certificate['relative_gap']:.1e}"))
    if found["tuned"]:
        score = found["tuned"]["mean_test_score"]
        facts.append((f"Cross-validated {found['tuned']['scoring']}", f"{score:.3f}"))
    return tuple(facts)


def _curves(found: dict[str, Any]) -> dict[str, Any]:
    return (found["judged"] or {}).get("curves") or {}


def _lead(found: dict[str, Any]) -> Figure | None:
    line = _curves(found).get("line")
    if not line:
        return None
    rows = tuple(
        (number(a, 2, signed=True), number(b, 2, signed=True),
         *(number(counts[k], 0) for counts in line["counts"].values()))
        for k, (a, b) in enumerate(zip(line["edges"][:-1], line["edges"][1:], strict=True))
    )  # fmt: skip
    names = tuple(Heading(name, True) for name in line["counts"])
    return Figure(
        "line",
        figures.line_histogram(line),
        "Rows of both classes along the score",
        f"Where the {found['judged_on']} of each class lie on the score; the class changes at the "
        "dashed line.",
        Table((Heading("From", True), Heading("To", True), *names), rows),
    )


def _how_good(found: dict[str, Any]) -> Section:
    judged, curves = found["judged"], _curves(found)
    blocks: list[Block] = [scores_table(judged), *confusion_table(found)]
    if "roc" in curves:
        blocks += _cuts(found, curves)
    if curves.get("reliability"):
        blocks.append(_reliability(curves["reliability"], str(judged["positive"])))
    if curves.get("cuts"):
        blocks.append(cuts_table(curves["cuts"], judged))
    return Section("how-good", f"How good it is on {found['judged_on']}", tuple(blocks))


def _cuts(found: dict[str, Any], curves: dict[str, Any]) -> list[Block]:
    """Every cut at once: ROC, and precision against recall."""
    table = found["judged"]["confusion"]
    names = [str(label) for label in found["classes"]]
    side = names.index(str(found["judged"]["positive"]))
    hit, missed = table[side][side], table[side][1 - side]
    wrong, right = table[1 - side][side], table[1 - side][1 - side]
    name = figures.short(names[side])
    recall = hit / max(1, hit + missed)
    share = (hit + missed) / max(1, hit + missed + wrong + right)
    dots = ((wrong / max(1, wrong + right), recall), (recall, hit / max(1, hit + wrong)))
    words = (
        (f"share of the others called {name}", f"share of {name} found"),
        (f"share of {name} found", "right among those called so"),
    )
    said = (
        f"How many of {names[side]} are found, against false alarms, for every cut. The dot is "
        "this model's cut; the dotted line is a rule that looks at nothing.",
        f"How often a call of {names[side]} is right, against how many are found.",
    )
    blocks: list[Block] = []
    for k, (key, blind) in enumerate((("roc", None), ("precision_recall", share))):
        points = curves[key]
        numbers = Table(
            tuple(Heading(word, True) for word in words[k]),
            tuple((number(x, 3), number(y, 3)) for x, y in points),
        )
        svg = figures.one_curve(points, dots[k], blind, words[k])
        blocks.append(Figure(key, svg, f"{words[k][1]} against {words[k][0]}", said[k], numbers))
    return blocks


def _reliability(bins: list[dict[str, Any]], positive: str) -> Figure:
    rows = tuple(
        (text(f"{b['from']:.1f} to {b['to']:.1f}"), number(b["rows"], 0),
         number(b["predicted"], 3), number(b["observed"], 3))
        for b in bins
    )  # fmt: skip
    columns = (Heading("Probability"), Heading("Rows", True), Heading("Predicted", True),
               Heading("Observed", True))  # fmt: skip
    return Figure(
        "reliability",
        figures.reliability(bins, positive),
        f"Predicted and observed share of {positive}",
        f"Is the probability of {positive} right? On the dotted line predictions come true as "
        "often as they say; larger dots have more rows.",
        Table(columns, rows),
    )


def _doubts(found: dict[str, Any]) -> Section:
    return Section("doubts", "What to keep in mind", (Bullets(tuple(found["warnings"])),))


def _effects(found: dict[str, Any]) -> Section:
    effects = found["effects"]
    shown = effects[:SHOWN]
    rows = tuple((text(e["column"]), number(e["effect"], 4)) for e in effects)
    blocks: list[Block] = [
        Figure(
            "effects",
            figures.bars([e["column"] for e in shown], [e["effect"] for e in shown],
                         "effect on the score", "effects"),
            "How far each column moves the score",
            "How far the score moves on average when the column's values are dealt anew among the "
            "rows, in distances between the classes.",
            Table((Heading("Column"), Heading("Effect", True)), rows),
        )
    ]  # fmt: skip
    curved = [e["curve"] for e in effects if e.get("curve")]
    if curved:
        blocks.append(_shapes(curved, str(found["classes"][-1])))
    return Section("effects", "What it goes by", tuple(blocks))


BANDS = {
    "rows": " The band holds the curves of 80 % of the rows: wide where a column's part hangs "
    "on the others.",
    "resamples": " The band holds 80 % of the curves of resampled rows.",
}


def _shapes(curves: list[dict[str, Any]], positive: str) -> Figure:
    """What single columns add, value by value."""
    rows = tuple(
        (text(curve["of"]), text(x if isinstance(x, str) else f"{x:.4g}"), number(y, 3),
         *(number(bound, 3) for bound in band))
        for curve in curves
        for (x, y), band in zip(
            curve["points"], curve.get("band") or [(y, y) for _, y in curve["points"]], strict=True
        )
    )  # fmt: skip
    columns = (Heading("Column"), Heading("Value"), Heading("Adds", True), Heading("from", True),
               Heading("to", True))  # fmt: skip
    told = sorted({curve["band_of"] for curve in curves if "band" in curve})
    return Figure(
        "shapes",
        figures.shapes(curves, positive),
        "The score along the columns with the largest effect",
        f"What a column adds to the score, value by value; up speaks for {positive}. One scale for "
        "all, in distances between the classes." + "".join(BANDS[which] for which in told),
        Table(columns, rows),
        panels=True,
    )


def _uses(k: int, problem: dict[str, Any]) -> Section:
    low, high = side_names(problem)
    terms = problem["terms"][:SHOWN]
    rows = tuple(
        (text(term_name(term)), _value(term["coef"]), _value(term["effect"]))
        for term in problem["terms"]
    )
    columns = (Heading("Column"), Heading("Coefficient", True), Heading("Effect", True))
    drawn = Figure(
        f"uses-{k}",
        figures.bars([term_name(t) for t in terms], [t["effect"] for t in terms],
                     "effect on the score", f"uses{k}"),
        f"Effects of the columns: right for {high}, left for {low}.",
        f"Right speaks for {high}, left for {low}. The effect is the coefficient times the "
        "standard deviation over the rows; a category's coefficient is against the average of its "
        "column.",
        Table(columns, rows),
    )  # fmt: skip
    return Section(f"uses-{k}", f"The line: what speaks for {high} and for {low}", (drawn,))


def _value(value: float) -> Item:
    return Item(f"{value:+.4g}".replace("-", "−"), float(value))
