"""Where the class changes: a cut that the user asks for, in place of the classifier's own.

Two classes only.  A cut stands on the probability of the positive class, or on the score where the
model has no probabilities.  One that is chosen by a figure is chosen on held-out rows; the figure
is then taken part by part, each with the cut that the other parts choose, so it is not its own
judge.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lincent._errors import AppError, listed
from lincent.estimators.validation import plain
from lincent.inspection.held_out import HeldOut
from lincent.inspection.score_intervals import confusion, value_of

PROBABILITY, SCORE = "probability", "score"
MOST_CUTS = 400


@dataclass(frozen=True)
class Cut:
    """The positive class, and from where on a row is of it."""

    positive: Any
    at: float
    scale: str
    by: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Cut | None:
        """From the summary of a model; None where no cut was asked for."""
        return None if data is None else cls(**data)

    def codes(self, classes: np.ndarray, scores: np.ndarray, chances: Any) -> np.ndarray:
        """The class of each row as a code."""
        side = positive_code(classes, self.positive)
        values = side_values(side, scores, chances if self.scale == PROBABILITY else None)
        return np.where(values >= self.at, side, 1 - side)


def codes_of(scores: np.ndarray) -> np.ndarray:
    """The class of each row by the classifier's own rule."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


def positive_code(classes: np.ndarray, positive: Any) -> int:
    """The place of the positive class; the second one unless the user names another."""
    if positive is None:
        return 1
    names = [str(plain(label)) for label in classes]
    if str(positive) not in names:
        raise AppError(f"There is no class {positive!r} (--positive); there are {listed(names)}.")
    return names.index(str(positive))


def side_values(side: int, scores: np.ndarray, chances: Any) -> np.ndarray:
    """What grows toward a class: its probability, or the score with its sign."""
    if chances is not None:
        return np.asarray(chances)[:, side]
    return scores if side == 1 else -scores


def cut_on_score(cut: Cut | None, held: HeldOut, classes: np.ndarray) -> float:
    """Where a cut lies on the score of two classes: halfway between the rows on its two sides."""
    if cut is None:
        return 0.0
    side = positive_code(classes, cut.positive)
    if cut.scale == SCORE:
        return cut.at if side == 1 else -cut.at
    above = np.asarray(held.chances)[:, side] >= cut.at
    values = side_values(side, held.scores, None)
    low = values[~above].max() if (~above).any() else values.min()
    high = values[above].min() if above.any() else values.max()
    middle = float(low + high) / 2
    return middle if side == 1 else -middle


def check_classes(
    classes: np.ndarray, metric: str | None, threshold: float | None, positive: Any
) -> None:
    """Whether these classes have the cut that is asked for: known before anything is fitted."""
    positive_code(classes, positive)
    asked = "--metric" if metric is not None else "--threshold" if threshold is not None else None
    if asked is not None and len(classes) != 2:
        raise AppError(f"{asked} moves the cut of two classes; the target has {len(classes)}.")


def given_cut(threshold: float, classes: np.ndarray, positive: Any, *, chances: bool) -> Cut:
    """``--threshold``: on the probability."""
    if not chances:
        raise AppError("--threshold needs probabilities: fit with a method that has them.")
    side = positive_code(classes, positive)
    return Cut(plain(classes[side]), float(threshold), PROBABILITY, "--threshold")


def chosen_cut(
    metric: str, held: HeldOut, classes: np.ndarray, positive: Any
) -> tuple[Cut, np.ndarray]:
    """``--metric``: the best cut on held-out rows, and their classes by cuts of the other parts."""
    side = positive_code(classes, positive)
    values = side_values(side, held.scores, held.chances)
    truth = (np.searchsorted(classes, held.labels) == side).astype(np.intp)
    answers = np.zeros(len(truth), dtype=np.intp)
    for part in np.unique(held.folds):
        own = held.folds == part
        at = _best(metric, values[~own], truth[~own])
        answers[own] = values[own] >= at
    scale = SCORE if held.chances is None else PROBABILITY
    cut = Cut(plain(classes[side]), _best(metric, values, truth), scale, f"--metric {metric}")
    return cut, np.where(answers == 1, side, 1 - side)


def _best(metric: str, values: np.ndarray, truth: np.ndarray) -> float:
    """The cut with the largest figure; between two rows, so that no row lies on it."""
    places = np.unique(values)
    if len(places) > MOST_CUTS:
        places = np.unique(np.quantile(values, np.linspace(0, 1, MOST_CUTS)))
    cuts = (places[1:] + places[:-1]) / 2 if len(places) > 1 else places
    figures = [value_of(metric, confusion(truth, (values >= at).astype(np.intp), 2)) for at in cuts]
    # The middle of the cuts that are equally good.
    best = np.flatnonzero(np.isclose(figures, max(figures), rtol=0, atol=1e-12))
    return float(cuts[best[len(best) // 2]])
