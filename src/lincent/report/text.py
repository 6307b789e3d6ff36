"""The explanation of a model as plain text with bars, for the terminal."""

from __future__ import annotations

from typing import Any

from lincent._errors import printable
from lincent.inspection.evaluation import QUANTILES
from lincent.model_selection.metrics import TITLES

BAR_WIDTH = 24
MAX_BARS = 20


def explanation_text(explanation: dict[str, Any]) -> str:
    """Return the explanation as plain text with bars."""
    certificate = explanation["certificate"]
    lines = [
        f"{explanation['estimator']} for {explanation['target']!r}: "
        f"{explanation['training_rows']} training rows, "
        f"classes {', '.join(str(label) for label in explanation['classes'])}.",
        "The method gives no certificate of its optimum."
        if not certificate
        else f"The optimum is {'' if certificate['certified'] else 'NOT '}certified: "
        f"relative duality gap {certificate['relative_gap']:.1e}.",
    ]
    if explanation["tuned"]:
        lines.append(
            "Tuned: {scoring} {mean_test_score:.3f} in {folds}-fold cross-validation.".format(
                **explanation["tuned"]
            )
        )
    if explanation["evaluation"]:
        evaluation = explanation["evaluation"]
        lines += ["", *scores_text(evaluation, explanation["evaluated_on"])]
        lines += ["", *_confusion_text(explanation["classes"], evaluation["confusion"])]
    if explanation["learning_curve"]:
        lines += ["", learning_curve_text(explanation["learning_curve"])]
    if explanation["importances"]:
        lines += ["", *_importances_text(explanation["importances"])]
    for problem in explanation["problems"]:
        lines += ["", *_coefficients_text(problem)]
    if explanation["score_quantiles"]:
        lines += ["", *_quantiles_text(explanation["score_quantiles"])]
    if explanation["suspected_label_errors"]:
        lines += ["", *_suspects_text(explanation)]
    lines += ["", *(f"Note: {line}" for line in explanation["warnings"] or ())]
    return printable("\n".join(lines).rstrip())


def scores_text(evaluation: dict[str, Any], evaluated_on: str) -> list[str]:
    """Return metrics with intervals, beside a constant prediction of the larger class."""
    always = f"always {evaluation['largest_class']}"
    lines = [
        f"{evaluated_on} ({evaluation['how']}):".capitalize(),
        f"  {'':<26}{'score':>7}  {'95 % interval':>16}  {always[:24]:>14}",
    ]
    for score in evaluation["scores"]:
        interval = f"{score['low']:.3f} to {score['high']:.3f}"
        lines.append(
            f"  {TITLES[score['name']]:<26}{score['value']:>7.3f}  {interval:>16}  "
            f"{score['baseline']:>14.3f}"
        )
    return lines


def learning_curve_text(curve: dict[str, Any]) -> str:
    """Return whether more rows would help."""
    last = curve["last"]
    return (
        f"From {last['from']} to {last['to']} rows the held-out balanced accuracy changes by "
        f"{100 * last['change']:+.1f} points, up in {last['up']} of {curve['splits']} splits."
    )


def side_names(problem: dict[str, Any]) -> tuple[str, str]:
    """Return the names of both sides of a binary subproblem."""
    return tuple(
        str(side[0]) if len(side) == 1 else "the rest"
        for side in (problem["negative"], problem["positive"])
    )  # type: ignore[return-value]


def term_name(term: dict[str, Any]) -> str:
    """Return the name of a column, or of a category of it."""
    return f"{term['column']} = {term['category']}" if "category" in term else term["column"]


def _confusion_text(classes: list[Any], confusion: list[list[int]]) -> list[str]:
    names = [str(label)[:12] for label in classes]
    return [
        "Rows by true class (down) and predicted class (across):",
        "  " + " " * 14 + "".join(f"{name:>13}" for name in names),
        *(
            f"  {name:<14}" + "".join(f"{count:>13}" for count in row)
            for name, row in zip(names, confusion, strict=True)
        ),
    ]


def _rest(count: int) -> list[str]:
    return [f"  … and {count - MAX_BARS} smaller ones (--json has all)."] * (count > MAX_BARS)


def _importances_text(importances: list[dict[str, Any]]) -> list[str]:
    largest = importances[0]["importance"] or 1.0
    shown = importances[:MAX_BARS]
    width = max(len(entry["column"][:32]) for entry in shown)
    lines = ["How far a column moves the score, in distances between the classes:"]
    for entry in shown:
        bar = "#" * round(BAR_WIDTH * entry["importance"] / largest)
        lines.append(f"  {entry['column'][:32]:<{width}}  {entry['importance']:>8.3f}  {bar}")
    return lines + _rest(len(importances))


def _coefficients_text(problem: dict[str, Any]) -> list[str]:
    low, high = side_names(problem)
    terms = problem["terms"]
    largest = max((abs(term["effect"]) for term in terms), default=0.0) or 1.0
    names = [term_name(term)[:32] for term in terms[:MAX_BARS]]
    width = max(map(len, names), default=0)
    lines = [
        f"What speaks for {high} (+) and for {low} (−): the coefficient in the column's own unit",
        "(a category's against the average of its column), and a bar for its effect over the rows.",
    ]
    for name, term in zip(names, terms, strict=False):
        sign = "+" if term["effect"] > 0 else "−" if term["effect"] < 0 else " "
        bar = sign * round(BAR_WIDTH * abs(term["effect"]) / largest)
        lines.append(f"  {name:<{width}}  {term['coef']:>+12.4g}  {bar}")
    return lines + _rest(len(terms))


def _quantiles_text(scores: list[dict[str, Any]]) -> list[str]:
    head = "Where the classes lie, from the threshold at 0, in distances between the centers:"
    if len(scores) > 1:
        head = "Where the classes lie on the score of each (the largest score wins):"
    quantiles = "".join(f"{f'{round(100 * q)} %':>9}" for q in QUANTILES)
    lines = [head, f"  {'':<20}{'center':>9}{quantiles}"]
    for sides in scores:
        for side in (sides["negative"], sides["positive"]):
            label = str(side["classes"][0]) if len(side["classes"]) == 1 else "the rest"
            numbers = "".join(f"{q:>+9.2f}" for q in side["quantiles"])
            lines.append(f"  {label[:20]:<20}{side['center']:>+9.2f}{numbers}")
    return lines


def _suspects_text(explanation: dict[str, Any]) -> list[str]:
    lines = [
        f"Rows farthest on the wrong side of the threshold ({explanation['evaluated_on']}); check "
        "their labels:",
        f"  {'row':>11}  {'class':<14} wrong by, values",
    ]
    for entry in explanation["suspected_label_errors"]:
        values = list((entry.get("values") or {}).items())[:4]
        extra = "".join(f"  {name} {value}" for name, value in values)
        lines.append(
            f"  row {entry['row']:>7}  {entry['label']!s:<14} {entry['distance']:<8.4g}{extra}"
        )
    return lines
