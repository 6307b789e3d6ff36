"""What held-out rows say of a model: figures, curves, and the rows most at odds with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.validation import plain
from lincent.inspection import curves
from lincent.inspection.held_out import HeldOut
from lincent.inspection.score_intervals import area_score, confusion, hard_scores
from lincent.inspection.thresholds import Cut, cut_on_score, positive_code, side_values
from lincent.tables.infer import PreparedTable

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_AT_ODDS = 10
MOST_VALUES = 12


def describe_held_out(
    held: HeldOut,
    classes: np.ndarray,
    answers: np.ndarray,
    positive: Any = None,
    metric: str = "balanced_accuracy",
    cut: Cut | None = None,
) -> dict[str, Any]:
    """Figures with intervals and baselines, the confusion table, and curves of two classes."""
    truth = np.searchsorted(classes, held.labels)
    side = positive_code(classes, positive)
    scores = hard_scores(truth, answers, len(classes), side, metric, held.share)
    found: dict[str, Any] = {"how": held.how, "rows": len(truth), "metric": metric}
    if len(classes) == 2:
        values = side_values(side, held.scores, None)
        is_positive, called = truth == side, answers == side
        found["at_cut"] = {
            "found": int(np.count_nonzero(is_positive & called)),
            "rows": int(np.count_nonzero(is_positive)),
            "called": int(np.count_nonzero(called)),
        }
        scores.append(area_score(values, is_positive, held.share))
        found["curves"] = {
            **curves.two_class_curves(values, is_positive),
            "line": curves.line_histogram(held.scores, truth, classes),
        }
        line = found["curves"]["line"]
        line["cut"] = cut_on_score(cut, held, classes) / line["unit"]
        if held.chances is not None:
            chance = held.chances[:, side]
            found["curves"]["reliability"] = curves.reliability(chance, is_positive)
            found["curves"]["cuts"] = curves.cuts(chance, is_positive)
    return found | {
        "line": describe_line(held, classes),
        "positive": plain(classes[side]),
        "scores": [score.to_json() for score in scores],
        "confusion": confusion(truth, answers, len(classes)).tolist(),
        "largest_class": str(plain(classes[np.bincount(truth).argmax()])),
    }


def describe_line(held: HeldOut, classes: np.ndarray) -> list[dict[str, Any]]:
    """Where both sides of each score lie, from 0, in units of the distance between their means."""
    truth = np.searchsorted(classes, held.labels)
    columns = held.scores[:, None] if held.scores.ndim == 1 else held.scores
    found = []
    for k in range(columns.shape[1]):
        side = 1 if len(classes) == 2 else k
        codes = (truth == side).astype(np.intp)
        place = columns[:, k] / curves.line_unit(columns[:, k], codes)
        sides = {}
        for name, own in (("negative", codes == 0), ("positive", codes == 1)):
            members = [plain(c) for j, c in enumerate(classes) if (j == side) == (name[0] == "p")]
            part = place[own]
            sides[name] = {
                "classes": members,
                "center": float(part.mean()) if len(part) else 0.0,
                "quantiles": [float(q) for q in np.quantile(part, QUANTILES)] if len(part) else [],
            }
        found.append(sides)
    return found


def most_at_odds(held: HeldOut, classes: np.ndarray, known: PreparedTable) -> list[dict[str, Any]]:
    """The rows that lie farthest on the wrong side, with their values; rows count from 1."""
    truth = np.searchsorted(classes, held.labels)
    if held.scores.ndim == 1:
        against = np.where(truth == 1, -held.scores, held.scores)
        against = against / curves.line_unit(held.scores, truth)
    else:
        own = held.scores[np.arange(len(truth)), truth]
        others = held.scores.copy()
        others[np.arange(len(truth)), truth] = -np.inf
        against = others.max(axis=1) - own
    found = []
    table = known.table.data
    names = [*known.schema.ids, *known.schema.names][:MOST_VALUES]
    for k in np.argsort(-against, kind="stable")[:MOST_AT_ODDS]:
        if not against[k] > 0:
            break
        row = int(held.rows[k])
        values = {name: _shown(table.column(name)[row].as_py()) for name in names}
        entry = {"row": known.table.row(row), "label": plain(held.labels[k])}
        found.append({**entry, "impact": float(against[k]), "values": values})
    return found


def _shown(value: Any) -> str:
    return "" if value is None else str(value)[:80]


def disagreement(held: HeldOut, classes: np.ndarray, cut: Cut | None) -> str:
    """A sentence where class and probability can differ; empty where they agree."""
    if held.chances is None or held.scores.ndim > 1:
        return ""
    side = 1
    if cut is not None:
        return (
            f"The class is {cut.positive} from a {cut.scale} of {cut.at:.3g} on ({cut.by}), so it "
            "is not always the likelier one."
        )
    differ = int(((held.scores > 0) != (held.chances[:, side] > 0.5)).sum())
    if differ == 0:
        return ""
    share = 100 * differ / len(held.scores)
    near = held.chances[np.abs(held.scores).argmin(), side]
    return (
        f"The class changes where the probability of {plain(classes[side])} is about {near:.2f}, "
        f"not 0.5, since both classes count the same; {share:.1f} % of the held-out rows lie "
        "between (--threshold 0.5 moves the cut)."
    )
