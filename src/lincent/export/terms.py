"""A fitted pipeline as plain terms: what each original column adds to the score, in its own unit.

For a number x with mean, scale and the value that stands for a missing one, and a category c among
columns of 0 and 1,

    score = constant + sum_numbers ((coef / scale) x + missing [x is missing])
                     + sum_categories coef[c]

which is the same score without filling, encoding and scaling, in the unit of the model: the
distance between the classes.  It exists where the rule is a cut of the line, that is for the
discriminators "distance" and "svm".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.estimators.base import Classifier
from lincent.estimators.problem import binary_tasks
from lincent.estimators.threshold import Threshold
from lincent.estimators.validation import plain
from lincent.export.model import Model


@dataclass(frozen=True)
class NumberTerm:
    """coef * x; where x is missing, coef * fill + missing.

    ``share`` is how often it is, where that is told by a column of its own.
    """

    column: str
    coef: float
    fill: float
    mean: float
    spread: float
    missing: float = 0.0
    share: float = 0.0

    @property
    def usual(self) -> float:
        """What it adds to the score of the average row."""
        return self.coef * self.mean + self.missing * self.share

    @property
    def shift(self) -> float:
        """What its columns of 0 and 1 add to the score of the average row."""
        return self.missing * self.share

    @property
    def gone(self) -> float:
        """What it adds to the score of a row where it is missing."""
        return self.coef * self.fill + self.missing

    @property
    def effect(self) -> float:
        """The change of the score over one standard deviation of the training rows."""
        return self.coef * self.spread


@dataclass(frozen=True)
class CategoryTerm:
    """One number per category, nothing for a category that training did not have.

    The numbers of a column are defined up to a common constant; ``average`` is their mean over the
    training rows (both classes counted the same), against which they are explained.
    """

    column: str
    coefs: tuple[tuple[str, float], ...]
    shares: tuple[float, ...]

    @property
    def usual(self) -> float:
        """What it adds to the score of the average row."""
        return self.average

    @property
    def shift(self) -> float:
        """What its columns of 0 and 1 add to the score of the average row."""
        return self.average

    @property
    def average(self) -> float:
        return sum(share * coef for share, (_, coef) in zip(self.shares, self.coefs, strict=True))


@dataclass(frozen=True)
class Score:
    """One two-class problem."""

    negative: tuple[Any, ...]
    positive: tuple[Any, ...]
    constant: float
    terms: tuple[NumberTerm | CategoryTerm, ...]


def scores_in_units(model: Model) -> list[Score]:
    """The terms of each two-class problem."""
    classifier = model.classifier
    todo = binary_tasks(len(classifier.classes_), classifier.multi_class)
    return [_score(model, k, task) for k, task in enumerate(todo)]


def check_linear(model: Model, purpose: str) -> None:
    """Refuse a rule that is not a cut of a line."""
    classifier = model.classifier
    if not is_linear(classifier):
        raise AppError(
            f"{purpose} needs a linear score, and {type(classifier).__name__} has none: fit with "
            "--method linear or lcc."
        )
    rules = vars(model.classifier).get("_rules", [])
    if not all(isinstance(rule, Threshold) for rule in rules):
        raise AppError(
            f"{purpose} needs a linear score, and the discriminator 'nearest' has none: fit with "
            "--discriminator distance or svm."
        )


def is_linear(classifier: Any) -> bool:
    """Whether the scores of its two-class problems are sums over the columns."""
    own = isinstance(classifier, Classifier) and hasattr(classifier, "multi_class")
    return own and hasattr(classifier, "coef_") and not hasattr(classifier, "local_centers_")


def _score(model: Model, k: int, task: Any) -> Score:
    classifier, columns = model.classifier, model.pipeline[0]
    unit = columns.scale_ * model.score_scale
    coef = classifier.coef_[k] / unit
    constant = float(classifier.intercept_[k]) / model.score_scale - float(coef @ columns.center_)
    middle, sources = _middle(classifier, k), columns.sources
    terms: list[NumberTerm | CategoryTerm] = []
    for j, code in enumerate(columns.columns_):
        mine = np.flatnonzero(sources == j)
        first, part = int(mine[0]), [float(c) for c in coef[mine]]
        if code.categories is not None:
            shares = _shares(model, middle[mine], code.name, code.categories)
            pairs = tuple(zip(code.categories, part, strict=True))
            terms.append(CategoryTerm(code.name, pairs, shares))
            continue
        mean, spread = float(columns.center_[first]), float(columns.scale_[first])
        term = NumberTerm(code.name, part[0], code.fill, mean, spread)
        if code.indicator:
            [share] = _shares(model, middle[mine[1:]], code.name, [model.schema.missing])
            term = replace(term, missing=part[1], share=share)
        terms.append(term)
    labels = [plain(label) for label in classifier.classes_]
    return Score(
        tuple(labels[c] for c in task.negative),
        tuple(labels[c] for c in task.positive),
        constant,
        tuple(terms),
    )


def _shares(
    model: Model, middle: np.ndarray, name: str, values: Sequence[str]
) -> tuple[float, ...]:
    """How often each value occurs: by the centers of the classes, or in the training rows."""
    if hasattr(model.classifier, "centers_"):
        return tuple(middle.tolist())
    known = model.summary.get("shares", {}).get(name, {})
    return tuple(float(known.get(value, 0.0)) for value in values)


def _middle(classifier: Any, k: int) -> np.ndarray:
    """The mean of the two centers; zeros where a rule keeps none, as nothing is known then."""
    n = classifier.coef_.shape[1]
    if not hasattr(classifier, "centers_"):
        return np.zeros(n)
    return np.asarray(classifier.centers_.reshape(-1, 2, n)[k].mean(axis=0))
