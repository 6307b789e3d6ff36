"""Committees of rules from cross-validation.

Every setting (a member, that is a way to make features, and a C) is fitted on every training
part.  A rule's score is in units of half the distance of its centers,

    f(x) = ((x - l).beta - t) / (d.beta/2),

so that the scores of different rules can be pooled and averaged.  With f_j the out-of-fold scores
of setting j, averaged over repeats, and a_j their AUC (or another measure),

    weight of setting j    proportional to exp(sharpness * (a_j - max a))
    committee              the weighted mean of the rules of all settings and folds

and nothing is refitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from lincent.estimators.folds import Split
from lincent.estimators.multiclass import Task
from lincent.estimators.regularized_fit import (
    Rule,
    balanced_costs,
    fit_rules,
)
from lincent.solvers.solution import Controls

GRID = 10.0 ** np.arange(-1.5, 3.75, 0.5)
"""The default costs, as totals over all rows: C times the weight of the training part."""
REPEATS_UP_TO = 2000


@dataclass(frozen=True)
class Settings:
    """What is the same for every rule of a committee."""

    Cs: np.ndarray | None
    margins: tuple[float, float]
    free: bool
    class_factor: np.ndarray | None
    controls: Controls
    seed: int

    def costs(self, weight: np.ndarray) -> np.ndarray:
        """The values of C for a training part."""
        return GRID / float(weight.sum()) if self.Cs is None else self.Cs


@dataclass
class Tally:
    """What one task collects: out-of-fold scores, and the rules of each fold."""

    n_members: int
    n_costs: int
    n_rows: int
    total: np.ndarray = field(init=False)
    seen: np.ndarray = field(init=False)
    gap: float = 0.0
    iterations: int = 0
    rules: list[list[list[Rule]]] = field(default_factory=list)  # by fold, member, C

    def __post_init__(self) -> None:
        self.total = np.zeros((self.n_members * self.n_costs, self.n_rows))
        self.seen = np.zeros(self.n_rows)


def fit_fold(
    split: Split,
    designs: Sequence[tuple[Any, Any]],
    tasks: Sequence[Task],
    codes: np.ndarray,
    weight: np.ndarray,
    settings: Settings,
) -> list[tuple[np.ndarray, np.ndarray, list[list[Rule]]]]:
    """For each task: held-out rows, their scores by setting, and the rules by member and C."""
    train, held = split
    out = []
    for task in tasks:
        inside = slice(None) if task.whole else task.rows(codes[train])
        judged = slice(None) if task.whole else task.rows(codes[held])
        sign, counted = task.sign(codes[train][inside]), weight[train][inside]
        if settings.class_factor is None:
            cost = balanced_costs(sign, counted)
        else:
            cost = counted * settings.class_factor[codes[train][inside]]
        scores, rules = [], []
        for seen, unseen in designs:
            found = fit_rules(
                seen if task.whole else seen[inside],
                sign,
                counted,
                cost,
                settings.costs(counted).tolist(),
                settings.margins,
                settings.free,
                settings.controls,
                np.random.default_rng(settings.seed),
            )
            scores.append(_scores(unseen if task.whole else unseen[judged], found))
            rules.append(found)
        out.append((held[judged], np.concatenate(scores), rules))
    return out


def _scores(X: Any, rules: Sequence[Rule]) -> np.ndarray:
    """f of each rule (rows of the result) on each row of X."""
    directions = np.stack([rule.beta / rule.half for rule in rules], axis=1)
    cuts = np.array([rule.cut / rule.half for rule in rules])
    return (np.asarray(X @ directions) - cuts).T


def gather(
    fold_results: Sequence[list[tuple[np.ndarray, np.ndarray, list[list[Rule]]]]],
    n_tasks: int,
    n_rows: int,
) -> list[Tally]:
    """The results of all folds, task by task."""
    first = fold_results[0][0]
    tallies = [Tally(len(first[2]), len(first[2][0]), n_rows) for _ in range(n_tasks)]
    for results in fold_results:
        for tally, (held, scores, rules) in zip(tallies, results, strict=True):
            tally.total[:, held] += scores
            tally.seen[held] += 1
            tally.rules.append(rules)
            for rule in (rule for member in rules for rule in member):
                tally.gap = max(tally.gap, rule.solution.relative_gap)
                tally.iterations += rule.solution.iterations
    return tallies


def measure(
    scoring: Any, tally: Tally, task: Task, codes: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """The measure of each setting on its pooled out-of-fold scores."""
    rows = np.flatnonzero(tally.seen)
    pooled = tally.total[:, rows] / tally.seen[rows]
    sign, counted = task.sign(codes[rows]), weight[rows]
    if scoring in (None, "roc_auc"):
        return np.array([area(score, sign > 0, counted) for score in pooled])
    from sklearn.metrics import get_scorer  # late, as it is slow to import and rarely needed

    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    labels, given = np.where(sign > 0, 1, -1), _Given().fit(None)
    # A scorer of the user's own may not know weights; it is asked to only where they matter.
    named = {} if np.all(counted == counted[0]) else {"sample_weight": counted}
    return np.array([float(scorer(given, score[:, None], labels, **named)) for score in pooled])


class _Given(ClassifierMixin, BaseEstimator):
    """Scores that are already there, in the form that a scorer asks for."""

    def fit(self, X: Any, y: Any = None) -> _Given:
        self.classes_ = np.array([-1, 1])
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, 0] > 0, 1, -1)


def area(score: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> float:
    """The weighted area under the ROC curve; ties count half."""
    _, place = np.unique(score, return_inverse=True)
    up = np.bincount(place, weights=weight * positive)
    down = np.bincount(place, weights=weight * ~positive)
    below = np.cumsum(down) - down
    return float(up @ (below + down / 2)) / (float(up.sum()) * float(down.sum()))


def soft_weights(measures: np.ndarray, sharpness: float) -> np.ndarray:
    """Weights of the settings, of sum 1."""
    weights = np.exp(sharpness * (measures - measures.max()))
    return np.asarray(weights / weights.sum())


def mean_rule(
    tally: Tally, weights: np.ndarray, member: int, fold: int
) -> tuple[np.ndarray, float]:
    """The weighted sum, over C, of one fold's rules of one member: direction and cut."""
    rules = tally.rules[fold][member]
    share = weights.reshape(tally.n_members, tally.n_costs)[member] / len(tally.rules)
    scale = share / np.array([rule.half for rule in rules])
    direction = scale @ np.array([rule.beta for rule in rules])
    return direction, float(scale @ np.array([rule.cut for rule in rules]))
