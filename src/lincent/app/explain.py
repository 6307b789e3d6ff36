"""What a model uses and where its classes lie: ``lincent explain``."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.app.model import Model
from lincent.app.summary import (
    QUANTILES,
    calibration,
    describe_line,
    largest_impacts,
    scores_of,
)
from lincent.app.terms import CategoryTerm, Score, scores_in_units
from lincent.tables import AS_FOUND, Reading, read_table, to_frame
from lincent.tables.target import read_labels

BAR = 24
SHOWN = 20


def explain_model(model: Model, data: Any = None, *, reading: Reading = AS_FOUND) -> dict[str, Any]:
    """Everything that can be said about a model, as plain data.

    Parameters
    ----------
    model : Model
        A fitted model.
    data : path, "-" or frame, default=None
        Rows with the target, on which the model is judged. None: the training rows, as they were
        summarized when the model was made.
    reading : Reading
        How the file is written, where that is not to be found out.

    Returns
    -------
    dict
        ``problems`` (coefficients in original units, largest effect first), ``line``, ``impact``,
        ``scores``, ``calibration``, and what is known of the training.
    """
    summary = model.summary
    found = {
        "lincent": model.version,
        "target": model.schema.target,
        "classes": model.classes,
        "estimator": summary.get("estimator"),
        "certificate": summary.get("certificate"),
        "tuned": summary.get("tuned"),
        "training_rows": summary.get("rows"),
        "problems": [_problem(score) for score in scores_in_units(model)],
    }
    if data is None:
        return found | {
            "judged_on": "training rows",
            "line": summary.get("line", []),
            "impact": summary.get("impact", []),
            "scores": summary.get("training"),
            "calibration": [],
        }
    return found | {"judged_on": "given data"} | _judge(model, data, reading)


def _problem(score: Score) -> dict[str, Any]:
    terms: list[dict[str, Any]] = []
    for term in score.terms:
        if isinstance(term, CategoryTerm):
            for share, (value, coef) in zip(term.shares, term.coefs, strict=True):
                above = coef - term.average
                spread = max(share * (1 - share), 0.0) ** 0.5
                entry = {"column": term.column, "category": value, "share": share}
                terms.append(entry | {"coef": above, "effect": above * spread})
        else:
            terms.append({"column": term.column, "coef": term.coef, "effect": term.effect})
    terms.sort(key=lambda term: -abs(term["effect"]))
    return {
        "negative": list(score.negative),
        "positive": list(score.positive),
        "constant": score.constant,
        "terms": terms,
    }


def _judge(model: Model, data: Any, reading: Reading) -> dict[str, Any]:
    table = read_table(data, reading)
    target = model.schema.target
    if target not in table.data.column_names:
        raise AppError(
            f"The table has no column {target!r}: explain needs the true classes to judge by."
        )
    labels = _known(model, read_labels(table, target))
    rows = model.pipeline[:-1].transform(to_frame(model.schema, table))
    kept = [name for name in model.schema.ids if name in table.data.column_names]
    ids = [table.data.column(name).to_pylist() for name in kept]
    classifier = model.classifier
    return {
        "line": describe_line(classifier, rows, labels),
        "impact": largest_impacts(classifier, rows, labels, ids, kept),
        "scores": scores_of(classifier, rows, labels),
        "calibration": calibration(classifier, rows, labels),
    }


def _known(model: Model, labels: np.ndarray) -> np.ndarray:
    classes = model.classifier.classes_
    if classes.dtype.kind == "U" and labels.dtype.kind != "U":
        labels = labels.astype(str)
    strange = ~np.isin(labels, classes)
    if strange.any():
        row = int(np.flatnonzero(strange)[0])
        raise AppError(
            f"Row {row + 1} has the class {labels[row]!s}, which the model does not know; it knows "
            f"{', '.join(str(label) for label in classes)}."
        )
    return labels


# As text for the terminal.


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
    for k, problem in enumerate(found["problems"]):
        lines += ["", *_bars(problem), ""]
        if k < len(found["line"]):
            lines += _line_text(found["line"][k])
    scores = found["scores"]
    if scores:
        lines += ["", *_scores_text(found, scores)]
    if found["calibration"]:
        lines += ["", *_calibration_text(found)]
    if found["impact"]:
        lines += ["", *_impact_text(found)]
    return "\n".join(lines)


def _certificate_line(certificate: dict[str, Any] | None) -> str:
    if not certificate:
        return "The file says nothing about the certificate."
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


def _line_text(sides: dict[str, Any]) -> list[str]:
    lines = ["Where the classes lie, from the cut at 0, in distances between the centers:"]
    heads = "".join(f"{f'{round(100 * q)} %':>9}" for q in QUANTILES)
    lines.append(f"  {'':<20}{'center':>9}{heads}")
    for name in ("negative", "positive"):
        side = sides[name]
        label = str(side["classes"][0]) if len(side["classes"]) == 1 else "the rest"
        numbers = "".join(f"{q:>+9.2f}" for q in side["quantiles"])
        lines.append(f"  {label[:20]:<20}{side['center']:>+9.2f}{numbers}")
    return lines


def _scores_text(found: dict[str, Any], scores: dict[str, Any]) -> list[str]:
    lines = [
        f"On the {found['judged_on']} ({scores['rows']}): accuracy {scores['accuracy']:.3f}, "
        f"balanced accuracy {scores['balanced_accuracy']:.3f}.",
        "Rows by true class (down) and predicted class (across):",
    ]
    names = [str(label)[:12] for label in found["classes"]]
    lines.append("  " + " " * 14 + "".join(f"{name:>13}" for name in names))
    for name, row in zip(names, scores["confusion"], strict=True):
        lines.append(f"  {name:<14}" + "".join(f"{count:>13}" for count in row))
    return lines


def _calibration_text(found: dict[str, Any]) -> list[str]:
    lines = [f"Probability of {found['classes'][1]}: predicted and observed"]
    lines += [
        f"  {entry['from']:.1f} to {entry['to']:.1f}  {entry['rows']:>8} rows  predicted "
        f"{entry['predicted']:.3f}  observed {entry['observed']:.3f}"
        for entry in found["calibration"]
    ]
    return lines


def _impact_text(found: dict[str, Any]) -> list[str]:
    lines = [f"Rows most at odds with their class ({found['judged_on']}):"]
    for entry in found["impact"]:
        rest = {k: v for k, v in entry.items() if k not in ("row", "label", "impact")}
        extra = "".join(f"  {name} {value}" for name, value in rest.items())
        lines.append(
            f"  row {entry['row']:>7}  {entry['label']!s:<14} {entry['impact']:.4g}{extra}"
        )
    return lines
