"""The sections of a model's report on the search: what was tried, and what more rows would do."""

from __future__ import annotations

from typing import Any

from lincent.inspection.learning_curve import curve_text
from lincent.report import figures
from lincent.report.blocks import Figure, Paragraph, Section, number, tabulated, text

INSIDE = Paragraph("The choice was made inside the folds; the held-out score above is apart.")


def tuning_sections(found: dict[str, Any]) -> list[Section]:
    """How it was tuned, and how it grows with the rows, where that is known."""
    tuning = found.get("tuning") or {}
    sections = [_curve(tuning)] if tuning.get("points") else []
    sections += [_maps(tuning["maps"])] if tuning.get("maps") else []
    growth = found.get("learning_curve")
    return sections + ([_growth(growth)] if growth else [])


def _curve(curve: dict[str, Any]) -> Section:
    name = curve["parameter"]
    drawn = Figure(
        "tuning",
        figures.tuning(curve),
        f"The cross-validated figure along {name}",
        f"The cross-validated figure along {name}. A flat curve means that the choice matters "
        "little.",
        tabulated(curve["points"], (name, lambda p: text(f"{p[0]:.4g}")),
                  ("Figure#", lambda p: number(p[1], 4))),
    )  # fmt: skip
    return Section("tuning", "How it was tuned", (INSIDE, drawn))


def _maps(tried: list[dict[str, Any]]) -> Section:
    """Settings come best first, so the first of a map is its best."""
    names = list(dict.fromkeys(setting["map"] for setting in tried))
    best = [next(s["score"] for s in tried if s["map"] == name) for name in names]
    weight = [sum(s["weight"] for s in tried if s["map"] == name) for name in names]
    drawn = Figure(
        "maps",
        figures.maps(names, best, [share > 0 for share in weight]),
        "The cross-validated figure of every map of the rows",
        "What the rows were looked at through, each at its best C. Blue is in use: the rules of "
        "the best settings are averaged. Dots close together mean that the choice matters little.",
        tabulated(
            tried,
            ("Map", lambda s: s["map"]),
            ("C#", lambda s: number(s["C"], 4)),
            ("Figure#", lambda s: number(s["score"], 4)),
            ("Folds#|weak settings are dropped after the first", lambda s: number(s["folds"], 0)),
            ("Weight#|in the average", lambda s: number(s["weight"], 3)),
        ),
    )
    return Section("tuning", "How it was tuned", (INSIDE, drawn))


def _growth(curve: dict[str, Any]) -> Section:
    drawn = Figure(
        "growth",
        figures.growth(curve["points"]),
        "Held-out balanced accuracy along the number of training rows",
        "Balanced accuracy on held-out rows of fits to growing parts of the others: mean and "
        f"range over {curve['splits']} splits, at the method's own cut.",
        tabulated(
            curve["points"],
            ("Rows#", lambda p: number(p["rows"], 0)),
            ("Mean#", lambda p: number(p["score"], 3)),
            ("least#", lambda p: number(p["low"], 3)),
            ("most#", lambda p: number(p["high"], 3)),
        ),
    )
    return Section("growth", "Would more rows help?", (Paragraph(curve_text(curve)), drawn))
