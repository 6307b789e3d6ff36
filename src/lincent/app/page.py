"""The explanation of a model as one HTML page, made of the blocks of the reports."""

from __future__ import annotations

from typing import Any

from lincent.app.explain import side_names, term_name
from lincent.app.summary import QUANTILES
from lincent.pages.blocks import (
    Block,
    Column,
    Figure,
    Item,
    Page,
    Paragraph,
    Section,
    Table,
    number,
    text,
)
from lincent.pages.drawing import (
    COLOR,
    drawing,
    rows_of_dots,
    to_svg,
)
from lincent.pages.rendering import render_html

SHOWN = 20


def explanation_html(found: dict[str, Any]) -> str:
    """A self-contained page."""
    return render_html(_page(found))


def _page(found: dict[str, Any]) -> Page:
    scores = found["scores"]
    answer = [
        f"{found['estimator']} tells {' from '.join(str(c) for c in found['classes'])} in "
        f"{found['target']}."
    ]
    if scores:
        answer.append(
            f"On the {found['judged_on']} its balanced accuracy is "
            f"{100 * scores['balanced_accuracy']:.1f} % over {scores['rows']} rows."
        )
    sections = [_uses(found, k, problem) for k, problem in enumerate(found["problems"])]
    sections += [_line(found)] if found["line"] else []
    sections += [_scores(found)] if scores else []
    sections += [_calibration(found)] if found["calibration"] else []
    sections += [_impact(found)] if found["impact"] else []
    return Page(
        title=f"What the model for {found['target']} uses",
        answer=tuple(answer),
        lead=None,
        facts=_facts(found),
        sections=tuple(sections),
        footer=f"Made by lincent {found['lincent']}.",
    )


def _facts(found: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = [("Training rows", str(found["training_rows"]))]
    certificate = found["certificate"]
    if certificate:
        word = "certified" if certificate["certified"] else "not certified"
        facts.append(("Optimum", f"{word}, relative gap {certificate['relative_gap']:.1e}"))
    if found["tuned"]:
        score = found["tuned"]["mean_test_score"]
        facts.append((f"Cross-validated {found['tuned']['scoring']}", f"{score:.3f}"))
    return tuple(facts)


def _uses(found: dict[str, Any], k: int, problem: dict[str, Any]) -> Section:
    low, high = side_names(problem)
    terms = problem["terms"][:SHOWN]
    with drawing(6.6, 0.9 + 0.29 * max(len(terms), 1)) as (figure, axes):
        axes.axvline(0, color=COLOR["ink"], lw=1)
        for place, term in enumerate(terms):
            color = COLOR["s1"] if term["effect"] > 0 else COLOR["s2"]
            axes.barh(place, term["effect"], color=color, height=0.6)
        rows_of_dots(axes, [term_name(term)[:28] for term in terms])
        axes.set_xlabel("effect on the score")
        svg = to_svg(figure, f"uses{k}")
    numbers = Table(
        (Column("Column"), Column("Coefficient", True), Column("Effect", True)),
        tuple(
            (text(term_name(term)), _value(term["coef"]), _value(term["effect"]))
            for term in problem["terms"]
        ),
    )
    drawn = Figure(
        name=f"uses-{k}",
        svg=svg,
        alt=f"Effects of the columns: right for {high}, left for {low}.",
        caption=f"Right speaks for {high}, left for {low}. The effect is the coefficient times the "
        "standard deviation over the rows; a category's coefficient is against the average of its "
        "column.",
        numbers=numbers,
    )
    return Section(f"uses-{k}", f"What speaks for {high} and for {low}", (drawn,))


def _value(value: float) -> Item:
    return Item(f"{value:+.4g}".replace("-", "−"), float(value))


def _line(found: dict[str, Any]) -> Section:
    columns = (
        Column("Class"),
        Column("Center", True),
        *(Column(f"{round(100 * q)} %", True) for q in QUANTILES),
    )
    blocks: list[Block] = [
        Paragraph(
            "Positions on the projected line, from the cut at 0, in units of the distance between "
            "the class centers."
        )
    ]
    for sides in found["line"]:
        rows = []
        for name in ("negative", "positive"):
            side = sides[name]
            label = str(side["classes"][0]) if len(side["classes"]) == 1 else "the rest"
            values = [side["center"], *side["quantiles"]]
            rows.append((text(label), *(number(value, 2, signed=True) for value in values)))
        blocks.append(Table(columns[: 1 + max(len(row) - 1 for row in rows)], tuple(rows)))
    return Section("line", "Where the classes lie", tuple(blocks))


def _scores(found: dict[str, Any]) -> Section:
    classes = [str(label) for label in found["classes"]]
    columns = (Column("True class"), *(Column(f"predicted {name}", True) for name in classes))
    rows = tuple(
        (text(name), *(number(count, 0) for count in row))
        for name, row in zip(classes, found["scores"]["confusion"], strict=True)
    )
    return Section(
        "scores", f"Right and wrong on the {found['judged_on']}", (Table(columns, rows),)
    )


def _calibration(found: dict[str, Any]) -> Section:
    columns = (
        Column("Probability"),
        Column("Rows", True),
        Column("Predicted", True),
        Column("Observed", True),
    )
    rows = tuple(
        (
            text(f"{entry['from']:.1f} to {entry['to']:.1f}"),
            number(entry["rows"], 0),
            number(entry["predicted"], 3),
            number(entry["observed"], 3),
        )
        for entry in found["calibration"]
    )
    title = f"Is the probability of {found['classes'][1]} right"
    return Section("calibration", title, (Table(columns, rows),))


def _impact(found: dict[str, Any]) -> Section:
    extra = [k for k in found["impact"][0] if k not in ("row", "label", "impact")]
    columns = (
        Column("Row", True),
        Column("Class"),
        Column("Impact", True),
        *(Column(name) for name in extra),
    )
    rows = tuple(
        (
            number(entry["row"], 0),
            text(entry["label"]),
            number(entry["impact"], 4),
            *(text(entry[name]) for name in extra),
        )
        for entry in found["impact"]
    )
    lead = Paragraph(
        "The rows that cost the model most; a wrong label is the first thing to check."
    )
    return Section("impact", "Rows most at odds with their class", (lead, Table(columns, rows)))
