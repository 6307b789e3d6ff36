"""A score as a sum over the columns of the table.

Linear models: for a number x with mean, scale and the value that replaces a missing one, and a
category c among indicator columns,

    score = constant + sum_numbers ((coef / scale) x + missing [x is missing])
                     + sum_categories coef[c]

which is the same score without filling, encoding and scaling, divided by the distance between the
classes.  It exists where the classifier is a threshold on a projected line, that is for the
discriminators "distance" and "svm".

Contributions: what each column adds to the score of two classes, compared with the average row,

    score = base + sum over columns of contribution

for linear models, where a column adds coef * (x - mean), or the coefficient of its category (or of
a missing value) less the average one, and for additive models, where it adds its shape function
(and a pair of columns its interaction).  They are computed from encoded rows:

    linear      contributions = Z weights - shift
    additive    contributions = terms(Z) groups
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.estimators.additive import AdditiveModel
from lincent.estimators.base import Classifier
from lincent.estimators.problem import binary_tasks
from lincent.estimators.threshold import Threshold
from lincent.estimators.validation import plain
from lincent.export.model import Model
from lincent.inspection.permutation_importance import encoded_owners


@dataclass(frozen=True)
class NumberTerm:
    """coef * x; where x is missing, coef * fill + missing.

    ``share`` is the fraction of missing values where there is an indicator column.
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
        """The term of the average row."""
        return self.coef * self.mean + self.missing * self.share

    @property
    def shift(self) -> float:
        """The part of indicator columns in the term of the average row."""
        return self.missing * self.share

    @property
    def effect(self) -> float:
        """The change of the score over one standard deviation of the training rows."""
        return self.coef * self.spread


@dataclass(frozen=True)
class CategoryTerm:
    """One coefficient per category, none for a category that training did not have.

    The coefficients of a column are defined up to a common constant; ``average`` is their mean over
    the training rows (both classes weighted equally).
    """

    column: str
    coefs: tuple[tuple[str, float], ...]
    shares: tuple[float, ...]

    @property
    def usual(self) -> float:
        """The term of the average row."""
        return self.average

    @property
    def shift(self) -> float:
        """The part of indicator columns in the term of the average row."""
        return self.average

    @property
    def average(self) -> float:
        return sum(share * coef for share, (_, coef) in zip(self.shares, self.coefs, strict=True))


@dataclass(frozen=True)
class Score:
    """The score of one binary problem."""

    negative: tuple[Any, ...]
    positive: tuple[Any, ...]
    constant: float
    terms: tuple[NumberTerm | CategoryTerm, ...]


def linear_scores(model: Model) -> list[Score]:
    """Return the terms of each binary problem."""
    classifier = model.classifier
    todo = binary_tasks(len(classifier.classes_), classifier.multi_class)
    return [_score(model, k, task) for k, task in enumerate(todo)]


def check_linear(model: Model, purpose: str) -> None:
    """Raise an error for a classifier that is not a threshold on a projected line."""
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
    """Return whether the scores of the binary problems are sums over the columns."""
    own = isinstance(classifier, Classifier) and hasattr(classifier, "multi_class")
    return own and hasattr(classifier, "coef_")


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
    """Return the frequency of each value: by the class centers, or in the training rows."""
    if hasattr(model.classifier, "centers_"):
        return tuple(middle.tolist())
    known = model.summary.get("shares", {}).get(name, {})
    return tuple(float(known.get(value, 0.0)) for value in values)


def _middle(classifier: Any, k: int) -> np.ndarray:
    """Return the mean of the two centers; zeros where the classifier has none."""
    n = classifier.coef_.shape[1]
    if not hasattr(classifier, "centers_"):
        return np.zeros(n)
    return np.asarray(classifier.centers_.reshape(-1, 2, n)[k].mean(axis=0))


@dataclass(frozen=True)
class Contributions:
    """Contributions of columns; ``weights`` are by encoded column, or by term if additive."""

    names: tuple[str, ...]
    base: float
    weights: np.ndarray
    shift: np.ndarray

    def of(self, classifier: Any, rows: Any) -> np.ndarray:
        """Return contributions of shape (rows, names) for encoded rows."""
        parts = rows
        if isinstance(classifier, AdditiveModel):
            parts = classifier.contributions(rows)
        return np.asarray(parts @ self.weights - self.shift)


def contributions_of(model: Model) -> Contributions:
    """Return how the score of a model is a sum over its columns, or raise an error."""
    classifier = model.classifier
    if len(model.classes) > 2:
        raise AppError(
            f"Contributions (--contributions) are for two classes; this model has "
            f"{len(model.classes)}: each class has a score of its own."
        )
    if isinstance(classifier, AdditiveModel):
        return _additive_contributions(model)
    if not is_linear(classifier):
        raise AppError(
            f"The score of {type(classifier).__name__} is no sum over the columns, so none has a "
            "contribution (--contributions): fit with --method additive, linear or lcc."
        )
    check_linear(model, "--contributions")
    return _linear_contributions(model)


def _linear_contributions(model: Model) -> Contributions:
    [score] = linear_scores(model)
    owner = {name: column.name for column in model.schema.columns for name in column.inputs}
    names = tuple(dict.fromkeys(owner.values()))
    places = [names.index(name) for name in encoded_owners(model.pipeline, model.schema)]
    weights = np.zeros((model.classifier.n_features_in_, len(names)))
    weights[np.arange(len(places)), places] = model.classifier.coef_[0] / model.score_scale
    shift = np.zeros(len(names))
    for term in score.terms:
        shift[names.index(owner[term.column])] += term.shift
    base = score.constant + sum(term.usual for term in score.terms)
    return Contributions(names, float(base), weights, shift)


def _additive_contributions(model: Model) -> Contributions:
    classifier = model.classifier
    sources = encoded_owners(model.pipeline, model.schema).tolist()
    pairs = [tuple(dict.fromkeys((sources[a], sources[b]))) for a, b in classifier._terms.pairs]
    sources += [" & ".join(pair) for pair in pairs]
    names = tuple(dict.fromkeys(sources))
    weights = np.zeros((len(sources), len(names)))
    weights[np.arange(len(sources)), [names.index(name) for name in sources]] = (
        1 / model.score_scale
    )
    base = float(classifier._intercept[0]) / model.score_scale
    return Contributions(names, base, weights, np.zeros(len(names)))
