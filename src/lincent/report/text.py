"""An explanation as plain text with bars, for the terminal."""

from __future__ import annotations

from typing import Any

from lincent._errors import printable
from lincent.inspection.evaluation import QUANTILES
from lincent.inspection.learning_curve import curve_text
from lincent.inspection.score_intervals import TITLES

BAR = 24
SHOWN = 20


def explain_text(found: dict[str, Any]) -> str:
    """The explanation as plain text with bars."""
    lines = [
        f"{found['estimator']} for {found['target']!r}: {found['training_rows']} training rows, "
        f"classes {', '.join(str(label) for label in found['classes'])}.",
        _certificate_line(found["certificate"]),
    ]
    if found["tuned"]:
        tuned = found["tuned"]
        lines.append(
            f"Tuned: {tuned['scoring']} {tuned['mean_test_score']:.3f} in {tuned['folds']}-fold "
            "cross-validation."
        )
    if found["judged"]:
        lines += ["", *scores_text(found["judged"], found["judged_on"])]
        lines += ["", *_confusion_text(found)]
    if found["learning_curve"]:
        lines += ["", curve_text(found["learning_curve"])]
    if found["effects"]:
        lines += ["", *_effects_text(found["effects"])]
    for problem in found["problems"]:
        lines += ["", *_bars(problem)]
    # Scores are by class and coefficients by two-class problem: with pairs these are not the same.
    if found["line"]:
        lines += ["", *_line_text(found["line"])]
    if found["impact"]:
        lines += ["", *_impact_text(found)]
    lines += ["", *(f"Note: {line}" for line in found["warnings"] or ())]
    return printable("\n".join(lines).rstrip())


def scores_text(judged: dict[str, Any], on: str) -> list[str]:
    """Figures with intervals, beside always answering with the larger class."""
    always = f"always {judged['largest_class']}"
    lines = [f"{on} ({judged['how']}):".capitalize()]
    lines.append(f"  {'':<26}{'score':>7}  {'95 % interval':>16}  {always[:24]:>14}")
    for score in judged["scores"]:
        between = f"{score['low']:.3f} to {score['high']:.3f}"
        lines.append(
            f"  {TITLES[score['name']]:<26}{score['value']:>7.3f}  {between:>16}  "
            f"{score['baseline']:>14.3f}"
        )
    return lines


def _confusion_text(found: dict[str, Any]) -> list[str]:
    lines = ["Rows by true class (down) and predicted class (across):"]
    names = [str(label)[:12] for label in found["classes"]]
    lines.append("  " + " " * 14 + "".join(f"{name:>13}" for name in names))
    for name, row in zip(names, found["judged"]["confusion"], strict=True):
        lines.append(f"  {name:<14}" + "".join(f"{count:>13}" for count in row))
    return lines


def _effects_text(effects: list[dict[str, Any]]) -> list[str]:
    largest = effects[0]["effect"] or 1.0
    width = max(len(entry["column"][:32]) for entry in effects[:SHOWN])
    lines = ["How far a column moves the score, in distances between the classes:"]
    for entry in effects[:SHOWN]:
        bar = "#" * round(BAR * entry["effect"] / largest)
        lines.append(f"  {entry['column'][:32]:<{width}}  {entry['effect']:>8.3f}  {bar}")
    if len(effects) > SHOWN:
        lines.append(f"  … and {len(effects) - SHOWN} smaller ones (--json has all).")
    return lines


def _certificate_line(certificate: dict[str, Any] | None) -> str:
    if not certificate:
        return "The method gives no certificate of its optimum."
    word = "certified" if certificate["certified"] else "NOT certified"
    return f"The optimum is {word}: relative duality gap {certificate['relative_gap']:.1e}."


def side_names(problem: dict[str, Any]) -> tuple[str, str]:
    """Both sides of a two-class problem, in words."""
    return tuple(
        str(side[0]) if len(side) == 1 else "the rest"
        for side in (problem["negative"], problem["positive"])
    )  # type: ignore[return-value]


def term_name(term: dict[str, Any]) -> str:
    """A column, or a category of it."""
    return f"{term['column']} = {term['category']}" if "category" in term else term["column"]


def _bars(problem: dict[str, Any]) -> list[str]:
    low, high = side_names(problem)
    terms = problem["terms"]
    largest = max((abs(term["effect"]) for term in terms), default=0.0) or 1.0
    names = [term_name(term)[:32] for term in terms[:SHOWN]]
    width = max(map(len, names), default=0)
    lines = [
        f"What speaks for {high} (+) and for {low} (−): the coefficient in the column's own unit",
        "(a category's against the average of its column), and a bar for its effect over the rows.",
    ]
    for name, term in zip(names, terms, strict=False):
        length = round(BAR * abs(term["effect"]) / largest)
        sign = "+" if term["effect"] > 0 else "−" if term["effect"] < 0 else " "
        bar = sign * length
        lines.append(f"  {name:<{width}}  {term['coef']:>+12.4g}  {bar}")
    if len(terms) > SHOWN:
        lines.append(f"  … and {len(terms) - SHOWN} smaller ones (--json has all).")
    return lines


def _line_text(scores: list[dict[str, Any]]) -> list[str]:
    head = "Where the classes lie, from the cut at 0, in distances between the centers:"
    if len(scores) > 1:
        head = "Where the classes lie on the score of each (the largest score wins):"
    quantiles = "".join(f"{f'{round(100 * q)} %':>9}" for q in QUANTILES)
    lines = [head, f"  {'':<20}{'center':>9}{quantiles}"]
    for sides in scores:
        for name in ("negative", "positive"):
            side = sides[name]
            label = str(side["classes"][0]) if len(side["classes"]) == 1 else "the rest"
            numbers = "".join(f"{q:>+9.2f}" for q in side["quantiles"])
            lines.append(f"  {label[:20]:<20}{side['center']:>+9.2f}{numbers}")
    return lines


def _impact_text(found: dict[str, Any]) -> list[str]:
    lines = [
        f"Rows most at odds with their class ({found['judged_on']}):",
        f"  {'row':>11}  {'class':<14} wrong by (how far on the other side of the cut), values",
    ]
    for entry in found["impact"]:
        values = entry.get("values") or {}
        extra = "".join(f"  {name} {value}" for name, value in list(values.items())[:4])
        lines.append(
            f"  row {entry['row']:>7}  {entry['label']!s:<14} {entry['impact']:<8.4g}{extra}"
        )
    return lines
