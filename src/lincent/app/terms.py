"""A fitted pipeline as plain terms: what each original column adds to the score, in its own unit.

For a number x with mean, scale and imputed value, and a category c among one-hot columns,

    score = constant + sum_numbers (coef / scale) x + sum_categories coef[c]

which is the same score without imputing, encoding and scaling, in the unit of the model: the
distance between the classes.  It exists where the rule is a cut of the line, that is for the
discriminators "distance" and "svm".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.app.model import Model
from lincent.estimators.classifier import Classifier
from lincent.estimators.discriminators import Cut
from lincent.estimators.problem import tasks
from lincent.estimators.validation import plain


@dataclass(frozen=True)
class NumberTerm:
    """coef * x, with ``fill`` where x is missing."""

    column: str
    coef: float
    fill: float
    mean: float
    spread: float

    @property
    def usual(self) -> float:
        """What it adds to the score of the average row."""
        return self.coef * self.mean

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
    todo = tasks(len(classifier.classes_), classifier.multi_class)
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
    if not all(isinstance(rule, Cut) for rule in rules):
        raise AppError(
            f"{purpose} needs a linear score, and the discriminator 'nearest' has none: fit with "
            "--discriminator distance or svm."
        )


def is_linear(classifier: Any) -> bool:
    """Whether the scores of its two-class problems are sums over the columns."""
    own = isinstance(classifier, Classifier)
    return own and hasattr(classifier, "coef_") and not hasattr(classifier, "local_centers_")


def _score(model: Model, k: int, task: Any) -> Score:
    classifier = model.classifier
    columns = model.pipeline[0]
    coef = classifier.coef_[k] / model.unit
    constant = float(classifier.intercept_[k]) / model.unit
    terms: list[NumberTerm | CategoryTerm] = []
    middle = _middle(classifier, k)
    place = 0
    if model.schema.numeric:
        numbers = columns.named_transformers_["numbers"]
        fill = numbers["impute"].statistics_
        scaler = numbers["scale"]
        for j, name in enumerate(model.schema.numeric):
            unit = float(coef[j] / scaler.scale_[j])
            constant -= unit * float(scaler.mean_[j])
            spread = float(np.sqrt(scaler.var_[j]))
            mean = float(scaler.mean_[j])
            terms.append(NumberTerm(name, unit, float(fill[j]), mean, spread))
        place = len(model.schema.numeric)
    if model.schema.categorical:
        encoder = columns.named_transformers_["categories"]
        for name, categories in zip(model.schema.categorical, encoder.categories_, strict=True):
            width = len(categories)
            part = [float(c) for c in coef[place : place + width]]
            pairs = tuple(zip((str(c) for c in categories), part, strict=True))
            shares = tuple(middle[place : place + width].tolist())
            if not hasattr(classifier, "centers_"):
                known = model.summary.get("shares", {}).get(name, {})
                shares = tuple(float(known.get(str(c), 0.0)) for c in categories)
            terms.append(CategoryTerm(name, pairs, shares))
            place += width
    labels = [plain(label) for label in classifier.classes_]
    return Score(
        tuple(labels[c] for c in task.negative),
        tuple(labels[c] for c in task.positive),
        constant,
        tuple(terms),
    )


def _middle(classifier: Any, k: int) -> np.ndarray:
    """The mean of the two centers; zeros where a rule keeps none, as nothing is known then."""
    n = classifier.coef_.shape[1]
    if not hasattr(classifier, "centers_"):
        return np.zeros(n)
    return np.asarray(classifier.centers_.reshape(-1, 2, n)[k].mean(axis=0))
