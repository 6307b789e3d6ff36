"""The sections of a model's report that are tables."""

from __future__ import annotations

import shlex
from typing import Any

from lincent.inspection.evaluation import QUANTILES
from lincent.inspection.score_intervals import TITLES
from lincent.report.blocks import (
    Block,
    Bullets,
    Code,
    Heading,
    Paragraph,
    Section,
    Table,
    number,
    text,
)


def scores_table(judged: dict[str, Any]) -> Table:
    """Figures with intervals, beside always answering with the larger class."""
    columns = (
        Heading("Figure"),
        Heading("Score", True),
        Heading("from", True, "95 % interval"),
        Heading("to", True, "95 % interval"),
        Heading(f"always {judged['largest_class']}", True, "a rule that looks at nothing"),
    )
    rows = tuple(
        (
            text(TITLES[score["name"]]),
            number(score["value"], 3, mark="best" if k == 0 else ""),
            number(score["low"], 3),
            number(score["high"], 3),
            number(score["baseline"], 3),
        )
        for k, score in enumerate(judged["scores"])
    )
    return Table(columns, rows, f"{judged['how']}; bounds of the 95 % interval.")


def confusion_table(found: dict[str, Any]) -> list[Block]:
    """Rows by true and predicted class, with the rates of each class."""
    classes = [str(label) for label in found["classes"]]
    counts = found["judged"]["confusion"]
    called = [sum(row[k] for row in counts) for k in range(len(classes))]
    columns = (
        Heading("True class"),
        *(Heading(f"called {name}", True) for name in classes),
        Heading("found", True, "share of the class that is called by its name (recall)"),
        Heading("right when called", True, "share of the calls that are right (precision)"),
    )
    rows = tuple(
        (
            text(name),
            *(number(count, 0) for count in row),
            number(100 * row[k] / sum(row) if sum(row) else float("nan")),
            number(100 * row[k] / called[k] if called[k] else float("nan")),
        )
        for k, (name, row) in enumerate(zip(classes, counts, strict=True))
    )
    cut = found.get("cut")
    where = "the model's own cut"
    if cut:
        where = f"{cut['positive']} from a {cut['scale']} of {cut['at']:.3g} on ({cut['by']})"
    return [Table(columns, rows, f"Right and wrong at {where}; the last two columns in percent.")]


def cuts_table(cuts: list[dict[str, float]], judged: dict[str, Any]) -> Table:
    """What other cuts would do: what a decision on the threshold is about."""
    name, rows = judged["positive"], judged["at_cut"]["rows"]
    columns = (
        Heading("From probability", True, "fit --threshold moves the cut there"),
        Heading(f"called {name}", True),
        Heading("of these right", True),
        Heading("false alarms", True),
        Heading("found", True, f"share of {name} that is called so, in percent"),
        Heading("missed", True),
    )
    cells = tuple(
        (
            number(cut["at"], 2),
            number(cut["called"], 0),
            number(100 * cut["found"] / cut["called"] if cut["called"] else float("nan")),
            number(cut["called"] - cut["found"], 0),
            number(100 * cut["found"] / rows),
            number(rows - cut["found"], 0),
        )
        for cut in cuts
    )
    said = (
        f"What other cuts would do to {judged['rows']} rows, {rows} of them {name} (shares in "
        "percent); lincent fit --threshold P moves the cut to the probability P."
    )
    return Table(columns, cells, said)


def line_section(found: dict[str, Any]) -> Section:
    """Quantiles of both sides of every score."""
    columns = (
        Heading("Class"),
        Heading("Center", True),
        *(Heading(f"{round(100 * q)} %", True) for q in QUANTILES),
    )
    blocks: list[Block] = [
        Paragraph(
            "Positions on the score, from the cut at 0, in units of the distance between the "
            "classes."
            if len(found["line"]) == 1
            else "Positions on the score of each class, in units of the distance between it and "
            "the rest; the largest score wins."
        )
    ]
    for sides in found["line"]:
        rows = []
        for name in ("negative", "positive"):
            side = sides[name]
            label = str(side["classes"][0]) if len(side["classes"]) == 1 else "the rest"
            values = [side["center"], *side["quantiles"]]
            rows.append((text(label), *(number(value, 2, signed=True) for value in values)))
        blocks.append(Table(columns[: max(map(len, rows))], tuple(rows)))
    return Section("line", "Where the classes lie", tuple(blocks))


def rows_section(found: dict[str, Any]) -> Section:
    """The rows most at odds with the model, with their values."""
    values = found["impact"][0].get("values") or {}
    columns = (
        Heading("Row", True),
        Heading("Class"),
        Heading("Wrong by", True, "how far on the other side of the cut"),
        *(Heading(name) for name in values),
    )
    rows = tuple(
        (
            number(entry["row"], 0),
            text(entry["label"]),
            number(entry["impact"], 2),
            *(text((entry.get("values") or {}).get(name, "")) for name in values),
        )
        for entry in found["impact"]
    )
    lead = Paragraph(
        "The rows that lie farthest on the wrong side, scored by rules that had not seen them "
        f"({found['judged_on']}); a wrong label is the first thing to check. Rows are counted as "
        "in the file."
    )
    return Section("rows", "Rows most at odds with their class", (lead, Table(columns, rows)))


def columns_section(found: dict[str, Any]) -> Section:
    """What each column was taken for, and what was done with it."""
    done = {
        "number": "mean 0, deviation 1",
        "flag": "0 and 1, then mean 0, deviation 1",
        "category": "one column of 0 and 1 for each value",
        "date": "days, month, weekday (and hour)",
        "text": "0 and 1 for each usual word",
        "": "left out",
    }
    rows = tuple(
        (
            text(column["column"]),
            text(column["role"]),
            text("predicted" if column["role"] == "target" else done[column["used_as"]], "wrap"),
            text(column["remark"], "wrap"),
        )
        for column in found["columns"]
    )
    columns = (Heading("Column"), Heading("Taken for"), Heading("Done"), Heading("Why"))
    shown = 4 if any(column["remark"] for column in found["columns"]) else 3
    table = Table(columns[:shown], tuple(row[:shown] for row in rows))
    lead = Paragraph(
        "A gap in a number gets the median, and a mark of its own where gaps are usual; a gap in a "
        "category is a category."
    )
    return Section("columns", "What was done to each column", (lead, table))


def use_section(found: dict[str, Any]) -> Section:
    """Code that scores new rows with this model."""
    path, name = str(found["model"]), (found.get("data") or {}).get("name") or "new.csv"
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


def made_section(found: dict[str, Any]) -> Section:
    """Settings, versions and the fingerprint of the data: enough to make it again."""
    blocks: list[Block] = []
    if found.get("remarks"):
        blocks += [Paragraph("Noticed in the table:"), Bullets(tuple(found["remarks"]))]
    facts = [("estimator", found["estimator"]), ("made", found.get("made"))]
    facts += [("seconds", found.get("seconds"))]
    facts += [(f"data: {k}", v) for k, v in (found.get("data") or {}).items()]
    facts += [(f"setting: {k}", v) for k, v in (found.get("settings") or {}).items()]
    versions = (found.get("versions") or {}).items()
    facts += [(f"version: {k}", v) for k, v in versions if v != "absent"]
    rows = tuple((text(name), text(value, "wrap")) for name, value in facts if value is not None)
    blocks.append(Table((Heading("What"), Heading("Value")), rows))
    return Section("made", "How it was made", tuple(blocks))
