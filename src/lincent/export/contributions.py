"""A score taken apart: what each column of the table adds to it, against the average row.

    score = base + sum over columns of contribution

Two kinds of models of two classes are such sums: lines, where a column adds coef * (x - mean), or
the number of its category (or of a missing value) less the average one; and sums of curves, where
it adds its curve (and a pair of columns what it adds on top).  The numbers are found from prepared
rows, the same way in Python and in an exported graph:

    line      contributions = Z weights - shift
    curves    contributions = terms(Z) groups
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lincent._errors import AppError
from lincent.estimators.additive import AdditiveModel
from lincent.export.model import Model
from lincent.export.terms import check_linear, is_linear, scores_in_units
from lincent.inspection.permutation_importance import encoded_owners


@dataclass(frozen=True)
class Contributions:
    """See the module; ``weights`` are by prepared column for a line, by term for curves."""

    names: tuple[str, ...]
    base: float
    weights: np.ndarray
    shift: np.ndarray

    def of(self, classifier: Any, rows: Any) -> np.ndarray:
        """(rows, names) for prepared rows."""
        parts = rows
        if isinstance(classifier, AdditiveModel):
            parts = classifier.contributions(rows)
        return np.asarray(parts @ self.weights - self.shift)


def contributions_of(model: Model) -> Contributions:
    """How the score of a model is a sum over its columns; a sentence where it is none."""
    classifier = model.classifier
    if len(model.classes) > 2:
        raise AppError(
            f"Contributions (--contributions) are for two classes; this model has "
            f"{len(model.classes)}: each class has a score of its own."
        )
    if isinstance(classifier, AdditiveModel):
        return _of_curves(model)
    if not is_linear(classifier):
        raise AppError(
            f"The score of {type(classifier).__name__} is no sum over the columns, so none has a "
            "contribution (--contributions): fit with --method additive, linear or lcc."
        )
    check_linear(model, "--contributions")
    return _of_a_line(model)


def _of_a_line(model: Model) -> Contributions:
    [score] = scores_in_units(model)
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


def _of_curves(model: Model) -> Contributions:
    classifier = model.classifier
    sources = encoded_owners(model.pipeline, model.schema).tolist()
    pairs = [tuple(dict.fromkeys((sources[a], sources[b]))) for a, b in classifier.terms_.pairs]
    sources += [" & ".join(pair) for pair in pairs]
    names = tuple(dict.fromkeys(sources))
    weights = np.zeros((len(sources), len(names)))
    weights[np.arange(len(sources)), [names.index(name) for name in sources]] = (
        1 / model.score_scale
    )
    base = float(classifier.intercept_[0]) / model.score_scale
    return Contributions(names, base, weights, np.zeros(len(names)))
