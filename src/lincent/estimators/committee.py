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

from lincent.estimators.direction import Direction
from lincent.estimators.folds import Split
from lincent.estimators.problem import HostTraining, Task, TwoClass
from lincent.estimators.regularized_fit import RegularizedFit
from lincent.estimators.validation import ClassCosts

GRID = 10.0 ** np.arange(-1.5, 3.75, 0.5)
"""The default costs, as totals over all rows: C times the weight of the training part."""
REPEATS_UP_TO = 2000


@dataclass(frozen=True)
class Settings:
    """What is the same for every rule of a committee."""

    Cs: np.ndarray | None
    fit: RegularizedFit
    costs: ClassCosts | None
    """What the classes cost, or None where each problem balances its own."""

    def grid(self, weight: np.ndarray) -> np.ndarray:
        """The values of C for rows of this weight."""
        return GRID / float(weight.sum()) if self.Cs is None else self.Cs

    def problem(self, training: HostTraining, task: Task) -> TwoClass:
        """A two-class problem with its costs."""
        if self.costs is not None:
            return training.task(task, self.costs)
        ones = np.ones(len(training.classes))
        return training.task(task, ClassCosts(ones, ones)).balanced()

    def directions(self, problem: TwoClass) -> list[Direction]:
        """The directions of a problem, one for each C."""
        return self.fit.directions(problem, self.grid(problem.weight).tolist())


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
    rules: list[list[list[Direction]]] = field(default_factory=list)  # by fold, member, C

    def __post_init__(self) -> None:
        self.total = np.zeros((self.n_members * self.n_costs, self.n_rows))
        self.seen = np.zeros(self.n_rows)


def fit_fold(
    training: HostTraining,
    split: Split,
    designs: Sequence[tuple[Any, Any]],
    tasks: Sequence[Task],
    settings: Settings,
) -> list[tuple[np.ndarray, np.ndarray, list[list[Direction]]]]:
    """For each task: held-out rows, their scores by setting, and the rules by member and C."""
    train, held = split
    part = training.fold(train)
    out = []
    for task in tasks:
        judged = slice(None) if task.whole else task.rows(training.codes[held])
        scores, rules = [], []
        for seen, unseen in designs:
            found = settings.directions(settings.problem(part.seen_as(seen), task))
            scores.append(_scores(unseen if task.whole else unseen[judged], found))
            rules.append(found)
        out.append((held[judged], np.concatenate(scores), rules))
    return out


def _scores(X: Any, rules: Sequence[Direction]) -> np.ndarray:
    """f of each rule (rows of the result) on each row of X."""
    directions = np.stack([rule.beta / rule.half for rule in rules], axis=1)
    cuts = np.array([rule.intercept / rule.half for rule in rules])
    return (np.asarray(X @ directions) + cuts).T


def gather(
    fold_results: Sequence[list[tuple[np.ndarray, np.ndarray, list[list[Direction]]]]],
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
    """The weighted sum, over C, of one fold's rules of one member: direction and intercept."""
    rules = tally.rules[fold][member]
    share = weights.reshape(tally.n_members, tally.n_costs)[member] / len(tally.rules)
    scale = share / np.array([rule.half for rule in rules])
    direction = scale @ np.array([rule.beta for rule in rules])
    return direction, float(scale @ np.array([rule.intercept for rule in rules]))
